"""Annealing on the loss under conditions that may be broken on the way: what they lack costs more and more.

Near the top of a front only few partitions meet the levels, and a search that never breaks them does not get from one
to the next. Here records move and change places between a given number of classes; a class that lacks size, diversity
or closeness pays for it, little at first and much in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import TOLERANCE, ClassTest, distance_from_table, largest_counts
from optmodels.kernels import Random, copy_into, kernel, part
from optmodels.partition import Labels, canonical
from optmodels.price import Codes, Floats, Price
from solvers.local_search.near import Near

# In prices of an average class: how hot it begins and ends, and what lacking a whole condition costs at first and last.
_HOTTEST, _COLDEST = 0.3, 0.003
_CHEAPEST, _DEAREST = 1.0, 100.0
_SWAPS = 0.5  # of the steps; in the others a record moves
_NEARBY = 0.7  # of the steps look for a class among near records, the others anywhere
_MAGNITUDES = 3.0  # of entropy that attributes trade
_LEAST = 1e-9  # of the price of everyone together: a class costs at least about that; 1 where even they cost nothing
_BROKEN = 1e-6  # what a class lacks at least that reaches a bound which it must stay below
_STRETCH = 20_000  # steps between two looks at whether to go on


class Room(NamedTuple):
    """The table and its classes while records move: sums, tallies, prices and what classes lack."""

    numeric: Floats  # (n, d), centred
    squares: Floats  # (n)
    codes: Codes  # (n, c), as places in a tally of all attributes
    code_starts: NDArray[np.int64]
    code_weights: Floats
    logs: Floats  # x log x
    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]
    sums: Floats  # (classes, d)
    within: Floats  # (classes): sum of squares
    tallies: NDArray[np.int64]  # (classes, codes)
    counts: NDArray[np.int64]  # (classes, sensitive values)
    prices: Floats
    lacks: Floats


def _room(price: Price, test: ClassTest, labels: Labels) -> Room:
    n, classes = price.n, int(labels.max()) + 1
    numeric = price.numeric - price.numeric.mean(axis=0) if price.numeric.shape[1] else price.numeric
    n_codes = price.codes.max(axis=0, initial=0).astype(np.int64) + 1
    code_starts = np.cumsum([0, *n_codes]).astype(np.int64)
    whole = np.arange(n + 1, dtype=np.float64)
    return Room(
        numeric=np.ascontiguousarray(numeric),
        squares=(numeric**2).sum(axis=1),
        codes=(price.codes + code_starts[:-1]).astype(np.int32),
        code_starts=code_starts,
        code_weights=price.code_weights,
        logs=whole * np.log(np.maximum(whole, 1.0)),
        labels=labels.astype(np.int64),
        sizes=np.zeros(classes, np.int64),
        sums=np.zeros((classes, numeric.shape[1])),
        within=np.zeros(classes),
        tallies=np.zeros((classes, int(code_starts[-1])), np.int64),
        counts=np.zeros((classes, int(test.starts[-1])), np.int64),
        prices=np.zeros(classes),
        lacks=np.zeros(classes),
    )


def anneal(
    price: Price,
    test: ClassTest,
    labels: Labels,
    near: Near,
    steps: int,
    random: np.random.Generator,
    floors: Floats,
    halted: Callable[[], bool] = lambda: False,
) -> Labels | None:
    """The cheapest partition met that keeps the conditions, with as many classes as the given one; None if none did.

    The sum of the least entropies is held, not each of them: attributes trade them, none falling below its floor.
    """
    room = _room(price, test, canonical(labels))
    traded = test._replace(entropy=test.entropy.copy())
    _open(room, traded)
    per_class = (max(room.prices.sum(), _LEAST * price.of(np.arange(price.n))) or 1.0) / len(room.sizes)
    best = np.full(price.n, -1)
    least = np.inf
    for first in range(0, max(steps, 1), _STRETCH):
        last = min(first + _STRETCH, steps)
        least = _anneal(room, traded, near, best, least, first, last, steps, per_class, random, floors)
        if halted():
            break
    return canonical(best) if best[0] >= 0 else None


def with_classes(labels: Labels, wanted: int, near: Near, random: np.random.Generator) -> Labels:
    """The partition with classes halved at random, or joined with near ones, until there are as many as wanted."""
    labels = canonical(labels)
    while (classes := int(labels.max()) + 1) > wanted:
        i = int(random.integers(len(labels)))
        other = labels[_someone_near(near, i, random)]
        if other == labels[i]:
            other = labels[random.integers(len(labels))]
        labels = canonical(np.where(labels == other, labels[i], labels))
    while classes < min(wanted, len(labels)):
        rows = np.flatnonzero(labels == labels[random.integers(len(labels))])
        if len(rows) > 1:
            labels[random.permutation(rows)[: len(rows) // 2]] = classes
            classes += 1
    return canonical(labels)


@kernel(nogil=True)
def _open(room: Room, test: ClassTest) -> None:
    for i in range(room.labels.size):
        _shift(room, test, i, room.labels[i], 1)
    for c in range(room.sizes.size):
        _assess(room, test, c)


@kernel(nogil=True)
def _anneal(
    room: Room,
    test: ClassTest,
    near: Near,
    best: Labels,
    least: float,
    first: int,
    last: int,
    steps: int,
    per_class: float,
    random: Random,
    floors: Floats,
) -> float:
    """The steps from first to last of all; returns the price of the best partition so far."""
    classes = room.sizes.size
    n = room.labels.size
    if classes == 1:
        last = first
    lacking = room.lacks.sum()
    total = room.prices.sum()
    if lacking <= TOLERANCE and total < least:
        least = total
        copy_into(best, room.labels)
    for step in range(first, last):
        done = step / steps
        heat = per_class * _HOTTEST * (_COLDEST / _HOTTEST) ** done
        fine = per_class * _CHEAPEST * (_DEAREST / _CHEAPEST) ** done
        if step % n == 0 and floors.size > 1:
            lacking = _trade(room, test, floors, lacking, fine / heat, random)
        i = random.integers(0, n)
        a = room.labels[i]
        r = _someone(near, i, random)
        b = room.labels[r] if random.random() < _NEARBY else random.integers(0, classes)
        swap = random.random() < _SWAPS
        if a == b or (not swap and room.sizes[a] == 1):
            continue
        if swap and room.labels[r] != b:
            continue
        price_a, price_b, lack_a, lack_b = room.prices[a], room.prices[b], room.lacks[a], room.lacks[b]
        _shift(room, test, i, a, -1)
        _shift(room, test, i, b, 1)
        if swap:
            _shift(room, test, r, b, -1)
            _shift(room, test, r, a, 1)
        _assess(room, test, a)
        _assess(room, test, b)
        dearer = room.prices[a] + room.prices[b] - price_a - price_b
        poorer = room.lacks[a] + room.lacks[b] - lack_a - lack_b
        change = dearer + fine * poorer
        if change > 0.0 and random.random() >= np.exp(-change / heat):
            _shift(room, test, i, b, -1)
            _shift(room, test, i, a, 1)
            if swap:
                _shift(room, test, r, a, -1)
                _shift(room, test, r, b, 1)
            room.prices[a], room.prices[b], room.lacks[a], room.lacks[b] = price_a, price_b, lack_a, lack_b
            continue
        room.labels[i] = b
        if swap:
            room.labels[r] = a
        total += dearer
        lacking += poorer
        if total < least * (1.0 - 1e-9) and lacking <= TOLERANCE:
            lacking = room.lacks.sum()  # free of what rounding has gathered
            if lacking <= TOLERANCE:
                least = total
                copy_into(best, room.labels)
    return least


@part
def _trade(room: Room, test: ClassTest, floors: Floats, lacking: float, dear: float, random: Random) -> float:
    """Lower one attribute's level and raise another's by as much, if classes lack little more; what they lack now."""
    seller = random.integers(0, floors.size)
    buyer = random.integers(0, floors.size)
    spare = test.entropy[seller] - floors[seller]
    if seller == buyer or spare <= 0.0:
        return lacking
    amount = spare * 10.0 ** (-_MAGNITUDES * random.random())
    test.entropy[seller] -= amount
    test.entropy[buyer] += amount
    after = 0.0
    for c in range(room.sizes.size):
        after += _lack(room, test, c, room.sizes[c])
    if after > lacking and random.random() >= np.exp(-(after - lacking) * dear):
        test.entropy[seller] += amount
        test.entropy[buyer] -= amount
        return lacking
    for c in range(room.sizes.size):
        room.lacks[c] = _lack(room, test, c, room.sizes[c])
    return after


def _someone_near(near: Near, i: int, random: Random) -> int:
    """A record near record i."""
    p = near.point[i]
    q = near.lists[p, random.integers(0, near.lists.shape[1])]
    if q < 0:
        q = p
    found: int = near.rows[near.starts[q] + random.integers(0, near.starts[q + 1] - near.starts[q])]
    return found


_someone = part(_someone_near)  # in kernels; Python, which asks rarely, needs no code of its own for it


@part
def _shift(room: Room, test: ClassTest, i: int, c: int, amount: int) -> None:
    """Count record i into class c (1) or out of it (-1)."""
    room.sizes[c] += amount
    room.within[c] += amount * room.squares[i]
    for j in range(room.numeric.shape[1]):
        room.sums[c, j] += amount * room.numeric[i, j]
    for j in range(room.codes.shape[1]):
        room.tallies[c, room.codes[i, j]] += amount
    for j in range(test.codes.shape[1]):
        room.counts[c, test.codes[i, j]] += amount


@part
def _assess(room: Room, test: ClassTest, c: int) -> None:
    """What class c costs, and what it lacks."""
    size = room.sizes[c]
    total = room.within[c]
    for j in range(room.numeric.shape[1]):
        total -= room.sums[c, j] ** 2 / size
    for j in range(room.codes.shape[1]):
        mode = 0
        for v in range(room.code_starts[j], room.code_starts[j + 1]):
            mode = max(mode, room.tallies[c, v])
        total += room.code_weights[j] * (size - mode)
    room.prices[c] = total
    room.lacks[c] = _lack(room, test, c, size)


@part
def _lack(room: Room, test: ClassTest, c: int, size: int) -> float:
    """What a class lacks: shares of size and distinct values, entropy in nats, distances; 0 if it meets all."""
    lack = max(0, test.k - size) / test.k
    for j in range(test.starts.size - 1):
        weighted = 0.0
        distinct = 0
        for v in range(test.starts[j], test.starts[j + 1]):
            weighted += room.logs[room.counts[c, v]]
            distinct += room.counts[c, v] > 0
        if test.entropy[j] > 0.0:
            entropy = np.log(size) - weighted / size
            if entropy < test.entropy[j] - TOLERANCE:
                lack += test.entropy[j] - entropy
        if distinct < test.distinct_l[j]:
            lack += 1.0 - distinct / test.distinct_l[j]
        if test.recursive_l[j] > 0:
            top, frequent = largest_counts(test, room.counts[c], j, test.recursive_l[j] - 1)
            over = top - test.recursive_c[j] * (size - frequent)
            if over > -TOLERANCE * size:
                lack += _BROKEN + max(0.0, over / size)
        if test.t[j] < np.inf:
            distance = distance_from_table(test, room.counts[c], size, j)
            if distance > test.t[j] + TOLERANCE:
                lack += distance - test.t[j]
    for row in range(len(test.most_shares)):
        for v in range(len(test.shares)):
            share = room.counts[c, v] / size
            over = max(share - test.most_shares[row, v], test.least_shares[row, v] - share)
            if over > 0.0:
                lack += _BROKEN + over
    return lack
