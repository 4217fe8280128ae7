"""The least that a large class can cost under least entropies: a fractional class and the prices of its bits.

By Gibbs' inequality a class of counts n_v has at most -sum n_v log2 p_v bits, N times its entropy, whatever the
distribution p, so conditions on entropies may be replaced by a worth of each sensitive value. Where sizes are known
within a few records there is a sharper one: N log2 N is below its chord, and -n log2 n of a whole number n below any
line through two neighbours on its graph, while a tenth of a record of a rare value would bring a third of a bit. The
fractional class moves towards the cheapest one (Frank-Wolfe) under an augmented Lagrangian of the conditions; the
worths are read off where it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import copy_into, part
from optmodels.price import Codes, Floats
from solvers.epsilon.class_counts import Needs

Ints = NDArray[np.int64]

_SMOOTH = 1e-7  # records added to every count, so that logarithms are finite
_FIRST = 2.0  # bits: by how much the worth of a value's first record may rise as it is missing
_WIDE = 2.0  # times the fewest records: where there may be more, chords are of no use


class SizeRange(NamedTuple):
    """The fewest and the most records of a class."""

    fewest: int
    most: int


@part
def taken_between(counts: Ints, worth: Floats, sizes: SizeRange) -> tuple[Ints, float]:
    """The members of least total worth, so many of them, and that worth."""
    members = np.zeros(len(counts), np.int64)
    size, total = 0, 0.0
    for g in np.argsort(worth):
        wanted = sizes.most if worth[g] < 0.0 else sizes.fewest
        if size >= wanted:
            break
        members[g] = min(counts[g], wanted - size)
        size += members[g]
        total += members[g] * worth[g]
    return members, total


@part
def _held(members: Floats, sensitive: Codes, n_values: int) -> Floats:
    held = np.zeros(n_values)
    for g in range(len(members)):
        if members[g] > 0.0:
            for j in range(sensitive.shape[1]):
                held[sensitive[g, j]] += members[g]
    return held


@part
def _times_log(records: float) -> float:
    """The product of a number and its binary logarithm."""
    product: float = records * np.log2(records) if records > 0.0 else 0.0
    return product


@part
def _lines(held: Floats, starts: Ints, sizes: SizeRange, heights: Floats, slopes: Floats) -> tuple[float, float]:
    """For each attribute a height, for each value a slope, and those of the size: bits are below their sum.

    Returned are the slope of the size, and the size; a class of counts n has at most heights + sum slopes n + slope N
    bits, N times its entropy. All of it holds whatever `held` is, which only says where it should be tight.
    """
    size = 0.0
    for v in range(starts[0], starts[1]):
        size += held[v]
    whole = sizes.most < _WIDE * sizes.fewest
    of_size, at_none = 0.0, 0.0
    if whole and sizes.most > sizes.fewest:
        of_size = (_times_log(sizes.most) - _times_log(sizes.fewest)) / (sizes.most - sizes.fewest)
    if whole:
        at_none = _times_log(sizes.fewest) - of_size * sizes.fewest
    for j in range(len(starts) - 1):
        heights[j] = at_none
        smoothed = size + _SMOOTH * (starts[j + 1] - starts[j])
        for v in range(starts[j], starts[j + 1]):
            if not whole:
                slopes[v] = -np.log2((held[v] + _SMOOTH) / smoothed)
                continue
            at = np.floor(held[v] + 0.5)
            share = held[v] + 0.5 - at
            before = _FIRST if at == 0.0 else _times_log(at - 1.0) - _times_log(at)
            after = _times_log(at) - _times_log(at + 1.0)
            slopes[v] = (1.0 - share) * before + share * after
            heights[j] -= _times_log(at) + slopes[v] * at
    return of_size, size


@part
def _missing(
    held: Floats, starts: Ints, needs: Needs, sizes: SizeRange, heights: Floats, slopes: Floats, missing: Floats
) -> float:
    """Bits that a class of these counts lacks, times its size: of each attribute and of the total; the size's slope."""
    of_size, size = _lines(held, starts, sizes, heights, slopes)
    missing[-1] = size * needs.total
    for j in range(len(starts) - 1):
        bits = heights[j] + of_size * size
        for v in range(starts[j], starts[j + 1]):
            bits += slopes[v] * held[v]
        missing[j] = size * needs.least[j] - bits
        missing[-1] -= bits
    return of_size


@part
def _worths_at(
    held: Floats, prices: Floats, stiffness: float, starts: Ints, needs: Needs, sizes: SizeRange, heights: Floats,
    missing: Floats, worths: Floats,
) -> tuple[float, float]:  # fmt: skip
    """What a record of each value is worth there into `worths`; the offset of every record, and of the class."""
    of_size = _missing(held, starts, needs, sizes, heights, worths, missing)
    of_total = max(0.0, prices[-1] + stiffness * missing[-1])
    offset, of_class = of_total * needs.total, 0.0
    for j in range(len(starts) - 1):
        of_least = max(0.0, prices[j] + stiffness * missing[j])
        offset += of_least * needs.least[j] - (of_least + of_total) * of_size
        of_class -= (of_least + of_total) * heights[j]
        for v in range(starts[j], starts[j + 1]):
            worths[v] *= of_least + of_total
    return offset, of_class


@part
def _slope(
    here: Floats, there: Floats, gain: float, prices: Floats, stiffness: float, starts: Ints, needs: Needs,
    sizes: SizeRange, share: float, heights: Floats, missing: Floats, worths: Floats,
) -> float:  # fmt: skip
    """The derivative of the augmented Lagrangian at this share of the way from one class to another."""
    between = here + share * (there - here)
    offset = _worths_at(between, prices, stiffness, starts, needs, sizes, heights, missing, worths)[0]
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
    base: Floats, counts: Ints, sensitive: Codes, starts: Ints, needs: Needs, sizes: SizeRange, members: Floats,
    prices: Floats, steps: int, stop: float,
) -> float:  # fmt: skip
    """A bound on the cost of a class of records that cost `base` each; it ends early once the bound reaches `stop`.

    `members` and `prices`, the class and what a bit of each condition costs, are improved in place.
    """
    n_values, n = starts[-1], len(base)
    heights, missing = np.zeros(len(starts) - 1), np.zeros(len(starts))
    worths, shifted = np.zeros(n_values), np.empty(n)
    best = -np.inf
    if members.sum() <= 0.0:
        copy_into(members, taken_between(counts, base, sizes)[0])
    held = _held(members, sensitive, n_values)
    here = (members * base).sum()
    stiffness = 4.0 * (np.abs(base).mean() + 1e-12) / held[: starts[1]].sum()
    for step in range(steps):
        offset, of_class = _worths_at(held, prices, stiffness, starts, needs, sizes, heights, missing, worths)
        for g in range(n):
            shifted[g] = base[g] + offset
            for j in range(sensitive.shape[1]):
                shifted[g] -= worths[sensitive[g, j]]
        towards, bound = taken_between(counts, shifted, sizes)
        best = max(best, bound + of_class)
        if best >= stop:
            break
        there_held = _held(towards.astype(np.float64), sensitive, n_values)
        there = (towards * base).sum()
        low, high = 0.0, 1.0
        for _ in range(14):
            middle = 0.5 * (low + high)
            slope = _slope(
                held, there_held, there - here, prices, stiffness, starts, needs, sizes, middle, heights, missing,
                worths,
            )  # fmt: skip
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
            _missing(held, starts, needs, sizes, heights, worths, missing)
            for j in range(len(prices)):
                prices[j] = max(0.0, prices[j] + stiffness * missing[j])
    return best
