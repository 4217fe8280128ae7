"""One run of a solver: the judge of whatever it finds, its bound and its clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.clock import Compiling, now
from optmodels.evidence import Evidence
from optmodels.halting import Flag, lowered, raised_when
from optmodels.kept_search import Earlier, SoFar
from optmodels.partition import Labels
from optmodels.problem import Evaluation, Problem
from optmodels.solution import Moment, Solution, Status, Stop, Worth, relative_gap
from optmodels.solver.interrupt import Interrupt
from optmodels.suppression import without_broken

# A value this close to the bound, relatively, is the bound: sums in different orders differ in their last bits.
PROVEN = 1e-9
# A bound further than this beyond the incumbent is no rounding: the solver that claims it is wrong.
CONTRADICTED = 1e-6


# Seconds, and the share of its limit, that a search may go on beyond it; more where it has found nothing so far.
_SLACK, _SLACK_SHARE, _SLACK_WITHOUT = 1.5, 0.08, 30.0


@dataclass(frozen=True)
class Progress:
    """Where a running solver is; `total` is known when the work can be counted.

    `front` is there while a front is sought: `evaluations`, `points`, `hypervolume`, and the best value of every
    objective under its own name. `points` then are the front's points so far, objective values in their order, and
    `bounds` what is proven of each; they are as the search has them, judged when the run ends.
    """

    solver: str
    seconds: float
    value: float | None
    bound: float | None
    gap: float | None
    note: str = ""
    done: float = 0.0
    total: float | None = None
    front: Mapping[str, float] = field(default_factory=dict)
    points: NDArray[np.float64] | None = None
    bounds: NDArray[np.float64] | None = None  # not a number where nothing is proven


OnProgress = Callable[[Progress], None]


class Run(Worth):
    """One run of a solver on a problem: the best partition so far, the bound, the clock, the anytime curve.

    Solvers hand over labels and bounds, never values: `offer` and `keep` let the problem judge them.
    """

    def __init__(
        self,
        problem: Problem,
        solver: str,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        on_progress: OnProgress | None = None,
        start: Labels | None = None,
        earlier: Earlier | None = None,
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.asked_seed = seed
        # who goes on draws other numbers than before, or it would look at the same partitions again
        self.seed = seed if earlier is None else _drawn(seed, earlier.runs)
        self.earlier = earlier
        self.start = start
        self.known: Sequence[Labels] = ()  # more partitions to begin a front from
        self.time_limit = time_limit
        self.labels: Labels | None = None
        self.values: dict[str, float] = {}
        self.bound: float | None = None
        self.proven_infeasible = ""
        self.stop = Stop.CONVERGED
        self.evidence: Evidence | None = None  # what a verifier without solvers can check of the bound
        self.details: dict[str, object] = {}
        self.history: list[Moment] = []
        self._front: list[Solution] = []
        self._held: Callable[[], Iterable[NDArray[np.integer[Any]]]] = tuple
        self._whole: Run | None = None  # of which this one is a part
        self._taking = Lock()  # heuristics may offer what they find from a thread of their own
        self.interrupt = Interrupt()
        self._on_progress = on_progress
        self._began = now()
        self._most_left_out = problem.suppression.most
        # Whether bounds and proofs of the solver hold where records are left out: it decides itself which are.
        self.leaves_out = True

    def part(self, problem: Problem, solver: str, seconds: float) -> Run:
        """A run of another solver within this one, for so many of its seconds: its seed, its Ctrl-C, its listener."""
        limit = None if seconds == float("inf") else max(1e-3, min(seconds, self.remaining))
        part = Run(problem, solver, time_limit=limit, seed=self.seed, on_progress=self._on_progress)
        part.interrupt = self.interrupt
        part._whole = self if problem.n == self.problem.n else None
        return part

    @property
    def seconds(self) -> float:
        """Seconds since the run began, but for those in which kernels were compiled."""
        return now() - self._began

    @property
    def remaining(self) -> float:
        """Seconds left; infinite without a time limit."""
        return float("inf") if self.time_limit is None else self.time_limit - self.seconds

    @property
    def expired(self) -> bool:
        """Whether the time limit has passed; the stop is then recorded as one of time. Ctrl-C is heeded here."""
        self.interrupt.heed()
        if self.remaining > 0:
            return False
        self.stop = Stop.TIME
        return True

    @contextmanager
    def watched(self) -> Iterator[None]:
        """While it lasts Ctrl-C is noted, and a search that takes no notice of its clock is broken off."""
        with self.interrupt.listening():
            if self.time_limit is None:
                yield
                return
            with self.interrupt.breaking_off(self._overdue):
                yield

    def _overdue(self) -> bool:
        """Whether the limit has passed by more than any search of ours takes to end; with nothing found, by far."""
        assert self.time_limit is not None
        slack = max(_SLACK, _SLACK_SHARE * self.time_limit)
        if self.labels is None:
            slack = max(_SLACK_WITHOUT, self.time_limit)
        return self.remaining < -slack

    @contextmanager
    def halting(self, flag: Flag | None = None, grace: float = 0.0) -> Iterator[Flag]:
        """A flag for compiled loops, a given one or a new one: raised when the time is over or Ctrl-C is pressed.

        `grace` is by how many seconds later, for what must be finished to have anything at all.
        """
        flag = lowered() if flag is None else flag
        with raised_when(lambda: self.interrupt.pressed or self.remaining <= -grace, flag):
            yield flag

    def hold(self, partitions: Callable[[], Iterable[NDArray[np.integer[Any]]]]) -> None:
        """Say what a search has found of a front that it hands over at its end: asked for by another thread."""
        self._held = partitions
        if self._whole is not None:
            self._whole.hold(partitions)

    def standing(self, *, front: bool) -> SoFar:
        """What whoever goes on can begin from."""
        runs, seconds = (0, 0.0) if self.earlier is None else (self.earlier.runs, self.earlier.seconds)
        whole = runs + 1, seconds + self.seconds
        if front:
            known = () if self.earlier is None else self.earlier.points
            return SoFar((*known, *self._front), tuple(self._held()), {}, *whole)
        with self._taking:
            points = () if self.labels is None else (self._answer(self._sound(self.value or 0.0, self.bound, {})),)
        return SoFar(points, (), {}, *whole)

    @property
    def front(self) -> tuple[Solution, ...]:
        """The points kept for a front so far, dominated ones among them."""
        return tuple(self._front)

    def offer(self, labels: NDArray[np.integer[Any]]) -> bool:
        """Judge a partition by the problem; keep it if it is feasible and better than the incumbent."""
        evaluation = self.problem.evaluate(labels)
        if not evaluation.feasible and self._most_left_out:
            labels, evaluation = self._mended(labels, evaluation)
        if not evaluation.feasible:
            return False
        target, partition = self.problem.target, self.problem.check(labels)
        with self._taking:
            current = self.value
            if current is not None and target.worse(evaluation.values[target.name], current) >= 0:
                return False
            self.labels, self.values = partition, dict(evaluation.values)
            self._record()
        return True

    def keep(
        self,
        labels: NDArray[np.integer[Any]],
        bound: float | None = None,
        *,
        stop: Stop | None = None,
        details: Mapping[str, object] | None = None,
    ) -> Solution | None:
        """Judge a partition and keep it as a point of a front, unless it breaks a condition.

        `bound` is what no partition at least as good in all other objectives is better than in the target; `stop` says
        why the search for the point ended where that does not prove it.
        """
        evaluation = self.problem.evaluate(labels)
        if not evaluation.feasible and self._most_left_out:
            labels, evaluation = self._mended(labels, evaluation)
        if not evaluation.feasible:
            return None
        if self._most_left_out and not self.leaves_out:
            bound = None
        details = dict(details or {})
        bound = self._sound(evaluation.values[self.problem.target.name], bound, details)
        status = status_of(evaluation.values[self.problem.target.name], bound)
        if stop is None:
            stop = self.stop
        elif status is Status.OPTIMAL:
            stop = Stop.CONVERGED
        point = Solution(
            problem=self.problem,
            solver=self.solver,
            status=status,
            stop=stop,
            labels=self.problem.check(labels),
            values=evaluation.values,
            bound=bound,
            seconds=self.seconds,
            seed=self.asked_seed,
            details=details,
        )
        self._front.append(point)
        return point

    def _mended(
        self, labels: NDArray[np.integer[Any]], evaluation: Evaluation
    ) -> tuple[NDArray[np.integer[Any]], Evaluation]:
        """The partition without the classes that break a condition, where these are few enough to be left out."""
        mended = without_broken(self.problem.test, self.problem.check(labels), self._most_left_out)
        return (labels, evaluation) if mended is None else (mended, self.problem.evaluate(mended))

    def forget(self, count: int) -> None:
        """Leave out the points kept first: an exact front makes what was found before it needless."""
        del self._front[:count]

    def prove(self, bound: float) -> None:
        """Record a proven bound on the target; only a better one counts.

        What is proven of partitions of all records, by a solver that leaves out none, is nothing where some may be.
        """
        if self._most_left_out and not self.leaves_out:
            return
        if self.bound is None or self.problem.target.worse(bound, self.bound) > 0:
            self.bound = float(bound)
            self._record()

    def infeasible(self, reason: str) -> None:
        """Record a proof that no partition satisfies the conditions."""
        if self._most_left_out and not self.leaves_out:
            return
        self.proven_infeasible = reason

    def report(
        self,
        note: str = "",
        *,
        done: float = 0.0,
        total: float | None = None,
        front: Mapping[str, float] | None = None,
        points: NDArray[np.float64] | None = None,
    ) -> None:
        """Tell whoever listens where the run is; `points` of a front that is kept elsewhere until the run ends."""
        if self._on_progress is not None:
            best = self.value, self.bound, self.gap
            shape = (points, None) if points is not None else self._shape()
            self._on_progress(Progress(self.solver, self.seconds, *best, note, done, total, front or {}, *shape))
        self.interrupt.heed()

    def _shape(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """The values and the bounds of the points kept so far."""
        if not self._front:
            return None, None
        values = [[point.values[objective.name] for objective in self.problem.objectives] for point in self._front]
        return np.array(values), np.array([point.bound for point in self._front], float)

    def compiling(self, state: Compiling) -> None:
        """Tell whoever listens why nothing happens for a while: kernels are compiled once on a machine."""
        self.report(f"compiling, once ({state.number} of {state.total})")

    def _record(self) -> None:
        self.history.append(Moment(self.seconds, self.value, self.bound))

    def solution(self) -> Solution:
        """What the run may claim."""
        if self.labels is None or self.value is None:
            return self._answer(self.bound)
        return self._answer(self._sound(self.value, self.bound, self.details))

    def _answer(self, bound: float | None) -> Solution:
        if self.labels is None or self.value is None:
            status = Status.INFEASIBLE if self.proven_infeasible else Status.NONE
        else:
            status = status_of(self.value, bound)
        return Solution(
            problem=self.problem,
            solver=self.solver,
            status=status,
            stop=self.stop,
            labels=self.labels,
            values=self.values,
            bound=bound,
            seconds=self.seconds,
            seed=self.asked_seed,
            reason=self.proven_infeasible,
            details=self.details,
            evidence=None if bound is None else self.evidence,
            history=tuple(self.history if bound == self.bound or bound is not None else map(_unproven, self.history)),
        )

    def _sound(self, value: float, bound: float | None, details: dict[str, object]) -> float | None:
        """The bound that may be claimed for a value: rounding may leave one a hair beyond the value that it proves.

        One that is further beyond is wrong, and so proves nothing: the partition is what it is, the bound is withdrawn,
        and the record says so.
        """
        if bound is None or self.problem.target.worse(value, bound) >= 0:
            return bound
        if abs(value - bound) <= CONTRADICTED * max(abs(value), CONTRADICTED):
            return value
        details["contradicted_bound"] = bound
        details["remark"] = (
            f"{self.solver} claimed a bound of {bound:.6g}, which its own partition of {value:.6g} contradicts: the "
            "bound is withdrawn, and nothing is proven. The numbers may differ by too little for their size; please "
            "report it if not."
        )
        return None


def _unproven(moment: Moment) -> Moment:
    return Moment(moment.seconds, moment.value, None)


def status_of(value: float, bound: float | None) -> Status:
    """What may be claimed of a feasible partition of this value."""
    gap = relative_gap(value, bound)
    return Status.OPTIMAL if gap is not None and gap <= PROVEN else Status.FEASIBLE


def _drawn(seed: int, runs: int) -> int:
    """The seed of a search that goes on after so many others; the seed itself where there was none."""
    return int(np.random.SeedSequence([seed, runs]).generate_state(1)[0] >> 1) if runs else seed
