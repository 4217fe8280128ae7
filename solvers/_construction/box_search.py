"""The nearest and the furthest records of a tree of boxes, found by looking at few of them.

Searches are exact, down to the last bit: the bound of a box is computed in the order of operations of a distance, and
rounding keeps order, so no record beyond a bound can be nearer than it. Of equally distant records the first is meant,
wherever in the tree it is, so that a search answers what looking at all records one after the other would.
"""

from __future__ import annotations

import numpy as np

from optmodels.kernels import kernel, part
from solvers._construction.box_tree import BoxTree, Floats, Marks, Rows, rows_left

DEPTH = 64  # of a stack: a level leaves one box to come back to
NOTHING = np.zeros(0, np.uint64)  # no sensitive value in particular is wanted


@part
def distance_to(tree: BoxTree, place: int, point: Floats) -> float:
    """The squared distance of a record from a point, a mismatch counting as its weight."""
    distance = 0.0
    for j in range(tree.n_numeric):
        distance += (tree.points[place, j] - point[j]) ** 2
    for j in range(tree.n_numeric, len(point)):
        if tree.points[place, j] != point[j]:
            distance += tree.weights[j - tree.n_numeric]
    return distance


@part
def _at_least(tree: BoxTree, node: int, point: Floats) -> float:
    """No record of the node is nearer to the point than this."""
    distance = 0.0
    for j in range(tree.n_numeric):
        if point[j] < tree.low[node, j]:
            distance += (tree.low[node, j] - point[j]) ** 2
        elif point[j] > tree.high[node, j]:
            distance += (tree.high[node, j] - point[j]) ** 2
    for j in range(tree.n_numeric, len(point)):
        if point[j] < tree.low[node, j] or point[j] > tree.high[node, j]:
            distance += tree.weights[j - tree.n_numeric]
    return distance


@part
def _at_most(tree: BoxTree, node: int, point: Floats) -> float:
    """No record of the node is further from the point than this."""
    distance = 0.0
    for j in range(tree.n_numeric):
        distance += max(abs(tree.low[node, j] - point[j]), abs(tree.high[node, j] - point[j])) ** 2
    for j in range(tree.n_numeric, len(point)):
        if tree.low[node, j] != point[j] or tree.high[node, j] != point[j]:
            distance += tree.weights[j - tree.n_numeric]
    return distance


@part
def _has(marks: Marks, wanted: Marks) -> bool:
    if len(wanted) == 0:
        return True
    for w in range(len(wanted)):  # noqa: SIM110  (a generator does not compile)
        if marks[w] & wanted[w]:
            return True
    return False


@kernel
def furthest(tree: BoxTree, point: Floats) -> int:
    """The row furthest from a point, the first of several."""
    nodes, limits, waiting = np.empty(DEPTH, np.int64), np.empty(DEPTH), 1
    nodes[0], limits[0] = 1, np.inf
    best, most = -1, -1.0
    leaves = len(tree.bounds) - 1
    while waiting > 0:
        waiting -= 1
        node, limit = nodes[waiting], limits[waiting]
        if tree.alive[node] == 0 or limit < most or (limit == most and tree.first[node] > best):
            continue
        if node >= leaves:
            start = tree.bounds[node - leaves]
            for i in range(start, start + tree.alive[node]):
                distance = distance_to(tree, i, point)
                if distance > most or (distance == most and tree.rows[i] < best):
                    best, most = tree.rows[i], distance
            continue
        one, other = 2 * node, 2 * node + 1
        limit_one = _at_most(tree, one, point) if tree.alive[one] else -1.0
        limit_other = _at_most(tree, other, point) if tree.alive[other] else -1.0
        if limit_one < limit_other:
            one, other, limit_one, limit_other = other, one, limit_other, limit_one
        nodes[waiting], limits[waiting] = other, limit_other
        nodes[waiting + 1], limits[waiting + 1] = one, limit_one
        waiting += 2
    return best


@kernel
def nearest(tree: BoxTree, point: Floats, wanted: Marks, rows: Rows, distances: Floats) -> int:
    """Fill `rows` and `distances` with the nearest records in order of distance and row; returns how many there are.

    With marks wanted, only records that have one of them count.
    """
    nodes, limits, waiting = np.empty(DEPTH, np.int64), np.empty(DEPTH), 1
    nodes[0], limits[0] = 1, 0.0
    found, most = 0, len(rows)
    leaves = len(tree.bounds) - 1
    while waiting > 0:
        waiting -= 1
        node, limit = nodes[waiting], limits[waiting]
        if tree.alive[node] == 0 or not _has(tree.seen[node], wanted):
            continue
        if found == most and (limit > distances[-1] or (limit == distances[-1] and tree.first[node] > rows[-1])):
            continue
        if node >= leaves:
            start = tree.bounds[node - leaves]
            for i in range(start, start + tree.alive[node]):
                if _has(tree.marks[i], wanted):
                    found = _keep(rows, distances, found, tree.rows[i], distance_to(tree, i, point))
            continue
        limit_one, limit_other = _at_least(tree, 2 * node, point), _at_least(tree, 2 * node + 1, point)
        waiting = wait_for_halves(tree, nodes, limits, waiting, node, limit_one, limit_other)
    return found


@part
def wait_for_halves(
    tree: BoxTree, nodes: Rows, limits: Floats, waiting: int, node: int, limit_one: float, limit_other: float
) -> int:
    """Stack the halves of a node so that the more promising, or else the one with the first row, is next."""
    one, other = 2 * node, 2 * node + 1
    if limit_one > limit_other or (limit_one == limit_other and tree.first[one] > tree.first[other]):
        one, other, limit_one, limit_other = other, one, limit_other, limit_one
    nodes[waiting], limits[waiting] = other, limit_other
    nodes[waiting + 1], limits[waiting + 1] = one, limit_one
    return waiting + 2


@part
def _keep(rows: Rows, distances: Floats, found: int, row: int, distance: float) -> int:
    """Insert a record among the nearest found so far, in order of distance and row; returns how many these are now."""
    if found == len(rows):
        if distance > distances[-1] or (distance == distances[-1] and row > rows[-1]):
            return found
        found -= 1
    place = found
    while place > 0 and (
        distances[place - 1] > distance or (distances[place - 1] == distance and rows[place - 1] > row)
    ):
        rows[place], distances[place] = rows[place - 1], distances[place - 1]
        place -= 1
    rows[place], distances[place] = row, distance
    return found + 1


@kernel
def by_distance(tree: BoxTree, point: Floats) -> Rows:
    """All records still in the tree in order of distance from a point, and of row where that is equal."""
    rows = rows_left(tree)
    distances = np.empty(len(rows))
    for i in range(len(rows)):
        distances[i] = distance_to(tree, tree.place_of[rows[i]], point)
    ordered: Rows = rows[np.argsort(distances, kind="mergesort")]
    return ordered
