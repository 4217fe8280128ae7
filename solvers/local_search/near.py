"""Which records lie near which: lists of near distinct points, each point standing for its equal records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from optmodels.halting import Flag
from optmodels.kernels import kernel, part
from optmodels.nearest_lists import keep_nearest
from optmodels.parallel import cores
from optmodels.partition import group_rows, members
from optmodels.price import HIERARCHY, SPREAD, Price, leaf_places
from solvers.local_search.boxes.near_nodes import nearest_by_nodes

# A categorical attribute with more levels than this is placed at random points of a sphere of as many
# dimensions: near enough equidistant for choosing whom to look at, and it keeps the embedding narrow.
SPHERE = 8
EXACT_CELLS = 400_000  # points times dimensions up to which a k-d tree answers in a second or so
TREES = 3
LEAF = 32

Floats = NDArray[np.float64]


class Near(NamedTuple):
    """Neighbourhoods of records by way of distinct points; a point is its own nearest neighbour."""

    point: NDArray[np.int32]  # (n): the point of each record
    lists: NDArray[np.int32]  # (points, length): near points, nearest first; -1 pads
    rows: NDArray[np.int64]  # records sorted by point
    starts: NDArray[np.int64]  # (points + 1): the slice of each point in `rows`


def embed(price: Price, seed: int = 0) -> Floats:
    """Records as points whose distances follow the price of putting two of them together."""
    if price.kind == HIERARCHY:
        return np.hstack([price.numeric, leaf_places(price)])
    generator = np.random.default_rng(seed)
    columns = [price.numeric]
    for j in range(price.codes.shape[1]):
        codes = price.codes[:, j]
        levels = int(codes.max(initial=0)) + 1
        # a mismatch costs w: as much as a squared distance of 2w in a spread, or a distance of w in an extent
        side = np.sqrt(price.code_weights[j]) if price.kind == SPREAD else price.code_weights[j] / 2
        corners = np.eye(levels)
        if levels > SPHERE:
            directions = generator.normal(size=(levels, SPHERE))
            corners = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        columns.append(side * corners[codes])
    return np.ascontiguousarray(np.hstack(columns))


def neighbourhoods(price: Price, length: int, seed: int = 0, halt: Flag | None = None) -> Near:
    """Lists of the `length` nearest points of each point: exact for tables of moderate size, else by random trees.

    A flag that is raised ends the search for them through hierarchies, with what was found until then.
    """
    places = np.hstack([price.numeric, price.codes]) if price.kind == HIERARCHY else embed(price, seed)
    point = np.zeros(price.n, np.int64)
    if places.shape[1]:
        point = group_rows([places[:, j] for j in range(places.shape[1])])
    rows, starts = members(point)
    distinct = places[rows[starts[:-1]]]
    length = min(length + 1, len(distinct))
    if price.kind == HIERARCHY:
        draw = np.random.default_rng(seed)
        lists = nearest_by_nodes(distinct, price.numeric.shape[1], price.climbs, length, draw, halt)
    elif distinct.size <= EXACT_CELLS:
        p = 2 if price.kind == SPREAD else 1
        found = cKDTree(distinct).query(distinct, k=np.arange(1, length + 1), p=p, workers=cores())[1]
        lists = np.ascontiguousarray(found, dtype=np.int32)
    else:
        lists = _by_trees(distinct, length, np.random.default_rng(seed))
    return Near(point.astype(np.int32), lists, rows, starts)


def _by_trees(points: Floats, length: int, generator: np.random.Generator) -> NDArray[np.int32]:
    """Nearest points among those that share a leaf in one of a few random trees."""
    n, d = points.shape
    lists = np.full((n, length), -1, np.int32)
    lists[:, 0] = np.arange(n)
    distances = np.full((n, length), np.inf)
    distances[:, 0] = 0.0
    block = 1 << 16
    for _ in range(TREES):
        order = np.arange(n)
        edges = np.array([0, n])
        while np.diff(edges).max() > LEAF:
            keys = points[order] @ generator.normal(size=d)
            order, edges = _halve(order, keys, edges)
        for low in range(0, len(edges) - 1, block):
            _merge_leaves(points, order, edges[low : low + block + 1], lists, distances)
    return lists


@kernel(nogil=True)
def _halve(
    order: NDArray[np.int64], keys: Floats, edges: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut every segment at the median of its keys."""
    new_edges = np.empty(2 * edges.size - 1, np.int64)
    new_order = np.empty_like(order)
    for s in range(edges.size - 1):
        low, high = edges[s], edges[s + 1]
        ranks = np.argsort(keys[low:high])
        for place in range(high - low):
            new_order[low + place] = order[low + ranks[place]]
        new_edges[2 * s] = low
        new_edges[2 * s + 1] = (low + high) // 2
    new_edges[-1] = edges[-1]
    return new_order, new_edges


@kernel(nogil=True)
def _merge_leaves(
    points: Floats, order: NDArray[np.int64], edges: NDArray[np.int64], lists: NDArray[np.int32], distances: Floats
) -> None:
    """Offer all pairs of each leaf to the lists of both points."""
    for s in range(edges.size - 1):
        for a in range(edges[s], edges[s + 1]):
            for b in range(a + 1, edges[s + 1]):
                distance = 0.0
                for j in range(points.shape[1]):
                    difference = points[order[a], j] - points[order[b], j]
                    distance += difference * difference
                _keep_once(lists[order[a]], distances[order[a]], order[b], distance)
                _keep_once(lists[order[b]], distances[order[b]], order[a], distance)


@part
def _keep_once(kept: NDArray[np.int32], distances: Floats, candidate: int, distance: float) -> None:
    last = kept.size - 1
    if distance >= distances[last]:
        return
    for place in range(kept.size):
        if kept[place] == candidate:
            return
    keep_nearest(kept, distances, last, candidate, distance)
