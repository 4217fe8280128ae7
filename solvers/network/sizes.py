"""Bounds that depend on the sizes of classes: a flow for every range of sizes, branching where one is too wide.

Over a range of sizes the bounds of a class are those that hold for all of them, so a flow bounds every assignment from
below. If each class of its assignment keeps the bounds of its own size, it is the optimum. If one of s records holds
too few of a value, classes of s and more need as many as that, so in either half, up to s - 1 and from s on, this
assignment is no more; likewise up to s and from s + 1 on where one holds too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np
from numpy.typing import NDArray

from optmodels.flow import Flow
from optmodels.halting import Flag
from optmodels.partition import Labels
from optmodels.price import Floats
from optmodels.solver import PROVEN, Run
from optmodels.structures import Assignment

Ints = NDArray[np.int64]

CANNOT_MEET = "The class sizes, the floors and the caps cannot all be met by these records."


@dataclass(frozen=True, eq=False)
class Range:
    """Bounds on the sizes of all classes, the best assignment within them, and the bound that proves it."""

    least: Ints
    most: Ints
    home: Labels
    bound: float


def search_sizes(assignment: Assignment, centres: Floats, run: Run) -> None:
    """Offer assignments to the run and prove bounds on it until they meet or it expires."""
    with run.halting() as halt:
        Branching(assignment, centres, run, halt).search()


class Branching:
    """Ranges of sizes, the most promising of them first."""

    def __init__(self, assignment: Assignment, centres: Floats, run: Run, halt: Flag) -> None:
        self.assignment, self.run, self.halt = assignment, run, halt
        self.n, self.m = len(assignment.points), len(assignment.least)
        self.flows = 0
        self._costs = assignment.arc_costs(centres)
        self._order = count()
        self._ranges: list[tuple[float, int, Range]] = []

    def search(self) -> None:
        """Solve and halve until the best range holds an assignment that keeps the bounds of its own sizes."""
        run, ranges = self.run, self._ranges
        self._add(self.assignment.least, np.minimum(self.assignment.most, self.n))
        if ranges:
            self._offer_balanced()
        while ranges and not run.expired:
            bound, _, best = ranges[0]
            run.prove(bound)
            run.report(f"{self.flows} flows, {len(ranges)} ranges of sizes")
            if run.value is not None and bound >= run.value - PROVEN * abs(run.value):
                break
            heappop(ranges)
            run.offer(best.home)
            sizes = np.bincount(best.home, minlength=self.m)
            halves = list(self._halves(best, sizes))
            if not halves:
                break
            if (fixed := self._solved(sizes, sizes)) is not None:
                run.offer(fixed.home)
            for least, most in halves:
                self._add(least, most)
        run.details["flows"] = self.flows
        if not ranges and run.value is None and not run.expired:
            run.infeasible(CANNOT_MEET)

    def _add(self, least: Ints, most: Ints) -> None:
        if (least <= most).all() and (found := self._solved(least, most)) is not None:
            heappush(self._ranges, (found.bound, next(self._order), found))

    def _solved(self, least: Ints, most: Ints) -> Range | None:
        """The cheapest assignment within these sizes; None if there is none, or no time to find it."""
        self.flows += 1
        flow = Flow(self._costs, *self.assignment.network(least, most), self.halt)
        for _ in flow.steps():
            if self.run.expired:
                return None
        if flow.halted:
            return None
        return Range(least, most, flow.home, flow.bound) if flow.feasible else None

    def _offer_balanced(self) -> None:
        """Classes of nearly equal sizes meet whatever can be met most easily: something to begin with."""
        least = np.maximum(self.assignment.least, self.n // self.m)
        most = np.minimum(self.assignment.most, -(-self.n // self.m))
        if (least <= most).all() and (found := self._solved(least, most)) is not None:
            self.run.offer(found.home)

    def _halves(self, best: Range, sizes: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Two ranges without this assignment but with all that keep the bounds; none if it keeps them itself."""
        value, bounds = self.assignment.network(sizes, sizes)
        floors, caps = bounds.floor, bounds.cap
        n_groups = floors.shape[1]
        held = np.bincount(best.home * n_groups + value, minlength=floors.size).reshape(floors.shape)
        lacking, beyond = (floors - held).max(axis=1), (held - caps).max(axis=1)
        centre = int(np.maximum(lacking, beyond).argmax())
        if max(lacking[centre], beyond[centre]) <= 0:
            return
        size = int(sizes[centre])
        no_class = bool((floors[centre] > caps[centre]).any())  # of this size
        smaller, larger = best.most.copy(), best.least.copy()
        smaller[centre] = size if beyond[centre] > 0 and not no_class else size - 1
        larger[centre] = size if beyond[centre] <= 0 and not no_class else size + 1
        yield best.least, smaller
        yield larger, best.most
