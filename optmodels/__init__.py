"""Publishing a table of people safely, as an optimisation problem.

>>> import optmodels as om
>>> table = om.dataset("german")
>>> table.n
1000
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optmodels.audit import Audit
    from optmodels.conditions import Conditions
    from optmodels.datasets import load as dataset
    from optmodels.errors import OptmodelsError
    from optmodels.front import ParetoFront
    from optmodels.problem import Formulation, Problem
    from optmodels.release import Release
    from optmodels.solution import Solution, Status, Stop
    from optmodels.solver import Progress, Solver
    from optmodels.table import Table
    from optmodels.table.hierarchy import Hierarchy

__all__ = [
    "Audit",
    "Conditions",
    "Formulation",
    "Hierarchy",
    "OptmodelsError",
    "ParetoFront",
    "Problem",
    "Progress",
    "Release",
    "Solution",
    "Solver",
    "Status",
    "Stop",
    "Table",
    "dataset",
]

_HOMES = {
    "Audit": "audit",
    "Conditions": "conditions",
    "Formulation": "problem",
    "Hierarchy": "table.hierarchy",
    "OptmodelsError": "errors",
    "ParetoFront": "front",
    "Problem": "problem",
    "Progress": "solver",
    "Release": "release",
    "Solution": "solution",
    "Solver": "solver",
    "Status": "solution",
    "Stop": "solution",
    "Table": "table",
}


def __getattr__(name: str) -> object:
    """A public name, imported when first asked for: `optmodels --version` does not wait for compilers."""
    from importlib import import_module
    from importlib.metadata import version

    if name == "__version__":
        return version("optmodels")
    if name == "dataset":
        return import_module("optmodels.datasets").load
    if name not in _HOMES:
        raise AttributeError(f"module 'optmodels' has no attribute '{name}'")
    return getattr(import_module(f"optmodels.{_HOMES[name]}"), name)
