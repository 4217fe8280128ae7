"""The solver's contract, and the run that judges what it finds."""

from optmodels.solver._solver import SOLVERS, FrontSolver, Solver, solvers_for
from optmodels.solver.installed import installed
from optmodels.solver.leaving_out import leave_out_who_pays
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
    "leave_out_who_pays",
    "solvers_for",
]
