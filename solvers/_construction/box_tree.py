"""Records in a tree of boxes, from which they can be taken away: what is far or near is found by looking at few.

Every node knows its box, how many records are left in it, the first of them and which sensitive values they have. The
searches are in `box_search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.kernels import copy_into, kernel, part
from optmodels.price import Price
from solvers._construction.median import select, swap

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Marks = NDArray[np.uint64]

_LEAF = 8  # records in a leaf, at most


class BoxTree(NamedTuple):
    """Records by place in a complete binary tree: node i has the children 2i and 2i + 1, node 1 is the root.

    A point is a record's numbers and, after them, the codes of its categories. Marks are bits, one for each sensitive
    value: of a record those it has, of a node those that some record in it has.
    """

    points: Floats  # by place
    rows: Rows  # by place
    marks: Marks  # by place
    place_of: Rows  # by record; -1: not in the tree
    bounds: Rows  # leaf i has the places bounds[i] to bounds[i + 1], the first `alive` of which are still there
    low: Floats  # by node, as all below
    high: Floats
    first: Rows  # the least row
    alive: Rows  # how many records are still in it
    seen: Marks
    n_numeric: int
    weights: Floats  # what a mismatch of each category costs


def points_of(price: Price) -> Floats:
    """The records of a price as points."""
    return np.column_stack([price.numeric, price.codes.astype(np.float64)])


def marks_of(test: ClassTest) -> Marks:
    """Which sensitive values each record has, as bits; no bits at all where no number of distinct ones is asked for."""
    if not (test.distinct_l > 1).any():
        return np.zeros((len(test.codes), 0), np.uint64)
    marks = np.zeros((len(test.codes), -(-int(test.starts[-1]) // 64)), np.uint64)
    for codes in test.codes.T:
        marks[np.arange(len(codes)), codes // 64] |= np.uint64(1) << (codes % 64).astype(np.uint64)
    return marks


def grown(points: Floats, marks: Marks, rows: Rows, weights: Floats) -> BoxTree:
    """A tree of some rows of the points; categories, of which there are as many as weights, come last."""
    leaves = 1
    while leaves * _LEAF < len(rows):
        leaves *= 2
    bounds = np.arange(leaves + 1) * len(rows) // leaves
    nodes, d = 2 * leaves, points.shape[1]
    place_of = np.full(len(points), -1, np.int64)
    tree = BoxTree(
        points=points[rows],
        rows=rows.copy(),
        marks=marks[rows],
        place_of=place_of,
        bounds=bounds,
        low=np.full((nodes, d), np.inf),
        high=np.full((nodes, d), -np.inf),
        first=np.full(nodes, np.iinfo(np.int64).max),
        alive=np.zeros(nodes, np.int64),
        seen=np.zeros((nodes, marks.shape[1]), np.uint64),
        n_numeric=d - len(weights),
        weights=weights,
    )
    _sort_in(tree)
    tree.marks[:] = marks[tree.rows]
    place_of[tree.rows] = np.arange(len(rows))
    _measure_all(tree)
    return tree


@kernel
def _sort_in(tree: BoxTree) -> None:
    """Bring the points to their leaves by median cuts of the widest side."""
    leaves = len(tree.bounds) - 1
    width = leaves  # leaves below a node of this level
    while width > 1:
        for i in range(0, leaves, width):
            low, middle, high = tree.bounds[i], tree.bounds[i + width // 2], tree.bounds[i + width]
            j = _widest(tree, low, high)
            if j >= 0:
                select(tree.points, tree.rows, low, high, middle, j)
            else:  # equal records: the first ones together, so that they are found first
                copy_into(tree.rows[low:high], np.sort(tree.rows[low:high]))
        width //= 2


@kernel
def _measure_all(tree: BoxTree) -> None:
    leaves = len(tree.bounds) - 1
    for i in range(leaves):
        tree.alive[leaves + i] = tree.bounds[i + 1] - tree.bounds[i]
        _measure_leaf(tree, leaves + i)
    for above in range(leaves - 1, 0, -1):
        _measure(tree, above)


@part
def _widest(tree: BoxTree, low: int, high: int) -> int:
    widest, most = -1, 0.0
    for j in range(tree.points.shape[1]):
        least = greatest = tree.points[low, j]
        for i in range(low, high):
            least = min(least, tree.points[i, j])
            greatest = max(greatest, tree.points[i, j])
        if greatest > least:
            side = (greatest - least) ** 2 if j < tree.n_numeric else tree.weights[j - tree.n_numeric]
            if side > most or widest < 0:
                widest, most = j, side
    return widest


@part
def _measure_leaf(tree: BoxTree, node: int) -> None:
    tree.low[node] = np.inf
    tree.high[node] = -np.inf
    tree.first[node] = np.iinfo(np.int64).max
    tree.seen[node] = 0
    start = tree.bounds[node - (len(tree.bounds) - 1)]
    for i in range(start, start + tree.alive[node]):
        for j in range(tree.points.shape[1]):
            tree.low[node, j] = min(tree.low[node, j], tree.points[i, j])
            tree.high[node, j] = max(tree.high[node, j], tree.points[i, j])
        tree.first[node] = min(tree.first[node], tree.rows[i])
        for w in range(tree.marks.shape[1]):
            tree.seen[node, w] |= tree.marks[i, w]


@part
def _measure(tree: BoxTree, node: int) -> None:
    one, other = 2 * node, 2 * node + 1
    for j in range(tree.low.shape[1]):
        tree.low[node, j] = min(tree.low[one, j], tree.low[other, j])
        tree.high[node, j] = max(tree.high[one, j], tree.high[other, j])
    tree.first[node] = min(tree.first[one], tree.first[other])
    tree.alive[node] = tree.alive[one] + tree.alive[other]
    for w in range(tree.seen.shape[1]):
        tree.seen[node, w] = tree.seen[one, w] | tree.seen[other, w]


@part
def _leaf_of(tree: BoxTree, place: int) -> int:
    """The node of the leaf that a place is in."""
    leaves = len(tree.bounds) - 1
    leaf = place * leaves // tree.bounds[-1]  # by how leaves are bounded it is this one or the next
    node: int = leaves + leaf + (tree.bounds[leaf + 1] <= place)
    return node


@kernel
def take_away(tree: BoxTree, row: int) -> None:
    """Take a record out of the tree, and shrink the boxes it was in."""
    place = tree.place_of[row]
    node = _leaf_of(tree, place)
    last = tree.bounds[node - (len(tree.bounds) - 1)] + tree.alive[node] - 1
    tree.place_of[tree.rows[last]] = place
    tree.place_of[row] = -1
    swap(tree.points, tree.rows, place, last)
    for w in range(tree.marks.shape[1]):
        tree.marks[place, w] = tree.marks[last, w]
    tree.alive[node] -= 1
    _measure_leaf(tree, node)
    node //= 2
    while node > 0:
        _measure(tree, node)
        node //= 2


@kernel
def left_in(tree: BoxTree) -> int:
    """How many records are still in the tree."""
    left: int = tree.alive[1]
    return left


@kernel
def rows_left(tree: BoxTree) -> Rows:
    """The records still in the tree, in their own order."""
    leaves = len(tree.bounds) - 1
    rows = np.empty(left_in(tree), np.int64)
    found = 0
    for leaf in range(leaves):
        for i in range(tree.bounds[leaf], tree.bounds[leaf] + tree.alive[leaves + leaf]):
            rows[found] = tree.rows[i]
            found += 1
    return np.sort(rows)
