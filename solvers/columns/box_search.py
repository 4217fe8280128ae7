"""Depth-first search for the classes of least reduced cost where a class costs what its box does, for each record.

That is the price of hierarchies: the lowest nodes above all members. A class of m costs m times its box, and a box
never shrinks, so that with P chosen, r records still to come and u their duals,

    reduced cost of P + R  >=  m * box(P + c) - duals of P - u_c - the r - 1 greatest duals of other candidates

for every c in R. A class is searched from its member of the greatest dual, and the others join in the order of their
duals: whoever is left out on the way is not looked at again below, and the greatest duals are those that come first.
Copies of a record are taken in one order only.

Penalties of subset-row cuts count as soon as they are due (see `search` for what they are).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part
from optmodels.nearest_lists import keep_least
from optmodels.price import node_cost
from solvers.columns.duals import Duals, reduced_cost
from solvers.columns.instance import Floats, Ints, Types
from solvers.columns.search import Limit, can_be_diverse, keep


@part
def _with(types: Types, low: Floats, high: Floats, t: int) -> float:
    """What the box costs each of its records with one more."""
    total = 0.0
    d = types.numeric.shape[1]
    for j in range(d):
        x = types.numeric[t, j]
        total += max(high[j], x) - min(low[j], x)
    for j in range(types.codes.shape[1]):
        code = types.codes[t, j]
        total += node_cost(types.climbs, int(min(low[d + j], code)), int(max(high[d + j], code)))
    return total


@part
def together(types: Types, a: int, b: int) -> float:
    """What the box of two records costs each."""
    total = 0.0
    for j in range(types.numeric.shape[1]):
        total += abs(types.numeric[a, j] - types.numeric[b, j])
    for j in range(types.codes.shape[1]):
        one, other = types.codes[a, j], types.codes[b, j]
        total += node_cost(types.climbs, min(one, other), max(one, other))
    return total


@part
def _widened(types: Types, low: Floats, high: Floats, t: int, new_low: Floats, new_high: Floats) -> None:
    d = types.numeric.shape[1]
    for j in range(len(low)):
        x = types.numeric[t, j] if j < d else float(types.codes[t, j - d])
        new_low[j] = min(low[j], x)
        new_high[j] = max(high[j], x)


@part
def _due(duals: Duals, t: int, odd: NDArray[np.bool_]) -> float:
    """What the cuts charge for t, given which of them have an odd number of members already."""
    paid = 0.0
    for e in range(duals.starts[t], duals.starts[t + 1]):
        if odd[duals.cuts[e]]:
            paid += duals.penalties[duals.cuts[e]]
    return paid


@part
def _turn(duals: Duals, t: int, odd: NDArray[np.bool_]) -> None:
    for e in range(duals.starts[t], duals.starts[t + 1]):
        odd[duals.cuts[e]] = not odd[duals.cuts[e]]


@part
def _first_candidates(types: Types, size: int, duals: Duals, seed: int, ceiling: float) -> Ints:
    """Who can join a seed of the greatest dual, by falling duals, copies repeated."""
    own = duals.rows[seed]
    limit = ceiling + duals.each + own
    found = np.empty(len(types.copies), np.int64)
    count = 0
    for t in range(len(types.copies)):
        u = duals.rows[t]
        if u > own or (u == own and t < seed) or -u - (size - 2) * own >= limit:
            continue
        if size * together(types, seed, t) - u - (size - 2) * own < limit:
            found[count] = t
            count += 1
    entries: Ints = in_order(types.copies, size, duals.rows, seed, found[:count])
    return entries


@part
def in_order(copies: Ints, size: int, rows: Floats, seed: int, found: Ints) -> Ints:
    """Types by falling duals, each as often as there are records of it besides the seed and places in the class."""
    room = 0
    for t in found:
        room += min(copies[t] - (t == seed), size - 1)
    entries = np.empty(room, np.int64)
    place = 0
    for a in np.argsort(-rows[found], kind="mergesort"):
        for _ in range(min(copies[found[a]] - (found[a] == seed), size - 1)):
            entries[place] = found[a]
            place += 1
    return entries


@part
def _screen(duals: Duals, size: int, r: int, value: float, ceiling: float, entries: Ints, boxes: Floats, n: int) -> int:
    """Drop who cannot be in a class below the ceiling, and close ranks; how many are left, none if they are too few."""
    while True:
        if n < r:
            return 0
        others = 0.0
        for a in range(r - 1):
            others += duals.rows[entries[a]]
        kept = 0
        for a in range(n):
            # one of the first itself leaves a place to the next of them
            rest = others if a >= r - 1 else others - duals.rows[entries[a]] + duals.rows[entries[r - 1]]
            if value + size * boxes[a] - duals.rows[entries[a]] - rest < ceiling:
                entries[kept], boxes[kept] = entries[a], boxes[a]
                kept += 1
        if kept == n:
            break
        n = kept
    least = np.full(r, np.inf)
    for a in range(n):
        keep_least(least, boxes[a])
    together = value + size * least[r - 1]
    for a in range(r):
        together -= duals.rows[entries[a]]
    return n if together < ceiling else 0


@part
def _least_from(boxes: Floats, n: int, least: Floats) -> None:
    so_far = np.inf
    for a in range(n - 1, -1, -1):
        so_far = min(so_far, boxes[a])
        least[a] = so_far


@part
def box_search(
    types: Types,
    size: int,
    duals: Duals,
    seed: int,
    ceiling: float,
    limit: Limit,
    keep_best: bool,
    found: Ints,
    costs: Floats,
) -> tuple[int, bool, int]:
    """Classes whose greatest dual is the seed's, of reduced cost below the ceiling; answers as `search` does."""
    entries = _first_candidates(types, size, duals, seed, ceiling)
    result: tuple[int, bool, int]
    result = search_among(types, size, duals, seed, entries, ceiling, limit, keep_best, found, costs)
    return result


@part
def search_among(
    types: Types,
    size: int,
    duals: Duals,
    seed: int,
    first: Ints,
    ceiling: float,
    limit: Limit,
    keep_best: bool,
    found: Ints,
    costs: Floats,
) -> tuple[int, bool, int]:
    """Classes of the seed and of some others, copies repeated, which are given in the order of falling duals."""
    width = types.numeric.shape[1] + types.codes.shape[1]
    low, high = np.empty((size, width)), np.empty((size, width))
    low[0], high[0] = np.inf, -np.inf
    _widened(types, low[0], high[0], seed, low[0], high[0])
    first, first_boxes = first.copy(), np.empty(len(first))
    for a in range(len(first)):
        repeated = a > 0 and first[a] == first[a - 1]
        first_boxes[a] = first_boxes[a - 1] if repeated else _with(types, low[0], high[0], first[a])
    values = np.zeros(size)
    values[0] = -duals.rows[seed] - duals.each
    kept = _screen(duals, size, size - 1, values[0], ceiling, first, first_boxes, len(first))
    if kept == 0:
        return 0, True, 1
    entries, boxes = np.empty((size - 1, kept), np.int64), np.empty((size - 1, kept))
    entries[0], boxes[0] = first[:kept], first_boxes[:kept]
    least = np.empty((size - 1, kept))  # of the boxes from a place on
    _least_from(boxes[0], kept, least[0])
    counts, position = np.zeros(size, np.int64), np.zeros(size, np.int64)
    counts[0] = kept
    chosen = np.empty(size, np.int64)
    chosen[0] = seed
    odd = np.zeros(len(duals.penalties), np.bool_)
    _turn(duals, seed, odd)
    n_found, nodes, level = 0, 1, 0
    while level >= 0:
        r = size - 1 - level
        p = position[level]
        done = p > counts[level] - r
        if not done:
            # the least box, and the greatest duals, of those who are left
            bound = values[level] + size * least[level, p]
            for a in range(p, p + r):
                bound -= duals.rows[entries[level, a]]
            done = bound >= ceiling
        if done:
            _turn(duals, chosen[level], odd)
            level -= 1
            continue
        position[level] = p + 1
        t = entries[level, p]
        if p > 0 and entries[level, p - 1] == t:
            continue
        value = values[level] - duals.rows[t] + _due(duals, t, odd)
        bound = value + size * boxes[level, p]
        for a in range(p + 1, p + r):
            bound -= duals.rows[entries[level, a]]
        if bound >= ceiling:
            continue
        nodes += 1
        if nodes > limit.nodes or limit.halted[0]:
            return n_found, False, nodes
        chosen[level + 1] = t
        if r == 1:
            cost = reduced_cost(types, duals, chosen)
            if cost < ceiling:
                now_found = keep(chosen, cost, keep_best, n_found, found, costs)
                if now_found < 0:
                    return n_found, False, nodes
                n_found, ceiling = now_found, cost if keep_best else ceiling
            continue
        deeper = level + 1
        _widened(types, low[level], high[level], t, low[deeper], high[deeper])
        values[deeper] = value
        n = 0
        for a in range(p + 1, counts[level]):
            entries[deeper, n] = entries[level, a]
            boxes[deeper, n] = _with(types, low[deeper], high[deeper], entries[level, a])
            n += 1
        kept = _screen(duals, size, r - 1, value, ceiling, entries[deeper], boxes[deeper], n)
        if kept > 0 and not types.only_size and not can_be_diverse(types, chosen[: deeper + 1], r - 1):
            kept = 0
        if kept == 0:
            continue
        counts[deeper], position[deeper] = kept, 0
        _least_from(boxes[deeper], kept, least[deeper])
        _turn(duals, t, odd)
        level = deeper
    return n_found, True, nodes
