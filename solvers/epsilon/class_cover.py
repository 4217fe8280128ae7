"""Disjoint classes, as bit masks, that cover all records at least total cost: a depth-first search in portions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import copy_into, kernel
from optmodels.price import Floats

Ints = NDArray[np.int64]


class Cover(NamedTuple):
    """A search that can be interrupted: what it looks through, where it is, and the best it has found."""

    masks: Ints  # ascending, with their costs: to look one up
    mask_costs: Floats
    starts: Ints  # (n + 1): the slice of the classes listed below whose lowest record is i
    listed: Ints  # by lowest record, then ascending cost
    listed_costs: Floats
    chosen: Ints  # by depth: the class, what is covered before it, what it cost, the next to try, the record to cover
    covered: Ints
    spent: Floats
    at: Ints
    records: Ints
    place: Ints  # depth, and number of classes of the best cover
    best: Ints
    best_cost: Floats


def new_cover(n: int, classes: Ints, costs: Floats, distance: float) -> Cover:
    """A search for covers that cost at most `distance`; classes come by ascending cost."""
    lowest = np.log2((classes & -classes).astype(np.float64)).astype(np.int64)
    order = np.argsort(lowest, kind="stable")
    starts = np.searchsorted(lowest[order], np.arange(n + 1))
    by_mask = np.argsort(classes)
    ints = [np.zeros(n + 1, np.int64) for _ in range(5)]
    return Cover(
        classes[by_mask], costs[by_mask], starts, classes[order], costs[order], ints[0], ints[1], np.zeros(n + 1),
        ints[2], ints[3], np.zeros(2, np.int64), ints[4], np.full(1, distance),
    )  # fmt: skip


@kernel
def cover_some(n: int, k: int, n_classes: int, search: Cover, nodes: int) -> bool:
    """Visit so many nodes; whether the search is over. Fewer than 2k records left are one class, which is looked up."""
    everyone = (1 << n) - 1
    depth, best_count, best_cost = search.place[0], search.place[1], search.best_cost[0]
    chosen, covered, spent, at = search.chosen, search.covered, search.spent, search.at
    while depth >= 0 and nodes > 0:
        nodes -= 1
        c, record = at[depth], search.records[depth]
        # Once there is a cover, ties are left alone: of equal records there are more of them than can be visited.
        if c >= search.starts[record + 1] or (
            spent[depth] + search.listed_costs[c] >= best_cost
            if best_count > 0
            else spent[depth] + search.listed_costs[c] > best_cost
        ):
            depth -= 1
            continue
        at[depth] += 1
        if search.listed[c] & covered[depth]:
            continue
        chosen[depth] = search.listed[c]
        union, cost, classes = covered[depth] | search.listed[c], spent[depth] + search.listed_costs[c], depth + 1
        rest = everyone & ~union
        left = 0
        for i in range(n):
            left += rest >> i & 1
        if 0 < left < 2 * k:
            place = np.searchsorted(search.masks, rest)
            if place == len(search.masks) or search.masks[place] != rest:
                continue
            cost += search.mask_costs[place]
            chosen[depth + 1] = rest
            classes, left = depth + 2, 0
        if left == 0:
            better = cost < best_cost or (best_count == 0 and cost <= best_cost)
            if better and (n_classes == 0 or classes == n_classes):
                copy_into(search.best, chosen[:classes])
                best_count, best_cost = classes, cost
            continue
        if classes == n_classes:
            continue
        while union >> record & 1:
            record += 1
        depth += 1
        covered[depth], spent[depth], search.records[depth], at[depth] = union, cost, record, search.starts[record]
    search.place[0], search.place[1], search.best_cost[0] = depth, best_count, best_cost
    return bool(depth < 0)
