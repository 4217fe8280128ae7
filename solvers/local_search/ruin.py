"""Ruin and recreate: take some neighbouring classes apart, build them anew, keep what the annealing rule allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.halting import Flag
from optmodels.kernels import Random, kernel, part
from optmodels.price import SPREAD
from solvers.local_search.conditions_kept import class_meets, may_join
from solvers.local_search.moves import descend, relocate
from solvers.local_search.near import Near
from solvers.local_search.pairs import new_bench, rebuild_by_distance
from solvers.local_search.state import NEXT, Ints, State, apart, attach, clear, join_change

PASSES = 12
CONTESTANTS = 4
ENOUGH_ROWS = 150  # no further class is taken apart once two of them have so many records
BENCH_ROWS = 1024  # a bench of more records than this would be too large


class Rules(NamedTuple):
    """What holds for a whole search."""

    fixed: bool  # the number of classes may not change
    widest: int  # most classes taken apart at once
    most_rows: int  # most records taken apart at once
    tolerance: float  # savings below this are rounding


class OwnClasses(NamedTuple):
    """What one worker may touch: the classes it owns, and free slots that are its own."""

    owner: NDArray[np.int64]  # (slots): the worker that owns each slot
    me: int
    spare: NDArray[np.int64]  # a stack of free slots
    n_spare: int


@kernel(nogil=True)
def ruin_and_recreate(
    state: State,
    test: ClassTest,
    near: Near,
    own: OwnClasses,
    rules: Rules,
    rounds: int,
    random: Random,
    temperature: float,
    halt: Flag,
) -> None:
    """So many rounds among one worker's classes, or fewer: one of large classes takes long, so the flag ends it.

    A temperature of 1 accepts, one time in e, a price that rises by as much as the average class taken apart.
    """
    most_rows = rules.most_rows
    spare, n_spare = own.spare, own.n_spare
    slots = np.empty(most_rows + 1, np.int64)
    rows = np.empty(most_rows, np.int64)
    old = np.empty(most_rows, np.int64)
    pool = np.empty(most_rows, np.int64)
    numeric_spread = state.only_size and state.kind == SPREAD and state.codes.shape[1] == 0
    by_distance = numeric_spread and most_rows <= BENCH_ROWS
    bench = new_bench(most_rows if by_distance else 1, rules.widest + 2)
    for _ in range(rounds):
        if halt[0]:
            return
        seed_row = _choose_seed(state, own, random)
        if seed_row < 0:
            continue
        wanted = max(2, 1 + random.integers(0, rules.widest))
        # where the number of classes is given, a region gains one only if another, anywhere, loses one
        jump = 0.5 if rules.fixed and random.random() < 0.5 else 0.0
        n_slots, n_rows = _choose(state, near, own, seed_row, wanted, jump, slots, rows, most_rows, random)
        target = _choose_number(state, rules.fixed, n_slots, n_rows, n_spare, random)
        if n_slots == 0 or (n_slots == 1 and target == 1) or (rules.fixed and target != n_slots):
            continue
        before = 0.0
        for s in range(n_slots):
            before += state.prices[slots[s]]
        allowed = before * (1.0 - temperature / n_slots * np.log(1.0 - random.random()))
        if by_distance:
            after = rebuild_by_distance(bench, state, rows, n_rows, target, rules.tolerance, PASSES, random)
            # most rebuilds, once cold, find what was there
            if after > allowed or (target == n_slots and abs(after - before) <= rules.tolerance):
                continue
        for place in range(n_rows):
            old[place] = state.labels[rows[place]]
        for s in range(n_slots):
            clear(state, slots[s])
        for s in range(n_slots, target):
            n_spare -= 1
            slots[s] = spare[n_spare]
        if by_distance:
            for place in range(n_rows):
                attach(state, rows[place], slots[bench.where[place]])
        else:
            built = _rebuild(state, test, rows, n_rows, slots, target, pool, random, halt)
            _join_broken(state, test, slots, built, rows, n_rows)
            descend(state, test, rows, n_rows, slots, built, rules.tolerance, PASSES, halt)
            if not _acceptable(state, test, slots, built, allowed, n_slots if rules.fixed else 0):
                for s in range(built):
                    clear(state, slots[s])
                for place in range(n_rows):
                    attach(state, rows[place], old[place])
        for s in range(max(target, n_slots)):
            if state.sizes[slots[s]] == 0:
                spare[n_spare] = slots[s]
                n_spare += 1


@part
def _choose_number(state: State, fixed: bool, n_slots: int, n_rows: int, n_spare: int, random: Random) -> int:
    """How many classes to build in place of those taken apart: as many, one fewer or one more."""
    target = n_slots
    if not fixed:
        target += random.integers(0, 3) - 1
        if state.only_size:
            # splitting a class of 2k or more costs nothing
            target = max(target, -(-n_rows // (2 * state.k - 1)))
    return max(1, min(target, n_rows // state.k, n_slots + min(n_spare, 1)))


@part
def _acceptable(state: State, test: ClassTest, slots: Ints, built: int, allowed: float, required: int) -> bool:
    """Whether the new classes cost no more than allowed, meet the conditions and are as many as required (0: any)."""
    total = 0.0
    n_built = 0
    for s in range(built):
        if state.sizes[slots[s]] > 0:
            total += state.prices[slots[s]]
            n_built += 1
            if not class_meets(state, test, slots[s]):
                return False
    return total <= allowed and (required == 0 or n_built == required)


@part
def _choose_seed(state: State, own: OwnClasses, random: Random) -> int:
    """A record of the worker's classes: any, or the one of a few whose class costs most; -1: none was met."""
    chosen = -1
    for _ in range(CONTESTANTS if random.random() < 0.5 else 1):
        i = random.integers(0, state.labels.size)
        # a record that another worker is moving has no class for a moment, and is not ours
        slot = state.labels[i]
        if slot < 0 or own.owner[slot] != own.me:
            continue
        if chosen < 0 or state.prices[slot] > state.prices[state.labels[chosen]]:
            chosen = i
    return chosen


@part
def _choose(
    state: State,
    near: Near,
    own: OwnClasses,
    seed_row: int,
    wanted: int,
    jump: float,
    slots: Ints,
    rows: Ints,
    most_rows: int,
    random: Random,
) -> tuple[int, int]:
    """Classes that lie together, by a walk from record to near record with some jumps, and all their records."""
    n_slots = 0
    n_rows = 0
    i = seed_row
    for _ in range(8 * wanted):
        slot = state.labels[i]
        known = slot < 0 or own.owner[slot] != own.me
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
            if n_slots == wanted or (n_slots > 1 and n_rows >= ENOUGH_ROWS):
                break
        if n_rows == 0:
            break
        if random.random() < jump:
            i = max(0, _choose_seed(state, own, random))
            continue
        p = near.point[rows[random.integers(0, n_rows)]]
        q = near.lists[p, random.integers(0, near.lists.shape[1])]
        if q >= 0:
            i = near.rows[near.starts[q] + random.integers(0, near.starts[q + 1] - near.starts[q])]
    return n_slots, n_rows


@part
def _rebuild(
    state: State,
    test: ClassTest,
    rows: Ints,
    n_rows: int,
    slots: Ints,
    target: int,
    pool: Ints,
    random: Random,
    halt: Flag,
) -> int:
    """Grow classes one after the other from far-out or random records; the rest join where they cost least.

    Once the flag `halt` is raised records are taken as they come, which is hardly ever acceptable but soon done.
    """
    left = n_rows
    for place in range(n_rows):
        pool[place] = rows[place]
    built = 0
    previous = -1
    while built < target and left >= state.k:
        slot = slots[built]
        place = _pick_seed(state, pool, left, previous, random)
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
                if halt[0]:
                    break
                change = join_change(state, pool[candidate], slot) * (0.9 + 0.2 * random.random())
                if change < least:
                    least = change
                    place = candidate
        built += 1
    while left > 0:
        place = random.integers(0, left)
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


@part
def _pick_seed(state: State, pool: Ints, left: int, previous: int, random: Random) -> int:
    """A place in the pool: at random, or the farthest of a few from the previous seed."""
    place: int = random.integers(0, left)
    if previous < 0:
        return place
    farthest = -1.0
    chosen = place
    for _ in range(3):
        distance = apart(state, pool[place], previous)
        if distance > farthest:
            farthest = distance
            chosen = place
        place = random.integers(0, left)
    return chosen


@part
def _join_broken(state: State, test: ClassTest, slots: Ints, built: int, rows: Ints, n_rows: int) -> None:
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
