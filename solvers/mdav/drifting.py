"""The record furthest from a point that moves a little at a time, such as the centroid of the records that are left.

A record that was at some distance when last looked at can by now be further away by what the point has moved since,
and no more. So records wait in a heap in order of that bound, and few of them have to be looked at again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optmodels.kernels import copy_into, kernel, part
from solvers._construction.box_search import distance_to, furthest
from solvers._construction.box_tree import BoxTree, Floats, Rows

_ROUNDING = 1e-9  # bounds closer to the best distance than this, in units of the largest, are looked at anyway


class Drifting(NamedTuple):
    """Records of a tree in a heap; a key is the distance when last looked at, less the way the point had come then."""

    keys: Floats
    rows: Rows
    looked: Rows  # rows taken off the heap in the present search
    sizes: Rows  # of the heap
    way: Floats  # the way the point has come, and the distance within which bounds are not trusted
    point: Floats  # where it is


def following(tree: BoxTree, point: Floats) -> Drifting:
    """A heap for all records of a tree, and a point to start from."""
    n = len(tree.rows)
    drifting = Drifting(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.array([0]), np.zeros(2), point)
    _fill(drifting, tree)
    return drifting


@kernel
def _fill(drifting: Drifting, tree: BoxTree) -> None:
    for place in range(len(tree.rows)):
        _push(drifting, tree.rows[place], np.sqrt(distance_to(tree, place, drifting.point)))
    drifting.way[1] = _ROUNDING * drifting.keys[0]


@part
def furthest_now(drifting: Drifting, tree: BoxTree, point: Floats) -> int:
    """The row furthest from where the point is now, the first of several."""
    drifting.way[0] += _step(tree, drifting.point, point)
    copy_into(drifting.point, point)
    way, slack = drifting.way
    best, most, count = -1, -1.0, 0
    patience = 64 + drifting.sizes[0] // 16  # beyond which the tree is the quicker to ask
    while drifting.sizes[0] > 0 and drifting.keys[0] + way >= np.sqrt(max(most, 0.0)) - slack and count < patience:
        row = drifting.rows[0]
        _pop(drifting)
        if tree.place_of[row] < 0:
            continue
        drifting.looked[count] = row
        count += 1
        distance = distance_to(tree, tree.place_of[row], point)
        if distance > most or (distance == most and row < best):
            best, most = row, distance
    for i in range(count):
        row = drifting.looked[i]
        _push(drifting, row, np.sqrt(distance_to(tree, tree.place_of[row], point)) - way)
    return furthest(tree, point) if count == patience else best


@part
def _step(tree: BoxTree, one: Floats, other: Floats) -> float:
    """How far it is from one point to another."""
    squared = 0.0
    for j in range(len(one)):
        if j < tree.n_numeric:
            squared += (one[j] - other[j]) ** 2
        elif one[j] != other[j]:
            squared += tree.weights[j - tree.n_numeric]
    return float(np.sqrt(squared))


@part
def _push(drifting: Drifting, row: int, key: float) -> None:
    place = drifting.sizes[0]
    drifting.sizes[0] += 1
    while place > 0 and drifting.keys[(place - 1) // 2] < key:
        drifting.keys[place], drifting.rows[place] = drifting.keys[(place - 1) // 2], drifting.rows[(place - 1) // 2]
        place = (place - 1) // 2
    drifting.keys[place], drifting.rows[place] = key, row


@part
def _pop(drifting: Drifting) -> None:
    drifting.sizes[0] -= 1
    size = drifting.sizes[0]
    key, row = drifting.keys[size], drifting.rows[size]
    place, child = 0, 1
    while child < size:
        if child + 1 < size and drifting.keys[child + 1] > drifting.keys[child]:
            child += 1
        if drifting.keys[child] <= key:
            break
        drifting.keys[place], drifting.rows[place] = drifting.keys[child], drifting.rows[child]
        place, child = child, 2 * child + 1
    drifting.keys[place], drifting.rows[place] = key, row
