"""Depth-first search for the classes of least reduced cost around one record: the exact pricing kernel.

A class is searched from its *medoid*, the member whose distances to the other members sum to the least: then
every other member's sum is at least as large, which bounds the distances among records not chosen yet.
With P chosen (s the medoid), R the r records still to come and D the pairwise bound on the price,

    price(P + R) >= D(P) + sum over c in R of D(P, c) + 1/2 * sum over c in R of D(c, R)

and D(c, R) is at least each of
  * the sum of the r-1 smallest distances of c to any record,
  * D(s, P) + (the r smallest distances of s to candidates) - D(c, P),       since s is the medoid,
  * D(s, P) + D(s, R) - D(c, P), whose sum over c is linear in c as well.
The first two give the marginals `near`, the third the marginals `star`; a node is cut off when the r smallest
of either, plus what P costs, reach the ceiling. Copies of a record are taken in one order only.

A subset-row cut on S adds `penalty` each time its number of members in the class becomes even. A record that
would make it even is charged half of it in the marginals, because two such records pay it only once; what a
complete class pays is counted exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import count_values, fewest_values
from optmodels.kernels import part
from optmodels.nearest_lists import keep_least
from solvers.columns.duals import Duals, reduced_cost
from solvers.columns.instance import Floats, Ints, PairBound, Types


class Limit(NamedTuple):
    """When a search is cut short: after so many nodes, or as soon as the clock's keeper says so."""

    nodes: int
    halted: NDArray[np.bool_]  # one element, set from outside


@part
def can_be_diverse(types: Types, chosen: Ints, missing: int) -> bool:
    """Whether `missing` more records can still bring the class to enough distinct sensitive values."""
    test = types.test
    for j in range(len(test.starts) - 1):
        needed = fewest_values(test, j)
        if needed <= missing:
            continue
        counts = count_values(test, chosen)
        distinct = 0
        for v in range(test.starts[j], test.starts[j + 1]):
            distinct += counts[v] > 0
        if distinct + missing < needed:
            return False
    return True


@part
def _screen(
    pairs: PairBound,
    seed: int,
    r: int,
    value: float,
    star_so_far: float,
    ceiling: float,
    entries: Ints,
    marginal: Floats,
    joined: Floats,
    key: Floats,
    count: int,
) -> int:
    """Drop the candidates that cannot be in a class below the ceiling and sort the others; how many are left.

    `key` receives the marginals `near`: value + the r smallest keys bounds every class from this node.
    """
    if count < r:
        return 0
    least = np.full(r, np.inf)
    for a in range(count):
        keep_least(least, pairs.distance[seed, entries[a]])
    star = star_so_far + least.sum()

    near_least = np.full(r, np.inf)
    star_least = np.full(r, np.inf)
    for a in range(count):
        t = entries[a]
        others = max(pairs.nearest[t, r - 1], star - joined[a]) if r > 1 else 0.0
        key[a] = marginal[a] + 0.5 * others
        keep_least(near_least, key[a])
        keep_least(star_least, marginal[a] + 0.5 * (r * pairs.distance[seed, t] - joined[a]))
    near_total = value + near_least.sum()
    star_value = value + 0.5 * r * star_so_far
    star_total = star_value + star_least.sum()
    if near_total >= ceiling or (r > 1 and star_total >= ceiling):
        return 0

    near_rest = near_total - near_least[r - 1]
    star_rest = star_total - star_least[r - 1]
    kept = 0
    for a in range(count):
        if near_rest + key[a] >= ceiling:
            continue
        t = entries[a]
        if r > 1:
            star_key = marginal[a] + 0.5 * (r * pairs.distance[seed, t] - joined[a])
            if star_rest + star_key >= ceiling:
                continue
        # Insertion keeps equal keys in order, so copies of a record stay together.
        here, m, j = key[a], marginal[a], joined[a]
        q = kept
        while q > 0 and key[q - 1] > here:
            entries[q], marginal[q], joined[q], key[q] = entries[q - 1], marginal[q - 1], joined[q - 1], key[q - 1]
            q -= 1
        entries[q], marginal[q], joined[q], key[q] = t, m, j, here
        kept += 1
    return kept if kept >= r else 0


@part
def _candidates(types: Types, pairs: PairBound, duals: Duals, seed: int, ceiling: float) -> Ints:
    """Who can be in a class with this medoid below the ceiling by the `star` marginals alone, copies repeated."""
    n, r = len(types.copies), pairs.size - 1
    row = pairs.distance[seed]
    half = 0.5 * pairs.size
    least = np.full(r, np.inf)
    for t in range(n):
        value = half * row[t] - duals.rows[t]
        if value < least[r - 1]:
            for _ in range(min(types.copies[t] - (t == seed), r)):
                keep_least(least, value)
    rest = least[: r - 1].sum() - duals.rows[seed] - duals.each
    if rest + least[r - 1] >= ceiling:
        return np.empty(0, np.int64)
    limit = ceiling - rest
    room = 0
    for t in range(n):
        if half * row[t] - duals.rows[t] < limit:
            room += min(types.copies[t] - (t == seed), r)
    entries = np.empty(room, np.int64)
    count = 0
    for t in range(n):
        if half * row[t] - duals.rows[t] < limit:
            for _ in range(min(types.copies[t] - (t == seed), r)):
                entries[count] = t
                count += 1
    return entries


@part
def search(
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
    """Classes with this medoid and reduced cost below the ceiling, written to `found` and `costs`.

    With `keep_best` the ceiling falls to the best class found, and only that one is kept. Returns how many
    classes were found, whether the search was completed, and the number of nodes.
    """
    size = pairs.size
    odd = np.zeros(len(duals.penalties), np.bool_)
    extra = np.zeros(len(types.copies))
    _join(duals, seed, odd, extra)
    first_entries = _candidates(types, pairs, duals, seed, ceiling)
    count = len(first_entries)
    first_joined = np.empty(count)
    first_marginal = np.empty(count)
    first_key = np.empty(count)
    for a in range(count):
        t = first_entries[a]
        first_joined[a] = pairs.distance[seed, t]
        first_marginal[a] = first_joined[a] - duals.rows[t] + extra[t]
    _forget(duals, seed, extra)
    value = -duals.rows[seed] - duals.each
    chosen = np.empty(size, np.int64)
    chosen[0] = seed
    kept = _screen(
        pairs, seed, size - 1, value, 0.0, ceiling, first_entries, first_marginal, first_joined, first_key, count
    )
    if kept == 0:
        return 0, True, 1
    if size == 2:
        n_found, fits, nodes = _complete_pairs(
            types, duals, chosen, first_entries, kept, ceiling, keep_best, found, costs
        )
        return n_found, fits, nodes

    depths = size - 2  # lists for 1 .. size-2 chosen records; the last two are taken together
    e = np.empty((depths, kept), np.int64)
    w = np.empty((depths, kept))
    g = np.empty((depths, kept))
    y = np.empty((depths, kept))
    e[0], w[0], g[0], y[0] = first_entries[:kept], first_marginal[:kept], first_joined[:kept], first_key[:kept]
    counts = np.zeros(depths, np.int64)
    counts[0] = kept
    position = np.zeros(depths, np.int64)
    values = np.zeros(depths)
    values[0] = value
    stars = np.zeros(depths)
    n_found, nodes = 0, 1
    level = 0
    while level >= 0:
        r = size - 1 - level
        if r == 2:
            n_found, ceiling, fits, evaluated = _complete(
                types,
                pairs,
                duals,
                chosen,
                values[level],
                e[level],
                w[level],
                y[level],
                counts[level],
                ceiling,
                keep_best,
                n_found,
                found,
                costs,
            )
            nodes += evaluated
            if not fits:
                return n_found, False, nodes
            level -= 1
            if level >= 0:
                _leave(duals, chosen[level + 1], odd)
            continue
        p = position[level]
        position[level] = p + 1
        done = p > counts[level] - r
        if not done:
            bound = values[level]
            for a in range(p, p + r):
                bound += y[level, a]
            done = bound >= ceiling
        if done:
            level -= 1
            if level >= 0:
                _leave(duals, chosen[level + 1], odd)
            continue
        t = e[level, p]
        if p > 0 and e[level, p - 1] == t:
            continue
        nodes += 1
        if nodes > limit.nodes or limit.halted[0]:
            return n_found, False, nodes
        paid = _join(duals, t, odd, extra)
        chosen[level + 1] = t
        deeper = level + 1
        values[deeper] = values[level] + w[level, p] + paid
        stars[deeper] = stars[level] + pairs.distance[seed, t]
        count = 0
        for a in range(p + 1, counts[level]):
            u = e[level, a]
            step = pairs.distance[t, u]
            e[deeper, count] = u
            w[deeper, count] = w[level, a] + step + extra[u]
            g[deeper, count] = g[level, a] + step
            count += 1
        _forget(duals, t, extra)
        kept = _screen(
            pairs,
            seed,
            r - 1,
            values[deeper],
            stars[deeper],
            ceiling,
            e[deeper],
            w[deeper],
            g[deeper],
            y[deeper],
            count,
        )
        if kept > 0 and not types.only_size and not can_be_diverse(types, chosen[: deeper + 1], r - 1):
            kept = 0
        if kept == 0:
            _leave(duals, t, odd)
            continue
        counts[deeper] = kept
        position[deeper] = 0
        level = deeper
    return n_found, True, nodes


@part
def _join(duals: Duals, t: int, odd: NDArray[np.bool_], extra: Floats) -> float:
    """Turn the cuts of t over; `extra` is what candidates are charged from now on. Returns what t itself pays more."""
    paid = 0.0
    for e in range(duals.starts[t], duals.starts[t + 1]):
        cut = duals.cuts[e]
        half = 0.5 * duals.penalties[cut]
        if odd[cut]:
            paid += half
            half = -half
        odd[cut] = not odd[cut]
        for u in duals.members[cut]:
            extra[u] += half
    return paid


@part
def _forget(duals: Duals, t: int, extra: Floats) -> None:
    for e in range(duals.starts[t], duals.starts[t + 1]):
        for u in duals.members[duals.cuts[e]]:
            extra[u] = 0.0


@part
def _leave(duals: Duals, t: int, odd: NDArray[np.bool_]) -> None:
    for e in range(duals.starts[t], duals.starts[t + 1]):
        odd[duals.cuts[e]] = not odd[duals.cuts[e]]


@part
def _complete(
    types: Types,
    pairs: PairBound,
    duals: Duals,
    chosen: Ints,
    value: float,
    entries: Ints,
    marginal: Floats,
    key: Floats,
    count: int,
    ceiling: float,
    keep_best: bool,
    n_found: int,
    found: Ints,
    costs: Floats,
) -> tuple[int, float, bool, int]:
    """All ways to add the last two records below the ceiling; False when `found` is full; how many were priced."""
    size = pairs.size
    evaluated = 0
    plain = types.pairwise_exact and types.only_size and len(duals.penalties) == 0
    for p in range(count - 1):
        if value + key[p] + key[p + 1] >= ceiling:
            break
        if p > 0 and entries[p - 1] == entries[p]:
            continue
        for a in range(p + 1, count):
            if value + key[p] + key[a] >= ceiling:
                break
            if a > p + 1 and entries[a - 1] == entries[a]:
                continue
            cost = value + marginal[p] + marginal[a] + pairs.distance[entries[p], entries[a]]
            if cost >= ceiling:
                continue
            chosen[size - 2], chosen[size - 1] = entries[p], entries[a]
            if not plain:
                evaluated += not types.only_size  # classes of the wrong values can be very many
                cost = reduced_cost(types, duals, chosen)
                if cost >= ceiling:
                    continue
            kept = keep(chosen, cost, keep_best, n_found, found, costs)
            if kept < 0:
                return n_found, ceiling, False, evaluated
            n_found, ceiling = kept, cost if keep_best else ceiling
    return n_found, ceiling, True, evaluated


@part
def _complete_pairs(
    types: Types,
    duals: Duals,
    chosen: Ints,
    entries: Ints,
    count: int,
    ceiling: float,
    keep_best: bool,
    found: Ints,
    costs: Floats,
) -> tuple[int, bool, int]:
    """Classes of two: every remaining candidate is one."""
    n_found = 0
    for a in range(count):
        if a > 0 and entries[a - 1] == entries[a]:
            continue
        chosen[1] = entries[a]
        cost = reduced_cost(types, duals, chosen)
        if cost >= ceiling:
            continue
        kept = keep(chosen, cost, keep_best, n_found, found, costs)
        if kept < 0:
            return n_found, False, count
        n_found, ceiling = kept, cost if keep_best else ceiling
    return n_found, True, count


@part
def keep(chosen: Ints, cost: float, keep_best: bool, n_found: int, found: Ints, costs: Floats) -> int:
    """Keep a class in the place of all before it, or behind them; how many there are then, -1 if there is no room."""
    if keep_best:
        n_found = 0
    elif n_found == len(costs):
        return -1
    found[n_found] = chosen
    costs[n_found] = cost
    return n_found + 1
