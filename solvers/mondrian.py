"""Mondrian (LeFevre et al. 2006): cut the table at medians, along the widest attribute, as long as conditions allow."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.partition import Labels
from optmodels.price import Price
from optmodels.problem import ClassAdditive, Problem
from optmodels.solver import Run, Solver

Places = NDArray[np.float32]
Rows = NDArray[np.int64]

_PIECES = 16  # parts into which the table is cut before they are shared out
_WORKERS = 2


@dataclass(frozen=True)
class Mondrian(Solver):
    """Median cuts along the attribute whose values in the part span the most of its range; then the next attribute.

    A cut must leave two parts that meet the conditions (k, and distinct l, entropy l and t where asked for). Strict
    cuts keep equal values together; with `relaxed` a part is halved exactly, whichever side equal values end up on.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> Mondrian().solve(Microaggregation(k=3).build(table)).labels
    array([0, 1, 0, 1, 0, 1])
    """

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "median cuts along the widest attribute, strict or relaxed; feasible, for millions of rows"

    relaxed: bool = False

    def refuses(self, problem: Problem) -> str | None:
        """It needs conditions that each class meets alone, and cannot promise a number of classes."""
        if not isinstance(problem, ClassAdditive):
            return "it needs a model whose classes have a price and conditions of their own."
        if problem.n_classes is not None:
            return f"it cannot promise {problem.n_classes} classes: leave their number free."
        return None

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the partition that no further cut is allowed in."""
        assert isinstance(problem, ClassAdditive)
        labels = cut_table(problem.price, problem.test, relaxed=self.relaxed, run=run)
        if not run.offer(labels):
            run.details["mondrian"] = "the whole table as one class already breaks a condition"


def cut_table(price: Price, test: ClassTest, *, relaxed: bool, run: Run) -> Labels:
    """The classes of Mondrian; parts not yet cut when the time is over stay whole."""
    places = scaled_places(price)
    rows = np.arange(price.n)
    ends = np.zeros(price.n, np.bool_)  # whether a class ends with this row
    parts = [(0, price.n)]
    while parts and len(parts) < _PIECES and not run.expired:
        low, high = max(parts, key=lambda part: part[1] - part[0])
        parts.remove((low, high))
        middle = int(cut_once(places, rows, low, high, test, relaxed))
        if middle < 0:
            ends[high - 1] = True
        else:
            parts += [(low, middle), (middle, high)]

    def finish(part: tuple[int, int]) -> None:
        if run.expired:
            ends[part[1] - 1] = True
        else:
            cut_down(places, rows, *part, test, relaxed, ends)
        run.report(f"{int(ends.sum())} classes")

    with ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(finish, parts))
    labels = np.empty(price.n, np.int64)
    labels[rows] = np.concatenate([[0], np.cumsum(ends)[:-1]])
    return labels


def scaled_places(price: Price) -> Places:
    """Records as points whose coordinates all span 0 to 1; categories stand in the order of their levels.

    Single precision is enough to choose cuts by, and halves what has to be moved about.
    """
    columns = [*price.numeric.T, *price.codes.T]
    places = np.empty((price.n, len(columns)), np.float32)
    for j, column in enumerate(columns):
        low, span = column.min(initial=0) if len(column) == 0 else column.min(), np.ptp(column) if len(column) else 0
        places[:, j] = (column - low) / (span if span > 0 else 1)
    return places


@njit(cache=True, nogil=True)
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
            ends[high - 1] = True
            continue
        left_first = middle - low <= high - middle
        lows[waiting], highs[waiting] = (middle, high) if left_first else (low, middle)
        lows[waiting + 1], highs[waiting + 1] = (low, middle) if left_first else (middle, high)
        waiting += 2


@njit(cache=True, nogil=True)
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
    for j in np.argsort(least - most):
        if most[j] <= least[j]:
            break
        half = (low + high) // 2
        _select(places, rows, low, high, half, j)
        if relaxed:
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


@njit(cache=True, nogil=True)
def _allowed(rows: Rows, low: int, middle: int, high: int, test: ClassTest) -> bool:
    if middle - low < test.k or high - middle < test.k:
        return False
    if test.distinct_l <= 1 and not test.entropy.any() and test.t == np.inf:
        return True
    allowed: bool = _meets(rows, low, middle, test) and _meets(rows, middle, high, test)
    return allowed


@njit(cache=True, nogil=True)
def _meets(rows: Rows, low: int, high: int, test: ClassTest) -> bool:
    counts = np.zeros(test.starts[-1], np.int64)
    for i in range(low, high):
        for j in range(test.codes.shape[1]):
            counts[test.codes[rows[i], j]] += 1
    met: bool = meets(test, counts, high - low)
    return met


@njit(cache=True, nogil=True)
def _swap(places: Places, rows: Rows, a: int, b: int) -> None:
    rows[a], rows[b] = rows[b], rows[a]
    for j in range(places.shape[1]):
        places[a, j], places[b, j] = places[b, j], places[a, j]


@njit(cache=True, nogil=True)
def _select(places: Places, rows: Rows, low: int, high: int, place: int, j: int) -> None:
    """Rearranges so that places[place, j] is what it would be in sorted order, with none larger before it."""
    left, right = low, high - 1
    while left < right:
        # The middle of three against sorted input.
        middle = (left + right) // 2
        if places[middle, j] < places[left, j]:
            _swap(places, rows, middle, left)
        if places[right, j] < places[left, j]:
            _swap(places, rows, right, left)
        if places[right, j] < places[middle, j]:
            _swap(places, rows, right, middle)
        pivot = places[middle, j]
        a, b = left, right
        while a <= b:
            while places[a, j] < pivot:
                a += 1
            while pivot < places[b, j]:
                b -= 1
            if a <= b:
                _swap(places, rows, a, b)
                a += 1
                b -= 1
        if place <= b:
            right = b
        elif place >= a:
            left = a
        else:
            return


@njit(cache=True, nogil=True)
def _gather(places: Places, rows: Rows, low: int, high: int, j: int, value: float, equal: bool) -> int:
    """Brings what is below the value, or what equals it, to the front of [low, high); returns where that ends."""
    end = low
    for i in range(low, high):
        if (equal and places[i, j] == value) or (not equal and places[i, j] < value):
            _swap(places, rows, i, end)
            end += 1
    return end
