"""Records that are cheap to release together through hierarchies: lists by sorting, then by neighbours of neighbours.

What two records cost together is no distance in a space of few dimensions. Records that agree in some attributes, or
in nodes above them, are found by sorting with the attributes in a random order and on random levels of few nodes; who
is near to a near record is tried next, which finds nearly all of the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.halting import Flag, lowered
from optmodels.kernels import kernel, part
from optmodels.price import node_cost

ORDERS = 20
WINDOW = 20
DESCENTS = 1
# One attribute with many values would decide an order alone: those with few leave something to say to the next ones.
MOST_NODES = 24
PARTS = (2, 4, 8, 16, 32)

Floats = NDArray[np.float64]
Lists = NDArray[np.int32]  # (points, length): near points; -1 pads


def nearest_by_nodes(
    points: Floats, plain: int, climbs: Floats, length: int, generator: np.random.Generator, halt: Flag | None = None
) -> Lists:
    """For each point, whose first `plain` columns are numbers and the others leaves, near ones; -1 pads.

    A flag that is raised ends the search, with what was found until then.
    """
    halt = lowered() if halt is None else halt
    n, d = points.shape
    lists = np.full((n, length), -1, np.int32)
    lists[:, 0] = np.arange(n)
    costs = np.full((n, length), np.inf)
    costs[:, 0] = 0.0
    if halt[0]:
        return lists
    keys = [_sorted_by(points[:, j], j < plain, climbs) for j in range(d)]
    for _ in range(ORDERS):
        if halt[0]:
            return lists
        chosen = [keys[j][int(generator.integers(len(keys[j])))] for j in generator.permutation(d).tolist()]
        order = np.lexsort(chosen) if chosen else np.arange(n)
        compare_windows(points, plain, climbs, order, WINDOW, lists, costs, halt)
    for _ in range(DESCENTS):
        compare_neighbours(points, plain, climbs, lists.copy(), lists, costs, halt)
    return lists


def _sorted_by(column: Floats, plain: bool, climbs: Floats) -> list[Floats]:
    """What points may be sorted by in one attribute: nodes on each level that has few, or equal parts of its range."""
    if plain:
        width = float(np.ptp(column)) or 1.0
        return [np.floor((column - column.min()) / width * parts) for parts in PARTS]
    leaves = column.astype(np.int64)
    # the last leaf of a node stands for the node
    levels = [column, *(climbs[leaves, level] for level in range(climbs.shape[1] // 2))]
    few = [nodes for nodes in levels if 2 <= len(np.unique(nodes)) <= MOST_NODES]
    return few or [column]


@part
def _pair_cost(points: Floats, plain: int, climbs: Floats, a: int, b: int | np.int64, most: float) -> float:
    """What two points cost together, each; the sum so far where that is too much already."""
    total = 0.0
    for j in range(points.shape[1]):
        x, y = points[a, j], points[b, j]
        if j < plain:
            total += abs(x - y)
        elif x != y:
            total += node_cost(climbs, int(min(x, y)), int(max(x, y)))
        if total >= most:
            break
    return total


@part
def _offer(points: Floats, plain: int, climbs: Floats, a: int, b: int | np.int64, lists: Lists, costs: Floats) -> None:
    last = lists.shape[1] - 1
    cost = _pair_cost(points, plain, climbs, a, b, max(costs[a, last], costs[b, last]))
    for one, other in ((a, b), (b, a)):
        if cost >= costs[one, last]:
            continue
        known = False
        for place in range(lists.shape[1]):
            known = known or lists[one, place] == other
        if known:
            continue
        place = last
        while place > 0 and costs[one, place - 1] > cost:
            lists[one, place] = lists[one, place - 1]
            costs[one, place] = costs[one, place - 1]
            place -= 1
        lists[one, place] = other
        costs[one, place] = cost


@kernel(nogil=True)
def compare_windows(
    points: Floats,
    plain: int,
    climbs: Floats,
    order: NDArray[np.int64],
    window: int,
    lists: Lists,
    costs: Floats,
    halt: Flag,
) -> None:
    """Compare every point with those that follow it in the order."""
    for place in range(order.size):
        if halt[0]:
            return
        for further in range(place + 1, min(place + window, order.size)):
            _offer(points, plain, climbs, order[place], order[further], lists, costs)


@kernel(nogil=True)
def compare_neighbours(
    points: Floats, plain: int, climbs: Floats, known: Lists, lists: Lists, costs: Floats, halt: Flag
) -> None:
    """Compare every point with those near to the points that are known to be near to it."""
    for a in range(known.shape[0]):
        if halt[0]:
            return
        for place in range(1, known.shape[1]):
            b = known[a, place]
            if b < 0:
                break
            for further in range(1, known.shape[1]):
                c = known[b, further]
                if c < 0:
                    break
                if c != a:
                    _offer(points, plain, climbs, a, np.int64(c), lists, costs)
