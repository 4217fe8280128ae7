"""The solver for those who do not want to choose: picks by structure, size and time, and says what and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from optmodels import registry
from optmodels.errors import whole
from optmodels.objectives import SUPPRESSED
from optmodels.problem import Problem
from optmodels.solver import FrontSolver, Run, Solver
from optmodels.structures import (
    Assignment,
    Construction,
    EntropyLevels,
    Lattice,
    Levels,
    Parts,
    Priced,
    Score,
)
from solvers.epsilon import left_out_levels

# Where to switch, from benchmarks/scaling.py and benchmarks/fronts.py.
_COLUMNS_RECORDS = 3_000  # a gap of 1% takes seconds up to 500, and minutes give a bound up to about this
_LISTED_RECORDS = 17  # two to the power of this many classes, each priced by a function in Python
_LOCAL_SEARCH_RECORDS = 300_000
_BLOCK_RECORDS_PER_SECOND = 20_000  # of local search in blocks, on two cores, from benchmarks/blocks.py
_EXACT_FRONT_RECORDS = 24
_LEFT_OUT_RECORDS = 120  # a step of column generation takes seconds, and a front has up to a step for each left out
_EXACT_FRONT_SECONDS = 120.0  # what an exact front of that many records may take
_QUICK_FRONT_RECORDS = 16  # up to which it is a matter of seconds
_EXACT_LEVELS_RECORDS = 100  # a second or two in HiGHS; without further conditions 1000 take ten
_EXACT_VIEW_RECORDS = 60  # of a model of which nothing but a Pyomo view is known
_HEAD_START = 0.5  # of the time, for a heuristic where an integer program may end with nothing,
_HEAD_START_SECONDS = 5.0  # and no more than this, as it may also be solved in no time
LEFT_OUT_POINTS = 12  # of a front of how many are left out, where each is the answer of a solver for one
_EVALUATIONS = "evaluations"  # the option of solvers that count them


@dataclass(frozen=True)
class Choice:
    """A solver, why it, and what share of the time another one has before it to find it something to begin with."""

    name: str
    because: str
    first: str | None = None
    share: float = 0.0
    most: float = float("inf")  # seconds of that


@dataclass(frozen=True)
class Auto(FrontSolver):
    """Exact where size or structure allows it, a heuristic where not; the choice is in the solution's details.

    `evaluations` limits the chosen solver if it counts them; one that does not ends by itself, and the details say so.

    >>> import optmodels as om
    >>> from formulations import Microaggregation
    >>> problem = Microaggregation(k=5).build(om.dataset("german"))
    >>> found = choice(problem)
    >>> found.name, found.because
    ('columns', '1000 records are few enough for a bound by column generation')
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a solver from structure, size and time, and says what it picked and why"

    evaluations: int | None = None

    def __post_init__(self) -> None:
        if self.evaluations is not None:
            whole("evaluations", self.evaluations, 1)

    def cannot(self, problem: Problem) -> str | None:
        """Nothing, unless every other solver refuses."""
        return None if _able(_wanted(problem, None), problem) else "every solver on this machine refuses it."

    def refuses_front(self, problem: Problem) -> str | None:
        """Nothing, unless every other solver of fronts refuses."""
        if len(problem.objectives) < 2:
            return super().refuses_front(problem)
        able = _able(_wanted_for_fronts(problem, None), problem, front=True)
        return None if able else "every solver of fronts on this machine refuses it."

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """What the solver proves that it would choose without a time limit."""
        chosen = front_choice(problem, None) if front else choice(problem)
        return registry.solver(chosen.name)().proves(problem, front=front)

    def search(self, problem: Problem, run: Run) -> None:
        """Let the chosen solver search on the same run."""
        chosen = choice(problem, run.time_limit)
        if chosen.first is not None and run.time_limit is not None:
            self._begin(chosen.first, problem, run, min(chosen.share * run.time_limit, chosen.most))
        self._chosen(run, chosen)._searched(problem, run)

    def _searched(self, problem: Problem, run: Run) -> None:
        """The chosen solver leaves records out in its own way, so that what it proves of that stays proven."""
        self.search(problem, run)

    def decides_suppression(self, problem: Problem) -> bool:
        """As the solver does that it would choose without a time limit."""
        if left_out_levels.applies(problem):
            return True
        return registry.solver(choice(problem).name)().decides_suppression(problem)

    def explore(self, problem: Problem, run: Run) -> None:
        """Let the chosen solver explore on the same run."""
        found = front_choice(problem, run.time_limit)
        run.leaves_out = self._decides_on_front(problem, found)
        if not run.leaves_out and problem.allowing(0).impossible() is not None:
            return
        if left_out_levels.applies(problem) and found.name != "epsilon":
            because = "a front of how many are left out is made of single answers with ever fewer"
            self._chosen(run, Choice(choice(problem, run.time_limit).name, because))
            left_out_levels.explore(problem, self.name, run, points=LEFT_OUT_POINTS)
            return
        solver = self._chosen(run, found)
        if isinstance(solver, FrontSolver):
            solver.explore(problem, run)

    def _decides_on_front(self, problem: Problem, found: Choice) -> bool:
        """Whether records are left out by the solver of a front, or of each of its points."""
        own = not problem.suppression.most or left_out_levels.applies(problem)
        return own or registry.solver(found.name)().decides_suppression(problem)

    def _begin(self, name: str, problem: Problem, run: Run, seconds: float) -> None:
        """Let a heuristic search on the same run for so many seconds."""
        limit, stop = run.time_limit, run.stop
        run.time_limit = seconds
        try:
            registry.solver(name)().search(problem, run)
        finally:
            run.time_limit, run.stop = limit, stop
        run.details["began_with"] = name
        run.start = run.labels

    def _chosen(self, run: Run, chosen: Choice) -> Solver:
        """The solver, and the run's record of it; from here on it is the chosen solver's run."""
        name, reason = chosen.name, chosen.because
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


def choice(problem: Problem, time_limit: float | None = None) -> Choice:
    """The solver for one answer, and why."""
    return _first_able(_wanted(problem, time_limit), problem)


def front_choice(problem: Problem, time_limit: float | None) -> Choice:
    """The solver for a front, and why."""
    return _first_able(_wanted_for_fronts(problem, time_limit), problem, front=True)


def _first_able(wanted: Iterator[Choice], problem: Problem, *, front: bool = False) -> Choice:
    found = _able(wanted, problem, front=front)
    return found or Choice("nsga2", "nothing else takes this problem")  # whose refusal says why


def _able(wanted: Iterator[Choice], problem: Problem, *, front: bool = False) -> Choice | None:
    """The first that is there and does not refuse."""
    for one in wanted:
        kind = registry.solver(one.name)
        refuses = kind().refuses_front if front else kind().refuses
        if kind.missing() is None and refuses(problem) is None:
            return one
    return None


def _wanted(problem: Problem, time_limit: float | None) -> Iterator[Choice]:
    """Solvers for one answer, the best for what is known of the problem first; any problem is taken by some of them."""
    n, priced = problem.n, problem.structure(Priced)
    if problem.structure(Construction) is not None:
        yield Choice("mass", "the model makes its partitions itself, one for each k")
    if problem.structure(Assignment) is not None:
        yield Choice("network", "records go to fixed centres under laminar bounds, which is a network")
        because = "bounds on two attributes at once, or conditions that are no bounds, are no network"
        yield Choice("milp", because, "local_search", _HEAD_START, _HEAD_START_SECONDS)
        yield Choice("nsga2", "centres are chosen as well, and records assigned to them at least cost")
    if problem.structure(Score) is not None:
        if _exact_in_time(problem, time_limit):
            yield Choice("epsilon", "a score of loss and entropy is optimal somewhere on their front, found exactly")
        elif n > _EXACT_FRONT_RECORDS:
            yield Choice("epsilon", f"a score is sought by 'nsga2' and bounded, as {_too_long(problem, time_limit)}")
        yield Choice("nsga2", f"a score of loss and entropy lies on their front, and {_too_long(problem, time_limit)}")
    if priced is not None:
        yield from _wanted_for_prices(problem, priced, time_limit)
    if (levels := problem.structure(Levels)) is not None:
        if levels.least_levels and n <= _EXACT_LEVELS_RECORDS:
            yield Choice("milp", f"the levels of {n} records are few enough to be chosen exactly")
        because = "classes are released through hierarchies, whose levels can be climbed from cheap to dear"
        yield Choice("generalise", because)
        yield Choice("usefulness", "the hierarchies are too many for 'generalise'")
    if problem.structure(Lattice) is not None:
        yield Choice("lattice", "everybody is released on the same levels, whose combinations can be ruled out")
    if n <= _EXACT_VIEW_RECORDS:
        yield Choice(
            "milp", f"nothing but a Pyomo view is known of this model, and {n} records are few", "local_search", 0.1
        )
    yield Choice("local_search", f"nothing is known of '{problem.target.name}' but what the judge says of a partition")
    yield Choice("milp", "nothing but a Pyomo view is known of this model")
    yield Choice("nsga2", "records lie somewhere, so that classes have centroids")


def _wanted_for_prices(problem: Problem, priced: Priced, time_limit: float | None) -> Iterator[Choice]:
    n = priced.n
    yield Choice("univariate", "of one ordered attribute under k alone the optimal classes are a shortest path")
    if priced.compiled is None:
        if n <= _LISTED_RECORDS:
            yield Choice("columns", f"of {n} records every class can be listed, whatever its price")
        yield Choice("local_search", "the price of a class is a plain function, which nothing can be proven about")
    elif n <= _COLUMNS_RECORDS:
        yield Choice("columns", f"{n} records are few enough for a bound by column generation")
    if n <= _LOCAL_SEARCH_RECORDS or priced.n_classes is not None:
        yield Choice("local_search", f"{n} records are too many for column generation")
    needed = n / _BLOCK_RECORDS_PER_SECOND
    if problem.structure(Parts) is not None and (time_limit is None or time_limit >= needed):
        yield Choice("blocks", f"{n} records are too many for one local search, and few enough for one in each block")
    because = f"local search in blocks of {n} records takes about {needed:.0f} s, median cuts far less"
    yield Choice("mondrian", because)


def _wanted_for_fronts(problem: Problem, time_limit: float | None) -> Iterator[Choice]:
    """Solvers of fronts, the best for what is known of the problem first; nearly any problem is taken by the last."""
    if problem.objectives[-1].name == SUPPRESSED and problem.n <= _LEFT_OUT_RECORDS:
        yield Choice("epsilon", f"of {problem.n} records the best is proven for every number that is left out")
    if problem.structure(Construction) is not None:
        yield Choice("mass", "the model makes its partitions itself, one for each k")
    if problem.structure(Assignment) is not None:
        yield Choice("network", "every level of the worst class is a pair of bounds, and each a network")
    if problem.structure(EntropyLevels) is not None and _exact_in_time(problem, time_limit):
        yield Choice("epsilon", f"of {problem.n} records every class can be priced, so the front is exact")
    if problem.structure(Levels) is not None:
        because = "classes are released through hierarchies, whose levels can be climbed from cheap to dear"
        yield Choice("generalise", because)
    if len(problem.objectives) > 2:
        yield Choice("nsga3", f"{len(problem.objectives)} objectives need directions to spread over")
    if problem.structure(EntropyLevels) is not None:
        yield Choice("nsga2", _too_long(problem, time_limit))
    yield Choice("nsga2", "these objectives have no exact front, and classes have centroids")


def _exact_in_time(problem: Problem, time_limit: float | None) -> bool:
    """Whether an exact front of so many records is a matter of seconds, or has the time it may take."""
    patient = time_limit is None or time_limit >= _EXACT_FRONT_SECONDS
    return problem.n <= (_EXACT_FRONT_RECORDS if patient else _QUICK_FRONT_RECORDS)


def _too_long(problem: Problem, time_limit: float | None) -> str:
    if problem.n > _EXACT_FRONT_RECORDS:
        return f"{problem.n} records are too many for an exact front"
    return f"an exact front of {problem.n} records may take longer than {time_limit:g} s"
