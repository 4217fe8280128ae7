"""The least that a large class can cost under least entropies: a fractional class and the prices of its bits.

By Gibbs' inequality a class of counts n_v has at most -sum n_v log2 p_v bits, N times its entropy, whatever the
distribution p, so conditions on entropies may be replaced by a worth of each sensitive value. The fractional class
moves towards the cheapest one (Frank-Wolfe) under an augmented Lagrangian of the conditions; its distribution is p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import copy_into, part
from optmodels.price import Codes, Floats
from solvers.columns.candidate_centres import taken
from solvers.epsilon.class_counts import Needs

Ints = NDArray[np.int64]

_SMOOTH = 1e-7  # records added to every count, so that logarithms are finite


@part
def _held(members: Floats, sensitive: Codes, n_values: int) -> Floats:
    held = np.zeros(n_values)
    for g in range(len(members)):
        if members[g] > 0.0:
            for j in range(sensitive.shape[1]):
                held[sensitive[g, j]] += members[g]
    return held


@part
def _missing(held: Floats, starts: Ints, needs: Needs, missing: Floats) -> float:
    """Bits that a class of these counts lacks, times its size: of each attribute and of the total; the size."""
    size, missing[-1] = 0.0, 0.0
    for j in range(len(starts) - 1):
        size, weighted = 0.0, 0.0
        for v in range(starts[j], starts[j + 1]):
            size += held[v]
            if held[v] > 0.0:
                weighted += held[v] * np.log2(held[v])
        bits = size * np.log2(size) - weighted
        missing[j] = size * needs.least[j] - bits
        missing[-1] -= bits
    missing[-1] += size * needs.total
    return size


@part
def _worths_at(
    held: Floats, prices: Floats, stiffness: float, starts: Ints, needs: Needs, missing: Floats, worths: Floats
) -> float:
    """What a record of each value is worth there into `worths`, by the class's own distribution; the offset."""
    size = _missing(held, starts, needs, missing)
    of_total = max(0.0, prices[-1] + stiffness * missing[-1])
    offset: float = of_total * needs.total
    for j in range(len(starts) - 1):
        of_least = max(0.0, prices[j] + stiffness * missing[j])
        offset += of_least * needs.least[j]
        smoothed = size + _SMOOTH * (starts[j + 1] - starts[j])
        for v in range(starts[j], starts[j + 1]):
            worths[v] = (of_least + of_total) * -np.log2((held[v] + _SMOOTH) / smoothed)
    return offset


@part
def _slope(
    here: Floats, there: Floats, gain: float, prices: Floats, stiffness: float, starts: Ints, needs: Needs,
    share: float, missing: Floats, worths: Floats,
) -> float:  # fmt: skip
    """The derivative of the augmented Lagrangian at this share of the way from one class to another."""
    offset = _worths_at(here + share * (there - here), prices, stiffness, starts, needs, missing, worths)
    slope: float = gain
    grown = 0.0
    for v in range(len(here)):
        slope -= worths[v] * (there[v] - here[v])
        if v < starts[1]:
            grown += there[v] - here[v]
    slope += offset * grown
    return slope


@part
def ascend(
    base: Floats, counts: Ints, sensitive: Codes, starts: Ints, needs: Needs, members: Floats, prices: Floats,
    steps: int, stop: float,
) -> float:  # fmt: skip
    """A bound on the cost of a class of records that cost `base` each; it ends early once the bound reaches `stop`.

    `members` and `prices`, the class and what a bit of each condition costs, are improved in place.
    """
    n_values, n = starts[-1], len(base)
    missing, worths, shifted = np.zeros(len(starts)), np.zeros(n_values), np.empty(n)
    best = -np.inf
    if members.sum() <= 0.0:
        copy_into(members, taken(counts, base, needs.k)[0])
    held = _held(members, sensitive, n_values)
    here = (members * base).sum()
    stiffness = 4.0 * (np.abs(base).mean() + 1e-12) / held[: starts[1]].sum()
    for step in range(steps):
        offset = _worths_at(held, prices, stiffness, starts, needs, missing, worths)
        for g in range(n):
            shifted[g] = base[g] + offset
            for j in range(sensitive.shape[1]):
                shifted[g] -= worths[sensitive[g, j]]
        towards, bound = taken(counts, shifted, needs.k)
        best = max(best, bound)
        if best >= stop:
            break
        there_held = _held(towards.astype(np.float64), sensitive, n_values)
        there = (towards * base).sum()
        low, high = 0.0, 1.0
        for _ in range(14):
            middle = 0.5 * (low + high)
            slope = _slope(held, there_held, there - here, prices, stiffness, starts, needs, middle, missing, worths)
            if slope < 0.0:
                low = middle
            else:
                high = middle
        share = 0.5 * (low + high)
        for g in range(n):
            members[g] += share * (towards[g] - members[g])
        held += share * (there_held - held)
        here += share * (there - here)
        if step % 3 == 2:  # the method of multipliers: what the stiffness had to add is taken over
            _missing(held, starts, needs, missing)
            for j in range(len(prices)):
                prices[j] = max(0.0, prices[j] + stiffness * missing[j])
    return best
