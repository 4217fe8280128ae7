"""Local search: relocate, exchange, merge and split by ruin and recreate, for any price and any conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from optmodels.errors import whole
from optmodels.halting import Flag
from optmodels.parallel import cores
from optmodels.partition import LEFT_OUT, Labels, canonical
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from optmodels.structures import Priced, compiled_price
from optmodels.suppression import Suppression
from solvers.local_search.boxes import takes
from solvers.local_search.by_judge import by_judge
from solvers.local_search.construct import first_partition, make_feasible
from solvers.local_search.copies import SetAside, set_aside
from solvers.local_search.descent import WORKERS
from solvers.local_search.descents import descent_for
from solvers.local_search.leaving_out import in_turns, mixed_enough
from solvers.local_search.search import Schedule, follow, improve

__all__ = ["LocalSearch", "improve"]

# Judging a partition takes time linear in its records: no more than this share of the time goes into it.
JUDGING = 0.1
HURRY = 0.5  # of the time that is left when a construction has to come to an end


@dataclass(frozen=True)
class LocalSearch(Solver):
    """Sweeps of relocations and exchanges, then annealed ruin and recreate; every move keeps the conditions.

    That is for compiled prices of classes. Where a class has a plain price, or only the judge knows what a partition is
    worth, it anneals single moves (`by_judge`), at a speed that is fine for a thousand records.

    With `iterations` the search is that many rounds of ruin and recreate and the same for the same seed;
    without it and without a time limit it ends when longer and longer coolings no longer help.
    `workers` search shares of the classes side by side, and another number of them is another search: unless given they
    are as many as there are cores where the clock decides anyway, and the same on any machine otherwise.
    Leaving out records is a move of the search where prices are those of hierarchies under k, and done in turns with it
    elsewhere.
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

    def decides_suppression(self, problem: Problem) -> bool:
        """Whom to leave out is part of the search where classes have compiled prices."""
        priced = problem.structure(Priced)
        return priced is not None and priced.compiled is not None

    def search(self, problem: Problem, run: Run) -> None:
        """Start from the given partition or a construction, and improve until time, iterations or ideas run out."""
        priced = problem.structure(Priced)
        if priced is None or priced.compiled is None:
            by_judge(problem, run, self.iterations)
            return
        with run.halting() as halt:
            aside = _set_aside(priced, None) if run.start is None else None
            start = _start(priced if aside is None else aside.part(priced), run, halt)
            if start is None:
                run.details["start"] = "no partition that meets the conditions was found to start from"
                return
            if run.start is not None and (aside := _set_aside(priced, start)) is not None:
                start = canonical(start[aside.rows])
            if aside is not None:
                run.details["searched"] = len(aside.rows)
                priced = aside.part(priced)
            offers = _Offers(run, aside)
            offers.offer(start)
            if priced.suppression.most and not takes(compiled_price(priced), priced.test, priced.n_classes):
                workers = self._workers(run)
                finished = in_turns(priced, start, run, offers.offer, workers=workers, iterations=self.iterations)
            else:
                finished = self._descend(priced, start, run, offers, halt)
        run.interrupt.heed()
        if not finished:
            run.stop = Stop.TIME
        elif self.iterations is not None:
            run.stop = Stop.ITERATIONS

    def _descend(self, priced: Priced, start: Labels, run: Run, offers: _Offers, halt: Flag) -> bool:
        """One search from beginning to end; False if the clock ended it."""
        descent = descent_for(
            compiled_price(priced),
            priced.test,
            start,
            n_classes=priced.n_classes,
            seed=run.seed,
            workers=self._workers(run),
            suppression=Suppression(priced.suppression.most, priced.left_out_price),
            halt=halt,
        )
        seconds = None if run.time_limit is None else max(run.remaining, 1e-3)
        try:
            schedule = Schedule(seconds=seconds, iterations=self.iterations)
            return follow(descent, schedule, offers.offer, lambda: run.interrupt.pressed)
        finally:
            run.offer(offers.whole(descent.best))


def _set_aside(priced: Priced, start: Labels | None) -> SetAside | None:
    """Equal records that nothing is gained from, where size is all that matters and everyone is in a class."""
    price, test = compiled_price(priced), priced.test
    if not test.only_size or priced.n_classes is not None or priced.suppression.most or takes(price, test, None):
        return None
    return set_aside(price, test, start)


def _start(priced: Priced, run: Run, halt: Flag) -> Labels | None:
    """The given partition mended, a construction, or one of records that can be mixed; None if none was found."""
    price, test, n_classes = compiled_price(priced), priced.test, priced.n_classes
    start = None
    if run.start is not None:
        given = np.where(run.start == LEFT_OUT, run.start.max() + 1, run.start)  # those left out are to be merged
        start = make_feasible(price, test, given, n_classes)
    if start is None:
        # near records are worth half of the time at most: classes of them, and the search, need some, too
        with run.halting(grace=-HURRY * (run.time_limit or 0.0)) as hurry:
            start = first_partition(price, test, n_classes, halt, hurry)
    return mixed_enough(priced) if start is None and priced.suppression.most else start


class _Offers:
    """Passes improvements on to the run, but not so often that judging them slows the search."""

    def __init__(self, run: Run, aside: SetAside | None) -> None:
        self._run, self._aside = run, aside
        self._next = 0.0

    def offer(self, labels: Labels) -> None:
        before = self._run.seconds
        if before < self._next:
            return
        self._run.offer(self.whole(labels))
        after = self._run.seconds
        self._next = after + (after - before) / JUDGING
        self._run.report("local search")

    def whole(self, labels: Labels) -> Labels:
        """The partition of all records, given that of those searched."""
        return labels if self._aside is None else self._aside.whole(labels)
