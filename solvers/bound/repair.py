"""Duals lowered until no class of k records is worth more than it costs, found by looking at near records alone.

The search for a class that is worth more begins at its medoid, see `solvers.columns.search`: with duals u, a class of k
records around a medoid s costs at least

    sum over its other members t of (k/2 D(s, t) - u_t)  -  u_s,

D being the pairwise bound on prices. A tree of boxes whose nodes know the greatest dual below them finds the few
records that can be in a class worth more than it costs; among those the exact search decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.kernels import kernel, part
from optmodels.nearest_lists import keep_least
from optmodels.price import HIERARCHY, SPREAD, node_cost
from solvers._construction.box_tree import BoxTree
from solvers.bound.tops import tops_of
from solvers.columns.duals import plain_duals
from solvers.columns.instance import PairBound, Types, disagreements, numeric_distances, sums_of_nearest
from solvers.columns.search import Limit, search

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_CANDIDATES = 160  # in one search, copies counted; a medoid that has more is made cheaper until it has not
_TIMES = 6  # classes that a medoid's records share the lowering for, before it is the medoid's alone


class Records(NamedTuple):
    """The different records, in the order of the tree's places, and what classes of k of them cost."""

    kind: int
    k: int
    numeric: Floats
    codes: NDArray[np.int32]
    code_weights: Floats
    climbs: Floats
    copies: Ints
    per_number: float  # D is this times the numeric distance,
    per_code: float  # and this times the categorical one
    test: ClassTest  # of the size alone


@part
def _far(records: Records, a: int, b: int) -> float:
    """D of two records."""
    numbers = 0.0
    for j in range(records.numeric.shape[1]):
        step = abs(records.numeric[a, j] - records.numeric[b, j])
        numbers += step * step if records.kind == SPREAD else step
    names = 0.0
    for j in range(records.codes.shape[1]):
        one, other = records.codes[a, j], records.codes[b, j]
        if records.kind == HIERARCHY:
            names += node_cost(records.climbs, min(one, other), max(one, other))
        elif one != other:
            names += records.code_weights[j]
    return records.per_number * numbers + records.per_code * names


@part
def _far_from_box(records: Records, a: int, low: Floats, high: Floats) -> float:
    """The least D of a record to any in a box."""
    d = records.numeric.shape[1]
    numbers = 0.0
    for j in range(d):
        x = records.numeric[a, j]
        step = max(low[j] - x, x - high[j], 0.0)
        numbers += step * step if records.kind == SPREAD else step
    names = 0.0
    for j in range(records.codes.shape[1]):
        code, first, last = records.codes[a, j], int(low[d + j]), int(high[d + j])
        if first <= code <= last:
            continue
        if records.kind == HIERARCHY:
            names += node_cost(records.climbs, min(code, last), max(code, first))
        else:
            names += records.code_weights[j]
    return records.per_number * numbers + records.per_code * names


@part
def _least_keys(records: Records, tree: BoxTree, tops: Floats, duals: Floats, seed: int, least: Floats) -> None:
    """The smallest k/2 D(seed, t) - u_t over all records but the seed itself, ascending."""
    half, leaves = 0.5 * records.k, len(tree.bounds) - 1
    least[:] = np.inf
    stack = np.empty(128, np.int64)
    stack[0] = 1
    count = 1
    while count:
        count -= 1
        node = stack[count]
        if half * _far_from_box(records, seed, tree.low[node], tree.high[node]) - tops[node] >= least[-1]:
            continue
        if node < leaves:
            one, other = 2 * node, 2 * node + 1
            near = half * _far_from_box(records, seed, tree.low[one], tree.high[one]) - tops[one]
            far = half * _far_from_box(records, seed, tree.low[other], tree.high[other]) - tops[other]
            if near > far:
                one, other = other, one
            stack[count], stack[count + 1] = other, one  # the nearer one is looked at first
            count += 2
            continue
        for t in range(tree.bounds[node - leaves], tree.bounds[node - leaves + 1]):
            key = half * _far(records, seed, t) - duals[t]
            for _ in range(min(records.copies[t] - (t == seed), len(least))):
                if key >= least[-1]:
                    break
                keep_least(least, key)


@part
def _candidates(
    records: Records, tree: BoxTree, tops: Floats, duals: Floats, seed: int, limit: float, found: Ints
) -> int:
    """The records but the seed with k/2 D(seed, t) - u_t below the limit; -1 if there is no room for them."""
    half, leaves = 0.5 * records.k, len(tree.bounds) - 1
    stack = np.empty(128, np.int64)
    stack[0] = 1
    count, n_found, entries = 1, 0, 0
    while count:
        count -= 1
        node = stack[count]
        if half * _far_from_box(records, seed, tree.low[node], tree.high[node]) - tops[node] >= limit:
            continue
        if node < leaves:
            stack[count], stack[count + 1] = 2 * node, 2 * node + 1
            count += 2
            continue
        for t in range(tree.bounds[node - leaves], tree.bounds[node - leaves + 1]):
            if t == seed or half * _far(records, seed, t) - duals[t] >= limit:
                continue
            entries += min(records.copies[t], records.k)
            if entries > _MOST_CANDIDATES:
                return -1
            found[n_found] = t
            n_found += 1
    return n_found


@part
def _lower_around(
    records: Records,
    tree: BoxTree,
    tops: Floats,
    duals: Floats,
    seed: int,
    tolerance: float,
    limit: Limit,
    least: Floats,
    found: Ints,
) -> None:
    """Lower duals until no class around this medoid is worth more than it costs, but for the tolerance."""
    _least_keys(records, tree, tops, duals, seed, least)
    rest = least[:-1].sum() - duals[seed]
    crude = rest + least[-1]
    if crude >= -tolerance:
        return
    count = -1
    for lowered in (0.0, 0.25, 0.5, 0.75):
        # What the medoid itself is lowered by makes every class around it dearer.
        count = _candidates(records, tree, tops, duals, seed, -rest + lowered * crude, found)
        if count >= 0:
            duals[seed] += lowered * crude
            crude *= 1.0 - lowered
            break
    if count < 0:
        duals[seed] += crude
        return
    near = np.empty(count + 1, np.int64)
    near[0] = seed
    near[1:] = found[:count]
    types = Types(
        records.kind,
        records.numeric[near],
        records.codes[near],
        records.code_weights,
        records.climbs,
        records.test,
        records.copies[near],
        records.kind == SPREAD and records.codes.shape[1] == 0,
        True,
    )
    distance = records.per_number * numeric_distances(records.kind, types.numeric)
    if records.codes.shape[1]:
        distance += records.per_code * disagreements(records.kind, types.codes, types.code_weights, types.climbs)
    pairs = PairBound(records.k, distance, sums_of_nearest(distance, types.copies, records.k, np.arange(len(near))))
    best = np.empty((1, records.k), np.int64)
    costs = np.empty(1)
    for _ in range(_TIMES):
        local = plain_duals(duals[near])
        n_found, complete, _nodes = search(types, pairs, local, 0, -tolerance, limit, True, best, costs)
        if not complete:
            break
        if n_found == 0:
            return
        for i in best[0]:
            duals[near[i]] += costs[0] / records.k
    # The medoid alone pays for the rest: as much as is proven to be enough.
    _least_keys(records, tree, tops, duals, seed, least)
    crude = least.sum() - duals[seed]
    if crude >= -tolerance:
        return
    proven = crude
    for share in (0.125, 0.25, 0.5, 0.75):
        ceiling = min(share * crude, -tolerance)
        n_found, complete, _nodes = search(types, pairs, plain_duals(duals[near]), 0, ceiling, limit, True, best, costs)
        if complete:
            proven = costs[0] if n_found else ceiling
            break
    duals[seed] += proven


@kernel(nogil=True)
def repair(records: Records, tree: BoxTree, duals: Floats, seeds: Ints, tolerance: float, limit: Limit) -> bool:
    """Lower duals until no class whose medoid is one of these is worth more than it costs; False if halted before."""
    tops = tops_of(tree, duals)
    least = np.empty(records.k - 1)
    found = np.empty(_MOST_CANDIDATES, np.int64)
    for seed in seeds:
        if limit.halted[0]:
            return False
        if records.copies[seed] >= records.k:  # as many equal ones cost nothing
            duals[seed] = min(duals[seed], 0.0)
        _lower_around(records, tree, tops, duals, seed, tolerance, limit, least, found)
    return True


@kernel(nogil=True)
def nearest_shares(records: Records, tree: BoxTree, seeds: Ints, duals: Floats, halted: NDArray[np.uint8]) -> bool:
    """Every record's half of its distances to the k - 1 nearest others: duals that no class exceeds."""
    nothing, tops = np.zeros(len(duals)), np.zeros(len(tree.low))
    least = np.empty(records.k - 1)
    for seed in seeds:
        if halted[0]:
            return False
        _least_keys(records, tree, tops, nothing, seed, least)
        duals[seed] = least.sum() / records.k
    return True
