"""The exact search run over many seeds: their best classes, all classes, a few of each, and what bounds them crudely.

These kernels release the interpreter, so that chunks of seeds can run side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from optmodels.price import HIERARCHY
from solvers.columns.box_search import box_search
from solvers.columns.duals import Duals
from solvers.columns.instance import Floats, Ints, PairBound, Types
from solvers.columns.search import Limit, search


@part
def classes_of(
    types: Types,
    pairs: PairBound,
    duals: Duals,
    seed: int,
    ceiling: float,
    limit: Limit,
    keep_best: bool,
    found: Ints,
    costs: Floats,
) -> tuple[int, bool, int]:
    """The classes of a seed: by boxes where these tell what a class costs, unless pairs of records are charged."""
    result: tuple[int, bool, int]
    if types.kind == HIERARCHY and len(duals.charges) == 0:
        result = box_search(types, pairs.size, duals, seed, ceiling, limit, keep_best, found, costs)
    else:
        result = search(types, pairs, duals, seed, ceiling, limit, keep_best, found, costs)
    return result


@kernel(nogil=True)
def search_many(
    types: Types, pairs: PairBound, duals: Duals, seeds: Ints, ceilings: Floats, limit: Limit
) -> tuple[Ints, Floats, NDArray[np.bool_], Ints]:
    """The best class of each seed below its ceiling: members, reduced cost (infinite: none), completed, nodes."""
    found = np.empty((len(seeds), 1, pairs.size), np.int64)
    costs = np.full((len(seeds), 1), np.inf)
    completed = np.zeros(len(seeds), np.bool_)
    nodes = np.zeros(len(seeds), np.int64)
    for i in range(len(seeds)):
        _, complete, visited = classes_of(types, pairs, duals, seeds[i], ceilings[i], limit, True, found[i], costs[i])
        completed[i] = complete
        nodes[i] = visited
    return found[:, 0], costs[:, 0], completed, nodes


@kernel(nogil=True)
def star_bounds(
    copies: Ints,
    distance: Floats,
    factor: float,
    duals: Duals,
    gains: Floats,
    seeds: Ints,
    smallest: int,
    largest: int,
) -> Floats:
    """For each seed and size, a bound on the reduced costs of the classes of this size or larger with this medoid.

    factor * (distance to the medoid) - dual is what a member costs at least, whatever the size; `gains` are what a
    type can gain by rewarded pairs, which the medoid's share in the class's pairs multiplies by half the size.
    """
    bounds = np.full((len(seeds), largest + 2), np.inf)
    least = np.empty(largest - 1)
    for i in range(len(seeds)):
        seed = seeds[i]
        keys = factor * distance[seed] - duals.rows
        count = 0
        for t in np.argsort(keys):
            for _ in range(copies[t] - (t == seed)):
                if count < largest - 1:
                    least[count] = keys[t]
                    count += 1
        value = -duals.rows[seed] - duals.each
        for q in range(count):
            value += least[q]
            bounds[i, q + 2] = value - 0.5 * (q + 2) * gains[seed]
        for size in range(largest, smallest - 1, -1):
            bounds[i, size] = min(bounds[i, size], bounds[i, size + 1])
    return bounds


@kernel(nogil=True)
def collect(
    types: Types, pairs: PairBound, duals: Duals, seeds: Ints, ceiling: float, limit: Limit, room: int
) -> tuple[Ints, Floats, bool]:
    """All classes below the ceiling with these medoids; False if `room` or the node limit did not suffice."""
    found = np.empty((room, pairs.size), np.int64)
    costs = np.empty(room)
    count = 0
    for i in range(len(seeds)):
        more, complete, _ = classes_of(
            types, pairs, duals, seeds[i], ceiling, limit, False, found[count:], costs[count:]
        )
        count += more
        if not complete:
            return found[:count].copy(), costs[:count].copy(), False
    return found[:count].copy(), costs[:count].copy(), True


@kernel(nogil=True)
def collect_few(
    types: Types, pairs: PairBound, duals: Duals, seeds: Ints, ceiling: float, limit: Limit, few: int
) -> tuple[Ints, Ints]:
    """About the `few` classes of least reduced cost of each seed: the ceiling is lowered until no more are left."""
    found = np.empty((len(seeds), few, pairs.size), np.int64)
    counts = np.zeros(len(seeds), np.int64)
    costs = np.empty(few)
    for i in range(len(seeds)):
        height = min(ceiling, max(duals.rows[seeds[i]], 1e-6) * pairs.size)
        for _ in range(30):
            count, complete, _ = classes_of(types, pairs, duals, seeds[i], height, limit, False, found[i], costs)
            counts[i] = count
            if complete:
                break
            height *= 0.6
    return found, counts
