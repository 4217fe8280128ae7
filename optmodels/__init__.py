"""Publishing a table of people safely, as an optimisation problem.

>>> import optmodels as om
>>> table = om.dataset("german")
>>> table.n
1000
"""

from typing import TYPE_CHECKING

from optmodels.exports import lazy

if TYPE_CHECKING:
    from optmodels.audit import Audit as Audit
    from optmodels.conditions import Conditions as Conditions
    from optmodels.datasets import load
    from optmodels.errors import BrokenPromiseError as BrokenPromiseError
    from optmodels.errors import InfeasibleError as InfeasibleError
    from optmodels.errors import InputError as InputError
    from optmodels.errors import MissingDependencyError as MissingDependencyError
    from optmodels.errors import NoSolutionError as NoSolutionError
    from optmodels.errors import OptmodelsError as OptmodelsError
    from optmodels.errors import RefusedError as RefusedError
    from optmodels.front import ParetoFront as ParetoFront
    from optmodels.price import PlainPrice as PlainPrice
    from optmodels.problem import Evaluation as Evaluation
    from optmodels.problem import Formulation as Formulation
    from optmodels.problem import Objective as Objective
    from optmodels.problem import PricedProblem as PricedProblem
    from optmodels.problem import Problem as Problem
    from optmodels.problem import View as View
    from optmodels.release import Release as Release
    from optmodels.solution import Solution as Solution
    from optmodels.solution import Status as Status
    from optmodels.solution import Stop as Stop
    from optmodels.solver import FrontSolver as FrontSolver
    from optmodels.solver import OnProgress as OnProgress
    from optmodels.solver import Progress as Progress
    from optmodels.solver import Run as Run
    from optmodels.solver import Solver as Solver
    from optmodels.table import Table as Table
    from optmodels.table.hierarchy import Hierarchy as Hierarchy
    from optmodels.table.roles import Roles as Roles

    dataset = load

_names, _exported, __dir__ = lazy(
    __name__,
    {
        "optmodels.audit": ["Audit"],
        "optmodels.conditions": ["Conditions"],
        "optmodels.datasets": ["load as dataset"],
        "optmodels.errors": [
            "BrokenPromiseError",
            "InfeasibleError",
            "InputError",
            "MissingDependencyError",
            "NoSolutionError",
            "OptmodelsError",
            "RefusedError",
        ],
        "optmodels.front": ["ParetoFront"],
        "optmodels.price": ["PlainPrice"],
        "optmodels.problem": ["Evaluation", "Formulation", "Objective", "PricedProblem", "Problem", "View"],
        "optmodels.release": ["Release"],
        "optmodels.solution": ["Solution", "Status", "Stop"],
        "optmodels.solver": ["FrontSolver", "OnProgress", "Progress", "Run", "Solver"],
        "optmodels.table": ["Table"],
        "optmodels.table.hierarchy": ["Hierarchy"],
        "optmodels.table.roles": ["Roles"],
    },
)
__all__ = [*_names]


def __getattr__(name: str) -> object:
    """A public name, or the version of the package that is installed: `optmodels --version` waits for no compiler."""
    if name != "__version__":
        return _exported(name)
    from importlib.metadata import version

    return version("optmodels")
