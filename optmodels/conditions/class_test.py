"""Conditions as arrays, and the compiled test of one class: what solvers call millions of times."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from optmodels.metrics.privacy import TOLERANCE

# Of sensitive values in a class: solvers that keep many classes keep them narrow.
Counts = NDArray[np.int64] | NDArray[np.int32]


class ClassTest(NamedTuple):
    """Conditions as arrays: every sensitive value of every attribute has one place in a counts vector.

    Largest shares, beta-likeness and delta-disclosure are all bounds on the share of each value, so there is one row
    of bounds for each of them that was asked for, in the order of `SHARE_CONDITIONS`.
    """

    k: int
    codes: NDArray[np.int32]  # (n, s): place of each record's values in the counts vector
    starts: NDArray[np.int64]  # (s + 1): the slice of each attribute in the counts vector
    distinct_l: NDArray[np.int64]  # (s); 0: not asked for
    entropy: NDArray[np.float64]  # (s): least entropy in nats; 0: not asked for
    recursive_c: NDArray[np.float64]  # (s)
    recursive_l: NDArray[np.int64]  # (s); 0: not asked for
    t: NDArray[np.float64]  # (s); infinity: not asked for
    least_shares: NDArray[np.float64]  # (rows, values): rounding is allowed for already
    most_shares: NDArray[np.float64]
    least_values: NDArray[np.int64]  # (s): how many values the rows of bounds imply
    shares: NDArray[np.float64]  # the whole table's distribution, attribute by attribute
    order: NDArray[np.int64]  # see Transport: values in the order in which prefix sums are taken
    edge_starts: NDArray[np.int64]  # (s + 1): the slice of each attribute in the three edge arrays
    edge_low: NDArray[np.int64]
    edge_high: NDArray[np.int64]
    edge_weight: NDArray[np.float64]
    people: int = -1  # the attribute that says whose a record is: its distinct values, at least k, are people

    @property
    def only_size(self) -> bool:
        """Whether nothing but the size of a class matters."""
        return bool(_only_size(self))

    @property
    def entropies(self) -> NDArray[np.float64]:
        """The least entropy of each sensitive attribute, in nats."""
        return self.entropy if self.people < 0 else self.entropy[: self.people]

    def with_entropies(self, least: NDArray[np.float64]) -> ClassTest:
        """The same test with other least entropies, one for each sensitive attribute, in nats."""
        return self._replace(entropy=np.concatenate([least, np.zeros(len(self.entropy) - len(least))]))

    def with_k(self, k: int) -> ClassTest:
        """The same test with another k, of people where people are counted."""
        counted = np.arange(len(self.distinct_l)) == self.people
        return self._replace(k=k, distinct_l=np.where(counted, k, self.distinct_l))

    def take(self, rows: NDArray[np.integer[Any]]) -> ClassTest:
        """The test of classes of some of the records, against the distribution of all of them."""
        if self.people < 0:
            return self._replace(codes=self.codes[rows])
        _, people = np.unique(self.codes[rows, self.people], return_inverse=True)
        return self.of_records._replace(codes=self.codes[rows, : self.people]).counting(people.ravel())

    def counting(self, people: NDArray[np.integer[Any]]) -> ClassTest:
        """The test that counts people, 0..P-1, not records: k of them, as if they were values of an attribute."""
        many, first = int(people.max(initial=-1)) + 1, int(self.starts[-1])
        rows = len(self.most_shares)
        return self._replace(
            codes=np.ascontiguousarray(np.column_stack([self.codes, first + people]), np.int32),
            starts=np.append(self.starts, first + many),
            distinct_l=np.append(self.distinct_l, self.k),
            entropy=np.append(self.entropy, 0.0),
            recursive_c=np.append(self.recursive_c, 0.0),
            recursive_l=np.append(self.recursive_l, 0),
            t=np.append(self.t, np.inf),
            least_shares=np.hstack([self.least_shares, np.zeros((rows, many))]),
            most_shares=np.hstack([self.most_shares, np.full((rows, many), np.inf)]),
            least_values=np.append(self.least_values, 0),
            shares=np.append(self.shares, np.zeros(many)),
            order=np.append(self.order, np.arange(many)),
            edge_starts=np.append(self.edge_starts, self.edge_starts[-1]),
            people=len(self.starts) - 1,
        )

    @property
    def of_records(self) -> ClassTest:
        """The test that counts records, and no people: it lets every class pass that this one does."""
        return self if self.people < 0 else self._of(0, self.people)

    def alone(self, j: int) -> ClassTest:
        """The test of attribute j and of size alone: it lets every class pass that this one does."""
        return self._of(j, j + 1)

    def _of(self, one: int, end: int) -> ClassTest:
        """The test of the attributes from `one` up to, and without, `end`."""
        first, last = int(self.starts[one]), int(self.starts[end])
        edge, edge_end = int(self.edge_starts[one]), int(self.edge_starts[end])
        return self._replace(
            codes=self.codes[:, one:end] - np.int32(first),
            starts=self.starts[one : end + 1] - first,
            distinct_l=self.distinct_l[one:end],
            entropy=self.entropy[one:end],
            recursive_c=self.recursive_c[one:end],
            recursive_l=self.recursive_l[one:end],
            t=self.t[one:end],
            least_shares=self.least_shares[:, first:last],
            most_shares=self.most_shares[:, first:last],
            least_values=self.least_values[one:end],
            shares=self.shares[first:last],
            order=self.order[first:last],
            edge_starts=self.edge_starts[one : end + 1] - edge,
            edge_low=self.edge_low[edge:edge_end],
            edge_high=self.edge_high[edge:edge_end],
            edge_weight=self.edge_weight[edge:edge_end],
            people=self.people - one if one <= self.people < end else -1,
        )


def _only_size(test: ClassTest) -> bool:
    if len(test.most_shares):
        return False
    for j in range(len(test.t)):
        if test.distinct_l[j] > 1 or test.entropy[j] > 0.0 or test.recursive_l[j] > 0 or test.t[j] < np.inf:
            return False
    return True


# The same in compiled code, where a property of a tuple does not exist.
only_size = part(_only_size)


@part
def _distinct_enough(test: ClassTest, counts: Counts, j: int) -> bool:
    """Whether attribute j has enough different values in the class."""
    if test.distinct_l[j] <= 1:
        return True
    distinct = 0
    for v in range(test.starts[j], test.starts[j + 1]):
        distinct += counts[v] > 0
    return bool(distinct >= test.distinct_l[j])


@part
def _entropic_enough(test: ClassTest, counts: Counts, size: int, j: int) -> bool:
    """Whether the entropy of attribute j in the class reaches its bound."""
    if test.entropy[j] <= 0.0:
        return True
    # H = log m - (1/m) sum n log n
    weighted = 0.0
    for v in range(test.starts[j], test.starts[j + 1]):
        if counts[v] > 1:
            weighted += counts[v] * np.log(counts[v])
    return bool(np.log(size) - weighted / size >= test.entropy[j] - TOLERANCE)


@part
def largest_counts(test: ClassTest, counts: Counts, j: int, many: int) -> tuple[np.int64, np.int64]:
    """The largest count of a value of attribute j, and the sum of so many largest."""
    top, total = np.int64(0), np.int64(0)
    before, place = np.int64(2**62), -1  # the last value taken: the next one has as many records or fewer
    for taken in range(min(max(many, 1), test.starts[j + 1] - test.starts[j])):
        most, at = np.int64(-1), -1
        for v in range(test.starts[j], test.starts[j + 1]):
            if counts[v] > most and (counts[v] < before or (counts[v] == before and v > place)):
                most, at = counts[v], v
        before, place = most, at
        if taken == 0:
            top = most
        if taken < many:
            total += most
    return top, total


@part
def _recursive_enough(test: ClassTest, counts: Counts, size: int, j: int) -> bool:
    """Whether the most frequent value of attribute j is rarer than c times the l-th and all rarer ones together."""
    if test.recursive_l[j] == 0:
        return True
    top, frequent = largest_counts(test, counts, j, test.recursive_l[j] - 1)
    return bool(top < test.recursive_c[j] * (size - frequent) * (1.0 - TOLERANCE))


@kernel(nogil=True)
def distance_from_table(test: ClassTest, counts: Counts, size: int, j: int) -> float:
    """The transport distance of a class's distribution of attribute j from the whole table's."""
    first, last = test.starts[j], test.starts[j + 1]
    prefix = np.zeros(last - first + 1)
    for place in range(last - first):
        v = first + test.order[first + place]
        prefix[place + 1] = prefix[place] + counts[v] / size - test.shares[v]
    distance = 0.0
    for e in range(test.edge_starts[j], test.edge_starts[j + 1]):
        distance += test.edge_weight[e] * abs(prefix[test.edge_high[e]] - prefix[test.edge_low[e]])
    return distance


@part
def _close_enough(test: ClassTest, counts: Counts, size: int, j: int) -> bool:
    """Whether the distribution of attribute j in the class is within t of the table's."""
    return bool(test.t[j] == np.inf or distance_from_table(test, counts, size, j) <= test.t[j] + TOLERANCE)


@part
def _shares_within(test: ClassTest, counts: Counts, size: int, row: int) -> bool:
    """Whether the share of every value in the class is within a row of bounds."""
    for v in range(len(counts)):
        if counts[v] > test.most_shares[row, v] * size or counts[v] < test.least_shares[row, v] * size:
            return False
    return True


@kernel(nogil=True)
def meets(test: ClassTest, counts: Counts, size: int) -> bool:
    """Whether a class with these sensitive counts and this size satisfies every condition.

    Of two classes that do, the union does: solvers that merge classes rely on it.
    """
    if size < test.k:
        return False
    for row in range(len(test.most_shares)):
        if not _shares_within(test, counts, size, row):
            return False
    # What is not asked for is passed by here: a call hands over all arrays of the test, which costs more than a test.
    for j in range(len(test.starts) - 1):
        if test.distinct_l[j] > 1 and not _distinct_enough(test, counts, j):
            return False
        if test.entropy[j] > 0.0 and not _entropic_enough(test, counts, size, j):
            return False
        if test.recursive_l[j] > 0 and not _recursive_enough(test, counts, size, j):
            return False
        if test.t[j] < np.inf and not _close_enough(test, counts, size, j):
            return False
    return True


@kernel(nogil=True)
def fewest_values(test: ClassTest, j: int) -> int:
    """How many different values of attribute j a class has at least if it satisfies every condition."""
    by_entropy = int(np.ceil(np.exp(test.entropy[j]) - 1e-6))
    return int(max(test.distinct_l[j], by_entropy, test.recursive_l[j], test.least_values[j]))


@kernel(nogil=True)
def count_values(test: ClassTest, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sensitive counts of the class made of `rows`."""
    counts = np.zeros(test.starts[-1], np.int64)
    for i in rows:
        for j in range(test.codes.shape[1]):
            counts[test.codes[i, j]] += 1
    return counts


@kernel(nogil=True)
def broken_classes(test: ClassTest, order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many classes break each condition; the arguments are `members(labels)`.

    They come in this order: k, distinct l, entropy l, recursive (c, l), t, and the rows of bounds on shares.
    """
    broken = np.zeros(5 + len(test.most_shares), np.int64)
    for c in range(len(starts) - 1):
        rows = order[starts[c] : starts[c + 1]]
        counts = count_values(test, rows)
        size = len(rows)
        enough = size >= test.k
        distinct = entropic = recursive = close = True
        for j in range(len(test.starts) - 1):
            if j == test.people:
                enough &= _distinct_enough(test, counts, j)
                continue
            distinct &= _distinct_enough(test, counts, j)
            entropic &= _entropic_enough(test, counts, size, j)
            recursive &= _recursive_enough(test, counts, size, j)
            close &= _close_enough(test, counts, size, j)
        broken[0] += not enough
        broken[1] += not distinct
        broken[2] += not entropic
        broken[3] += not recursive
        broken[4] += not close
        for row in range(len(test.most_shares)):
            broken[5 + row] += not _shares_within(test, counts, size, row)
    return broken
