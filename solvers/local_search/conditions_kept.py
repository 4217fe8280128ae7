"""Whether a class would still meet the conditions if a record joined, left or was exchanged."""

from __future__ import annotations

import numpy as np

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import part
from solvers.local_search.state import NEXT, Counts, State


@part
def counts_of(state: State, slot: int) -> Counts:
    """The sensitive counts of a class, to be changed and put back, or a fresh vector where no table is kept."""
    if state.held.shape[0]:
        held: Counts = state.held[slot]
        return held
    counts = np.zeros(state.held.shape[1], np.int32)
    i = state.first[slot]
    while i >= 0:
        for j in range(state.sensitive.shape[1]):
            counts[state.sensitive[i, j]] += 1
        i = state.chain[i, NEXT]
    return counts


@part
def class_meets(state: State, test: ClassTest, slot: int) -> bool:
    """Whether the class meets the conditions as it is."""
    if state.sizes[slot] < state.k:
        return False
    return state.only_size or meets(test, counts_of(state, slot), state.sizes[slot])


@part
def may_join(state: State, test: ClassTest, i: int, slot: int) -> bool:
    """Whether the class would meet the conditions with record i."""
    if state.only_size or state.sizes[slot] + 1 < state.k:
        return bool(state.sizes[slot] + 1 >= state.k)
    counts = counts_of(state, slot)
    _add(state, counts, i, 1)
    held = meets(test, counts, state.sizes[slot] + 1)
    _add(state, counts, i, -1)
    return held


@part
def may_leave(state: State, test: ClassTest, i: int, slot: int) -> bool:
    """Whether the class would meet the conditions without its record i."""
    if state.only_size or state.sizes[slot] - 1 < state.k:
        return bool(state.sizes[slot] - 1 >= state.k)
    counts = counts_of(state, slot)
    _add(state, counts, i, -1)
    held = meets(test, counts, state.sizes[slot] - 1)
    _add(state, counts, i, 1)
    return held


@part
def may_trade(state: State, test: ClassTest, i: int, r: int) -> bool:
    """Whether the classes of i and r would both meet the conditions if the two records changed places."""
    if state.only_size or _same_sensitive(state, i, r):
        return True
    return _may_replace(state, test, i, r) and _may_replace(state, test, r, i)


@part
def _may_replace(state: State, test: ClassTest, leaver: int, joiner: int) -> bool:
    slot = state.labels[leaver]
    counts = counts_of(state, slot)
    _add(state, counts, leaver, -1)
    _add(state, counts, joiner, 1)
    held = meets(test, counts, state.sizes[slot])
    _add(state, counts, joiner, -1)
    _add(state, counts, leaver, 1)
    return held


@part
def _add(state: State, counts: Counts, i: int, amount: int) -> None:
    for j in range(state.sensitive.shape[1]):
        counts[state.sensitive[i, j]] += amount


@part
def _same_sensitive(state: State, i: int, r: int) -> bool:
    different = 0
    for j in range(state.sensitive.shape[1]):
        different += state.sensitive[i, j] != state.sensitive[r, j]
    return different == 0
