"""Swaps over any distance, for floors and ceilings that neighbours could not help with.

For one value after the other: the classes that can help with it are listed in their order, and each class that wants
help asks the nearest first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from formulations.mass.floors import BoundsBeyondQuotas, Numbers, Places, SwapBench, load, swap
from optmodels.kernels import kernel, part
from optmodels.partition import root_of

TRIES = 64  # of classes that could help, for one value that a class wants


def fetch(
    held: Places, classes: int, bounds: BoundsBeyondQuotas, bench: SwapBench, full: bool, halted: Callable[[], bool]
) -> int:
    """Swaps over any distance for values that classes lack, or (`full`) have too few or too many records of.

    Returns in how many cases they still do: none where attributes are nested, unless it was halted.
    """
    while True:
        wanting, swaps = _wanting(held, classes, bounds, bench, full), 0
        for missing in (True, False):
            for v in np.flatnonzero(wanting[0 if missing else 1]):
                if halted():
                    return int(wanting.sum())
                swaps += _fetch(held, classes, bounds, bench, v, missing, full)
        if not swaps:
            return int(wanting.sum())


@part
def _wants(least: int, most: int, enough: bool, count: int, missing: bool, full: bool) -> bool:
    """Whether a class with so many records of a value is to get more (`missing`), or to give some away."""
    if not missing:
        return full and count > most
    return count < least if full else count == 0 and enough


@part
def _helps(least: int, most: int, count: int, missing: bool, full: bool) -> bool:
    """Whether such a class can give a record to one that misses the value, or take one from one that has too many."""
    if not missing:
        return count < most
    return count > (least if full else 1)


@kernel(nogil=True)
def _wanting(held: Places, classes: int, bounds: BoundsBeyondQuotas, bench: SwapBench, full: bool) -> Numbers:
    """For each value how many classes are to get more of it, and how many to give some away."""
    found = np.zeros((2, bounds.least.size), np.int64)
    for c in range(classes):
        load(held, classes, c, bounds, bench.rows[0])
        for v in range(bounds.least.size):
            count = bench.rows[0, 0, v]
            found[0, v] += _wants(bounds.least[v], bounds.most[v], bounds.enough[v], count, True, full)
            found[1, v] += _wants(bounds.least[v], bounds.most[v], bounds.enough[v], count, False, full)
    return found


@kernel(nogil=True)
def _fetch(
    held: Places,
    classes: int,
    bounds: BoundsBeyondQuotas,
    bench: SwapBench,
    v: int | np.intp,
    missing: bool,
    full: bool,
) -> int:
    """Swap with the nearest classes that can help, for those that are to get, or to give away, records of value v."""
    n, j, swaps = held.size, bounds.attribute[v], 0
    least, most, enough = bounds.least[v], bounds.most[v], bounds.enough[v]
    count = np.zeros(classes, np.int64)
    helpers = np.empty(classes, np.int64)
    n_helpers = 0
    for c in range(classes):
        for i in range(n * c // classes, n * (c + 1) // classes):
            count[c] += bounds.codes[held[i], j] == v
        if _helps(least, most, count[c], missing, full):
            helpers[n_helpers] = c
            n_helpers += 1
    # who can help no more points on to the next on either side; 0 and n_helpers + 1 are beyond the ends
    before, after = np.arange(n_helpers + 2), np.arange(n_helpers + 2)
    mine, theirs, at = bench.rows[0], bench.rows[1], 1
    for c in range(classes):
        while at <= n_helpers and helpers[at - 1] < c:
            at += 1
        if not _wants(least, most, enough, count[c], missing, full):
            continue
        load(held, classes, c, bounds, mine)
        left, right, tries = root_of(before, at - 1), root_of(after, at), 0
        while tries < TRIES and _wants(least, most, enough, mine[0, v], missing, full):
            if left > 0 and (right > n_helpers or c - helpers[left - 1] <= helpers[right - 1] - c):
                h, left = left, root_of(before, left - 1)
            elif right <= n_helpers:
                h, right = right, root_of(after, right + 1)
            else:
                break
            d, tries = helpers[h - 1], tries + 1
            load(held, classes, d, bounds, theirs)
            while _wants(least, most, enough, mine[0, v], missing, full):
                if not swap(held, classes, c, d, bounds, bench, mine, theirs):
                    break
                swaps += 1
            count[c], count[d] = mine[0, v], theirs[0, v]
            if not _helps(least, most, count[d], missing, full):
                before[h], after[h] = h - 1, h + 1
    return swaps
