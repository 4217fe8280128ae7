"""Which group of blocks a record goes to, when no process holds all records: a k-d tree grown on a sample.

Groups are as large as one worker bears. Which records they hold is decided by the tree; that they can keep
the conditions is checked by exact counts, and groups that cannot are merged with their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.errors import InfeasibleError, InputError
from optmodels.partition import group_rows
from optmodels.price import Floats, Price
from solvers.blocks.cutting import category_sides

MOST_TIMES = 4  # what a group may hold at most, as a multiple of what it should


@dataclass(frozen=True)
class RoutingTree:
    """A k-d tree as arrays: below the threshold to the left, others to the right; a leaf has axis -1.

    The records of a leaf are dealt to as many groups as `shares` says: more than one where too many are equal.
    """

    axis: NDArray[np.int64]
    threshold: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    first: NDArray[np.int64]  # of a leaf: its first group
    shares: NDArray[np.int64]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.shares[self.axis < 0].sum())

    def route(self, places: Floats, turn: int) -> NDArray[np.int64]:
        """The group of each record; `turn` shifts who gets whose share of equal records."""
        groups = np.empty(len(places), np.int64)
        waiting = [(0, np.arange(len(places)))]
        while waiting:
            node, rows = waiting.pop()
            if self.axis[node] < 0:
                groups[rows] = self.first[node] + (rows + turn) % self.shares[node]
                continue
            low = places[rows, self.axis[node]] < self.threshold[node]
            waiting += [(int(self.left[node]), rows[low]), (int(self.right[node]), rows[~low])]
        return groups


def grow(sample: Floats, per_group: float) -> RoutingTree:
    """A tree whose leaves hold about `per_group` records of the sample each.

    >>> tree = grow(np.array([[0.0], [1.0], [8.0], [9.0]]), 2)
    >>> tree.route(np.array([[0.5], [8.5]]), 0)
    array([0, 1])
    """
    nodes: list[list[float]] = []
    groups = 0

    def add(rows: NDArray[np.int64]) -> int:
        nonlocal groups
        node = len(nodes)
        nodes.append([-1, 0.0, -1, -1, groups, 1])
        found = _threshold(sample[rows]) if len(rows) > 1.5 * per_group else None
        if found is None:
            nodes[node][5] = max(1, round(len(rows) / per_group))
            groups += int(nodes[node][5])
            return node
        axis, threshold = found
        below = sample[rows, axis] < threshold
        nodes[node][:2] = [axis, threshold]
        nodes[node][2] = add(rows[below])
        nodes[node][3] = add(rows[~below])
        return node

    add(np.arange(len(sample)))
    axis, threshold, left, right, first, shares = np.array(nodes, np.float64).T
    whole = [part.astype(np.int64) for part in (axis, left, right, first, shares)]
    return RoutingTree(whole[0], threshold, *whole[1:])


def _threshold(places: Floats) -> tuple[int, float] | None:
    """The widest axis and the value that halves the places along it best; None where all are equal."""
    if not places.size:
        return None
    for axis in np.argsort(-np.ptp(places, axis=0), kind="stable").tolist():
        values = np.sort(places[:, axis])
        if values[0] == values[-1]:
            return None
        middle = float(values[len(values) // 2])
        return axis, middle if middle > values[0] else float(values[np.searchsorted(values, middle, "right")])
    return None


def places_in_all(price: Price, levels: Sequence[int]) -> Floats:
    """Records as points that are comparable across pieces; `levels` are how many values each category has."""
    sides = category_sides(price, levels)
    return np.hstack([price.numeric, price.codes * sides])


def dealt(test: ClassTest, groups: int, turn: int) -> NDArray[np.int64]:
    """Groups that mirror the table: the records of every combination of sensitive values are dealt out in turn."""
    n = len(test.codes)
    strata = group_rows([*test.codes.T]) if test.codes.shape[1] else np.zeros(n, np.int64)
    order = np.argsort(strata, kind="stable")
    sizes = np.bincount(strata)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return (place + turn) % groups


def merged_groups(
    test: ClassTest, sizes: NDArray[np.int64], counts: NDArray[np.int64], rows: int
) -> list[tuple[int, ...]]:
    """Neighbouring groups put together until each, as one class, meets the conditions.

    Raises:
        InfeasibleError: not even all records together meet them.
        InputError: a group that meets them is too large for one worker.
    """
    found: list[tuple[int, ...]] = []
    waiting: tuple[int, ...] = ()
    for group in np.flatnonzero(sizes).tolist():
        waiting = (*waiting, group)
        if _meet(test, sizes, counts, waiting):
            found.append(waiting)
            waiting = ()
    while waiting:
        if not found:
            raise InfeasibleError("Not even all records as one class meet the conditions.")
        waiting = (*found.pop(), *waiting)
        if _meet(test, sizes, counts, waiting):
            found.append(waiting)
            waiting = ()
    largest = max(int(sizes[list(group)].sum()) for group in found)
    if largest > MOST_TIMES * rows:
        raise InputError(
            f"The conditions hold only in groups of {largest:,} records, more than {MOST_TIMES} times the {rows:,} "
            f"that a worker is to hold: raise group_rows to {ceil(largest / MOST_TIMES):,}, or use cut='strata', which "
            "makes groups that mirror the table."
        )
    return found


def _meet(test: ClassTest, sizes: NDArray[np.int64], counts: NDArray[np.int64], groups: tuple[int, ...]) -> bool:
    members = list(groups)
    return bool(meets(test, counts[members].sum(axis=0), int(sizes[members].sum())))
