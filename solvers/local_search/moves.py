"""Relocations and exchanges of single records: the best one for a record, and descents made of them."""

from __future__ import annotations

import numpy as np

from optmodels.conditions import ClassTest
from optmodels.halting import Flag
from optmodels.kernels import kernel, part
from solvers.local_search.conditions_kept import may_join, may_leave, may_trade
from solvers.local_search.near import Near
from solvers.local_search.state import NEXT, Ints, State, attach, detach, exchange_change, join_change, leave_change

# Exchanges are tried with all records of a small class, and with a few of a large one: large classes can
# spare a record, so that relocations do most of the work.
SMALL_CLASS = 24
FEW_EXCHANGES = 3


@kernel(nogil=True)
def relocate(state: State, i: int, slot: int) -> None:
    """Move record i to another class."""
    detach(state, i)
    attach(state, i, slot)


@kernel(nogil=True)
def exchange(state: State, i: int, r: int) -> None:
    """Let two records of different classes change places."""
    a, b = state.labels[i], state.labels[r]
    detach(state, i)
    attach(state, i, b)
    detach(state, r)
    attach(state, r, a)


@part(forceinline=True)
def best_move(
    state: State, test: ClassTest, i: int, slots: Ints, n_slots: int, tolerance: float
) -> tuple[float, int, int]:
    """The most profitable allowed move of record i into one of some classes.

    Returns the change of price, the class to join, and the record that comes back in exchange (-1: none);
    the class is -1 where nothing saves more than the tolerance.
    """
    a = state.labels[i]
    best, best_slot, best_back = -tolerance, -1, -1
    free = may_leave(state, test, i, a)
    leaving = leave_change(state, i, a) if free else 0.0
    for s in range(n_slots):
        b = slots[s]
        if b == a or state.sizes[b] == 0:
            continue
        if free:
            change = leaving + join_change(state, i, b)
            if change < best and may_join(state, test, i, b):
                best, best_slot, best_back = change, b, -1
        untried = state.sizes[b] if state.sizes[b] <= SMALL_CLASS or not free else FEW_EXCHANGES
        r = state.first[b]
        while untried > 0:
            change = exchange_change(state, i, r)
            if change < best and may_trade(state, test, i, r):
                best, best_slot, best_back = change, b, r
            untried -= 1
            r = state.chain[r, NEXT]
    return best, best_slot, best_back


@part
def improve_record(state: State, test: ClassTest, i: int, slots: Ints, n_slots: int, tolerance: float) -> float:
    """Make the best move of record i, if any saves more than the tolerance; the saving."""
    change, slot, back = best_move(state, test, i, slots, n_slots, tolerance)
    if slot < 0:
        return 0.0
    if back < 0:
        relocate(state, i, slot)
    else:
        exchange(state, i, back)
    return -change


@part
def descend(
    state: State,
    test: ClassTest,
    rows: Ints,
    n_rows: int,
    slots: Ints,
    n_slots: int,
    tolerance: float,
    passes: int,
    halt: Flag,
) -> None:
    """Improve some records within some classes until a whole pass finds nothing or the flag `halt` is raised."""
    quiet = 0
    for step in range(passes * n_rows):
        if halt[0]:
            return
        if improve_record(state, test, rows[step % n_rows], slots, n_slots, tolerance) > 0.0:
            quiet = 0
        else:
            quiet += 1
            if quiet >= n_rows:
                return


@part
def near_slots(state: State, near: Near, owner: Ints, me: int, i: int, slots: Ints, most: int) -> int:
    """Gather into `slots` the classes of record i and of records near it that belong to worker `me`."""
    found = 1
    slots[0] = state.labels[i]
    p = near.point[i]
    for place in range(near.lists.shape[1]):
        q = near.lists[p, place]
        if q < 0:
            break
        # equal records stand for each other; which one is looked at differs from record to record
        spread = near.starts[q + 1] - near.starts[q]
        slot = state.labels[near.rows[near.starts[q] + i % spread]]
        if slot < 0 or owner[slot] != me:
            continue
        seen = False
        for s in range(found):
            seen = seen or slots[s] == slot
        if not seen:
            slots[found] = slot
            found += 1
            if found == most:
                break
    return found


@kernel(nogil=True)
def sweep(
    state: State,
    test: ClassTest,
    near: Near,
    owner: Ints,
    me: int,
    order: Ints,
    low: int,
    high: int,
    tolerance: float,
    halt: Flag,
) -> float:
    """Improve the records order[low:high] once each, looking at the classes of near records; the saving.

    Records of large classes take long: it ends early if the flag `halt` is raised.
    """
    most = near.lists.shape[1] + 1
    slots = np.empty(max(most, state.sizes.size if state.sizes.size <= most else 0), np.int64)
    saved = 0.0
    for place in range(low, high):
        if halt[0]:
            break
        i = order[place]
        if owner[state.labels[i]] != me:
            continue
        if state.sizes.size <= most:
            found = 0
            for slot in range(state.sizes.size):
                if owner[slot] == me:
                    slots[found] = slot
                    found += 1
        else:
            found = near_slots(state, near, owner, me, i, slots, most)
        saved += improve_record(state, test, i, slots, found, tolerance)
    return saved
