"""Mondrian (LeFevre et al. 2006): cut the table at medians, along the widest attribute, as long as conditions allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets, only_size
from optmodels.errors import InputError
from optmodels.kernels import kernel, part
from optmodels.parallel import threads
from optmodels.partition import Labels
from optmodels.price import Price
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Assignment, Centroids, ClassCount, Structure
from solvers._construction.median import Points as Places
from solvers._construction.median import Rows, select, swap
from solvers._construction.places import dear_price
from solvers._construction.repair import offer_coarser

_PIECES = 64  # parts into which the table is cut before they are shared out


@dataclass(frozen=True)
class Mondrian(Solver):
    """Median cuts along the attribute whose values in the part span the most of its range; then the next attribute.

    A cut must leave two parts that meet the conditions (k, and distinct l, entropy l and t where asked for). Strict
    cuts keep equal values together; with `relaxed` a part is halved exactly, and values equal to its median are dealt
    out by the other attributes. That makes smaller classes where values are few, and mixes categories more.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> Mondrian().solve(Microaggregation(k=3).build(table)).labels
    array([0, 1, 0, 1, 0, 1])
    """

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "median cuts along the widest attribute, strict or relaxed; feasible, for millions of rows"
    needs: ClassVar[tuple[type[Structure], ...]] = (Centroids,)
    rejects: ClassVar[tuple[type[Structure], ...]] = (ClassCount, Assignment)

    relaxed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.relaxed, bool):
            raise InputError(f"relaxed must be True or False, not {self.relaxed!r}.")

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the partition that no further cut is allowed in, or the one that time was left for."""
        cuts = MedianCuts(dear_price(problem), problem.test, relaxed=self.relaxed)
        try:
            cuts.make(run)
        finally:
            offer_coarser(run, cuts.labels())
            if run.labels is None:
                run.details["mondrian"] = "the whole table as one class already breaks a condition"


class MedianCuts:
    """A table being cut: at any moment a partition, whose classes are the stretches of `rows` up to each end."""

    def __init__(self, price: Price, test: ClassTest, *, relaxed: bool = False) -> None:
        self.places = scaled_places(price)
        self.test = test
        self.relaxed = relaxed
        self.rows = np.arange(price.n)
        self.ends = np.zeros(price.n, np.bool_)  # whether a class ends with this place
        self.ends[-1:] = True

    def make(self, run: Run | None = None) -> None:
        """Make every cut that is allowed; with a run, those that its time is enough for."""
        parts = [(0, len(self.rows))]
        with threads() as pool:
            while parts and len(parts) < _PIECES and not (run and run.expired):
                parts = [half for halves in pool.map(self._halves, parts) for half in halves]
                if run:
                    run.report(f"{int(self.ends.sum())} parts")
            for place, _ in enumerate(pool.map(lambda part: self._finish(part, run), parts), 1):
                if run:
                    run.report("parts cut", done=place, total=len(parts))

    def labels(self) -> Labels:
        """The classes so far."""
        labels = np.empty(len(self.rows), np.int64)
        labels[self.rows] = np.cumsum(self.ends) - self.ends
        return labels

    def _halves(self, part: tuple[int, int]) -> list[tuple[int, int]]:
        low, high = part
        middle = int(cut_once(self.places, self.rows, low, high, self.test, self.relaxed))
        if middle < 0:
            return []
        self.ends[middle - 1] = True
        return [(low, middle), (middle, high)]

    def _finish(self, part: tuple[int, int], run: Run | None) -> None:
        if not (run and run.expired):
            cut_down(self.places, self.rows, *part, self.test, self.relaxed, self.ends)


def scaled_places(price: Price) -> Places:
    """Records as points whose coordinates all span 0 to 1; categories stand in the order of their levels."""
    columns = [*price.numeric.T, *price.codes.T]
    places = np.empty((price.n, len(columns)))
    for j, column in enumerate(columns):
        span = np.ptp(column)
        np.subtract(column, column.min(), out=places[:, j])
        places[:, j] /= span if span > 0 else 1.0
    return places


@kernel(nogil=True)
def cut_down(
    places: Places, rows: Rows, low: int, high: int, test: ClassTest, relaxed: bool, ends: NDArray[np.bool_]
) -> None:
    """Cut places[low:high], and rows with them, until no cut is allowed; marks the ends of classes."""
    # Of two parts the smaller is cut first, so no more than log2(n) wait.
    lows, highs, waiting = np.empty(64, np.int64), np.empty(64, np.int64), 1
    lows[0], highs[0] = low, high
    while waiting > 0:
        waiting -= 1
        low, high = lows[waiting], highs[waiting]
        middle = cut_once(places, rows, low, high, test, relaxed)
        if middle < 0:
            continue
        ends[middle - 1] = True
        left_first = middle - low <= high - middle
        lows[waiting], highs[waiting] = (middle, high) if left_first else (low, middle)
        lows[waiting + 1], highs[waiting + 1] = (low, middle) if left_first else (middle, high)
        waiting += 2


@kernel(nogil=True)
def cut_once(places: Places, rows: Rows, low: int, high: int, test: ClassTest, relaxed: bool) -> int:
    """Rearranges places[low:high] and returns where it was cut, or -1 if no cut is allowed."""
    if high - low < 2 * test.k:
        return -1
    d = places.shape[1]
    least, most = places[low].copy(), places[low].copy()
    for i in range(low + 1, high):
        for j in range(d):
            least[j] = min(least[j], places[i, j])
            most[j] = max(most[j], places[i, j])
    widest_first = np.argsort(least - most)
    for j in widest_first:
        if most[j] <= least[j]:
            break
        half = (low + high) // 2
        select(places, rows, low, high, half, j)
        if relaxed:
            _deal_ties(places, rows, low, high, half, j, widest_first)
            if _allowed(rows, low, half, high, test):
                return half
            continue
        value = places[half, j]
        below = _gather(places, rows, low, half, j, value, False)
        above = _gather(places, rows, half, high, j, value, True)
        # Equal values stay together: the cut is before or after all of them, first where halves are more even.
        first, second = (below, above) if half - below <= above - half else (above, below)
        for place in (first, second):
            if _allowed(rows, low, place, high, test):
                return int(place)
    return -1


@part
def _deal_ties(places: Places, rows: Rows, low: int, high: int, half: int, j: int, widest_first: Rows) -> None:
    """Deal out what equals the median of attribute j by the widest of the others, and so on down to the narrowest."""
    for other in widest_first:
        value = places[half, j]
        low, high = _gather(places, rows, low, half, j, value, False), _gather(places, rows, half, high, j, value, True)
        if high - low <= 1:
            return
        select(places, rows, low, high, half, other)
        j = other


@part
def _allowed(rows: Rows, low: int, middle: int, high: int, test: ClassTest) -> bool:
    if middle - low < test.k or high - middle < test.k:
        return False
    if only_size(test):
        return True
    allowed: bool = _meets(rows, low, middle, test) and _meets(rows, middle, high, test)
    return allowed


@part
def _meets(rows: Rows, low: int, high: int, test: ClassTest) -> bool:
    counts = np.zeros(test.starts[-1], np.int64)
    for i in range(low, high):
        for j in range(test.codes.shape[1]):
            counts[test.codes[rows[i], j]] += 1
    met: bool = meets(test, counts, high - low)
    return met


@part
def _gather(places: Places, rows: Rows, low: int, high: int, j: int, value: float, equal: bool) -> int:
    """Brings what is below the value, or what equals it, to the front of [low, high); returns where that ends."""
    end = low
    for i in range(low, high):
        if (equal and places[i, j] == value) or (not equal and places[i, j] < value):
            swap(places, rows, i, end)
            end += 1
    return end
