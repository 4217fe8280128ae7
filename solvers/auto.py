"""The solver for those who do not want to choose: picks by structure, size and time, and says what and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optmodels import registry
from optmodels.problem import Centroids, ClassAdditive, EntropyBounded, FixedCentres, Problem, Scalarised
from optmodels.solution import Solution
from optmodels.solver import FrontSolver, Run

# Where to switch, from benchmarks/scaling.py and benchmarks/fronts.py.
_COLUMNS_RECORDS = 3_000
_LOCAL_SEARCH_RECORDS = 1_000_000
_EXACT_FRONT_RECORDS = 24
_EXACT_FRONT_SECONDS = 120.0  # what an exact front of that many records may take
_QUICK_FRONT_RECORDS = 16  # up to which it is a matter of seconds


@dataclass(frozen=True)
class Auto(FrontSolver):
    """Exact where size or structure allows it, a heuristic where not; the choice is in the solution's details.

    >>> import optmodels as om
    >>> from formulations import Microaggregation
    >>> problem = Microaggregation(k=5).build(om.dataset("german"))
    >>> choice(problem)
    ('columns', '1000 records are few enough for a bound by column generation')
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a solver from structure, size and time, and says what it picked and why"

    def refuses(self, problem: Problem) -> str | None:
        """Whatever the solver it would pick refuses."""
        return registry.solver(choice(problem)[0])().refuses(problem)

    def search(self, problem: Problem, run: Run) -> None:
        """Let the chosen solver search on the same run."""
        name, reason = choice(problem)
        _say(run, name, reason)
        registry.solver(name)().search(problem, run)

    def explore(self, problem: Problem, run: Run, found: list[Solution]) -> None:
        """Let the chosen solver explore on the same run."""
        name, reason = front_choice(problem, run.time_limit)
        _say(run, name, reason)
        chosen = registry.solver(name)()
        assert isinstance(chosen, FrontSolver)
        chosen.explore(problem, run, found)


def _say(run: Run, name: str, reason: str) -> None:
    run.details.update(chosen=name, because=reason)
    run.report(f"auto picked {name}: {reason}")
    run.solver = name


def choice(problem: Problem) -> tuple[str, str]:
    """The solver for one answer, and why."""
    if isinstance(problem, FixedCentres):
        if len(problem.caps) <= 1:
            return "network", "records go to fixed centres under laminar caps, which is a network"
        return "milp", "two capped attributes at once are no network"
    if isinstance(problem, Scalarised):
        if problem.n <= _EXACT_FRONT_RECORDS:
            return "epsilon", "a score of loss and entropy is optimal somewhere on their front, found exactly"
        return (
            "nsga2",
            f"a score of loss and entropy lies on their front, too large to be exact for {problem.n} records",
        )
    if isinstance(problem, ClassAdditive):
        if problem.price.n <= _COLUMNS_RECORDS:
            return "columns", f"{problem.price.n} records are few enough for a bound by column generation"
        if problem.price.n <= _LOCAL_SEARCH_RECORDS or problem.n_classes is not None:
            return "local_search", f"{problem.price.n} records are too many for column generation"
        return "mdav", f"{problem.price.n} records are too many for anything but a construction"
    if isinstance(problem, Centroids):
        return "nsga2", f"'{problem.target.name}' is no sum of prices of classes, and classes have centroids"
    return "milp", "nothing but a Pyomo view is known of this model"


def front_choice(problem: Problem, time_limit: float | None) -> tuple[str, str]:
    """The solver for a front, and why."""
    if isinstance(problem, EntropyBounded) and problem.n <= _EXACT_FRONT_RECORDS:
        if problem.n <= _QUICK_FRONT_RECORDS or time_limit is None or time_limit >= _EXACT_FRONT_SECONDS:
            return "epsilon", f"of {problem.n} records every class can be priced, so the front is exact"
        return "nsga2", f"an exact front of {problem.n} records may take longer than {time_limit:g} s"
    if len(problem.objectives) > 2:
        return "nsga3", f"{len(problem.objectives)} objectives need directions to spread over"
    return "nsga2", f"{problem.n} records are too many for an exact front"
