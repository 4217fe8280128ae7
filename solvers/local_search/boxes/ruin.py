"""Ruin and recreate for classes told by their boxes, by one worker among the classes that it owns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from solvers.local_search.boxes.bench import build, new_bench, settle

PASSES = 6
CONTESTANTS = 4


class Classes(NamedTuple):
    """Records and the classes they are in; a slot without records is free."""

    rows: NDArray[np.int32]  # (n, attributes)
    labels: NDArray[np.int64]
    held: NDArray[np.int32]  # (slots, most): the records of each class
    sizes: NDArray[np.int64]
    prices: NDArray[np.float64]


@kernel(nogil=True)
def ruin_and_recreate(  # type: ignore[no-untyped-def]
    classes, sides, near, owner, me, spare, n_spare, k, widest, rounds, random, temperature, halt
):
    """So many rounds; a temperature of 1 accepts, one time in e, a rise by the average price of a class taken apart."""
    most = classes.held.shape[1]
    most_rows = most * widest
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
            if owner[slot] == me and (seed < 0 or classes.prices[slot] > classes.prices[classes.labels[seed]]):
                seed = i
        if seed < 0:
            continue
        wanted = max(2, 1 + random.integers(0, widest))
        n_slots, n_rows = _gather(classes, near, owner, me, seed, wanted, slots, taken, random)
        target = n_slots + random.integers(0, 3) - 1
        target = max(target, -(-n_rows // most), 1)
        target = min(target, n_rows // k, n_slots + min(n_spare, 1))
        before = 0.0
        for s in range(n_slots):
            before += classes.prices[slots[s]]
        if (n_slots == 1 and target == 1) or before <= 0.0:
            continue
        for x in range(n_rows):
            for j in range(classes.rows.shape[1]):
                bench.rows[x, j] = classes.rows[taken[x], j]
        build(bench, sides, n_rows, target, k, most, random)
        after = settle(bench, sides, n_rows, target, k, most, PASSES)
        if after > before * (1.0 - temperature / n_slots * np.log(1.0 - random.random())) + 1e-12:
            continue
        for s in range(n_slots, target):
            n_spare -= 1
            slots[s] = spare[n_spare]
            owner[slots[s]] = me
        for s in range(max(target, n_slots)):
            classes.sizes[slots[s]] = 0
            classes.prices[slots[s]] = bench.sizes[s] * bench.costs[s] if s < target else 0.0
        for x in range(n_rows):
            slot = slots[bench.where[x]]
            classes.held[slot, classes.sizes[slot]] = taken[x]
            classes.sizes[slot] += 1
            classes.labels[taken[x]] = slot
        for s in range(target, n_slots):
            spare[n_spare] = slots[s]
            n_spare += 1


@part
def _gather(classes, near, owner, me, seed, wanted, slots, taken, random):  # type: ignore[no-untyped-def]
    """Classes that lie together, by a walk from record to near record, and all their records."""
    n_slots, n_rows = 0, 0
    i = seed
    for _ in range(6 * wanted):
        slot = classes.labels[i]
        known = owner[slot] != me
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
    return n_slots, n_rows


@kernel(nogil=True)
def fill(classes, labels):  # type: ignore[no-untyped-def]
    """Load a partition whose labels are slots; prices are set by whoever knows them."""
    for slot in range(classes.sizes.size):
        classes.sizes[slot] = 0
        classes.prices[slot] = 0.0
    for i in range(labels.size):
        slot = labels[i]
        classes.labels[i] = slot
        classes.held[slot, classes.sizes[slot]] = i
        classes.sizes[slot] += 1
