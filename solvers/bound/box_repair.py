"""Duals lowered until no class of k records is worth more than its box costs, for prices through hierarchies.

Who is in a class with k - 1 others costs no less there than with the (k - 1)-th nearest record: these costs are duals
already, that no class exceeds, and nothing has to be lowered further than to them. Every class is looked at once, from
its member of the greatest dual before anything was lowered: the others can only be records near to it of duals no
greater, which a tree of boxes finds among all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from optmodels.nearest_lists import keep_least
from optmodels.price import node_cost
from solvers._construction.box_tree import BoxTree
from solvers.bound.tops import tops_of
from solvers.columns.box_search import in_order, search_among, together
from solvers.columns.duals import Duals, plain_duals
from solvers.columns.instance import Floats, Ints, Types
from solvers.columns.search import Limit

_TIMES = 12  # classes that a seed's records share the lowering for, before it is the seed's alone
_LOOKS = 400_000  # at records, in one search
_LEAST_NODES = 20  # of one search


@part
def _least_together(types: Types, tree: BoxTree, node: int, s: int) -> float:
    """The least that a record and any below a node cost together, each."""
    d = types.numeric.shape[1]
    total = 0.0
    for j in range(d):
        x = types.numeric[s, j]
        total += max(tree.low[node, j] - x, x - tree.high[node, j], 0.0)
    for j in range(types.codes.shape[1]):
        code, first, last = types.codes[s, j], int(tree.low[node, d + j]), int(tree.high[node, d + j])
        if code < first:
            total += node_cost(types.climbs, code, first)
        elif code > last:
            total += node_cost(types.climbs, last, code)
    return total


@part
def _partners(
    types: Types,
    k: int,
    tree: BoxTree,
    tops: Floats,
    before: Floats,
    duals: Floats,
    s: int,
    ceiling: float,
    found: Ints,
) -> int:
    """Who can be in a class with s that is worth more than it costs, of duals no greater than its dual before."""
    own = before[s]
    limit = ceiling + duals[s] + (k - 2) * own
    leaves = len(tree.bounds) - 1
    stack = np.empty(128, np.int64)
    stack[0] = 1
    n_stack, count = 1, 0
    while n_stack:
        n_stack -= 1
        node = stack[n_stack]
        if k * _least_together(types, tree, node, s) - min(tops[node], own) >= limit:
            continue
        if node < leaves:
            stack[n_stack], stack[n_stack + 1] = 2 * node, 2 * node + 1
            n_stack += 2
            continue
        for t in range(tree.bounds[node - leaves], tree.bounds[node - leaves + 1]):
            if before[t] > own or (before[t] == own and t < s):
                continue
            if k * together(types, s, t) - duals[t] < limit:
                found[count] = t
                count += 1
    return count


@kernel(nogil=True)
def nearest_costs(types: Types, k: int, tree: BoxTree, seeds: Ints, duals: Floats, halted: NDArray[np.uint8]) -> bool:
    """What every record costs together with the (k - 1)-th nearest to it; False if halted before the end."""
    leaves = len(tree.bounds) - 1
    least = np.empty(k - 1)
    stack = np.empty(128, np.int64)
    for s in seeds:
        if halted[0]:
            return False
        least[:] = np.inf
        stack[0] = 1
        n_stack = 1
        while n_stack:
            n_stack -= 1
            node = stack[n_stack]
            if _least_together(types, tree, node, s) >= least[-1]:
                continue
            if node < leaves:
                one, other = 2 * node, 2 * node + 1
                if _least_together(types, tree, one, s) > _least_together(types, tree, other, s):
                    one, other = other, one
                stack[n_stack], stack[n_stack + 1] = other, one  # the nearer one is looked at first
                n_stack += 2
                continue
            for t in range(tree.bounds[node - leaves], tree.bounds[node - leaves + 1]):
                cost = together(types, s, t)
                for _ in range(min(types.copies[t] - (t == s), k - 1)):
                    if cost < least[-1]:
                        keep_least(least, cost)
        duals[s] = least[-1]
    return True


@part
def _crude(types: Types, k: int, duals: Floats, s: int, entries: Ints) -> float:
    """What no class of s and some of these is worth more by than it costs, as a negative number."""
    if len(entries) < k - 1:
        return 0.0
    least = np.full(k - 1, np.inf)
    for t in entries:
        keep_least(least, k * together(types, s, t) / (k - 1) - duals[t])
    worth: float = min(0.0, least.sum() - duals[s])
    return worth


@kernel(nogil=True)
def repair_boxes(
    types: Types,
    k: int,
    tree: BoxTree,
    floors: Floats,
    before: Floats,
    duals: Floats,
    seeds: Ints,
    tolerance: float,
    limit: Limit,
) -> bool:
    """Lower duals until no class that begins with one of these seeds is worth more than it costs; False if halted.

    `floors` are duals that no class exceeds.
    """
    tops = tops_of(tree, before)
    found = np.empty(len(duals), np.int64)
    best, costs = np.empty((1, k), np.int64), np.empty(1)
    priced = plain_duals(duals)
    for s in seeds:
        if limit.halted[0]:
            return False
        if before[s] <= 0.0:
            continue
        near = found[: _partners(types, k, tree, tops, before, duals, s, -tolerance, found)]
        some = Limit(max(_LEAST_NODES, min(limit.nodes, _LOOKS // max(len(near), 1))), limit.halted)
        for turn in range(_TIMES + 1):
            entries = in_order(types.copies, k, duals, s, near)
            n_found, complete, _nodes = search_among(types, k, priced, s, entries, -tolerance, some, True, best, costs)
            if complete and n_found == 0:
                break
            if n_found == 0 or turn == _TIMES:
                duals[s] += _proven(types, k, priced, s, entries, tolerance, some, best, costs)
                break
            # each of the class has to give up a share of what it has above its floor
            above = 0.0
            for t in best[0]:
                above += max(duals[t] - floors[t], 0.0)
            if above < -costs[0]:
                duals[s] += _proven(types, k, priced, s, entries, tolerance, some, best, costs)
                break
            for place in range(k):
                t = best[0, place]
                copy = False
                for earlier in range(place):
                    copy = copy or best[0, earlier] == t
                if not copy and duals[t] > floors[t]:
                    duals[t] += costs[0] / above * (duals[t] - floors[t])
    return True


@part
def _proven(
    types: Types,
    k: int,
    duals: Duals,
    s: int,
    entries: Ints,
    tolerance: float,
    limit: Limit,
    best: Ints,
    costs: Floats,
) -> float:
    """By how much lowering the seed's dual is proven to be enough, as a negative number."""
    crude: float = _crude(types, k, duals.rows, s, entries)
    for share in (0.0, 0.125, 0.25, 0.5, 0.75):
        ceiling = min(share * crude, -tolerance)
        n_found, complete, _nodes = search_among(types, k, duals, s, entries, ceiling, limit, True, best, costs)
        if complete:
            enough: float = min(costs[0] if n_found else ceiling, 0.0)
            return enough
    return crude
