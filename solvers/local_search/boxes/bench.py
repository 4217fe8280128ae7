"""A few classes taken apart and built anew on a bench of their own: nothing else changes until they are better.

Where records may be left out, those who are have the number after the last class: leaving out costs each of them the
same, and at most so many may be as there is room for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import Random, part
from solvers.local_search.boxes.sides import (
    Sides,
    Wholes,
    as_is,
    begun,
    emptied,
    joined,
    new_wholes,
    stretched,
    widened,
    without_row,
)

TINY = 1e-12  # of a side: savings below it are rounding


class BoxBench(NamedTuple):
    """Room for a few records, numbered from 0, and a few classes."""

    rows: NDArray[np.int32]  # (records, attributes)
    where: NDArray[np.int64]  # class of each record; -1: none yet; the number of classes: left out
    own: NDArray[np.float64]  # what the class of each record would cost without it, each
    left: Wholes  # what its class would be released as then
    box: NDArray[np.int32]
    wholes: Wholes  # what each class is released as
    sizes: NDArray[np.int64]
    costs: NDArray[np.float64]  # of each class, for each of its records
    seen: NDArray[np.int64]  # the step at which moves of each record were last looked at
    changed: NDArray[np.int64]  # the step after which each class, and who is left out, is what it is


@part
def new_bench(most_rows: int, most_classes: int, attributes: int) -> BoxBench:
    """A bench for at most so many records and classes."""
    return BoxBench(
        np.empty((most_rows, attributes), np.int32),
        np.empty(most_rows, np.int64),
        np.empty(most_rows),
        new_wholes(most_rows, attributes),
        np.empty((most_classes, 4, attributes), np.int32),
        new_wholes(most_classes, attributes),
        np.empty(most_classes, np.int64),
        np.empty(most_classes),
        np.empty(most_rows, np.int64),
        np.empty(most_classes + 1, np.int64),
    )


@part
def build(
    bench: BoxBench,
    sides: Sides,
    n_rows: int,
    target: int,
    k: int,
    most: int,
    room: int,
    out_price: float,
    random: Random,
) -> int:
    """Classes of k grown one after the other by who costs least; the rest join where they cost least, or are left out.

    How many are left out.
    """
    rows, where, wholes, sizes, costs = bench.rows, bench.where, bench.wholes, bench.sizes, bench.costs
    for x in range(n_rows):
        where[x] = -1
    for c in range(target):
        x = random.integers(0, n_rows)
        while where[x] >= 0:
            x = (x + 1) % n_rows
        if c > 0:
            # the farther of two from the class before, so that classes do not get into each other's way
            other = random.integers(0, n_rows)
            cost = joined(sides, wholes, c - 1, rows, x, costs[c - 1])
            if where[other] < 0 and joined(sides, wholes, c - 1, rows, other, costs[c - 1]) > cost:
                x = other
        where[x] = c
        begun(wholes, c, rows, x)
        sizes[c] = 1
        costs[c] = 0.0
        while sizes[c] < k:
            x, least = -1, np.inf
            for y in range(n_rows):
                if where[y] < 0:
                    liking = 0.9 + 0.2 * random.random()
                    cost = joined(sides, wholes, c, rows, y, costs[c], least / liking) * liking
                    if cost < least:
                        least = cost
                        x = y
            where[x] = c
            costs[c] = stretched(sides, wholes, c, rows, x)
            sizes[c] += 1
    start = random.integers(0, n_rows)
    out = 0
    for place in range(n_rows):
        x = (place + start) % n_rows
        if where[x] >= 0:
            continue
        best = target
        least = out_price if out < room else np.inf
        for c in range(target):
            if sizes[c] < most:
                before = sizes[c] * costs[c]
                enough = (least + before) / (sizes[c] + 1)
                change = (sizes[c] + 1) * joined(sides, wholes, c, rows, x, costs[c], enough) - before
                if change < least:
                    least = change
                    best = c
        where[x] = best
        if best == target:
            out += 1
            continue
        costs[best] = stretched(sides, wholes, best, rows, x)
        sizes[best] += 1
    return out


@part
def _measure(bench: BoxBench, sides: Sides, n_rows: int, c: int) -> None:
    """Find the box of a class anew, and what it costs, with and without each of its records."""
    emptied(bench.box, c)
    for x in range(n_rows):
        if bench.where[x] == c:
            widened(bench.box, c, bench.rows, x)
    bench.costs[c] = as_is(sides, bench.wholes, c, bench.box, c)
    for x in range(n_rows):
        if bench.where[x] == c:
            bench.own[x] = without_row(sides, bench.left, x, bench.box, c, bench.rows, x)


@part
def exchange_rows(
    bench: BoxBench,
    sides: Sides,
    n_rows: int,
    target: int,
    k: int,
    most: int,
    room: int,
    out_price: float,
    out: int,
    passes: int,
) -> tuple[float, int]:
    """Relocate and exchange records until a whole pass finds nothing; the price of all then, and how many are out.

    Between two classes that are as they were when a record was looked at there is still nothing to be found for it.
    """
    rows, where, own, left = bench.rows, bench.where, bench.own, bench.left
    wholes, sizes, costs = bench.wholes, bench.sizes, bench.costs
    seen, changed = bench.seen, bench.changed
    for c in range(target):
        _measure(bench, sides, n_rows, c)
        changed[c] = 0
    changed[target] = 0
    seen[:n_rows] = -1
    quiet = 0
    for step in range(passes * n_rows):
        x = step % n_rows
        a = where[x]
        since = seen[x] if changed[a] <= seen[x] else -1
        seen[x] = step
        inside = a < target
        to, back = -1, -1
        if inside:
            best = -TINY * sizes[a]
            before = sizes[a] * costs[a]
            leaving = (sizes[a] - 1) * own[x] - before
            replaced = sizes[a] * own[x] - before
            if sizes[a] > k and out < room and leaving + out_price < best:
                best, to = leaving + out_price, target
        else:
            best = -TINY * k
            leaving, replaced = -out_price, 0.0
        if not inside or sizes[a] > k:
            for c in range(target):
                # a class never costs less with one more record
                if c == a or changed[c] <= since or sizes[c] >= most or leaving + costs[c] >= best:
                    continue
                without = leaving - sizes[c] * costs[c]
                enough = (best - without) / (sizes[c] + 1)
                change = without + (sizes[c] + 1) * joined(sides, wholes, c, rows, x, costs[c], enough)
                if change < best:
                    best, to, back = change, c, -1
        for y in range(n_rows):
            c = where[y]
            if c == a or changed[c] <= since:
                continue
            if c == target:
                change = replaced
            else:
                # nor does it cost less with another record than without
                if replaced + sizes[c] * (own[y] - costs[c]) >= best:
                    continue
                without = replaced - sizes[c] * costs[c]
                enough = (best - without) / sizes[c]
                change = without + sizes[c] * joined(sides, left, y, rows, x, own[y], enough)
            if change >= best:
                continue
            if inside:
                enough = own[x] + (best - change) / sizes[a]
                change += sizes[a] * (joined(sides, left, x, rows, y, own[x], enough) - own[x])
            if change < best:
                best, to, back = change, c, y
        if to < 0:
            quiet += 1
            if quiet >= n_rows:
                break
            continue
        quiet = 0
        where[x] = to
        if back < 0:
            if inside:
                sizes[a] -= 1
            else:
                out -= 1
            if to < target:
                sizes[to] += 1
            else:
                out += 1
        else:
            where[back] = a
        changed[a] = changed[to] = step + 1
        if inside:
            _measure(bench, sides, n_rows, a)
        if to < target:
            _measure(bench, sides, n_rows, to)
    total = out * out_price
    for c in range(target):
        total += sizes[c] * costs[c]
    return total, out
