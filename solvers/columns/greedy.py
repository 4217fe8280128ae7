"""Classes of negative reduced cost, grown from every record by the cheapest joiner: quick, and never a proof."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from optmodels.conditions import fewest_values
from optmodels.kernels import kernel, part
from optmodels.price import SPREAD
from solvers.columns.duals import Duals, reduced_cost
from solvers.columns.instance import Floats, Instance, Ints, Types

_AT_ONCE = 512  # types from which classes are grown between two looks at the clock


def grow_classes(
    instance: Instance,
    duals: Duals,
    reach: int,
    threshold: float,
    most: int,
    expired: Callable[[], bool] = lambda: False,
) -> list[Ints]:
    """Of the best classes grown from each type with a reduced cost below the threshold, the `most` cheapest.

    When the time is over, of the types so far.
    """
    found: list[tuple[float, Ints]] = []
    both = (False, True) if not instance.types.only_size else (False,)
    for first, diversify in product(range(0, instance.n_types, _AT_ONCE), both):
        if first and expired():
            break
        seeds = np.arange(first, min(first + _AT_ONCE, instance.n_types))
        members, sizes, costs = _grow_many(
            instance.types, instance.distance, duals, seeds, instance.smallest, reach, threshold, diversify
        )
        found += [(costs[i], np.sort(members[i, : sizes[i]])) for i in np.flatnonzero(sizes)]
    found.sort(key=lambda pair: pair[0])
    return [grown for _, grown in found[:most]]


@kernel(nogil=True)
def _grow_many(
    types: Types,
    distance: Floats,
    duals: Duals,
    seeds: Ints,
    smallest: int,
    reach: int,
    threshold: float,
    diversify: bool,
) -> tuple[Ints, Ints, Floats]:
    members = np.zeros((len(seeds), reach), np.int64)
    sizes = np.zeros(len(seeds), np.int64)
    costs = np.zeros(len(seeds))
    for i in range(len(seeds)):
        sizes[i], costs[i] = _grow(types, distance, duals, seeds[i], smallest, reach, threshold, diversify, members[i])
    return members, sizes, costs


@part
def _grow(
    types: Types,
    distance: Floats,
    duals: Duals,
    seed: int,
    smallest: int,
    reach: int,
    threshold: float,
    diversify: bool,
    members: Ints,
) -> tuple[int, float]:
    n = len(types.copies)
    left = types.copies.copy()
    joined = np.zeros(n)
    penalty = np.zeros(n)
    odd = np.zeros(len(duals.penalties), np.bool_)
    counts = np.zeros(types.test.starts[-1], np.int64)
    pairs = 0.0
    best, best_size = threshold, 0
    record = seed
    for size in range(1, reach + 1):
        pairs += joined[record]
        members[size - 1] = record
        left[record] -= 1
        for j in range(types.test.codes.shape[1]):
            counts[types.test.codes[record, j]] += 1
        for e in range(duals.starts[record], duals.starts[record + 1]):
            cut = duals.cuts[e]
            odd[cut] = not odd[cut]
            for u in duals.members[cut]:
                penalty[u] += duals.penalties[cut] if odd[cut] else -duals.penalties[cut]
        for e in range(len(duals.charges)):
            if duals.pairs[e, 0] == record:
                penalty[duals.pairs[e, 1]] += duals.charges[e]
            elif duals.pairs[e, 1] == record:
                penalty[duals.pairs[e, 0]] += duals.charges[e]
        if size >= smallest:
            cost = reduced_cost(types, duals, members[:size])
            if cost < best:
                best, best_size = cost, size
        if size == reach:
            break
        bigger = size + 1
        factor = 1.0 / bigger if types.kind == SPREAD else bigger / ((bigger * bigger) // 4)
        record, least = -1, np.inf
        for t in range(n):
            joined[t] += distance[members[size - 1], t]
            if left[t] == 0:
                continue
            value = (pairs + joined[t]) * factor - duals.rows[t] + penalty[t]
            if value < least and not (diversify and not _diversifies(types, counts, t)):
                record, least = t, value
        if record < 0 and diversify:
            diversify = False
            for t in range(n):
                value = (pairs + joined[t]) * factor - duals.rows[t] + penalty[t]
                if left[t] > 0 and value < least:
                    record, least = t, value
        if record < 0:
            break
    return best_size, best


@part
def _diversifies(types: Types, counts: Ints, t: int) -> bool:
    """Whether t brings a new value to some attribute that needs one, or no attribute does."""
    test = types.test
    needed = False
    for j in range(len(test.starts) - 1):
        distinct = 0
        for v in range(test.starts[j], test.starts[j + 1]):
            distinct += counts[v] > 0
        if distinct < fewest_values(test, j):
            needed = True
            if counts[test.codes[t, j]] == 0:
                return True
    return not needed
