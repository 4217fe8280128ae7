"""The partition being searched: class statistics that one record's coming or going changes in constant time.

Classes live in numbered slots; a slot with no record is free. The records of a class are a linked list, so
that a class of any size is walked, joined and left without moving anything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.partition import Labels
from optmodels.price import SPREAD, Price

# Count tables of more cells than this are not kept; counts are then taken by walking the class, which is small.
TABLE_CELLS = 1 << 26

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[np.int32]


class State(NamedTuple):
    """Records, conditions and the statistics of every class slot."""

    kind: int
    only_size: bool
    test: ClassTest
    numeric: Floats  # (n, d)
    codes: Counts  # (n, q): place of each record's categorical values in a counts vector
    code_starts: Ints  # (q + 1): the slice of each categorical attribute in a counts vector
    code_weights: Floats
    labels: Labels  # slot of each record; -1: in no class
    following: Ints  # (n): next record of the same class; -1: none
    preceding: Ints
    first: Ints  # (slots): first record of each class; -1: none
    sizes: Ints
    prices: Floats
    centres: Floats  # (slots, d) of a spread
    low: Floats  # (slots, d) of an extent: the two smallest and the two largest values, so that
    next_low: Floats  # leaving a class needs no walk through it
    high: Floats
    next_high: Floats
    counts: Counts  # (slots, values), or no rows where the table would be too large
    modes: Counts  # (slots, q): how often the commonest value occurs
    ties: Counts  # (slots, q): how many values occur that often
    distinct: Counts  # (slots, q): how many values occur
    held: Counts  # (slots, sensitive values), or no rows


def new_state(price: Price, test: ClassTest, n_slots: int) -> State:
    """A state of empty classes."""
    n, d = price.numeric.shape
    domains = price.codes.max(axis=0, initial=0).astype(np.int64) + 1
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(domains)])
    spread = price.kind == SPREAD
    measured = (n_slots, d)
    box = (0, d) if spread else measured
    attributes = (n_slots, len(domains))
    values, sensitive = int(starts[-1]), int(test.starts[-1])
    return State(
        kind=price.kind,
        only_size=test.only_size,
        test=test,
        # Means of values far from zero lose digits: the search works around the table's own mean.
        numeric=np.ascontiguousarray(price.numeric - price.numeric.mean(axis=0)),
        codes=np.ascontiguousarray(price.codes + starts[:-1].astype(np.int32)).astype(np.int32),
        code_starts=starts,
        code_weights=np.ascontiguousarray(price.code_weights, np.float64),
        labels=np.full(n, -1, np.int64),
        following=np.full(n, -1, np.int64),
        preceding=np.full(n, -1, np.int64),
        first=np.full(n_slots, -1, np.int64),
        sizes=np.zeros(n_slots, np.int64),
        prices=np.zeros(n_slots),
        centres=np.zeros(measured if spread else (0, d)),
        low=np.full(box, np.inf),
        next_low=np.full(box, np.inf),
        high=np.full(box, -np.inf),
        next_high=np.full(box, -np.inf),
        counts=np.zeros((n_slots if n_slots * values <= TABLE_CELLS else 0, values), np.int32),
        modes=np.zeros(attributes, np.int32),
        ties=np.zeros(attributes, np.int32),
        distinct=np.zeros(attributes, np.int32),
        held=np.zeros((n_slots if n_slots * sensitive <= TABLE_CELLS and not test.only_size else 0, sensitive), np.int32),
    )


@njit(cache=True, nogil=True)
def squared_distance(a, b):  # type: ignore[no-untyped-def]
    """Squared Euclidean distance of two points."""
    total = 0.0
    for j in range(a.size):
        difference = a[j] - b[j]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def count_of(state, slot, j, value):  # type: ignore[no-untyped-def]
    """How many records of the class have this value of categorical attribute j."""
    if state.counts.shape[0]:
        return state.counts[slot, value]
    count = np.int32(0)
    i = state.first[slot]
    while i >= 0:
        count += state.codes[i, j] == value
        i = state.following[i]
    return count


@njit(cache=True, nogil=True)
def join_change(state, i, slot):  # type: ignore[no-untyped-def]
    """Change of the class's price when record i joins it."""
    size = state.sizes[slot]
    if size == 0:
        return 0.0
    if state.kind == SPREAD:
        change = squared_distance(state.numeric[i], state.centres[slot]) * size / (size + 1)
        for j in range(state.codes.shape[1]):
            if count_of(state, slot, j, state.codes[i, j]) < state.modes[slot, j]:
                change += state.code_weights[j]
        return change
    sides = 0.0
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        sides += max(state.high[slot, j], x) - min(state.low[slot, j], x)
    for j in range(state.codes.shape[1]):
        new = count_of(state, slot, j, state.codes[i, j]) == 0
        sides += state.code_weights[j] * (state.distinct[slot, j] - 1 + new)
    return sides * (size + 1) - state.prices[slot]


@njit(cache=True, nogil=True)
def leave_change(state, i, slot):  # type: ignore[no-untyped-def]
    """Change of the class's price when its record i leaves."""
    size = state.sizes[slot]
    if size == 1:
        return -state.prices[slot]
    if state.kind == SPREAD:
        change = -squared_distance(state.numeric[i], state.centres[slot]) * size / (size - 1)
        for j in range(state.codes.shape[1]):
            if not _only_mode(state, i, slot, j):
                change -= state.code_weights[j]
        return change
    sides = 0.0
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        high = state.next_high[slot, j] if x >= state.high[slot, j] else state.high[slot, j]
        low = state.next_low[slot, j] if x <= state.low[slot, j] else state.low[slot, j]
        sides += high - low
    for j in range(state.codes.shape[1]):
        last = count_of(state, slot, j, state.codes[i, j]) == 1
        sides += state.code_weights[j] * (state.distinct[slot, j] - 1 - last)
    return sides * (size - 1) - state.prices[slot]


@njit(cache=True, nogil=True)
def trade_change(state, slot, leaver, joiner):  # type: ignore[no-untyped-def]
    """Change of the class's price when `joiner` takes the place of its record `leaver`."""
    size = state.sizes[slot]
    change = 0.0
    if state.kind == SPREAD:
        # |z|^2 - |y|^2 - |z - y|^2 / size around the mean: no large numbers that cancel
        for j in range(state.numeric.shape[1]):
            y = state.numeric[leaver, j] - state.centres[slot, j]
            z = state.numeric[joiner, j] - state.centres[slot, j]
            change += (z - y) * (z + y) - (z - y) * (z - y) / size
        for j in range(state.codes.shape[1]):
            value = state.codes[joiner, j]
            if value != state.codes[leaver, j]:
                mode = state.modes[slot, j]
                without = mode - 1 if _only_mode(state, leaver, slot, j) else mode
                change += state.code_weights[j] * (mode - max(without, count_of(state, slot, j, value) + 1))
        return change
    for j in range(state.numeric.shape[1]):
        y, z = state.numeric[leaver, j], state.numeric[joiner, j]
        high = state.next_high[slot, j] if y >= state.high[slot, j] else state.high[slot, j]
        low = state.next_low[slot, j] if y <= state.low[slot, j] else state.low[slot, j]
        change += max(high, z) - min(low, z)
    for j in range(state.codes.shape[1]):
        old, new = state.codes[leaver, j], state.codes[joiner, j]
        kept = state.distinct[slot, j] - 1
        if old != new:
            kept += count_of(state, slot, j, new) == 0
            kept -= count_of(state, slot, j, old) == 1
        change += state.code_weights[j] * kept
    return change * size - state.prices[slot]


@njit(cache=True, nogil=True)
def _only_mode(state, i, slot, j):  # type: ignore[no-untyped-def]
    mode = state.modes[slot, j]
    return state.ties[slot, j] == 1 and count_of(state, slot, j, state.codes[i, j]) == mode


@njit(cache=True, nogil=True)
def attach(state, i, slot):  # type: ignore[no-untyped-def]
    """Put record i, which is in no class, into a class."""
    state.prices[slot] += join_change(state, i, slot)
    size = state.sizes[slot] + 1
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        if state.kind == SPREAD:
            state.centres[slot, j] += (x - state.centres[slot, j]) / size
        else:
            _widen(state, slot, j, x)
    for j in range(state.codes.shape[1]):
        value = state.codes[i, j]
        count = count_of(state, slot, j, value) + 1
        if state.counts.shape[0]:
            state.counts[slot, value] = count
        if count == 1:
            state.distinct[slot, j] += 1
        if count > state.modes[slot, j]:
            state.modes[slot, j] = count
            state.ties[slot, j] = 1
        elif count == state.modes[slot, j]:
            state.ties[slot, j] += 1
    if state.held.shape[0]:
        for j in range(state.test.codes.shape[1]):
            state.held[slot, state.test.codes[i, j]] += 1
    state.sizes[slot] = size
    state.labels[i] = slot
    head = state.first[slot]
    state.following[i] = head
    state.preceding[i] = -1
    if head >= 0:
        state.preceding[head] = i
    state.first[slot] = i


@njit(cache=True, nogil=True)
def _widen(state, slot, j, x):  # type: ignore[no-untyped-def]
    if x <= state.low[slot, j]:
        state.next_low[slot, j] = state.low[slot, j]
        state.low[slot, j] = x
    elif x < state.next_low[slot, j]:
        state.next_low[slot, j] = x
    if x >= state.high[slot, j]:
        state.next_high[slot, j] = state.high[slot, j]
        state.high[slot, j] = x
    elif x > state.next_high[slot, j]:
        state.next_high[slot, j] = x


@njit(cache=True, nogil=True)
def detach(state, i):  # type: ignore[no-untyped-def]
    """Take record i out of its class; an emptied class is as new."""
    slot = state.labels[i]
    if state.sizes[slot] == 1:
        clear(state, slot)
        return
    state.prices[slot] += leave_change(state, i, slot)
    before, after = state.preceding[i], state.following[i]
    if before >= 0:
        state.following[before] = after
    else:
        state.first[slot] = after
    if after >= 0:
        state.preceding[after] = before
    state.labels[i] = -1
    state.sizes[slot] -= 1
    size = state.sizes[slot]
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        if state.kind == SPREAD:
            state.centres[slot, j] -= (x - state.centres[slot, j]) / size
        elif x <= state.next_low[slot, j] or x >= state.next_high[slot, j]:
            _measure(state, slot, j)
    for j in range(state.codes.shape[1]):
        value = state.codes[i, j]
        if state.counts.shape[0]:
            state.counts[slot, value] -= 1
        left = count_of(state, slot, j, value)
        if left == 0:
            state.distinct[slot, j] -= 1
        if left + 1 == state.modes[slot, j]:
            state.ties[slot, j] -= 1
            if state.ties[slot, j] == 0:
                state.modes[slot, j] = left
                state.ties[slot, j] = _values_that_occur(state, slot, j, left)
    if state.held.shape[0]:
        for j in range(state.test.codes.shape[1]):
            state.held[slot, state.test.codes[i, j]] -= 1


@njit(cache=True, nogil=True)
def _measure(state, slot, j):  # type: ignore[no-untyped-def]
    """Find the extremes of attribute j anew."""
    state.low[slot, j] = state.next_low[slot, j] = np.inf
    state.high[slot, j] = state.next_high[slot, j] = -np.inf
    i = state.first[slot]
    while i >= 0:
        _widen(state, slot, j, state.numeric[i, j])
        i = state.following[i]


@njit(cache=True, nogil=True)
def _values_that_occur(state, slot, j, times):  # type: ignore[no-untyped-def]
    """How many values of attribute j occur exactly so many times in the class."""
    found = 0
    if state.counts.shape[0]:
        for value in range(state.code_starts[j], state.code_starts[j + 1]):
            found += state.counts[slot, value] == times
        return found
    i = state.first[slot]
    while i >= 0:
        found += count_of(state, slot, j, state.codes[i, j]) == times
        i = state.following[i]
    return found // times  # each such value was met once per record that has it


@njit(cache=True, nogil=True)
def clear(state, slot):  # type: ignore[no-untyped-def]
    """Empty a class, in time linear in its size."""
    i = state.first[slot]
    while i >= 0:
        for j in range(state.codes.shape[1]):
            if state.counts.shape[0]:
                state.counts[slot, state.codes[i, j]] = 0
        if state.held.shape[0]:
            for j in range(state.test.codes.shape[1]):
                state.held[slot, state.test.codes[i, j]] = 0
        state.labels[i] = -1
        i = state.following[i]
    state.first[slot] = -1
    state.sizes[slot] = 0
    state.prices[slot] = 0.0
    for j in range(state.numeric.shape[1]):
        if state.kind == SPREAD:
            state.centres[slot, j] = 0.0
        else:
            state.low[slot, j] = state.next_low[slot, j] = np.inf
            state.high[slot, j] = state.next_high[slot, j] = -np.inf
    for j in range(state.codes.shape[1]):
        state.modes[slot, j] = state.ties[slot, j] = state.distinct[slot, j] = 0


@njit(cache=True, nogil=True)
def fill(state, labels):  # type: ignore[no-untyped-def]
    """Load a partition whose labels are slots; what was there before is forgotten, and with it rounding."""
    for slot in range(state.sizes.size):
        clear(state, slot)
    for i in range(labels.size):
        attach(state, i, labels[i])
