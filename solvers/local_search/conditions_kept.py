"""Whether a class would still meet the conditions if a record joined, left or was exchanged."""

from __future__ import annotations

import numpy as np
from numba import njit

from optmodels.conditions import meets


@njit(cache=True, nogil=True)
def counts_of(state, slot):  # type: ignore[no-untyped-def]
    """The sensitive counts of a class, to be changed and put back, or a fresh vector where no table is kept."""
    if state.held.shape[0]:
        return state.held[slot]
    counts = np.zeros(state.held.shape[1], np.int32)
    i = state.first[slot]
    while i >= 0:
        for j in range(state.test.codes.shape[1]):
            counts[state.test.codes[i, j]] += 1
        i = state.following[i]
    return counts


@njit(cache=True, nogil=True)
def class_meets(state, slot):  # type: ignore[no-untyped-def]
    """Whether the class meets the conditions as it is."""
    if state.sizes[slot] < state.test.k:
        return False
    return state.only_size or meets(state.test, counts_of(state, slot), state.sizes[slot])


@njit(cache=True, nogil=True)
def may_join(state, i, slot):  # type: ignore[no-untyped-def]
    """Whether the class would meet the conditions with record i."""
    if state.only_size or state.sizes[slot] + 1 < state.test.k:
        return state.sizes[slot] + 1 >= state.test.k
    counts = counts_of(state, slot)
    _add(state, counts, i, 1)
    held = meets(state.test, counts, state.sizes[slot] + 1)
    _add(state, counts, i, -1)
    return held


@njit(cache=True, nogil=True)
def may_leave(state, i, slot):  # type: ignore[no-untyped-def]
    """Whether the class would meet the conditions without its record i."""
    if state.only_size or state.sizes[slot] - 1 < state.test.k:
        return state.sizes[slot] - 1 >= state.test.k
    counts = counts_of(state, slot)
    _add(state, counts, i, -1)
    held = meets(state.test, counts, state.sizes[slot] - 1)
    _add(state, counts, i, 1)
    return held


@njit(cache=True, nogil=True)
def may_trade(state, i, r):  # type: ignore[no-untyped-def]
    """Whether the classes of i and r would both meet the conditions if the two records changed places."""
    if state.only_size or _same_sensitive(state, i, r):
        return True
    return _may_replace(state, i, r) and _may_replace(state, r, i)


@njit(cache=True, nogil=True)
def _may_replace(state, leaver, joiner):  # type: ignore[no-untyped-def]
    slot = state.labels[leaver]
    counts = counts_of(state, slot)
    _add(state, counts, leaver, -1)
    _add(state, counts, joiner, 1)
    held = meets(state.test, counts, state.sizes[slot])
    _add(state, counts, joiner, -1)
    _add(state, counts, leaver, 1)
    return held


@njit(cache=True, nogil=True)
def _add(state, counts, i, amount):  # type: ignore[no-untyped-def]
    for j in range(state.test.codes.shape[1]):
        counts[state.test.codes[i, j]] += amount


@njit(cache=True, nogil=True)
def _same_sensitive(state, i, r):  # type: ignore[no-untyped-def]
    for j in range(state.test.codes.shape[1]):
        if state.test.codes[i, j] != state.test.codes[r, j]:
            return False
    return True
