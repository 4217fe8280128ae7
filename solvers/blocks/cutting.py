"""Cutting a table into blocks: k-d cuts, or cuts within every combination of sensitive values.

A cut is made only where both halves, each as one class, meet the conditions. Then every block has a partition that
meets them (conditions bear merging), and a part that no cut leaves two such halves of stays whole: the two blocks that
it might have become are merged, as it were, before they exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, count_values, meets
from optmodels.parallel import threads
from optmodels.partition import group_rows
from optmodels.price import SPREAD, Floats, Price
from optmodels.problem import Problem
from solvers._construction.median import Points as Places
from solvers._construction.median import Rows
from solvers.mondrian import cut_once

Cut = Literal["kd", "strata"]

_PIECES = 16  # parts that threads share out among themselves


@dataclass(frozen=True, eq=False)
class Cuts:
    """Records in the order of their blocks: block b is order[starts[b]:starts[b + 1]].

    Where the number of classes is prescribed, those of a block are its share of `classes`, in the same way.
    """

    order: Rows
    starts: NDArray[np.int64]
    pairs: NDArray[np.int64]  # the first of every two blocks that one last cut made
    classes: NDArray[np.int64] | None = None
    class_starts: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def rows(self, block: int, last: int | None = None) -> Rows:
        """The records of a block, or of several up to the last."""
        return self.order[self.starts[block] : self.starts[(block if last is None else last) + 1]]

    def part(self, problem: Problem, block: int, last: int | None = None) -> Problem:
        """The problem of a block, or of several up to the last."""
        rows = self.rows(block, last)
        if self.classes is None or self.class_starts is None:
            return problem.part(rows).allowing(0)
        ends = self.class_starts[block], self.class_starts[(block if last is None else last) + 1]
        return problem.restricted(rows, self.classes[slice(*ends)]).allowing(0)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records each block has."""
        return np.diff(self.starts)

    def details(self) -> dict[str, int]:
        """How many blocks there are, and how large they are."""
        sizes = self.sizes
        return {"blocks": len(sizes), "smallest_block": int(sizes.min()), "largest_block": int(sizes.max())}


def cut_into_blocks(
    price: Price, test: ClassTest, size: int, cut: Cut = "kd", halted: Callable[[], bool] = lambda: False
) -> Cuts:
    """Blocks of at most `size` records where conditions allow; parts not yet cut when halted stay whole.

    >>> price = Price("spread", np.array([[0.0], [9.0], [1.0], [8.0]]), np.zeros((4, 0), np.int32), np.zeros(0))
    >>> from optmodels.conditions import Conditions
    >>> import pandas as pd
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"x": [0, 9, 1, 8]}), quasi={"x": "numeric"})
    >>> cuts = cut_into_blocks(price, Conditions(k=2).compile(table), 2)
    >>> sorted(cuts.rows(0)), sorted(cuts.rows(1))
    ([np.int64(0), np.int64(2)], [np.int64(1), np.int64(3)])
    """
    cutter = _Cutter(price, test, size, cut)
    parts = [(0, price.n)]
    leaves: list[tuple[int, int]] = []
    cuts: list[tuple[int, int, int]] = []
    while parts and len(parts) < _PIECES and not halted():
        low, high = parts.pop(int(np.argmax([high - low for low, high in parts])))
        cutter.split(low, high, parts, leaves, cuts)

    def finish(part: tuple[int, int]) -> None:
        waiting = [part]
        while waiting and not halted():
            cutter.split(*waiting.pop(), waiting, leaves, cuts)
        leaves.extend(waiting)

    with threads() as pool:
        list(pool.map(finish, parts))
    leaves.sort()
    starts = np.array([0, *(high for _, high in leaves)], np.int64)
    uncut = set(leaves)
    pairs = sorted(low for low, middle, high in cuts if (low, middle) in uncut and (middle, high) in uncut)
    return Cuts(cutter.rows, starts, np.searchsorted(starts, np.array(pairs, np.int64)))


class _Cutter:
    """The records on their way into blocks, moved about in place; threads may cut disjoint parts."""

    def __init__(self, price: Price, test: ClassTest, size: int, cut: Cut) -> None:
        self.test = test
        self.size = size
        self.places = places_by_price(price)
        self.rows = np.arange(price.n)
        self.by_strata = cut == "strata"
        self.strata = np.zeros(0, np.int64)
        if test.codes.shape[1] and (self.by_strata or not test.only_size):
            self.strata = group_rows([*test.codes.T])

    def split(
        self,
        low: int,
        high: int,
        parts: list[tuple[int, int]],
        leaves: list[tuple[int, int]],
        cuts: list[tuple[int, int, int]],
    ) -> None:
        """Cut a part in two that may be cut again, and note where; a part that is not cut is a block."""
        middle = self._cut(low, high) if high - low > self.size else -1
        if middle < 0:
            leaves.append((low, high))
            return
        cuts.append((low, middle, high))
        parts += [(low, middle), (middle, high)]

    def _cut(self, low: int, high: int) -> int:
        """Where the part was cut, or -1 if every cut leaves a half that breaks the conditions."""
        ways = [self._cut_between_places, self._halve_exactly]
        ways.insert(0 if self.by_strata else 2, self._cut_within_strata)
        return next((middle for way in ways if (middle := way(low, high)) >= 0), -1)

    def _cut_between_places(self, low: int, high: int) -> int:
        return int(cut_once(self.places, self.rows, low, high, self.test, False))

    def _halve_exactly(self, low: int, high: int) -> int:
        return int(cut_once(self.places, self.rows, low, high, self.test, True))

    def _cut_within_strata(self, low: int, high: int) -> int:
        """Halve every combination of sensitive values along the widest attribute, so that both halves mirror the part.

        It also halves records that are all equal, which no cut between places can.
        """
        places, rows = self.places[low:high], self.rows[low:high]
        order = np.arange(high - low)
        if places.shape[1]:
            order = np.argsort(places[:, int(np.ptp(places, axis=0).argmax())], kind="stable")
        strata = self.strata[rows[order]] if len(self.strata) else np.zeros(len(rows), np.int64)
        grouped = np.argsort(strata, kind="stable")
        ends = np.cumsum(np.bincount(strata))
        upto = ends // 2  # of all strata up to this one: halves of odd ones take turns
        quota = np.diff(upto, prepend=0)
        kind = strata[grouped]
        place_within = np.arange(len(grouped)) - np.concatenate([[0], ends[:-1]])[kind]
        first = np.zeros(len(rows), np.bool_)
        first[order[grouped[place_within < quota[kind]]]] = True
        ranked = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
        rows[:] = rows[ranked]
        places[:] = places[ranked]
        middle = low + int(first.sum())
        allowed = all(
            meets(self.test, count_values(self.test, self.rows[start:end]), end - start)
            for start, end in pairwise((low, middle, high))
        )
        return middle if allowed else -1


def places_by_price(price: Price) -> Places:
    """Records as points whose sides are as long as they are dear, so that the longest is the one worth cutting.

    Categories stand in the order of their levels. A category that differs throughout costs as much as numbers that
    are spread evenly over a side of the length given to it.
    """
    columns = [*price.numeric.T, *price.codes.T]
    sides = category_sides(price, [int(codes.max(initial=0)) + 1 for codes in price.codes.T])
    factors = [*[1.0] * price.numeric.shape[1], *sides.tolist()]
    places = np.empty((price.n, len(columns)))
    for j, (column, factor) in enumerate(zip(columns, factors, strict=True)):
        np.subtract(column, column.min(), out=places[:, j])
        places[:, j] *= factor
    return places


def category_sides(price: Price, levels: Sequence[int]) -> Floats:
    """How far apart two neighbouring levels of each category are placed; `levels` are how many each has."""
    number = np.array(levels, np.float64)
    if price.kind == SPREAD:
        return np.sqrt(12 * price.code_weights * (1 - 1 / np.maximum(number, 1))) / np.maximum(number - 1, 1)
    return price.code_weights
