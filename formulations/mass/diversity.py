"""Diversity where attributes cross: in every class as many different values as there are enough records of for all.

Which values they are is left open, so that few records have to come from afar: of a class that lacks one of the common
values most have a rarer one instead. What classes not too far away cannot help with ends in a union of neighbours.
"""

from __future__ import annotations

import numpy as np

from formulations.mass.floors import BoundsBeyondQuotas, Numbers, Places, SwapBench, count, load, price, swap
from optmodels.kernels import copy_into, kernel, part

NOT_TOO_FAR = 16  # classes on either side, to swap with


@kernel(nogil=True)
def diversify(held: Places, classes: int, bounds: BoundsBeyondQuotas, bench: SwapBench, begin: int, end: int) -> None:
    """Swaps with classes not too far away for those from `begin` to `end` that have too few different values."""
    distinct, mine, theirs = np.empty(bounds.diverse.size, np.int64), bench.rows[0], bench.rows[1]
    for c in range(begin, end):
        load(held, classes, c, bounds, mine)
        away = 1
        while away <= NOT_TOO_FAR and not _is_diverse(bounds, mine[0], distinct):
            for d in (c - away, c + away):
                if 0 <= d < end:
                    count(held, classes, d, bounds, theirs)
                    if _can_help(bounds, mine[0], theirs[0], distinct):
                        price(bounds, theirs)
                    while _can_help(bounds, mine[0], theirs[0], distinct):
                        if not swap(held, classes, c, d, bounds, bench, mine, theirs):
                            break
                        _is_diverse(bounds, mine[0], distinct)
            away += 1


@kernel(nogil=True)
def joined(held: Places, classes: int, bounds: BoundsBeyondQuotas, bench: SwapBench, dealt: int) -> Numbers:
    """The number of each class when those with too few different values are joined with the next ones."""
    number, joint, codes = np.arange(classes), bench.rows[0, 0], bounds.codes
    distinct = np.empty(bounds.diverse.size, np.int64)
    n, at, met = held.size, -1, True
    for c in range(dealt):
        if met:
            joint[:] = 0
            at += 1
        for i in range(n * c // classes, n * (c + 1) // classes):
            for j in range(codes.shape[1]):
                joint[codes[held[i], j]] += 1
        number[c] = at
        met = _is_diverse(bounds, joint, distinct)
    if not met and at > 0:  # the last ones: with those before them, which are diverse
        at -= 1
        copy_into(number, np.minimum(number[:dealt], at))
    number[dealt:] += at + 1 - dealt
    return number


@part
def _is_diverse(bounds: BoundsBeyondQuotas, row: Numbers, distinct: Numbers) -> bool:
    """Whether a class has as many different values of every attribute as it should; `distinct` is what it has."""
    distinct[:] = 0
    for v in range(row.size):
        distinct[bounds.attribute[v]] += row[v] + bounds.quotas[v] > 0
    for j in range(distinct.size):  # noqa: SIM110 (compiled)
        if distinct[j] < bounds.diverse[j]:
            return False
    return True


@part
def _can_help(bounds: BoundsBeyondQuotas, mine: Numbers, theirs: Numbers, distinct: Numbers) -> bool:
    """Whether the second class has two records with a value that the first one, short of values, has not."""
    for v in range(mine.size):
        j = bounds.attribute[v]
        if mine[v] == 0 and theirs[v] > 1 and bounds.enough[v] and distinct[j] < bounds.diverse[j]:
            return True
    return False
