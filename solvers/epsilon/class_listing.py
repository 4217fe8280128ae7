"""Classes as bit masks, listed with their prices and entropies: compiled passes over millions of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import kernel, part
from optmodels.price import SPREAD, Codes, Floats

Ints = NDArray[np.int64]

BLOCK = 12  # bits of a block of classes: one pricing pass returns at most one class a block
EQUAL = 1e-9  # nats: entropies closer than this are the same


class Classes(NamedTuple):
    """Some classes: one bit a record, the price, each attribute's entropy in nats."""

    masks: NDArray[np.int32]
    prices: Floats  # infinite where a condition is broken, by the class or by everyone else
    entropies: Floats  # (attributes, classes)


class Needs(NamedTuple):
    """The least entropies of a class in nats, of each attribute and of all together."""

    least: Floats
    total: float


def every(kind: int, numeric: Floats, codes: Codes, code_weights: Floats, test: ClassTest) -> Classes:
    """All classes of a few records, in the order of their masks."""
    prices, entropies = _price_all(kind, numeric, codes, code_weights, test, test.only_size)
    return Classes(np.arange(len(prices), dtype=np.int32), prices, entropies)


@kernel(parallel=True)
def _price_all(
    kind: int, numeric: Floats, codes: Codes, code_weights: Floats, test: ClassTest, only_size: bool
) -> tuple[Floats, Floats]:
    """The price of every class, infinite for those that break a condition, and each attribute's entropy in nats.

    What is added up record by record is looked up: the two halves of a mask each have a table. A spread is the mean
    over the records of the squared distances of pairs, which is exact however far from 0 the numbers are.
    """
    n = len(numeric)
    total = 1 << n
    prices = np.full(total, np.inf)
    entropies = np.zeros((len(test.starts) - 1, total))
    logs = np.zeros(n + 1)
    for m in range(2, n + 1):
        logs[m] = m * np.log(m)
    bits = min(n, BLOCK)
    block = 1 << bits
    ones = _set_bits(max(block, total // block))
    members = _members_of(test.codes, test.starts[-1])
    starts = np.zeros(codes.shape[1] + 1, np.int64)
    for j in range(codes.shape[1]):
        starts[j + 1] = starts[j] + codes[:, j].max() + 1
    coded = np.empty(codes.shape, np.int32)
    for j in range(codes.shape[1]):
        coded[:, j] = codes[:, j] + starts[j]
    held = _members_of(coded, starts[-1])
    apart = np.zeros((n, n))
    for j in range(numeric.shape[1]):
        for i in range(n):
            for h in range(n):
                apart[i, h] += (numeric[i, j] - numeric[h, j]) ** 2
    low, high = np.empty((n, block)), np.empty((n, total // block))
    for i in prange(n):
        low[i] = sums_of(apart[i], 0, bits)
        high[i] = sums_of(apart[i], bits, n - bits)
    # Pairs of a class are those without its lowest record, and that record's own; the first of each block beforehand.
    first = np.zeros(total // block)
    for b in range(1, total // block):
        lowest = _lowest(b)
        first[b] = first[b & (b - 1)] + high[bits + lowest, b & (b - 1)]
    for b in prange(total // block):
        counts = np.zeros(test.starts[-1], np.int64)
        pairs = np.empty(block)
        pairs[0] = first[b]
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
                    price += size * _side(numeric[:, j], mask)
            for j in range(codes.shape[1]):
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
                    weighted += logs[counts[v]]
                entropies[j, mask] = np.log(size) - weighted / size
    # Everyone else is made of classes, too, and keeps the conditions that these keep.
    for b in prange(total // block):
        for offset in range(block):
            mask = b * block + offset
            if mask != total - 1 and np.isinf(prices[total - 1 - mask]):
                prices[mask] = np.inf
    return prices, entropies


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
def _side(values: Floats, mask: int) -> float:
    """How far the values of a class lie apart."""
    low, high = np.inf, -np.inf
    for i in range(len(values)):
        if mask >> i & 1:
            low, high = min(low, values[i]), max(high, values[i])
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
def _diverse(classes: Classes, needs: Needs, place: int) -> bool:
    diverse, total = True, 0.0
    for j in range(len(needs.least)):
        diverse &= classes.entropies[j, place] >= needs.least[j] - EQUAL
        total += classes.entropies[j, place]
    return diverse and total >= needs.total - EQUAL


@kernel(parallel=True)
def cheapest(classes: Classes, needs: Needs, duals: Floats, class_dual: float) -> tuple[Floats, Ints]:
    """The least reduced cost of each block of classes, and the mask of the class that has it."""
    n, count = len(duals), len(classes.masks)
    bits = min(n, BLOCK)
    low, high = sums_of(duals, 0, bits), sums_of(duals, bits, n - bits)
    blocks = (count + (1 << BLOCK) - 1) >> BLOCK
    costs, masks = np.full(blocks, np.inf), np.zeros(blocks, np.int64)
    for b in prange(blocks):
        for place in range(b << BLOCK, min(count, (b + 1) << BLOCK)):
            mask = classes.masks[place]
            cost = classes.prices[place] - low[mask & ((1 << bits) - 1)] - high[mask >> bits] - class_dual
            if cost < costs[b] and _diverse(classes, needs, place):
                costs[b] = cost
                masks[b] = mask
    return costs, masks


@kernel(parallel=True)
def how_many(classes: Classes, needs: Needs, duals: Floats, class_dual: float, most: float) -> Ints:
    """How many classes of each block have a reduced cost of at most `most`."""
    n, count = len(duals), len(classes.masks)
    bits = min(n, BLOCK)
    low, high = sums_of(duals, 0, bits), sums_of(duals, bits, n - bits)
    limit = most * (1.0 + 1e-9)
    blocks = (count + (1 << BLOCK) - 1) >> BLOCK
    found = np.zeros(blocks, np.int64)
    for b in prange(blocks):
        for place in range(b << BLOCK, min(count, (b + 1) << BLOCK)):
            mask = classes.masks[place]
            cost = classes.prices[place] - low[mask & ((1 << bits) - 1)] - high[mask >> bits] - class_dual
            if cost <= limit and _diverse(classes, needs, place):
                found[b] += 1
    return found


@kernel(parallel=True)
def cheaper_than(
    classes: Classes, needs: Needs, duals: Floats, class_dual: float, most: float, found: Ints
) -> tuple[Ints, Floats]:
    """Places and reduced costs, never negative, of the classes that `how_many` has found."""
    n, count = len(duals), len(classes.masks)
    bits = min(n, BLOCK)
    low, high = sums_of(duals, 0, bits), sums_of(duals, bits, n - bits)
    limit = most * (1.0 + 1e-9)
    starts = np.zeros(len(found) + 1, np.int64)
    starts[1:] = np.cumsum(found)
    places, costs = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    for b in prange(len(found)):
        at = starts[b]
        if starts[b + 1] > at:
            for place in range(b << BLOCK, min(count, (b + 1) << BLOCK)):
                mask = classes.masks[place]
                cost = classes.prices[place] - low[mask & ((1 << bits) - 1)] - high[mask >> bits] - class_dual
                if cost <= limit and _diverse(classes, needs, place):
                    places[at] = place
                    costs[at] = max(cost, 0.0)
                    at += 1
    return places, costs
