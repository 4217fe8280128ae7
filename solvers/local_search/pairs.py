"""Building some classes anew from the distances between their records: numeric spreads under a size condition.

The spread of a class is the sum of its squared distances over pairs, divided by its size. With the sums of each
record's distances to each class at hand, a relocation or an exchange is priced without looking at attributes,
and nothing outside changes until the result is accepted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import Random, part
from solvers.local_search.state import Ints, State, squared_distance


class PairBench(NamedTuple):
    """Room for a few classes, numbered from 0, of a few records, numbered from 0."""

    distances: NDArray[np.float64]  # (records, records), squared
    reach: NDArray[np.float64]  # (classes, records): sum of distances from the class's records to a record
    within: NDArray[np.float64]  # (classes): sum of distances over the class's pairs
    sizes: NDArray[np.int64]
    where: NDArray[np.int64]  # class of each record; -1: none
    shares: NDArray[np.float64]  # (classes): scratch of a move
    common: NDArray[np.float64]  # (classes): scratch of a move


@part
def new_bench(most_rows: int, most_classes: int) -> PairBench:
    """A bench for at most so many records and classes."""
    return PairBench(
        np.empty((most_rows, most_rows)),
        np.empty((most_classes, most_rows)),
        np.empty(most_classes),
        np.empty(most_classes, np.int64),
        np.empty(most_rows, np.int64),
        np.empty(most_classes),
        np.empty(most_classes),
    )


@part
def rebuild_by_distance(
    bench: PairBench,
    state: State,
    rows: Ints,
    n_rows: int,
    target: int,
    tolerance: float,
    passes: int,
    random: Random,
) -> float:
    """Put the records into `target` classes in bench.where; the sum of their spreads."""
    for x in range(n_rows):
        bench.where[x] = -1
        bench.distances[x, x] = 0.0
        for y in range(x):
            distance = squared_distance(state.numeric[rows[x]], state.numeric[rows[y]])
            bench.distances[x, y] = distance
            bench.distances[y, x] = distance
    for c in range(target):
        bench.within[c] = 0.0
        bench.sizes[c] = 0
        for x in range(n_rows):
            bench.reach[c, x] = 0.0
    _grow(bench, n_rows, target, state.k, random)
    _descend(bench, n_rows, target, state.k, tolerance, passes)
    total = 0.0
    for c in range(target):
        total += bench.within[c] / bench.sizes[c]
    return total


@part
def _put(bench: PairBench, n_rows: int, x: int, c: int) -> None:
    bench.within[c] += bench.reach[c, x]
    bench.sizes[c] += 1
    bench.where[x] = c
    for y in range(n_rows):
        bench.reach[c, y] += bench.distances[x, y]


@part
def _take(bench: PairBench, n_rows: int, x: int) -> None:
    c = bench.where[x]
    bench.within[c] -= bench.reach[c, x]
    bench.sizes[c] -= 1
    for y in range(n_rows):
        bench.reach[c, y] -= bench.distances[x, y]


@part
def _grow(bench: PairBench, n_rows: int, target: int, k: int, random: Random) -> None:
    """Classes of k around seeds far from each other, one after the other; the rest join where they cost least."""
    seed = -1
    for c in range(target):
        chosen = -1
        farthest = -1.0
        for _ in range(1 if seed < 0 else 3):
            x = random.integers(0, n_rows)
            while bench.where[x] >= 0:
                x = (x + 1) % n_rows
            distance = 0.0 if seed < 0 else bench.distances[seed, x]
            if distance > farthest:
                farthest = distance
                chosen = x
        seed = chosen
        _put(bench, n_rows, seed, c)
        for size in range(1, k):
            least = np.inf
            for x in range(n_rows):
                if bench.where[x] < 0:
                    cost = (bench.reach[c, x] - bench.within[c] / size) * (0.9 + 0.2 * random.random())
                    if cost < least:
                        least = cost
                        chosen = x
            _put(bench, n_rows, chosen, c)
    offset = random.integers(0, n_rows)
    for place in range(n_rows):
        x = (place + offset) % n_rows
        if bench.where[x] < 0:
            best = 0
            least = np.inf
            for c in range(target):
                cost = (bench.reach[c, x] - bench.within[c] / bench.sizes[c]) / (bench.sizes[c] + 1)
                if cost < least:
                    least = cost
                    best = c
            _put(bench, n_rows, x, best)


@part
def _descend(bench: PairBench, n_rows: int, target: int, k: int, tolerance: float, passes: int) -> None:
    """The best relocation or exchange of one record after the other, until none of them has any."""
    quiet = 0
    for step in range(passes * n_rows):
        x = step % n_rows
        joins, back = _best_move(bench, n_rows, target, k, x, -tolerance)
        if joins < 0:
            quiet += 1
            if quiet == n_rows:
                return
            continue
        quiet = 0
        left = bench.where[x]
        _take(bench, n_rows, x)
        _put(bench, n_rows, x, joins)
        if back >= 0:
            _take(bench, n_rows, back)
            _put(bench, n_rows, back, left)


@part
def _best_move(bench: PairBench, n_rows: int, target: int, k: int, x: int, best: float) -> tuple[int, int]:
    """The class to join and the record that comes back in the best move of record x; -1: none."""
    joins = -1
    back = -1
    a = bench.where[x]
    size_a = bench.sizes[a]
    share_a = 1.0 / size_a
    spared = size_a > k
    leaving = (bench.within[a] * share_a - bench.reach[a, x]) / max(size_a - 1, 1)
    for b in range(target):
        share_b = 1.0 / bench.sizes[b]
        joining = bench.reach[b, x] - bench.within[b] * share_b
        if spared and b != a:
            change = leaving + joining / (bench.sizes[b] + 1)
            if change < best:
                best = change
                joins = b
        bench.shares[b] = share_b
        # what an exchange with class b changes, whoever of it comes back; with the own class there is none
        bench.common[b] = bench.reach[b, x] * share_b - bench.reach[a, x] * share_a if b != a else np.inf
    for r in range(n_rows):
        b = bench.where[r]
        change = bench.common[b] + bench.reach[a, r] * share_a - bench.reach[b, r] * bench.shares[b]
        change -= bench.distances[x, r] * (share_a + bench.shares[b])
        if change < best:
            best = change
            joins = b
            back = r
    return joins, back
