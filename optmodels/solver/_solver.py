"""The solver's contract, and the Run that keeps its incumbent, its bound and its clock.

A solver only searches: it offers partitions and raises bounds on its Run. What is done once for all of them
is here: refusing, infeasibility known beforehand, the time limit, Ctrl-C, judging by the Problem, the record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from numbers import Real
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import InputError, RefusedError, whole
from optmodels.front import ParetoFront
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solution import Moment, Solution, Status, Stop, relative_gap
from optmodels.solver.interrupt import Interrupt

# A value this close to the bound, relatively, is the bound: sums in different orders differ in their last bits.
PROVEN = 1e-9
# A bound further than this beyond the incumbent is no rounding: the solver that claims it is wrong.
CONTRADICTED = 1e-6


@dataclass(frozen=True)
class Progress:
    """Where a running solver is; `total` is known when the work can be counted.

    `front` is there while a front is sought: `evaluations`, `points`, `hypervolume`, and the best value of every
    objective under its own name.
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


OnProgress = Callable[[Progress], None]


class Run:
    """One run of a solver on a problem: the best partition so far, the bound, the clock, the anytime curve."""

    def __init__(
        self,
        problem: Problem,
        solver: str,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        on_progress: OnProgress | None = None,
        start: Labels | None = None,
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.seed = seed
        self.start = start
        self.time_limit = time_limit
        self.labels: Labels | None = None
        self.values: dict[str, float] = {}
        self.bound: float | None = None
        self.proven_infeasible = ""
        self.stop = Stop.CONVERGED
        self.details: dict[str, object] = {}
        self.history: list[Moment] = []
        self.interrupt = Interrupt()
        self._on_progress = on_progress
        self._began = perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return perf_counter() - self._began

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

    @property
    def value(self) -> float | None:
        """The incumbent's value of the target objective."""
        return self.values.get(self.problem.target.name)

    @property
    def gap(self) -> float | None:
        """How far from optimal the incumbent can be."""
        return relative_gap(self.value, self.bound)

    def offer(self, labels: NDArray[np.integer[Any]]) -> bool:
        """Judge a partition by the problem; keep it if it is feasible and better than the incumbent."""
        evaluation = self.problem.evaluate(labels)
        if not evaluation.feasible:
            return False
        target = self.problem.target
        current = self.value
        if current is not None and target.worse(evaluation.values[target.name], current) >= 0:
            return False
        self.labels = self.problem.check(labels)
        self.values = dict(evaluation.values)
        self._record()
        return True

    def prove(self, bound: float) -> None:
        """Record a proven bound on the target; only a better one counts."""
        if self.bound is None or self.problem.target.worse(bound, self.bound) > 0:
            self.bound = float(bound)
            self._record()

    def infeasible(self, reason: str) -> None:
        """Record a proof that no partition satisfies the conditions."""
        self.proven_infeasible = reason

    def report(
        self,
        note: str = "",
        *,
        done: float = 0.0,
        total: float | None = None,
        front: Mapping[str, float] | None = None,
    ) -> None:
        """Tell whoever listens where the run is."""
        if self._on_progress is not None:
            best = self.value, self.bound, self.gap
            self._on_progress(Progress(self.solver, self.seconds, *best, note, done, total, front or {}))
        self.interrupt.heed()

    def _record(self) -> None:
        self.history.append(Moment(self.seconds, self.value, self.bound))

    def solution(self) -> Solution:
        """What the run may claim."""
        bound = self.bound
        if self.labels is None:
            status = Status.INFEASIBLE if self.proven_infeasible else Status.NONE
        elif self.gap is not None and self.gap <= PROVEN:
            status = Status.OPTIMAL
        else:
            status = Status.FEASIBLE
        if self.value is not None and bound is not None and self.problem.target.worse(self.value, bound) < 0:
            if abs(self.value - bound) > CONTRADICTED * max(abs(self.value), CONTRADICTED):
                raise AssertionError(f"{self.solver} claims a bound of {bound!r} and found {self.value!r}")
            bound = self.value  # rounding left the bound a hair beyond the value that it proves
        return Solution(
            problem=self.problem,
            solver=self.solver,
            status=status,
            stop=self.stop,
            labels=self.labels,
            values=self.values,
            bound=bound,
            seconds=self.seconds,
            seed=self.seed,
            reason=self.proven_infeasible,
            details=self.details,
            history=tuple(self.history),
        )


def _only_ctrl_c(error: BaseException) -> None:
    """Raise the error again unless it is Ctrl-C, which can reach us as SystemErrors from within compiled calls."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    if cause is None:
        raise error


class Solver(ABC):
    """How a problem is solved; subclasses are frozen dataclasses whose fields are the solver's options."""

    name: ClassVar[str]
    summary: ClassVar[str]
    exact: ClassVar[bool] = False  # whether it sets a bound
    requires: ClassVar[tuple[str, ...]] = ()  # modules it needs beyond the core's

    @abstractmethod
    def refuses(self, problem: Problem) -> str | None:
        """Why this solver cannot work on the problem, or None."""

    @abstractmethod
    def search(self, problem: Problem, run: Run) -> None:
        """Offer partitions to the run and prove bounds on it until done or expired."""

    def solve(
        self,
        problem: Problem,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        on_progress: OnProgress | None = None,
        start: NDArray[np.integer[Any]] | None = None,
    ) -> Solution:
        """The best partition found, with what is proven about it; `start` is a partition to begin from.

        A time limit or Ctrl-C returns the best so far.
        """
        self._check(problem, time_limit, seed)
        warm = None if start is None else problem.check(start)
        run = Run(problem, self.name, time_limit=time_limit, seed=seed, on_progress=on_progress, start=warm)
        try:
            with run.interrupt.listening():
                if warm is not None:
                    run.offer(warm)
                if reason := problem.impossible():
                    run.infeasible(reason)
                    return run.solution()
                self.search(problem, run)
        except (KeyboardInterrupt, SystemError) as error:
            _only_ctrl_c(error)
            run.stop = Stop.INTERRUPTED
        return run.solution()

    def _check(self, problem: Problem, time_limit: float | None, seed: int) -> None:
        is_number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
        if time_limit is not None and not (is_number and time_limit > 0):
            raise InputError(f"time_limit must be a positive number of seconds, not {time_limit!r}.")
        whole("seed", seed, 0)
        if reason := self.refuses(problem):
            raise RefusedError(f"The solver '{self.name}' cannot solve this problem: {reason}")

    @classmethod
    def missing(cls) -> str | None:
        """Which module the solver lacks on this machine, found without importing it, or None."""
        return next((module for module in cls.requires if find_spec(module) is None), None)

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """The names of the solver's options."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]


class FrontSolver(Solver):
    """A solver that also answers problems of several objectives with a Pareto front."""

    @abstractmethod
    def explore(self, problem: Problem, run: Run, found: list[Solution]) -> None:
        """Append solutions to `found` until the front is complete or the run expired."""

    def pareto(
        self,
        problem: Problem,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        on_progress: OnProgress | None = None,
    ) -> ParetoFront:
        """The front found; a time limit or Ctrl-C returns what there is so far."""
        self._check(problem, time_limit, seed)
        if len(problem.objectives) < 2:
            raise RefusedError(
                f"'{problem.formulation.name}' has one objective, {problem.target.name}: a front needs two or more."
            )
        run = Run(problem, self.name, time_limit=time_limit, seed=seed, on_progress=on_progress)
        found: list[Solution] = []
        try:
            if reason := problem.impossible():
                run.details["infeasible"] = reason
            else:
                with run.interrupt.listening():
                    self.explore(problem, run, found)
        except (KeyboardInterrupt, SystemError) as error:
            _only_ctrl_c(error)
            run.stop = Stop.INTERRUPTED
        record = {"solver": self.name, "stop": str(run.stop), "seconds": run.seconds, "seed": seed}
        return ParetoFront.of(problem, found, {**record, **run.details})
