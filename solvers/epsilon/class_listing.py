"""Classes as bit masks, listed with their prices and entropies: compiled passes over millions of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import copy_into, kernel, part
from optmodels.parallel import cores, threads
from optmodels.price import SPREAD, Codes, Floats

Ints = NDArray[np.int64]

BLOCK = 12  # bits of a block of classes: one pricing pass returns at most one class a block
_WORTH_SHARING = 16  # blocks for each core
EQUAL = 1e-9  # nats: entropies closer than this are the same


class ListedClasses(NamedTuple):
    """Some classes: one bit a record, the price, each attribute's entropy in nats."""

    masks: NDArray[np.int32]
    prices: Floats  # infinite where a condition is broken, by the class or by everyone else
    entropies: Floats  # (attributes, classes)


class LeastEntropies(NamedTuple):
    """The least entropies of a class in nats, of each attribute and of all together."""

    least: Floats
    total: float


class _Tables(NamedTuple):
    """What is looked up by the two halves of a mask: its block, and its place in the block."""

    bits: int  # of a place
    ones: Ints  # set bits of every half
    members: Ints  # for each sensitive value the mask of the records that have it
    starts: Ints  # the slice of each categorical attribute in `held`
    held: Ints  # for each category the mask of the records that have it
    low: Floats  # (n, places): squared distances of each record to those of a place
    high: Floats  # (n, blocks)
    first: Floats  # (blocks): squared distances of all pairs of the first class of a block
    logs: Floats  # m log m


def every(kind: int, numeric: Floats, codes: Codes, code_weights: Floats, test: ClassTest) -> ListedClasses:
    """All classes of a few records, in the order of their masks."""
    tables, only_size = _tables(numeric, codes, test), test.only_size
    total = 1 << len(numeric)
    prices, entropies = np.full(total, np.inf), np.zeros((len(test.starts) - 1, total))

    def price(first: int, last: int) -> None:
        _price_blocks(kind, numeric, code_weights, test, only_size, tables, prices, entropies, first, last)

    _side_by_side(price, total >> tables.bits)
    # Everyone else is made of classes, too, and keeps the conditions that these keep.
    broken = np.isinf(prices[::-1])
    broken[-1] = False
    prices[broken] = np.inf
    return ListedClasses(np.arange(total, dtype=np.int32), prices, entropies)


def _side_by_side(work: Callable[[int, int], None], blocks: int) -> None:
    """Let all cores work on blocks of classes, from one block to another; few of them are not worth sharing."""
    shares = min(cores(), blocks // _WORTH_SHARING)
    if shares <= 1:
        work(0, blocks)
        return
    ends = [blocks * number // shares for number in range(shares + 1)]
    with threads(shares) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))


@kernel
def _tables(numeric: Floats, codes: Codes, test: ClassTest) -> _Tables:
    """What is added up record by record is looked up: the two halves of a mask each have a table."""
    n = len(numeric)
    total = 1 << n
    logs = np.zeros(n + 1)
    for m in range(2, n + 1):
        logs[m] = m * np.log(m)
    bits = min(n, BLOCK)
    block = 1 << bits
    ones = _set_bits(max(block, total // block))
    members = _members_of(test.codes, test.starts[-1])
    starts = np.zeros(codes.shape[1] + 1, np.int64)
    coded = np.empty(codes.shape, np.int32)
    for j in range(codes.shape[1]):
        most = 0
        for i in range(n):
            most = max(most, codes[i, j])
            coded[i, j] = codes[i, j] + starts[j]
        starts[j + 1] = starts[j] + most + 1
    held = _members_of(coded, starts[-1])
    apart = np.zeros((n, n))
    for j in range(numeric.shape[1]):
        for i in range(n):
            for h in range(n):
                apart[i, h] += (numeric[i, j] - numeric[h, j]) ** 2
    low, high = np.empty((n, block)), np.empty((n, total // block))
    for i in range(n):
        copy_into(low[i], sums_of(apart[i], 0, bits))
        copy_into(high[i], sums_of(apart[i], bits, n - bits))
    # Pairs of a class are those without its lowest record, and that record's own; the first of each block beforehand.
    first = np.zeros(total // block)
    for b in range(1, total // block):
        lowest = _lowest(b)
        first[b] = first[b & (b - 1)] + high[bits + lowest, b & (b - 1)]
    return _Tables(bits, ones, members, starts, held, low, high, first, logs)


@kernel(nogil=True)
def _price_blocks(
    kind: int, numeric: Floats, code_weights: Floats, test: ClassTest, only_size: bool, tables: _Tables,
    prices: Floats, entropies: Floats, first_block: int, last_block: int,
) -> None:  # fmt: skip
    """Write the prices of the classes that break no condition, and each attribute's entropy in nats.

    A spread is the mean over the records of the squared distances of pairs, which is exact however far from 0 the
    numbers are.
    """
    bits, ones, low, high = tables.bits, tables.ones, tables.low, tables.high
    members, held, starts = tables.members, tables.held, tables.starts
    block = 1 << bits
    counts = np.zeros(test.starts[-1], np.int64)
    pairs = np.empty(block)
    for b in range(first_block, last_block):
        pairs[0] = tables.first[b]
        for offset in range(block):
            rest = offset & (offset - 1)
            if offset > 0:
                lowest = _lowest(offset)
                pairs[offset] = pairs[rest] + low[lowest, rest] + high[lowest, b]
            size = ones[offset] + ones[b]
            if size < test.k:
                continue
            mask = b * block + offset
            for v in range(len(members)):
                counts[v] = ones[offset & members[v] & (block - 1)] + ones[b & (members[v] >> bits)]
            if not only_size and not meets(test, counts, size):
                continue
            price = 0.0
            if kind == SPREAD:
                price = pairs[offset] / size
            else:
                for j in range(numeric.shape[1]):
                    price += size * _side(numeric, j, mask)
            for j in range(len(starts) - 1):
                most, distinct = 0, 0
                for v in range(starts[j], starts[j + 1]):
                    count = ones[offset & held[v] & (block - 1)] + ones[b & (held[v] >> bits)]
                    most = max(most, count)
                    distinct += count > 0
                price += code_weights[j] * ((size - most) if kind == SPREAD else size * (distinct - 1))
            prices[mask] = price
            for j in range(len(test.starts) - 1):
                weighted = 0.0
                for v in range(test.starts[j], test.starts[j + 1]):
                    weighted += tables.logs[counts[v]]
                entropies[j, mask] = np.log(size) - weighted / size


@part
def _set_bits(total: int) -> Ints:
    ones = np.zeros(total, np.int64)
    for mask in range(1, total):
        ones[mask] = ones[mask >> 1] + (mask & 1)
    return ones


@part
def _lowest(mask: int) -> int:
    """The place of the lowest bit."""
    place = 0
    while not mask >> place & 1:
        place += 1
    return place


@part
def _members_of(codes: Codes, n_values: int) -> Ints:
    """For each value the mask of the records that have it."""
    members = np.zeros(n_values, np.int64)
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            members[codes[i, j]] |= 1 << i
    return members


@part
def _side(numeric: Floats, j: int, mask: int) -> float:
    """How far the values of attribute j lie apart in a class."""
    low, high = np.inf, -np.inf
    for i in range(len(numeric)):
        if mask >> i & 1:
            low, high = min(low, numeric[i, j]), max(high, numeric[i, j])
    return high - low


@part
def sums_of(values: Floats, first: int, bits: int) -> Floats:
    """Sums of the values of all subsets of `bits` records from `first` on."""
    sums = np.zeros(1 << bits)
    for i in range(bits):
        for mask in range(1 << i):
            sums[mask | 1 << i] = sums[mask] + values[first + i]
    return sums


@part
def _diverse(classes: ListedClasses, needs: LeastEntropies, place: int) -> bool:
    diverse, total = True, 0.0
    for j in range(len(needs.least)):
        diverse &= classes.entropies[j, place] >= needs.least[j] - EQUAL
        total += classes.entropies[j, place]
    return diverse and total >= needs.total - EQUAL


@part
def _reduced_cost(classes: ListedClasses, place: int, bits: int, low: Floats, high: Floats, class_dual: float) -> float:
    """The price of a class without what its records pay; `low` and `high` are sums over the two halves of a mask."""
    mask = classes.masks[place]
    cost: float = classes.prices[place] - low[mask & ((1 << bits) - 1)] - high[mask >> bits] - class_dual
    return cost


def cheapest(classes: ListedClasses, needs: LeastEntropies, duals: Floats, class_dual: float) -> tuple[Floats, Ints]:
    """The least reduced cost of each block of classes, and the mask of the class that has it."""
    blocks = _blocks_of(classes)
    costs, masks = np.full(blocks, np.inf), np.zeros(blocks, np.int64)

    def search(first: int, last: int) -> None:
        _cheapest(classes, needs, duals, class_dual, costs, masks, first, last)

    _side_by_side(search, blocks)
    return costs, masks


@kernel(nogil=True)
def _cheapest(
    classes: ListedClasses,
    needs: LeastEntropies,
    duals: Floats,
    class_dual: float,
    costs: Floats,
    masks: Ints,
    first: int,
    last: int,
) -> None:
    bits = min(len(duals), BLOCK)
    low, high = sums_of(duals, 0, bits), sums_of(duals, bits, len(duals) - bits)
    for b in range(first, last):
        for place in range(b << BLOCK, min(len(classes.masks), (b + 1) << BLOCK)):
            cost = _reduced_cost(classes, place, bits, low, high, class_dual)
            if cost < costs[b] and _diverse(classes, needs, place):
                costs[b] = cost
                masks[b] = classes.masks[place]


def how_many(classes: ListedClasses, needs: LeastEntropies, duals: Floats, class_dual: float, most: float) -> Ints:
    """How many classes of each block have a reduced cost of at most `most`."""
    found = np.zeros(_blocks_of(classes), np.int64)
    nowhere = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)

    def count(first: int, last: int) -> None:
        _cheaper(classes, needs, duals, class_dual, most, found, *nowhere, first, last)

    _side_by_side(count, len(found))
    return found


def cheaper_than(
    classes: ListedClasses, needs: LeastEntropies, duals: Floats, class_dual: float, most: float, found: Ints
) -> tuple[Ints, Floats]:
    """Places and reduced costs, never negative, of the classes that `how_many` has found."""
    ends = np.cumsum(found)
    listed = int(ends[-1]) if len(ends) else 0
    places, costs = np.empty(listed, np.int64), np.empty(listed)

    def write(first: int, last: int) -> None:
        _cheaper(classes, needs, duals, class_dual, most, found, ends - found, places, costs, first, last)

    _side_by_side(write, len(found))
    return places, costs


@kernel(nogil=True)
def _cheaper(
    classes: ListedClasses, needs: LeastEntropies, duals: Floats, class_dual: float, most: float, found: Ints,
    starts: Ints, places: Ints, costs: Floats, first: int, last: int,
) -> None:  # fmt: skip
    """Count the classes of each block with a reduced cost of at most `most`; list them where it is said where."""
    bits = min(len(duals), BLOCK)
    low, high = sums_of(duals, 0, bits), sums_of(duals, bits, len(duals) - bits)
    limit = most * (1.0 + 1e-9)
    listing = len(starts) > 0
    for b in range(first, last):
        if listing and found[b] == 0:
            continue
        at = starts[b] if listing else 0
        many = 0
        for place in range(b << BLOCK, min(len(classes.masks), (b + 1) << BLOCK)):
            cost = _reduced_cost(classes, place, bits, low, high, class_dual)
            if cost <= limit and _diverse(classes, needs, place):
                if listing:
                    places[at + many] = place
                    costs[at + many] = max(cost, 0.0)
                many += 1
        if not listing:
            found[b] = many


def _blocks_of(classes: ListedClasses) -> int:
    return (len(classes.masks) + (1 << BLOCK) - 1) >> BLOCK
