"""Any algorithm of pymoo's, or of another package made for pymoo, by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from optmodels.errors import InputError, unknown
from optmodels.partition import Labels
from optmodels.problem import Problem
from solvers.evolution._evolution import Evolution
from solvers.evolution.algorithms import directions_along

if TYPE_CHECKING:
    from pymoo.core.algorithm import Algorithm

    from optmodels.centroids.pymoo_problem import CentroidProblem

# Where pymoo's algorithms are, by the names that its users know.
KNOWN = {
    "age-moea": "pymoo.algorithms.moo.age:AGEMOEA",
    "age-moea2": "pymoo.algorithms.moo.age2:AGEMOEA2",
    "cmopso": "pymoo.algorithms.moo.cmopso:CMOPSO",
    "de": "pymoo.algorithms.soo.nonconvex.de:DE",
    "es": "pymoo.algorithms.soo.nonconvex.es:ES",
    "g3pcx": "pymoo.algorithms.soo.nonconvex.g3pcx:G3PCX",
    "ga": "pymoo.algorithms.soo.nonconvex.ga:GA",
    "isres": "pymoo.algorithms.soo.nonconvex.isres:ISRES",
    "moead": "pymoo.algorithms.moo.moead:ParallelMOEAD",
    "mopso-cd": "pymoo.algorithms.moo.mopso_cd:MOPSO_CD",
    "niche-ga": "pymoo.algorithms.soo.nonconvex.ga_niching:NicheGA",
    "nsga2": "pymoo.algorithms.moo.nsga2:NSGA2",
    "nsga3": "pymoo.algorithms.moo.nsga3:NSGA3",
    "pso": "pymoo.algorithms.soo.nonconvex.pso:PSO",
    "sms-emoa": "pymoo.algorithms.moo.sms:SMSEMOA",
    "spea2": "pymoo.algorithms.moo.spea2:SPEA2",
    "sres": "pymoo.algorithms.soo.nonconvex.sres:SRES",
    "unsga3": "pymoo.algorithms.moo.unsga3:UNSGA3",
}


@dataclass(frozen=True)
class Pymoo(Evolution):
    """A pymoo algorithm on centroids, as it is: what it is given are operators made for them, where it takes any.

    `which` is a name ('unsga3', 'age-moea2', 'de', ...) or an import path 'package.module:Class'; `arguments` are
    further ones for its constructor. Without `memetic` there is no local search around it. Two algorithms have no name
    here: RVEA has to know its number of generations beforehand, and C-TAEA may never end where partitions are few.

    >>> import numpy as np
    >>> import optmodels as om
    >>> from formulations import MoObam
    >>> problem = MoObam(k=5).build(om.dataset("german").take(np.arange(60)))
    >>> front = Pymoo(which="unsga3", evaluations=300, population=20).pareto(problem, seed=1)
    >>> all(point.release().audit.k >= 5 for point in front), len(front) > 0
    (True, True)
    """

    name: ClassVar[str] = "pymoo"
    summary: ClassVar[str] = "any algorithm of pymoo's, or one for pymoo by its import path, as it is; heuristic"

    memetic: bool = False
    which: str = "nsga2"
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        algorithm_class(self.which)

    def cannot(self, problem: Problem) -> str | None:
        """Classes around centroids, and one objective for what minimises only one."""
        if ".soo." in algorithm_class(self.which).__module__ and len(problem.objectives) > 1:
            return f"'{self.which}' minimises one objective and the problem has {len(problem.objectives)}."
        return super().cannot(problem)

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """The algorithm with whatever of ours its constructor takes."""
        kind = algorithm_class(self.which)
        own, taken, defaults = _taken(kind)
        offered: dict[str, Any] = {"pop_size": self.population, **problem.operators_from(*starts)}
        if "ref_dirs" in taken:
            offered["ref_dirs"] = directions_along(problem, self.population)
            offered["pop_size"] = max(self.population, len(offered["ref_dirs"]))
        given = {name: value for name, value in offered.items() if name in taken}
        try:
            return kind(**defaults | given | dict(self.arguments))
        except Exception:  # a parent's argument that the constructor settles itself, or has no place for
            only = {name: value for name, value in given.items() if name in own}
            return kind(**defaults | only | dict(self.arguments))


def algorithm_class(name: str) -> type[Any]:
    """The class of an algorithm.

    >>> algorithm_class("nsga2").__name__
    'NSGA2'
    """
    if ":" not in name and name not in KNOWN:
        raise unknown("algorithm of pymoo's", name, KNOWN)
    module, _, attribute = KNOWN.get(name, name).partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"There is no algorithm '{name}': {error}. Write it as package.module:Class.") from error
    from pymoo.core.algorithm import Algorithm

    if not (isinstance(found, type) and issubclass(found, Algorithm)):
        raise InputError(f"'{name}' is no algorithm for pymoo: it does not inherit pymoo.core.algorithm.Algorithm.")
    return found


def _taken(kind: type[Any]) -> tuple[set[str], set[str], dict[str, Any]]:
    """The names that a constructor takes, those it takes for its parents too, and copies of its default objects.

    Defaults of pymoo's constructors are made once for all runs of a process, and some remember what they met.
    """
    own: set[str] = set()
    names: set[str] = set()
    defaults: dict[str, Any] = {}
    for parent in kind.__mro__:
        if "__init__" not in vars(parent):
            continue
        parameters = inspect.signature(parent).parameters.values()
        for parameter in parameters:
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                names.add(parameter.name)
                if not own and type(parameter.default).__module__.startswith("pymoo."):
                    defaults[parameter.name] = deepcopy(parameter.default)
        own = own or set(names)
        if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
            break
    return own, names, defaults
