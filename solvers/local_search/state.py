"""The partition being searched: class statistics that one record's coming or going changes in constant time.

Classes live in numbered slots; a slot with no record is free. The records of a class are a linked list, so
that a class of any size is walked, joined and left without moving anything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.kernels import kernel, part
from optmodels.partition import Labels
from optmodels.price import HIERARCHY, SPREAD, Price, node_cost

# Count tables of more cells than this are not kept; counts are then taken by walking the class, which is small.
TABLE_CELLS = 1 << 26

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[np.int32]


# Columns of State.chain
NEXT, BEFORE = 0, 1
# Planes of State.measures: the mean of a spread; the two least and the two largest values of an extent, so that
# leaving a class needs no walk through it
MEAN = 0
LOW, NEXT_LOW, HIGH, NEXT_HIGH = 0, 1, 2, 3
# Columns of State.marks: how often the commonest value occurs, how many values occur that often, how many occur
MODE, TIES, DISTINCT = 0, 1, 2


class State(NamedTuple):
    """Records and the statistics of every class slot.

    Few arrays, because a compiled function takes each of them apart on every call.
    """

    kind: int
    k: int
    only_size: bool
    numeric: Floats  # (n, d): numbers, then leaves of hierarchies
    plain: int  # columns of numbers
    climbs: Floats  # of the leaves, see `optmodels.price`
    codes: Counts  # (n, q): place of each record's categorical values in a counts vector
    code_starts: Ints  # (q + 1): the slice of each categorical attribute in a counts vector
    code_weights: Floats
    sensitive: Counts  # (n, s): as ClassTest.codes; no columns where only the size matters
    labels: Labels  # slot of each record; -1: in no class
    chain: Ints  # (n, 2): the next and the preceding record of the same class; -1: none
    first: Ints  # (slots): first record of each class; -1: none
    sizes: Ints
    prices: Floats
    measures: Floats  # (slots, 1 or 4, d)
    counts: Counts  # (slots, values), or no rows where the table would be too large
    marks: Counts  # (slots, q, 3)
    held: Counts  # (slots, sensitive values), or no rows


def new_state(price: Price, test: ClassTest, n_slots: int) -> State:
    """A state of empty classes.

    Leaves of hierarchies are told by their ends alone, as intervals of numbers are: they stand among the numbers.
    """
    # Means of values far from zero lose digits: the search works around the table's own mean.
    numeric = price.numeric - price.numeric.mean(axis=0)
    codes = price.codes
    if price.kind == HIERARCHY:
        numeric, codes = np.hstack([numeric, codes.astype(np.float64)]), codes[:, :0]
    n, d = numeric.shape
    domains = codes.max(axis=0, initial=0).astype(np.int64) + 1
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(domains)])
    values, sensitive = int(starts[-1]), int(test.starts[-1])
    state = State(
        kind=price.kind,
        k=test.k,
        only_size=test.only_size,
        numeric=np.ascontiguousarray(numeric),
        plain=price.numeric.shape[1],
        climbs=price.climbs,
        codes=np.ascontiguousarray(codes + starts[:-1], np.int32),
        code_starts=starts,
        code_weights=np.ascontiguousarray(price.code_weights, np.float64),
        sensitive=np.zeros((n, 0), np.int32) if test.only_size else np.ascontiguousarray(test.codes, np.int32),
        labels=np.full(n, -1, np.int64),
        chain=np.full((n, 2), -1, np.int64),
        first=np.full(n_slots, -1, np.int64),
        sizes=np.zeros(n_slots, np.int64),
        prices=np.zeros(n_slots),
        measures=np.zeros((n_slots, 1 if price.kind == SPREAD else 4, d)),
        counts=np.zeros((n_slots if n_slots * values <= TABLE_CELLS else 0, values), np.int32),
        marks=np.zeros((n_slots, len(domains), 3), np.int32),
        held=np.zeros((0 if test.only_size or n_slots * sensitive > TABLE_CELLS else n_slots, sensitive), np.int32),
    )
    if state.kind != SPREAD:
        state.measures[:, :HIGH] = np.inf
        state.measures[:, HIGH:] = -np.inf
    return state


# Sums over attributes may be taken in any order, several at a time
REORDER = {"reassoc", "contract", "nsz"}


@part(fastmath=REORDER, forceinline=True)
def squared_distance(a: Floats, b: Floats) -> float:
    """Squared Euclidean distance of two points."""
    total = 0.0
    for j in range(a.size):
        difference = a[j] - b[j]
        total += difference * difference
    return total


@part(forceinline=True)
def side(state: State, j: int, low: float, high: float) -> float:
    """What a class that reaches from low to high in attribute j costs each of its records."""
    if j < state.plain:
        return high - low
    return node_cost(state.climbs, int(low), int(high))


@part
def apart(state: State, i: int, r: int) -> float:
    """How far apart two records are, to choose records that lie far from each other."""
    if state.kind != HIERARCHY:
        return squared_distance(state.numeric[i], state.numeric[r])
    total = 0.0
    for j in range(state.numeric.shape[1]):
        x, y = state.numeric[i, j], state.numeric[r, j]
        total += side(state, j, min(x, y), max(x, y))
    return total


@part(forceinline=True)
def count_of(state: State, slot: int, j: int, value: int) -> np.int32:
    """How many records of the class have this value of categorical attribute j."""
    if state.counts.shape[0]:
        return np.int32(state.counts[slot, value])
    count = np.int32(0)
    i = state.first[slot]
    while i >= 0:
        count += state.codes[i, j] == value
        i = state.chain[i, NEXT]
    return count


@kernel(nogil=True, forceinline=True)
def join_change(state: State, i: int, slot: int) -> float:
    """Change of the class's price when record i joins it."""
    size = state.sizes[slot]
    if size == 0:
        return 0.0
    if state.kind == SPREAD:
        change: float = squared_distance(state.numeric[i], state.measures[slot, MEAN]) * size / (size + 1)
        for j in range(state.codes.shape[1]):
            if count_of(state, slot, j, state.codes[i, j]) < state.marks[slot, j, MODE]:
                change += state.code_weights[j]
        return change
    sides = 0.0
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        sides += side(state, j, min(state.measures[slot, LOW, j], x), max(state.measures[slot, HIGH, j], x))
    for j in range(state.codes.shape[1]):
        new = count_of(state, slot, j, state.codes[i, j]) == 0
        sides += state.code_weights[j] * (state.marks[slot, j, DISTINCT] - 1 + new)
    return float(sides * (size + 1) - state.prices[slot])


@kernel(nogil=True, forceinline=True)
def leave_change(state: State, i: int, slot: int) -> float:
    """Change of the class's price when its record i leaves."""
    size = state.sizes[slot]
    if size == 1:
        return -float(state.prices[slot])
    if state.kind == SPREAD:
        change: float = -squared_distance(state.numeric[i], state.measures[slot, MEAN]) * size / (size - 1)
        for j in range(state.codes.shape[1]):
            if not _only_mode(state, i, slot, j):
                change -= state.code_weights[j]
        return change
    sides = 0.0
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        high = state.measures[slot, NEXT_HIGH if x >= state.measures[slot, HIGH, j] else HIGH, j]
        low = state.measures[slot, NEXT_LOW if x <= state.measures[slot, LOW, j] else LOW, j]
        sides += side(state, j, low, high)
    for j in range(state.codes.shape[1]):
        last = count_of(state, slot, j, state.codes[i, j]) == 1
        sides += state.code_weights[j] * (state.marks[slot, j, DISTINCT] - 1 - last)
    return float(sides * (size - 1) - state.prices[slot])


@kernel(nogil=True, fastmath=REORDER, forceinline=True)
def exchange_change(state: State, i: int, r: int) -> float:
    """Change of the total price when two records of different classes change places."""
    a, b = state.labels[i], state.labels[r]
    if state.kind != SPREAD:
        return float(_trade_sides(state, a, i, r) - state.prices[a] + _trade_sides(state, b, r, i) - state.prices[b])
    dot = 0.0
    square = 0.0
    for j in range(state.numeric.shape[1]):
        difference = state.numeric[r, j] - state.numeric[i, j]
        dot += difference * (state.measures[b, MEAN, j] - state.measures[a, MEAN, j])
        square += difference * difference
    change: float = 2.0 * dot - square * (1.0 / state.sizes[a] + 1.0 / state.sizes[b])
    for j in range(state.codes.shape[1]):
        if state.codes[i, j] != state.codes[r, j]:
            change += state.code_weights[j] * (_mode_lost(state, a, i, r, j) + _mode_lost(state, b, r, i, j))
    return change


@part(forceinline=True)
def _mode_lost(state: State, slot: int, leaver: int, joiner: int, j: int) -> int:
    """By how much the commonest value's count falls when `joiner` takes the place of `leaver`."""
    mode = state.marks[slot, j, MODE]
    without = mode - 1 if _only_mode(state, leaver, slot, j) else mode
    return int(mode - max(without, count_of(state, slot, j, state.codes[joiner, j]) + 1))


@part
def _trade_sides(state: State, slot: int, leaver: int, joiner: int) -> float:
    """Price of an extent's class when `joiner` takes the place of its record `leaver`."""
    sides = 0.0
    for j in range(state.numeric.shape[1]):
        y, z = state.numeric[leaver, j], state.numeric[joiner, j]
        high = state.measures[slot, NEXT_HIGH if y >= state.measures[slot, HIGH, j] else HIGH, j]
        low = state.measures[slot, NEXT_LOW if y <= state.measures[slot, LOW, j] else LOW, j]
        sides += side(state, j, min(low, z), max(high, z))
    for j in range(state.codes.shape[1]):
        old, new = state.codes[leaver, j], state.codes[joiner, j]
        further = state.marks[slot, j, DISTINCT] - 1
        if old != new:
            further += count_of(state, slot, j, new) == 0
            further -= count_of(state, slot, j, old) == 1
        sides += state.code_weights[j] * further
    return float(sides * state.sizes[slot])


@part(forceinline=True)
def _only_mode(state: State, i: int, slot: int, j: int) -> bool:
    mode = state.marks[slot, j, MODE]
    return bool(state.marks[slot, j, TIES] == 1 and count_of(state, slot, j, state.codes[i, j]) == mode)


@part
def attach(state: State, i: int, slot: int) -> None:
    """Put record i, which is in no class, into a class."""
    state.prices[slot] += join_change(state, i, slot)
    size = state.sizes[slot] + 1
    share = 1.0 / size
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        if state.kind == SPREAD:
            state.measures[slot, MEAN, j] += (x - state.measures[slot, MEAN, j]) * share
        else:
            _widen(state, slot, j, x)
    for j in range(state.codes.shape[1]):
        value = state.codes[i, j]
        count = count_of(state, slot, j, value) + 1
        if state.counts.shape[0]:
            state.counts[slot, value] = count
        if count == 1:
            state.marks[slot, j, DISTINCT] += 1
        if count > state.marks[slot, j, MODE]:
            state.marks[slot, j, MODE] = count
            state.marks[slot, j, TIES] = 1
        elif count == state.marks[slot, j, MODE]:
            state.marks[slot, j, TIES] += 1
    if state.held.shape[0]:
        for j in range(state.sensitive.shape[1]):
            state.held[slot, state.sensitive[i, j]] += 1
    state.sizes[slot] = size
    state.labels[i] = slot
    head = state.first[slot]
    state.chain[i, NEXT] = head
    state.chain[i, BEFORE] = -1
    if head >= 0:
        state.chain[head, BEFORE] = i
    state.first[slot] = i


@part
def _widen(state: State, slot: int, j: int, x: float) -> None:
    if x <= state.measures[slot, LOW, j]:
        state.measures[slot, NEXT_LOW, j] = state.measures[slot, LOW, j]
        state.measures[slot, LOW, j] = x
    elif x < state.measures[slot, NEXT_LOW, j]:
        state.measures[slot, NEXT_LOW, j] = x
    if x >= state.measures[slot, HIGH, j]:
        state.measures[slot, NEXT_HIGH, j] = state.measures[slot, HIGH, j]
        state.measures[slot, HIGH, j] = x
    elif x > state.measures[slot, NEXT_HIGH, j]:
        state.measures[slot, NEXT_HIGH, j] = x


@part
def detach(state: State, i: int) -> None:
    """Take record i out of its class; an emptied class is as new."""
    slot = state.labels[i]
    if state.sizes[slot] == 1:
        clear(state, slot)
        return
    state.prices[slot] += leave_change(state, i, slot)
    before, after = state.chain[i, BEFORE], state.chain[i, NEXT]
    if before >= 0:
        state.chain[before, NEXT] = after
    else:
        state.first[slot] = after
    if after >= 0:
        state.chain[after, BEFORE] = before
    state.labels[i] = -1
    state.sizes[slot] -= 1
    share = 1.0 / state.sizes[slot]
    for j in range(state.numeric.shape[1]):
        x = state.numeric[i, j]
        if state.kind == SPREAD:
            state.measures[slot, MEAN, j] -= (x - state.measures[slot, MEAN, j]) * share
        elif x <= state.measures[slot, NEXT_LOW, j] or x >= state.measures[slot, NEXT_HIGH, j]:
            _measure(state, slot, j)
    for j in range(state.codes.shape[1]):
        value = state.codes[i, j]
        if state.counts.shape[0]:
            state.counts[slot, value] -= 1
        left = count_of(state, slot, j, value)
        if left == 0:
            state.marks[slot, j, DISTINCT] -= 1
        if left + 1 == state.marks[slot, j, MODE]:
            state.marks[slot, j, TIES] -= 1
            if state.marks[slot, j, TIES] == 0:
                state.marks[slot, j, MODE] = left
                state.marks[slot, j, TIES] = _values_that_occur(state, slot, j, left)
    if state.held.shape[0]:
        for j in range(state.sensitive.shape[1]):
            state.held[slot, state.sensitive[i, j]] -= 1


@part
def _measure(state: State, slot: int, j: int) -> None:
    """Find the extremes of attribute j anew."""
    state.measures[slot, LOW, j] = state.measures[slot, NEXT_LOW, j] = np.inf
    state.measures[slot, HIGH, j] = state.measures[slot, NEXT_HIGH, j] = -np.inf
    i = state.first[slot]
    while i >= 0:
        _widen(state, slot, j, state.numeric[i, j])
        i = state.chain[i, NEXT]


@part
def _values_that_occur(state: State, slot: int, j: int, times: np.int32) -> int:
    """How many values of attribute j occur exactly so many times in the class."""
    found = 0
    if state.counts.shape[0]:
        for value in range(state.code_starts[j], state.code_starts[j + 1]):
            found += state.counts[slot, value] == times
        return found
    i = state.first[slot]
    while i >= 0:
        found += count_of(state, slot, j, state.codes[i, j]) == times
        i = state.chain[i, NEXT]
    return int(found // times)  # each such value was met once per record that has it


@part
def clear(state: State, slot: int) -> None:
    """Empty a class, in time linear in its size."""
    i = state.first[slot]
    while i >= 0:
        for j in range(state.codes.shape[1]):
            if state.counts.shape[0]:
                state.counts[slot, state.codes[i, j]] = 0
        if state.held.shape[0]:
            for j in range(state.sensitive.shape[1]):
                state.held[slot, state.sensitive[i, j]] = 0
        state.labels[i] = -1
        i = state.chain[i, NEXT]
    state.first[slot] = -1
    state.sizes[slot] = 0
    state.prices[slot] = 0.0
    for j in range(state.numeric.shape[1]):
        if state.kind == SPREAD:
            state.measures[slot, MEAN, j] = 0.0
        else:
            state.measures[slot, LOW, j] = state.measures[slot, NEXT_LOW, j] = np.inf
            state.measures[slot, HIGH, j] = state.measures[slot, NEXT_HIGH, j] = -np.inf
    for j in range(state.codes.shape[1]):
        state.marks[slot, j, MODE] = state.marks[slot, j, TIES] = state.marks[slot, j, DISTINCT] = 0


@kernel(nogil=True)
def fill(state: State, labels: Labels) -> None:
    """Load a partition whose labels are slots; what was there before is forgotten, and with it rounding."""
    for slot in range(state.sizes.size):
        clear(state, slot)
    for i in range(labels.size):
        attach(state, i, labels[i])
