"""What branching adds to reduced costs: a charge, or a reward, for every pair of records of two given types.

Charges are pairwise, so they join the pairwise bound on prices and the search needs to know nothing of them: a
class's medoid is then the one by charged distances.
"""

from __future__ import annotations

import numpy as np

from solvers.columns.duals import Duals
from solvers.columns.instance import Floats, Ints, PairBound, sums_of_nearest

Pair = tuple[int, int]


def pairs_in(counts: dict[int, int], pair: Pair) -> int:
    """How many pairs of records of these two types are in a class, given how often each type is in it."""
    a, b = counts.get(pair[0], 0), counts.get(pair[1], 0)
    return a * (a - 1) // 2 if pair[0] == pair[1] else a * b


def charged(bound: PairBound, duals: Duals, copies: Ints) -> PairBound:
    """The pairwise bound on prices with charges."""
    if len(duals.charges) == 0:
        return bound
    distance, nearest = bound.distance.copy(), bound.nearest.copy()
    for (a, b), charge in zip(duals.pairs.tolist(), duals.charges.tolist(), strict=True):
        distance[a, b] += charge
        if a != b:
            distance[b, a] += charge
    rows = np.unique(duals.pairs)
    nearest[rows] = sums_of_nearest(distance, copies, bound.size, rows)
    return PairBound(bound.size, distance, nearest)


def rewards(duals: Duals, copies: Ints) -> Floats:
    """For each type, the most that one record of it can gain by its pairs in one class."""
    total = np.zeros(len(copies))
    for (a, b), charge in zip(duals.pairs.tolist(), duals.charges.tolist(), strict=True):
        if charge < 0:
            total[a] -= charge * (copies[b] - (a == b))
            if a != b:
                total[b] -= charge * copies[a]
    return total
