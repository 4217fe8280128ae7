"""The solver's contract, and the run that judges what it finds."""

from optmodels.solver._solver import SOLVERS, FrontSolver, Solver, solvers_for
from optmodels.solver.installed import installed
from optmodels.solver.run import CONTRADICTED, PROVEN, OnProgress, Progress, Run

__all__ = [
    "CONTRADICTED",
    "PROVEN",
    "SOLVERS",
    "FrontSolver",
    "OnProgress",
    "Progress",
    "Run",
    "Solver",
    "installed",
    "solvers_for",
]
