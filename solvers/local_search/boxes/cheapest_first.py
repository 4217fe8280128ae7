"""The cheapest classes first: what is nearly k-anonymous already is peeled off, and what is left is looked at again.

Equal records that are enough for a class are one. Of the others each grows a class by the near records that cost
least; these are gone through from cheap to dear, and made where all their records are still free. Records whose near
ones are all taken wait for the next round, in which near is who is still without a class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.halting import Flag, lowered
from optmodels.kernels import kernel
from optmodels.partition import Labels, canonical, group_rows, members
from optmodels.price import Price
from solvers.local_search.boxes.near_nodes import nearest_by_nodes
from solvers.local_search.boxes.nested_order import nested_order
from solvers.local_search.boxes.sides import Numbers, Sides, begun, joined, new_wholes, numbered, stretched

Counts = NDArray[np.int64]

LENGTH = 12
MOST_ROUNDS = 30
APART = 3  # groups of nested nodes for each class that is cut from their order


def cheapest_first(
    price: Price, k: int, seed: int = 0, halt: Flag | None = None, hurry: Flag | None = None
) -> Labels | None:
    """A partition into classes of at least k records; None if there are fewer.

    Once `hurry` is raised, no more near records are looked for; once `halt` is, nothing else is done either: who is
    still without a class then is in one with those beside in an order of nested nodes.
    """
    if price.n < k:
        return None
    halt = lowered() if halt is None else halt
    hurry = halt if hurry is None else hurry
    sides, rows = numbered(price)
    point = group_rows(list(rows.T)) if rows.shape[1] else np.zeros(price.n, np.int64)
    order, starts = members(point)
    copies = np.diff(starts)
    points = np.ascontiguousarray(rows[order[starts[:-1]]])
    labels = np.full(price.n, -1, np.int64)
    enough = copies >= k
    labels[enough[point]] = point[enough[point]]
    label = len(copies)
    waiting = np.flatnonzero(~enough)
    generator = np.random.default_rng(seed)
    numeric = price.numeric.shape[1]
    for _ in range(MOST_ROUNDS):
        if copies[waiting].sum() < k or halt[0]:
            break
        places = np.hstack([price.numeric, price.codes])[order[starts[waiting]]]
        lists = nearest_by_nodes(places, numeric, price.climbs, min(LENGTH + 1, len(waiting)), generator, hurry)
        found = np.full(len(waiting), -1, np.int64)
        label = peel(sides, np.ascontiguousarray(points[waiting]), copies[waiting], lists, k, found, label, halt)
        if (found < 0).all():
            break
        by_point = np.full(len(copies), -1, np.int64)
        by_point[waiting] = found
        labels = np.where(labels < 0, by_point[point], labels)
        waiting = waiting[found < 0]
    left = np.flatnonzero(labels < 0)
    if len(left) >= k:
        beside = left[_nested(price, left, k)]
        labels[beside] = label + np.minimum(np.arange(len(left)) // k, len(left) // k - 1)
    elif len(left):
        join_each(sides, rows, labels, left, int(labels.max()) + 1)
    return canonical(labels)


def _nested(price: Price, left: Counts, k: int) -> Counts:
    """The places of some records in an order of nested nodes."""
    places = np.hstack([price.numeric[left], price.codes[left]])
    return nested_order(places, price.numeric.shape[1], price.climbs, max(APART * len(left) // k, 1))


def peel(
    sides: Sides,
    points: Numbers,
    copies: Counts,
    lists: NDArray[np.int32],
    k: int,
    found: Labels,
    label: int,
    halt: Flag,
) -> int:
    """Classes from cheap to dear, again and again, until no free point has enough free ones near it; the next label."""
    grown, sizes, costs = np.empty((len(points), k), np.int64), np.zeros(len(points), np.int64), np.empty(len(points))
    while True:
        free = np.flatnonzero(found < 0)
        costs[free] = np.inf
        grow(sides, points, copies, lists, k, found, free, grown, sizes, costs, halt)
        able = free[np.isfinite(costs[free])]
        if not len(able):
            return label
        label = make(grown, sizes, able[np.argsort(costs[able], kind="stable")], found, label)
        if halt[0]:
            return label


@kernel(nogil=True)
def grow(
    sides: Sides,
    points: Numbers,
    copies: Counts,
    lists: NDArray[np.int32],
    k: int,
    found: Labels,
    seeds: Labels,
    grown: Labels,
    sizes: Counts,
    costs: NDArray[np.float64],
    halt: Flag,
) -> None:
    """For each seed a class of free points near it, grown by who costs least; an infinite cost where they are few."""
    wholes = new_wholes(1, points.shape[1])
    frontier = np.empty(k * lists.shape[1], np.int64)
    for seed in seeds:
        if halt[0]:
            return
        begun(wholes, 0, points, seed)
        records, n_front, count = 0, 0, 0
        t, price = seed, 0.0
        while True:
            if count > 0:
                price = stretched(sides, wholes, 0, points, t)
            grown[seed, count] = t
            count += 1
            records += copies[t]
            if records >= k:
                break
            for place in range(1, lists.shape[1]):
                q = lists[t, place]
                if q < 0:
                    break
                known = found[q] >= 0
                for c in range(count):
                    known = known or grown[seed, c] == q
                if not known:
                    frontier[n_front] = q
                    n_front += 1
            t, least = -1, np.inf
            for f in range(n_front):
                q = frontier[f]
                if q >= 0:
                    # a point of many records is worth more than one of few
                    liking = 1.0 - 1e-6 * copies[q]
                    cost = joined(sides, wholes, 0, points, q, price, least / liking) * liking
                    if cost < least:
                        least = cost
                        t = q
            if t < 0:
                break
            for f in range(n_front):
                if frontier[f] == t:
                    frontier[f] = -1
        sizes[seed] = count
        costs[seed] = price if records >= k else np.inf


@kernel(nogil=True)
def make(grown: Labels, sizes: Counts, seeds: Labels, found: Labels, label: int) -> int:
    """Make the classes of some seeds, in their order, whose points are all free; the next label."""
    for seed in seeds:
        free = True
        for c in range(sizes[seed]):
            free = free and found[grown[seed, c]] < 0
        if free:
            for c in range(sizes[seed]):
                found[grown[seed, c]] = label
            label += 1
    return label


@kernel(nogil=True)
def join_each(sides: Sides, rows: Numbers, labels: Labels, left: Labels, n_labels: int) -> None:
    """Put the records without a class into the classes that they make dearer by the least."""
    wholes = new_wholes(n_labels, rows.shape[1])
    sizes, costs = np.zeros(n_labels, np.int64), np.zeros(n_labels)
    for i in range(labels.size):
        c = labels[i]
        if c >= 0:
            if sizes[c] == 0:
                begun(wholes, c, rows, i)
            else:
                costs[c] = stretched(sides, wholes, c, rows, i)
            sizes[c] += 1
    for i in left:
        best, least = -1, np.inf
        for c in range(n_labels):
            if sizes[c] > 0:
                before = sizes[c] * costs[c]
                enough = (least + before) / (sizes[c] + 1)
                change = (sizes[c] + 1) * joined(sides, wholes, c, rows, i, costs[c], enough) - before
                if change < least:
                    best, least = c, change
        labels[i] = best
        costs[best] = stretched(sides, wholes, best, rows, i)
        sizes[best] += 1
