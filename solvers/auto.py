"""The solver for those who do not want to choose: picks by structure, size and time, and says what and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optmodels import registry
from optmodels.errors import whole
from optmodels.problem import (
    Centroids,
    ClassAdditive,
    EntropyBounded,
    FixedCentres,
    Generalised,
    Problem,
    Scalarised,
    SelfTuned,
    Separable,
)
from optmodels.solution import Solution
from optmodels.solver import FrontSolver, Run, Solver

# Where to switch, from benchmarks/scaling.py and benchmarks/fronts.py.
_COLUMNS_RECORDS = 3_000  # a gap of 1% takes seconds up to 500, and minutes give a bound up to about this
_LOCAL_SEARCH_RECORDS = 300_000
_BLOCK_RECORDS_PER_SECOND = 20_000  # of local search in blocks, on two cores, from benchmarks/blocks.py
_EXACT_FRONT_RECORDS = 24
_EXACT_FRONT_SECONDS = 120.0  # what an exact front of that many records may take
_QUICK_FRONT_RECORDS = 16  # up to which it is a matter of seconds
_OWN_CONSTRUCTION = "the model makes its partitions itself, one for each k"
_EXACT_LEVELS_RECORDS = 100  # a second or two in HiGHS; without further conditions 1000 take ten
_EVALUATIONS = "evaluations"  # the option of solvers that count them


@dataclass(frozen=True)
class Auto(FrontSolver):
    """Exact where size or structure allows it, a heuristic where not; the choice is in the solution's details.

    `evaluations` limits the chosen solver if it counts them; one that does not ends by itself, and the details say so.

    >>> import optmodels as om
    >>> from formulations import Microaggregation
    >>> problem = Microaggregation(k=5).build(om.dataset("german"))
    >>> choice(problem)
    ('columns', '1000 records are few enough for a bound by column generation')
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a solver from structure, size and time, and says what it picked and why"

    evaluations: int | None = None

    def __post_init__(self) -> None:
        if self.evaluations is not None:
            whole("evaluations", self.evaluations, 1)

    def refuses(self, problem: Problem) -> str | None:
        """Whatever the solver it would pick refuses."""
        return registry.solver(choice(problem)[0])().refuses(problem)

    def search(self, problem: Problem, run: Run) -> None:
        """Let the chosen solver search on the same run."""
        self._chosen(run, *choice(problem, run.time_limit)).search(problem, run)

    def explore(self, problem: Problem, run: Run, found: list[Solution]) -> None:
        """Let the chosen solver explore on the same run."""
        chosen = self._chosen(run, *front_choice(problem, run.time_limit))
        assert isinstance(chosen, FrontSolver)
        chosen.explore(problem, run, found)

    def _chosen(self, run: Run, name: str, reason: str) -> Solver:
        """The solver, and the run's record of it; from here on it is the chosen solver's run."""
        run.details.update(solver=name, chosen=name, because=reason)
        run.report(f"auto picked {name}: {reason}")
        run.solver = name
        kind = registry.solver(name)
        if self.evaluations is None:
            return kind()
        if _EVALUATIONS in kind.options():
            return registry.configured(kind, {_EVALUATIONS: self.evaluations})
        run.details["evaluations_limit"] = f"not needed: '{name}' counts no evaluations and ends by itself or by time"
        return kind()


def choice(problem: Problem, time_limit: float | None = None) -> tuple[str, str]:
    """The solver for one answer, and why."""
    if isinstance(problem, SelfTuned):
        return "mass", _OWN_CONSTRUCTION
    if isinstance(problem, FixedCentres):
        if len(problem.caps) <= 1:
            return "network", "records go to fixed centres under laminar caps, which is a network"
        return "milp", "two capped attributes at once are no network"
    if isinstance(problem, Scalarised):
        if _exact_in_time(problem, time_limit):
            return "epsilon", "a score of loss and entropy is optimal somewhere on their front, found exactly"
        return "nsga2", f"a score of loss and entropy lies on their front, and {_too_long(problem, time_limit)}"
    if isinstance(problem, ClassAdditive):
        if registry.solver("univariate")().refuses(problem) is None:
            return "univariate", "of one ordered attribute under k alone the optimal classes are a shortest path"
        if problem.price.n <= _COLUMNS_RECORDS:
            return "columns", f"{problem.price.n} records are few enough for a bound by column generation"
        if problem.price.n <= _LOCAL_SEARCH_RECORDS or problem.n_classes is not None:
            return "local_search", f"{problem.price.n} records are too many for column generation"
        return _for_many(problem, time_limit)
    if isinstance(problem, Generalised):
        if problem.least_levels and problem.n <= _EXACT_LEVELS_RECORDS and problem.lacks_pyomo() is None:
            return "milp", f"the levels of {problem.n} records are few enough to be chosen exactly"
        if reason := registry.solver("generalise")().refuses(problem):
            return "usefulness", f"'generalise' cannot: {reason.rstrip('.')}"
        return "generalise", "classes are released through hierarchies, whose levels can be climbed from cheap to dear"
    if isinstance(problem, Centroids):
        return "nsga2", f"'{problem.target.name}' is no sum of prices of classes, and classes have centroids"
    if problem.lacks_pyomo() is not None:
        return (
            "usefulness",
            "nothing is known of this model but its conditions, and classes of similar records meet them",
        )
    return "milp", "nothing but a Pyomo view is known of this model"


def _for_many(problem: ClassAdditive, time_limit: float | None) -> tuple[str, str]:
    """Blocks where there is time for local search in all of them, median cuts where there is not."""
    n = problem.price.n
    needed = n / _BLOCK_RECORDS_PER_SECOND
    if not isinstance(problem, Separable):
        return "mondrian", f"{n} records are too many for local search, and the model cannot be taken apart into blocks"
    if time_limit is not None and time_limit < needed:
        return "mondrian", f"local search in blocks of {n} records takes about {needed:.0f} s, median cuts far less"
    return "blocks", f"{n} records are too many for one local search, and few enough for one in each block"


def front_choice(problem: Problem, time_limit: float | None) -> tuple[str, str]:
    """The solver for a front, and why."""
    if isinstance(problem, SelfTuned):
        return "mass", _OWN_CONSTRUCTION
    if isinstance(problem, EntropyBounded) and _exact_in_time(problem, time_limit):
        return "epsilon", f"of {problem.n} records every class can be priced, so the front is exact"
    if isinstance(problem, Generalised):
        return "generalise", "classes are released through hierarchies, whose levels can be climbed from cheap to dear"
    if len(problem.objectives) > 2:
        return "nsga3", f"{len(problem.objectives)} objectives need directions to spread over"
    if isinstance(problem, EntropyBounded):
        return "nsga2", _too_long(problem, time_limit)
    return "nsga2", "these objectives have no exact front, and classes have centroids"


def _exact_in_time(problem: Problem, time_limit: float | None) -> bool:
    """Whether an exact front of so many records is a matter of seconds, or has the time it may take."""
    patient = time_limit is None or time_limit >= _EXACT_FRONT_SECONDS
    return problem.n <= (_EXACT_FRONT_RECORDS if patient else _QUICK_FRONT_RECORDS)


def _too_long(problem: Problem, time_limit: float | None) -> str:
    if problem.n > _EXACT_FRONT_RECORDS:
        return f"{problem.n} records are too many for an exact front"
    return f"an exact front of {problem.n} records may take longer than {time_limit:g} s"
