"""The solver's contract, and the run that judges what it finds."""

from optmodels.solver._solver import CONTRADICTED, PROVEN, FrontSolver, OnProgress, Progress, Run, Solver

__all__ = ["CONTRADICTED", "PROVEN", "FrontSolver", "OnProgress", "Progress", "Run", "Solver"]
