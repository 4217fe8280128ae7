"""A feasible partition to begin with, for any conditions and any number of classes.

Proportional k-d cuts, and where records repeat, classes of equal records merged until the conditions hold.

A part that is to become h classes is cut along its longest side into parts for h/2 classes each. A cut that
would break a condition is tried along the other sides, then made within each combination of sensitive values
(both halves then mirror the part), and given up if that breaks a condition too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, broken_classes, meets, only_size
from optmodels.conditions.dealing import deal
from optmodels.halting import Flag
from optmodels.kernels import kernel, part
from optmodels.partition import Labels, canonical, group_rows, members
from optmodels.price import HIERARCHY, Floats, Price
from solvers._construction.repair import merge_until_met
from solvers.local_search.boxes.cheapest_first import cheapest_first
from solvers.local_search.near import embed

# Cells looked at before the compiled cutting returns to Python: a fraction of a second.
CHUNK = 20_000_000


# Where records repeat this much, on average, classes of equal records are a start of their own.
REPEATED = 2
MOST_KINDS = 20_000  # merging compares each with all


def first_partition(
    price: Price, test: ClassTest, n_classes: int | None = None, halt: Flag | None = None, hurry: Flag | None = None
) -> Labels | None:
    """A partition that meets the conditions, in exactly `n_classes` classes if given; None if none was found.

    Where many records are equal, the cheaper of cuts and of equal records merged until the conditions hold. Once
    raised, `halt` makes short work of what takes long, and `hurry` of what could take less.
    """
    if (labels := by_nodes(price, test, n_classes, halt, hurry)) is not None:
        return labels
    starts = (construct(price, test, n_classes) for construct in CONSTRUCTIONS)
    labels = min((labels for labels in starts if labels is not None), key=price.total, default=None)
    return by_counts(price, test, n_classes) if labels is None else labels


def by_counts(price: Price, test: ClassTest, n_classes: int | None) -> Labels | None:
    """Prescribed classes that no cuts lead to, found by their counts of sensitive values where the table is small."""
    if n_classes is None or n_classes * test.k > price.n:
        return None
    places = embed(price)
    order = np.argsort(places[:, 0], kind="stable") if places.shape[1] else None
    return deal(test, n_classes, order, seconds=1.0).labels


def by_kinds(price: Price, test: ClassTest, n_classes: int | None) -> Labels | None:
    """Classes of equal records merged until the conditions hold, where many records are equal."""
    if n_classes is not None or price.n < test.k or not (price.numeric.shape[1] or price.codes.shape[1]):
        return None
    kinds = group_rows([*price.numeric.T, *price.codes.T])
    if REPEATED * (int(kinds.max()) + 1) > price.n or kinds.max() >= MOST_KINDS:
        return None
    merged = merge_until_met(price, test, kinds)
    return None if broken_classes(test, *members(merged)).any() else merged


def by_cuts(price: Price, test: ClassTest, n_classes: int | None) -> Labels | None:
    """Proportional k-d cuts."""
    n = price.n
    quota = n // test.k if n_classes is None else n_classes
    if quota < 1 or quota * test.k > n:
        return None
    places = embed(price)
    strata = np.zeros(n, np.int64)
    if not test.only_size:
        strata = group_rows([test.codes[:, j] for j in range(test.codes.shape[1])])
    order = np.arange(n)
    parts = _cut(places, strata, test, order, np.array([[0, n, quota]]))
    if n_classes is not None:
        parts = _reach(places, strata, test, order, parts, n_classes)
    if n_classes is not None and len(parts) != n_classes:
        return None
    labels = np.empty(n, np.int64)
    labels[order] = np.repeat(np.arange(len(parts)), parts[:, 1] - parts[:, 0])
    labels = canonical(labels)
    if broken_classes(test, *members(labels)).any():
        return None
    return labels


def by_nodes(
    price: Price, test: ClassTest, n_classes: int | None, halt: Flag | None = None, hurry: Flag | None = None
) -> Labels | None:
    """The cheapest classes first, where prices are those of nodes of hierarchies; merged where more than k is asked."""
    if price.kind != HIERARCHY or n_classes is not None:
        return None
    labels = cheapest_first(price, test.k, halt=halt, hurry=hurry)
    if labels is None or test.only_size:
        return labels
    merged = merge_until_met(price, test, labels)
    return None if broken_classes(test, *members(merged)).any() else merged


CONSTRUCTIONS = (by_kinds, by_cuts)  # the quicker first


def make_feasible(price: Price, test: ClassTest, labels: Labels, n_classes: int | None = None) -> Labels | None:
    """The given partition if it is feasible, else one made from it or from nothing; None if none was found."""
    labels = canonical(labels)
    right = n_classes is None or labels.max() + 1 == n_classes
    if right and not broken_classes(test, *members(labels)).any():
        return labels
    if n_classes is not None:
        return first_partition(price, test, n_classes)
    merged = merge_until_met(price, test, labels)
    return None if broken_classes(test, *members(merged)).any() else merged


def _reach(
    places: NDArray[np.float64],
    strata: NDArray[np.int64],
    test: ClassTest,
    order: NDArray[np.int64],
    parts: NDArray[np.int64],
    n_classes: int,
) -> NDArray[np.int64]:
    """Halve the largest parts until there are enough of them or none can be halved."""
    stuck: list[NDArray[np.int64]] = []
    loose = sorted(parts, key=lambda part: part[1] - part[0])
    while loose and len(loose) + len(stuck) < n_classes:
        part = loose.pop()
        halves = _cut(places, strata, test, order, np.array([[part[0], part[1], 2]]))
        if len(halves) == 1:
            stuck.append(part)
        else:
            loose = sorted([*loose, *halves], key=lambda part: part[1] - part[0])
    return np.array(sorted([*loose, *stuck], key=lambda part: part[0]))


def _cut(
    places: NDArray[np.float64],
    strata: NDArray[np.int64],
    test: ClassTest,
    order: NDArray[np.int64],
    parts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Cut parts (low, high, quota) of the order until each has quota 1 or cannot be cut; sorted by position."""
    done = np.zeros((int(parts[:, 2].sum()), 3), np.int64)
    stack = np.zeros((len(parts) + 128, 3), np.int64)
    stack[: len(parts)] = parts
    n_stack, n_done = len(parts), 0
    while n_stack:
        n_stack, n_done = _cut_some(places, strata, test, order, stack, n_stack, done, n_done, CHUNK)
    finished = done[:n_done]
    return finished[np.argsort(finished[:, 0], kind="stable")]


@kernel(nogil=True)
def _cut_some(
    places: Floats,
    strata: Labels,
    test: ClassTest,
    order: Labels,
    stack: Labels,
    n_stack: int,
    done: Labels,
    n_done: int,
    budget: int,
) -> tuple[int, int]:
    size_alone = only_size(test)
    n_strata = strata.max() + 1
    while n_stack > 0 and budget > 0:
        n_stack -= 1
        low, high, quota = stack[n_stack]
        size = high - low
        budget -= size * (places.shape[1] + 1)
        left_quota = quota // 2
        middle = 0
        if quota > 1:
            share = (2 * size * left_quota + quota) // (2 * quota)
            share = max(left_quota * test.k, min(share, size - (quota - left_quota) * test.k))
            middle = _cut_part(places, strata, n_strata, test, size_alone, order[low:high], share)
        if middle == 0:
            done[n_done, 0], done[n_done, 1], done[n_done, 2] = low, high, quota
            n_done += 1
            continue
        stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = low, low + middle, left_quota
        n_stack += 1
        stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = low + middle, high, quota - left_quota
        n_stack += 1
    return n_stack, n_done


@part
def _cut_part(
    places: Floats, strata: Labels, n_strata: int, test: ClassTest, size_alone: bool, part: Labels, share: int
) -> int:
    """Reorder the part so that its first records are one half; the size of that half, or 0 if no cut is allowed."""
    d = places.shape[1]
    if d == 0:
        return share if size_alone else _cut_by_strata(strata, n_strata, test, part, share)
    sides = np.empty(d)
    for j in range(d):
        mean = 0.0
        square = 0.0
        origin = places[part[0], j]
        for i in part:
            x = places[i, j] - origin
            mean += x
            square += x * x
        sides[j] = square - mean * mean / part.size
    longest = np.argmax(sides)
    if size_alone:
        _select(places[:, longest], part, share)
        return share
    for _ in range(d):
        side = np.argmax(sides)
        sides[side] = -1.0
        _select(places[:, side], part, share)
        if _both_meet(test, part, share):
            return share
    _select(places[:, longest], part, share)
    return _cut_by_strata(strata, n_strata, test, part, share)


@part
def _cut_by_strata(strata: Labels, n_strata: int, test: ClassTest, part: Labels, share: int) -> int:
    """Give the first half its share of every combination of sensitive values, in the order of the part."""
    count = np.zeros(n_strata, np.int64)
    for i in part:
        count[strata[i]] += 1
    before = 0
    given = 0
    for s in range(n_strata):
        before += count[s]
        upto = before * share // part.size
        count[s] = upto - given
        given = upto
    halves = np.empty_like(part)
    first, second = 0, given
    for i in part:
        if count[strata[i]] > 0:
            count[strata[i]] -= 1
            halves[first] = i
            first += 1
        else:
            halves[second] = i
            second += 1
    for place in range(part.size):
        part[place] = halves[place]
    return given if _both_meet(test, part, given) else 0


@part
def _both_meet(test: ClassTest, part: Labels, middle: int) -> bool:
    counts = np.zeros(test.starts[-1], np.int64)
    for place in range(middle):
        for j in range(test.codes.shape[1]):
            counts[test.codes[part[place], j]] += 1
    if not meets(test, counts, middle):
        return False
    for value in range(counts.size):
        counts[value] = 0
    for place in range(middle, part.size):
        for j in range(test.codes.shape[1]):
            counts[test.codes[part[place], j]] += 1
    return meets(test, counts, part.size - middle)


@part
def _select(keys: Floats, part: Labels, middle: int) -> None:
    """Reorder the part so that none of its first `middle` keys exceeds any of the others (quickselect)."""
    low, high = 0, part.size - 1
    while low < high:
        pivot = keys[part[(low + high) // 2]]
        i, j = low, high
        while i <= j:
            while keys[part[i]] < pivot:
                i += 1
            while keys[part[j]] > pivot:
                j -= 1
            if i <= j:
                part[i], part[j] = part[j], part[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return
