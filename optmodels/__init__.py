"""Publishing a table of people safely, as an optimisation problem.

>>> import optmodels as om
>>> table = om.dataset("german")
>>> table.n
1000
"""

from importlib.metadata import version

from optmodels.audit import Audit, audit
from optmodels.conditions import Conditions
from optmodels.datasets import load as dataset
from optmodels.errors import OptmodelsError
from optmodels.hierarchy import Hierarchy
from optmodels.problem import Formulation, Problem
from optmodels.release import Release
from optmodels.solution import Solution, Status, Stop
from optmodels.solver import Progress, Solver
from optmodels.table import Table

__version__ = version("optmodels")

__all__ = [
    "Audit",
    "Conditions",
    "Formulation",
    "Hierarchy",
    "OptmodelsError",
    "Problem",
    "Progress",
    "Release",
    "Solution",
    "Solver",
    "Status",
    "Stop",
    "Table",
    "audit",
    "dataset",
]
