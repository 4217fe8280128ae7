"""Which counts of sensitive values a small class may have, written out, for pricing that respects whole records.

The counts of the first sensitive attribute are listed one by one; those of every further attribute too, ordered by
entropy within each class size, so that what the cheapest ones of enough entropy are worth is a table looked up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part
from optmodels.price import Floats

Ints = NDArray[np.int64]

_EQUAL = 1e-9  # bits
_FEW = 60  # records: the classes whose sizes are told apart
_RANGE = 1.2  # times the fewest records: the most of a range of sizes


class Needs(NamedTuple):
    """Least entropies in bits, of each attribute and of all together, and the least size of a class."""

    least: Floats
    total: float
    k: int


class Counts(NamedTuple):
    """The count vectors of classes of at most `largest` records."""

    largest: int
    first: Ints  # (vectors, values of the first attribute)
    places: Ints  # (vectors, further attributes): the level that each must at least have, in the table below
    others: Ints  # (vectors, most values): of the further attributes, one after the other
    attribute: Ints  # (vectors): which attribute
    level: Ints  # (vectors): its level of entropy
    opens: NDArray[np.bool_]  # (levels): whether it is the highest of its attribute and size
    starts: Ints  # (sizes + 1, 3): the first of `first`, of `others` and of the levels of each size
    large: Ints  # (ranges, 2): the fewest and the most records of larger classes, that are bounded together


def count_vectors(whole: list[Ints], needs: Needs, most_listed: int = 12_000) -> Counts:
    """The vectors that a class may have under the needs, when everyone together has the counts `whole`.

    Of no attribute more than `most_listed` are written out: classes are as large as that allows.
    """
    n = int(whole[0].sum())
    most = np.array([_bits(counts[None])[0] for counts in whole])
    largest = needs.k - 1
    while largest < n and all(_how_many(counts, largest + 1) <= most_listed for counts in whole):
        largest += 1
    listed = []
    for j, counts in enumerate(whole):
        spare = needs.total - (most.sum() - most[j])
        vectors = _vectors(counts, needs.k, largest)
        least = max(needs.least[j], spare) - _EQUAL
        rest = counts - vectors
        # Everyone else together has at least the entropy that each of their classes has.
        kept = (_bits(vectors) >= least) & ((_bits(rest) >= least) | (rest.sum(axis=1) == 0))
        listed.append(vectors[kept])
    widest = max((len(counts) for counts in whole[1:]), default=1)
    first, places, others = (
        [listed[0][:0]],
        [np.zeros((0, len(whole) - 1), np.int64)],
        [np.zeros((0, widest), np.int64)],
    )
    attribute: list[int] = []
    level: list[int] = []
    opens: list[bool] = []
    starts = [(0, 0, 0)]
    for size in range(needs.k, largest + 1):
        mine = listed[0][listed[0].sum(axis=1) == size]
        my_places, possible = np.zeros((len(mine), len(whole) - 1), np.int64), np.ones(len(mine), bool)
        for j in range(1, len(whole)):
            here = listed[j][listed[j].sum(axis=1) == size]
            bits = _bits(here).round(9)
            values = -np.unique(-bits)  # descending
            needed = needs.total - _bits(mine) - sum(most[i] for i in range(1, len(whole)) if i != j)
            enough = np.searchsorted(-values, -(needed - 2 * _EQUAL), side="right")
            possible &= enough > 0
            my_places[:, j - 1] = len(opens) + enough - 1
            padded = np.zeros((len(here), widest), np.int64)
            padded[:, : here.shape[1]] = here
            others.append(padded)
            attribute += [j] * len(here)
            level += (len(opens) + np.searchsorted(-values, -bits)).tolist()
            opens += [place == 0 for place in range(len(values))]
        first.append(mine[possible])
        places.append(my_places[possible])
        starts.append((sum(map(len, first)), len(level), len(opens)))
    return Counts(
        largest, np.concatenate(first), np.concatenate(places), np.concatenate(others), np.array(attribute, np.int64),
        np.array(level, np.int64), np.array(opens, np.bool_), np.array(starts, np.int64),
        ranges_of_sizes(largest + 1, n),
    )  # fmt: skip


def ranges_of_sizes(fewest: int, most: int) -> Ints:
    """Sizes from the fewest to the most records, in ranges: of small classes every record counts, of large ones none.

    >>> ranges_of_sizes(15, 24).tolist()
    [[15, 18], [19, 22], [23, 24]]
    """
    ranges = []
    while fewest <= most:
        last = most if fewest > _FEW else min(most, int(_RANGE * fewest))
        ranges.append((fewest, last))
        fewest = last + 1
    return np.array(ranges, np.int64).reshape(-1, 2)


def _bits(vectors: Ints) -> Floats:
    """The entropy of each count vector; 0 of no records."""
    sizes = np.maximum(vectors.sum(axis=1), 1)
    weighted = (vectors * np.log2(np.maximum(vectors, 1))).sum(axis=1)
    return np.asarray(np.log2(sizes) - weighted / sizes)


def _how_many(counts: Ints, largest: int) -> int:
    """How many vectors below these counts have at most so many records."""
    ways = np.zeros(largest + 1, np.int64)
    ways[0] = 1
    for count in counts:
        ways = np.array([ways[max(0, size - count) : size + 1].sum() for size in range(largest + 1)])
    return int(ways.sum())


def _vectors(counts: Ints, fewest: int, largest: int) -> Ints:
    vectors = np.zeros((1, 0), np.int64)
    for count in counts:
        more = np.arange(min(count, largest) + 1)
        vectors = np.column_stack([np.repeat(vectors, len(more), axis=0), np.tile(more, len(vectors))])
        vectors = vectors[vectors.sum(axis=1) <= largest]
    return np.asarray(vectors[vectors.sum(axis=1) >= fewest])


@part
def worth_of_levels(table: Counts, size: int, starts: Ints, worths: Floats, least: Floats, which: Ints) -> None:
    """The least that counts of each level or a higher one are worth into `least`, and the vector into `which`.

    `size` is the place of a class size among the sizes listed; only its levels are filled.
    """
    first, last = table.starts[size, 2], table.starts[size + 1, 2]
    least[first:last] = np.inf
    for row in range(table.starts[size, 1], table.starts[size + 1, 1]):
        begin = starts[table.attribute[row]]
        total = 0.0
        for v in range(starts[table.attribute[row] + 1] - begin):
            total += table.others[row, v] * worths[begin + v]
        if total < least[table.level[row]]:
            least[table.level[row]] = total
            which[table.level[row]] = row
    for place in range(first + 1, last):
        if not table.opens[place] and least[place - 1] < least[place]:
            least[place] = least[place - 1]
            which[place] = which[place - 1]


@part
def cheapest_vector(table: Counts, size: int, prefix: Floats, least: Floats) -> tuple[float, int]:
    """The least total of the first attribute's sorted sums and the others' worth, and the vector that has it."""
    best, best_row = np.inf, -1
    for row in range(table.starts[size, 0], table.starts[size + 1, 0]):
        total = 0.0
        for v in range(table.first.shape[1]):
            total += prefix[v, table.first[row, v]]
        for j in range(table.places.shape[1]):
            total += least[table.places[row, j]]
        if total < best:
            best, best_row = total, row
    return best, best_row
