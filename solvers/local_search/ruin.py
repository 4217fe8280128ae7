"""Ruin and recreate: take some neighbouring classes apart, build them anew, keep what the annealing rule allows."""

from __future__ import annotations

import numpy as np
from numba import njit

from optmodels.price import SPREAD
from solvers.local_search.conditions_kept import class_meets, may_join
from solvers.local_search.moves import descend, relocate
from solvers.local_search.pairs import new_bench, rebuild_by_distance
from solvers.local_search.state import NEXT, attach, clear, join_change, squared_distance

PASSES = 12
CONTESTANTS = 4


@njit(cache=True, nogil=True)
def ruin_and_recreate(state, test, near, owner, me, spare, n_spare, fixed, rounds, seed, temperature, widest, most_rows, tolerance):  # type: ignore[no-untyped-def]
    """So many rounds among the classes of worker `me`; the spare slots left in the stack `spare`.

    `fixed` keeps the number of classes; `widest` is the largest number of classes taken apart at once.
    """
    np.random.seed(seed)
    slots = np.empty(most_rows + 1, np.int64)
    rows = np.empty(most_rows, np.int64)
    old = np.empty(most_rows, np.int64)
    pool = np.empty(most_rows, np.int64)
    by_distance = state.only_size and state.kind == SPREAD and state.codes.shape[1] == 0
    bench = new_bench(most_rows if by_distance else 1, widest + 2)
    for _ in range(rounds):
        seed_row = _choose_seed(state, owner, me)
        if seed_row < 0:
            continue
        wanted = 1 + np.random.randint(widest)
        if fixed or wanted == 1:
            wanted = max(wanted, 2)
        n_slots, n_rows = _choose(state, near, owner, me, seed_row, wanted, slots, rows, most_rows)
        if n_rows == 0 or (n_slots == 1 and (fixed or n_rows < 2 * state.k)):
            continue
        before = 0.0
        for s in range(n_slots):
            before += state.prices[slots[s]]
        target = n_slots
        if not fixed:
            target = n_slots - 1 + np.random.randint(3)
            if state.only_size:
                # splitting a class of 2k or more costs nothing
                target = max(target, -(-n_rows // (2 * state.k - 1)))
        target = max(1, min(target, n_rows // state.k, n_slots + n_spare))
        allowed = before * (1.0 - temperature / n_slots * np.log(1.0 - np.random.random()))
        if by_distance:
            after = rebuild_by_distance(bench, state, rows, n_rows, target, tolerance, PASSES)
            if after > allowed or (fixed and target != n_slots):
                continue
        for place in range(n_rows):
            old[place] = state.labels[rows[place]]
        for s in range(n_slots):
            clear(state, slots[s])
        for s in range(n_slots, target):
            n_spare -= 1
            slots[s] = spare[n_spare]
            owner[slots[s]] = me
        if by_distance:
            for place in range(n_rows):
                attach(state, rows[place], slots[bench.where[place]])
        else:
            built = _rebuild(state, test, rows, n_rows, slots, target, pool)
            _join_broken(state, test, slots, built, rows, n_rows)
            descend(state, test, rows, n_rows, slots, built, tolerance, PASSES)
            after = 0.0
            n_built = 0
            for s in range(built):
                after += state.prices[slots[s]]
                n_built += state.sizes[slots[s]] > 0
            if after > allowed or (fixed and n_built != n_slots):
                for s in range(built):
                    clear(state, slots[s])
                for place in range(n_rows):
                    attach(state, rows[place], old[place])
        for s in range(max(target, n_slots)):
            if state.sizes[slots[s]] == 0:
                spare[n_spare] = slots[s]
                n_spare += 1
    return n_spare


@njit(cache=True, nogil=True)
def _choose_seed(state, owner, me):  # type: ignore[no-untyped-def]
    """A record of the worker's classes: any, or the one of a few whose class costs most; -1: none was met."""
    chosen = -1
    for _ in range(CONTESTANTS if np.random.random() < 0.5 else 1):
        i = np.random.randint(state.labels.size)
        # a record that another worker is moving has no class for a moment, and is not ours
        slot = state.labels[i]
        if slot >= 0 and owner[slot] == me and (chosen < 0 or state.prices[slot] > state.prices[state.labels[chosen]]):
            chosen = i
    return chosen


@njit(cache=True, nogil=True)
def _choose(state, near, owner, me, seed_row, wanted, slots, rows, most_rows):  # type: ignore[no-untyped-def]
    """Classes that lie together, by a walk from record to near record, and all their records."""
    n_slots = 0
    n_rows = 0
    i = seed_row
    for _ in range(8 * wanted):
        slot = state.labels[i]
        known = slot < 0 or owner[slot] != me
        for s in range(n_slots):
            known = known or slots[s] == slot
        if not known:
            if n_rows + state.sizes[slot] > most_rows:
                break
            slots[n_slots] = slot
            n_slots += 1
            r = state.first[slot]
            while r >= 0:
                rows[n_rows] = r
                n_rows += 1
                r = state.chain[r, NEXT]
            if n_slots == wanted:
                break
        if n_rows == 0:
            break
        p = near.point[rows[np.random.randint(n_rows)]]
        q = near.lists[p, np.random.randint(near.lists.shape[1])]
        if q >= 0:
            i = near.rows[near.starts[q] + np.random.randint(near.starts[q + 1] - near.starts[q])]
    return n_slots, n_rows


@njit(cache=True, nogil=True)
def _rebuild(state, test, rows, n_rows, slots, target, pool):  # type: ignore[no-untyped-def]
    """Grow classes one after the other from far-out or random records; the rest join where they cost least."""
    left = n_rows
    for place in range(n_rows):
        pool[place] = rows[place]
    built = 0
    previous = -1
    while built < target and left >= state.k:
        slot = slots[built]
        place = _pick_seed(state, pool, left, previous)
        previous = pool[place]
        while True:
            attach(state, pool[place], slot)
            left -= 1
            pool[place] = pool[left]
            if left == 0 or class_meets(state, test, slot):
                break
            place = 0
            least = np.inf
            for candidate in range(left):
                change = join_change(state, pool[candidate], slot) * (0.9 + 0.2 * np.random.random())
                if change < least:
                    least = change
                    place = candidate
        built += 1
    while left > 0:
        place = np.random.randint(left)
        i = pool[place]
        left -= 1
        pool[place] = pool[left]
        best = slots[0]
        least = np.inf
        for s in range(built):
            change = join_change(state, i, slots[s])
            if change < least and (state.only_size or may_join(state, test, i, slots[s])):
                least = change
                best = slots[s]
        attach(state, i, best)
    return built


@njit(cache=True, nogil=True)
def _pick_seed(state, pool, left, previous):  # type: ignore[no-untyped-def]
    """A place in the pool: at random, or the farthest of a few from the previous seed."""
    place = np.random.randint(left)
    if previous < 0:
        return place
    farthest = -1.0
    chosen = place
    for _ in range(3):
        distance = squared_distance(state.numeric[pool[place]], state.numeric[previous])
        if distance > farthest:
            farthest = distance
            chosen = place
        place = np.random.randint(left)
    return chosen


@njit(cache=True, nogil=True)
def _join_broken(state, test, slots, built, rows, n_rows):  # type: ignore[no-untyped-def]
    """Merge every class that breaks a condition with the class where its records cost least.

    A union of classes that meet the conditions meets them, so this ends, at worst with one class.
    """
    if state.only_size:
        return
    for _ in range(built):
        broken = 0
        while broken < built and (state.sizes[slots[broken]] == 0 or class_meets(state, test, slots[broken])):
            broken += 1
        if broken == built:
            return
        best = broken
        least = np.inf
        for s in range(built):
            if s != broken and state.sizes[slots[s]] > 0:
                change = join_change(state, state.first[slots[broken]], slots[s])
                if change < least:
                    least = change
                    best = s
        if best == broken:
            return
        for place in range(n_rows):
            if state.labels[rows[place]] == slots[broken]:
                relocate(state, rows[place], slots[best])
