"""Conditions beyond k in classes that were dealt: by swaps with classes not far away, and by joining neighbours.

Classes that mirror the table meet most of what one may ask of l and t. Those that do not give away records for which
others bring their values closer to floors and ceilings, as long as the class that gives them still meets the
conditions. What cannot be mended like this is joined with the classes that follow, until the conditions hold: of two
classes that meet them the union does, so in the end they all do, if only everybody in one class would.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from formulations.mass.diversity import NOT_TOO_FAR
from optmodels.conditions import ClassTest, count_values, meets
from optmodels.kernels import kernel, part
from optmodels.partition import Labels, members

Numbers = NDArray[np.int64]

AT_ONCE = 2_000  # classes between two looks whether to halt
COMPARED = 64  # records of a class, of which one is given away: enough to choose from in a large class


def mended(
    labels: Labels, test: ClassTest, strata: Labels, codes: Numbers, halted: Callable[[], bool] = lambda: False
) -> Labels:
    """Classes that meet the conditions, from classes whose numbers follow an order of similarity.

    If not even everybody in one class meets them, the answer is that class. Swaps end when it is halted, joining not.

    Args:
        labels: the class of each record, 0..C-1, similar ones close to each other.
        test: the conditions.
        strata: the stratum of each record, 0..S-1.
        codes: (S, s) the place of each stratum's sensitive values among all of them.
        halted: asked every so many classes.

    >>> from optmodels.conditions import Conditions
    >>> from optmodels.testing import small_table
    >>> table = small_table(8, values=2)
    >>> test = Conditions(k=2, distinct_l=2).compile(table)
    >>> values = table.sensitive_codes[:, 0].astype(np.int64)
    >>> found = mended(np.argsort(np.argsort(values, kind="stable")) // 2, test, values, np.array([[0], [1]]))
    >>> all(len(set(values[found == c])) == 2 for c in found)
    True
    """
    rows, starts = members(labels)
    counts = np.zeros(int(codes.max()) + 1, np.int64)
    np.add.at(counts, codes[strata].ravel(), 1)
    n_classes = len(starts) - 1
    least, most = counts // n_classes, -(-counts // n_classes)
    for begin in range(0, n_classes, AT_ONCE):
        if begin and halted():
            break
        _swap_until_met(test, rows, starts, strata, codes, least, most, begin, min(begin + AT_ONCE, n_classes))
    found = np.empty_like(labels)
    found[rows] = np.repeat(_joined_until_met(test, rows, starts), np.diff(starts))
    return found


@kernel(nogil=True)
def _swap_until_met(
    test: ClassTest,
    rows: Numbers,
    starts: Numbers,
    strata: Labels,
    codes: Numbers,
    least: Numbers,
    most: Numbers,
    begin: int,
    end: int,
) -> None:
    classes, have = starts.size - 1, np.empty_like(least)
    for c in range(begin, end):
        own = rows[starts[c] : starts[c + 1]]
        counts = count_values(test, own)
        if meets(test, counts, own.size):
            continue
        have[:] = 0
        for i in own:
            for v in codes[strata[i]]:
                have[v] += 1
        away, met = 1, False
        while away <= NOT_TOO_FAR and not met:
            for d in (c - away, c + away):
                if 0 <= d < classes and not met:
                    other = rows[starts[d] : starts[d + 1]]
                    met = _swap_with(test, own, other, counts, strata, codes, have, least, most)
            away += 1


@part
def _swap_with(
    test: ClassTest,
    own: Numbers,
    other: Numbers,
    counts: Numbers,
    strata: Labels,
    codes: Numbers,
    have: Numbers,
    least: Numbers,
    most: Numbers,
) -> bool:
    """Swap with a class that meets the conditions, as long as it does; whether the first class then meets them too."""
    theirs = count_values(test, other)
    if not meets(test, theirs, other.size):
        return False
    while True:
        x, y = _best_swap(own, other, strata, codes, have, least, most)
        if x < 0:
            return False
        _exchange(test, own[x], other[y], theirs)
        if not meets(test, theirs, other.size):
            return False
        _exchange(test, other[y], own[x], counts)
        for j in range(codes.shape[1]):
            have[codes[strata[own[x]], j]] -= 1
            have[codes[strata[other[y]], j]] += 1
        own[x], other[y] = other[y], own[x]
        if meets(test, counts, own.size):
            return True


@part
def _exchange(test: ClassTest, comes: int, goes: int, counts: Numbers) -> None:
    for j in range(test.codes.shape[1]):
        counts[test.codes[comes, j]] += 1
        counts[test.codes[goes, j]] -= 1


@part
def _best_swap(
    own: Numbers, other: Numbers, strata: Labels, codes: Numbers, have: Numbers, least: Numbers, most: Numbers
) -> tuple[int, int]:
    """The two records whose exchange brings the first class closest to floors and ceilings; -1 if none does."""
    best, best_x, best_y = 0, -1, -1
    for x in range(min(own.size, COMPARED)):
        for y in range(min(other.size, COMPARED)):
            change = 0
            for j in range(codes.shape[1]):
                u, v = codes[strata[own[x]], j], codes[strata[other[y]], j]
                if u != v:
                    change += (have[u] <= least[u]) - (have[u] > most[u]) - (have[v] < least[v]) + (have[v] >= most[v])
            if change < best:
                best, best_x, best_y = change, x, y
    return best_x, best_y


@kernel(nogil=True)
def _joined_until_met(test: ClassTest, rows: Numbers, starts: Numbers) -> Numbers:
    """The number of each class when those that do not meet the conditions are joined with the next ones."""
    classes = starts.size - 1
    number = np.empty(classes, np.int64)
    at, first, counts, met = -1, 0, np.zeros(test.starts[-1], np.int64), True
    for c in range(classes):
        if met:
            at, first = at + 1, c
            counts[:] = 0
        counts += count_values(test, rows[starts[c] : starts[c + 1]])
        number[c] = at
        met = meets(test, counts, starts[c + 1] - starts[first])
    while not met and first > 0:  # the last ones: with those before them
        at -= 1
        number[first:] = at
        while first > 0 and number[first - 1] == at:
            first -= 1
            counts += count_values(test, rows[starts[first] : starts[first + 1]])
        met = meets(test, counts, rows.size - starts[first])
    return number
