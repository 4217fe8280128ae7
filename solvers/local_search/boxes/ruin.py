"""Ruin and recreate for classes told by their boxes, by one worker among the classes that it owns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.halting import Flag
from optmodels.kernels import Random, kernel, part
from optmodels.partition import LEFT_OUT, Labels
from solvers.local_search.boxes.bench import build, exchange_rows, new_bench
from solvers.local_search.boxes.sides import Sides
from solvers.local_search.near import Near

PASSES = 6
CONTESTANTS = 4


class BoxClasses(NamedTuple):
    """Records and the classes they are in; a slot without records is free."""

    rows: NDArray[np.int32]  # (n, attributes)
    labels: NDArray[np.int64]  # the slot of each record; LEFT_OUT: none
    held: NDArray[np.int32]  # (slots, most): the records of each class
    sizes: NDArray[np.int64]
    prices: NDArray[np.float64]


class Owned(NamedTuple):
    """What each worker owns: slots, and records that are left out; -1: nobody's."""

    slots: NDArray[np.int64]
    records: NDArray[np.int64]  # of no length where nobody may be left out


@kernel(nogil=True)
def ruin_and_recreate(
    classes: BoxClasses,
    sides: Sides,
    near: Near,
    owned: Owned,
    me: int,
    spare: Labels,
    n_spare: int,
    k: int,
    widest: int,
    free: int,
    out_price: float,
    rounds: int,
    random: Random,
    temperature: float,
    halt: Flag,
) -> None:
    """So many rounds; a temperature of 1 accepts, one time in e, a rise by the average price of a class taken apart.

    `free` is how many more records may be left out, at `out_price` each.
    """
    most = classes.held.shape[1]
    most_out = k if len(owned.records) > 0 else 0
    most_rows = most * widest + most_out
    bench = new_bench(most_rows, widest + 1, classes.rows.shape[1])
    slots = np.empty(widest + 1, np.int64)
    taken = np.empty(most_rows, np.int64)
    for _ in range(rounds):
        if halt[0]:
            return
        seed = -1
        for _ in range(CONTESTANTS if random.random() < 0.5 else 1):
            i = random.integers(0, classes.labels.size)
            slot = classes.labels[i]
            if slot == LEFT_OUT:
                if owned.records[i] == me:
                    seed = i
                    break
            elif owned.slots[slot] == me and (seed < 0 or classes.prices[slot] > classes.prices[classes.labels[seed]]):
                seed = i
        if seed < 0:
            continue
        wanted = max(2, 1 + random.integers(0, widest))
        n_slots, n_rows, n_out = _gather(classes, near, owned, me, seed, wanted, most_out, slots, taken, random)
        room = n_out + free
        target = n_slots + random.integers(0, 3) - 1
        target = max(target, -(-(n_rows - room) // most), 0 if n_rows <= room else 1)
        target = min(target, n_rows // k, n_slots + min(n_spare, 1))
        before = n_out * out_price
        for s in range(n_slots):
            before += classes.prices[slots[s]]
        if (target == n_slots and target + room <= 1) or before <= 0.0:
            continue
        for x in range(n_rows):
            for j in range(classes.rows.shape[1]):
                bench.rows[x, j] = classes.rows[taken[x], j]
        out = build(bench, sides, n_rows, target, k, most, room, out_price, random)
        after, out = exchange_rows(bench, sides, n_rows, target, k, most, room, out_price, out, PASSES)
        if after > before * (1.0 - temperature / max(n_slots, 1) * np.log(1.0 - random.random())) + 1e-12:
            continue
        free = room - out
        for s in range(n_slots, target):
            n_spare -= 1
            slots[s] = spare[n_spare]
            owned.slots[slots[s]] = me
        for s in range(max(target, n_slots)):
            classes.sizes[slots[s]] = 0
            classes.prices[slots[s]] = bench.sizes[s] * bench.costs[s] if s < target else 0.0
        for x in range(n_rows):
            if bench.where[x] == target:
                classes.labels[taken[x]] = LEFT_OUT
                owned.records[taken[x]] = me
                continue
            slot = slots[bench.where[x]]
            classes.held[slot, classes.sizes[slot]] = taken[x]
            classes.sizes[slot] += 1
            classes.labels[taken[x]] = slot
        for s in range(target, n_slots):
            spare[n_spare] = slots[s]
            n_spare += 1


@part
def _gather(
    classes: BoxClasses,
    near: Near,
    owned: Owned,
    me: int,
    seed: int,
    wanted: int,
    most_out: int,
    slots: Labels,
    taken: Labels,
    random: Random,
) -> tuple[int, int, int]:
    """Classes that lie together, by a walk from record to near record, all their records, and some left out beside."""
    n_slots, n_rows, n_out = 0, 0, 0
    i = seed
    for _ in range(6 * wanted):
        slot = classes.labels[i]
        if slot == LEFT_OUT:
            known = owned.records[i] != me or n_out == most_out
            for x in range(n_rows):
                known = known or taken[x] == i
            if not known:
                taken[n_rows] = i
                n_rows += 1
                n_out += 1
        else:
            known = owned.slots[slot] != me
            for s in range(n_slots):
                known = known or slots[s] == slot
            if not known:
                slots[n_slots] = slot
                n_slots += 1
                for place in range(classes.sizes[slot]):
                    taken[n_rows] = classes.held[slot, place]
                    n_rows += 1
                if n_slots == wanted:
                    break
        p = near.point[taken[random.integers(0, n_rows)]]
        q = near.lists[p, random.integers(0, near.lists.shape[1])]
        if q >= 0:
            i = near.rows[near.starts[q] + random.integers(0, near.starts[q + 1] - near.starts[q])]
    return n_slots, n_rows, n_out


@kernel(nogil=True)
def fill(classes: BoxClasses, labels: Labels) -> None:
    """Load a partition whose labels are slots; prices are set by whoever knows them."""
    for slot in range(classes.sizes.size):
        classes.sizes[slot] = 0
        classes.prices[slot] = 0.0
    for i in range(labels.size):
        slot = labels[i]
        classes.labels[i] = slot
        if slot != LEFT_OUT:
            classes.held[slot, classes.sizes[slot]] = i
            classes.sizes[slot] += 1
