"""Local search: relocate, exchange, merge and split by ruin and recreate, for any price and any conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optmodels.errors import whole
from optmodels.parallel import cores
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from optmodels.structures import Priced
from solvers.local_search.by_judge import by_judge
from solvers.local_search.construct import first_partition, make_feasible
from solvers.local_search.descent import WORKERS
from solvers.local_search.descents import descent_for
from solvers.local_search.search import Schedule, follow, improve

__all__ = ["LocalSearch", "improve"]

# Judging a partition takes time linear in its records: no more than this share of the time goes into it.
JUDGING = 0.1


@dataclass(frozen=True)
class LocalSearch(Solver):
    """Sweeps of relocations and exchanges, then annealed ruin and recreate; every move keeps the conditions.

    That is for compiled prices of classes. Where a class has a plain price, or only the judge knows what a partition is
    worth, it anneals single moves (`by_judge`), at a speed that is fine for a thousand records.

    With `iterations` the search is that many rounds of ruin and recreate and the same for the same seed;
    without it and without a time limit it ends when longer and longer coolings no longer help.
    `workers` search shares of the classes side by side, and another number of them is another search: unless given they
    are as many as there are cores where the clock decides anyway, and the same on any machine otherwise.
    """

    name: ClassVar[str] = "local_search"
    summary: ClassVar[str] = "relocations, exchanges and annealed ruin and recreate; any start, anytime, heuristic"

    iterations: int | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.iterations is not None:
            whole("iterations", self.iterations, 0)
        if self.workers is not None:
            whole("workers", self.workers, 1)

    def _workers(self, run: Run) -> int:
        if self.workers is not None:
            return self.workers
        return WORKERS if self.iterations is not None or run.time_limit is None else cores()

    def search(self, problem: Problem, run: Run) -> None:
        """Start from the given partition or from k-d cuts, and improve until time, iterations or ideas run out."""
        priced = problem.structure(Priced)
        if priced is None or priced.compiled is None:
            by_judge(problem, run, self.iterations)
            return
        price, test, n_classes = priced.compiled, priced.test, priced.n_classes
        start = None
        if run.start is not None:
            start = make_feasible(price, test, run.start, n_classes)
        if start is None:
            start = first_partition(price, test, n_classes)
        if start is None:
            run.details["start"] = "no partition that meets the conditions was found to start from"
            return
        offers = _Offers(run)
        offers.offer(start)
        descent = descent_for(price, test, start, n_classes=n_classes, seed=run.seed, workers=self._workers(run))
        seconds = None if run.time_limit is None else max(run.remaining, 1e-3)
        try:
            schedule = Schedule(seconds=seconds, iterations=self.iterations)
            finished = follow(descent, schedule, offers.offer, lambda: run.interrupt.pressed)
        finally:
            run.offer(descent.best)
        run.interrupt.heed()
        if not finished:
            run.stop = Stop.TIME
        elif self.iterations is not None:
            run.stop = Stop.ITERATIONS


class _Offers:
    """Passes improvements on to the run, but not so often that judging them slows the search."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._next = 0.0

    def offer(self, labels: Labels) -> None:
        before = self._run.seconds
        if before < self._next:
            return
        self._run.offer(labels)
        after = self._run.seconds
        self._next = after + (after - before) / JUDGING
        self._run.report("local search")
