"""The problem as the pricing kernels see it: equal records once, and a pairwise bound on every class price.

Every price of the package is at least a constant times a sum of pairwise distances inside the class,
which is what lets one depth-first search price all of them:

* spread, numeric part: exactly (1/m) * sum over pairs of squared distances.
* spread, categorical part: with mode count a, at most (m-a)(m+a-1)/2 pairs disagree (the others are all
  different at worst), and a <= m-1 if any do, so m - a >= (disagreeing pairs)/(m-1).
* extent, numeric side: a gap of the sorted values with i records on its left is counted by i(m-i) <= floor(m*m/4)
  pairs, so m * (max - min) >= m/floor(m*m/4) * sum over pairs of |x - y|; equality for m <= 3.
* extent, categorical side: q distinct values leave at most T(m, q) disagreeing pairs (Turan), and
  (q-1)/T(m, q) is least at q = 2, where T = floor(m*m/4): the same constant.
* hierarchy: no pair of a class meets in a node that costs more than the one above them all, so that
  m * (cost of that node) >= m/(m(m-1)/2) * sum over pairs of what theirs costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, count_values, meets
from optmodels.kernels import kernel
from optmodels.partition import LEFT_OUT, group_rows
from optmodels.price import HIERARCHY, SPREAD, Price, class_price, node_cost

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Types(NamedTuple):
    """The different records, each with its number of copies, and what prices and tests a class of them."""

    kind: int
    numeric: Floats
    codes: NDArray[np.int32]
    code_weights: Floats
    climbs: Floats
    test: ClassTest
    copies: Ints
    pairwise_exact: bool  # the pairwise bound is the price itself
    only_size: bool


class PairBound(NamedTuple):
    """price(C) >= sum over pairs in C of distance, for every class C of this size."""

    size: int
    distance: Floats  # (types, types)
    nearest: Floats  # (types, size): sum of the q smallest distances to other records


@dataclass(frozen=True, eq=False)
class Instance:
    """A class-additive problem on its different records.

    Prices are divided by `unit`, so that a record costs about 1 in a good partition whatever the data's scale.
    """

    types: Types
    type_of: Ints  # record -> type
    smallest: int
    largest: int
    n_classes: int | None
    unit: float
    squared: Floats  # numeric part of the pairwise bound, before its constant
    disagreeing: Floats | None  # weighted categorical disagreements, before their constant
    distance: Floats  # both together: what guides heuristics, and bounds of any size
    left_out: int = 0  # how many records may be in no class: as classes of one, which there are no others of
    left_out_price: float = 0.0

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.type_of)

    @property
    def n_types(self) -> int:
        """Number of different records."""
        return len(self.types.copies)

    @property
    def most_classes(self) -> int:
        """No partition has more classes than this."""
        return self.n_classes if self.n_classes is not None else self.n // self.smallest

    @property
    def star_factor(self) -> float:
        """price(C) >= star_factor * (distances from the medoid of C to its other members), whatever the size.

        The pairs of C are half the members' sums of distances, each at least the medoid's: the constant of the
        pairwise bound times m/2, which is at least 1/2 for a spread, 2 for an extent and 1 for a hierarchy.
        """
        return (0.5, 2.0, 1.0)[self.types.kind]

    def pair_bound(self, size: int) -> PairBound:
        """The pairwise bound for classes of one size."""
        per_number, per_code = pair_constants(self.types.kind, size)
        distance = self.squared * per_number
        if self.disagreeing is not None:
            distance += self.disagreeing * per_code
        everyone = np.arange(self.n_types)
        return PairBound(size, distance, sums_of_nearest(distance, self.types.copies, size, everyone))

    def price(self, members: Ints) -> float:
        """The price of a class given by the types of its records (repeated for copies); one alone is left out."""
        if len(members) == 1:
            return self.left_out_price
        types = self.types
        return float(class_price(types.kind, types.numeric, types.codes, types.code_weights, types.climbs, members))

    def allows(self, members: Ints) -> bool:
        """Whether a class meets the conditions and the bounds on its size."""
        if not self.smallest <= len(members) <= self.largest:
            return False
        return bool(meets(self.types.test, count_values(self.types.test, members), len(members)))

    def classes(self, labels: Ints) -> list[Ints]:
        """The classes of a partition, each as the sorted types of its members, and those left out each alone."""
        order = np.lexsort((self.type_of, labels))
        cuts = np.flatnonzero((np.diff(labels[order]) > 0) | (labels[order][1:] == LEFT_OUT)) + 1
        return np.split(self.type_of[order], cuts)

    @property
    def alone(self) -> list[Ints]:
        """Every type as a record that is left out, where some may be."""
        return [np.array([t]) for t in range(self.n_types)] if self.left_out else []

    def labels(self, classes: list[Ints]) -> Ints:
        """A partition of the records made of these classes; together they use every copy once."""
        waiting = np.argsort(self.type_of, kind="stable")
        next_copy = np.concatenate([[0], np.cumsum(self.types.copies)[:-1]])
        labels = np.empty(self.n, np.int64)
        for label, members in enumerate(classes):
            for t in members:
                labels[waiting[next_copy[t]]] = label if len(members) > 1 else LEFT_OUT
                next_copy[t] += 1
        return labels


def pair_constants(kind: int, size: int) -> tuple[float, float]:
    """What the numeric and the categorical distances of all pairs of a class are to be multiplied by.

    >>> pair_constants(SPREAD, 4)
    (0.25, 0.3333333333333333)
    """
    if kind == SPREAD:
        return 1 / size, 1 / (size - 1)
    turan = size / ((size * size) // 4)
    return turan, 2 / (size - 1) if kind == HIERARCHY else turan


def make_instance(
    price: Price,
    test: ClassTest,
    *,
    largest: int | None,
    n_classes: int | None,
    unit: float,
    left_out: int = 0,
    left_out_price: float = 0.0,
) -> Instance:
    """Collapse equal records and prepare the pairwise bound; `unit` is what one record costs, roughly."""
    n = price.n
    columns: list[NDArray[Any]] = [price.numeric[:, j] for j in range(price.numeric.shape[1])]
    columns += [price.codes[:, j] for j in range(price.codes.shape[1])]
    if not test.only_size:
        columns += [test.codes[:, j] for j in range(test.codes.shape[1])]
    type_of = group_rows(columns) if columns else np.zeros(n, np.int64)
    _, first, copies = np.unique(type_of, return_index=True, return_counts=True)
    power = 0.5 if price.kind == SPREAD else 1.0
    numeric = np.ascontiguousarray(price.numeric[first]) / unit**power
    codes = np.ascontiguousarray(price.codes[first])
    weights = price.code_weights / unit
    climbs = price.climbs.copy()
    climbs[:, climbs.shape[1] // 2 :] /= unit
    most = n if largest is None else min(largest, n)
    if n_classes is not None:
        most = n - test.k * (n_classes - 1)
    types = Types(
        price.kind,
        numeric,
        codes,
        weights,
        climbs,
        test._replace(codes=np.ascontiguousarray(test.codes[first])),
        copies.astype(np.int64),
        price.kind == SPREAD and codes.shape[1] == 0,
        test.only_size,
    )
    squared = numeric_distances(price.kind, numeric)
    disagreeing = disagreements(price.kind, codes, weights, climbs) if codes.shape[1] else None
    return Instance(
        types=types,
        type_of=type_of,
        smallest=test.k,
        largest=most,
        n_classes=n_classes,
        unit=unit,
        squared=squared,
        disagreeing=disagreeing,
        distance=squared if disagreeing is None else squared + disagreeing,
        left_out=left_out,
        left_out_price=left_out_price / unit,
    )


@kernel
def numeric_distances(kind: int, numeric: Floats) -> Floats:
    """Squared distances for a spread, sums of steps for the others."""
    n, d = numeric.shape
    distance = np.zeros((n, n))
    for a in range(n):
        for b in range(a):
            total = 0.0
            for j in range(d):
                step = abs(numeric[a, j] - numeric[b, j])
                total += step * step if kind == SPREAD else step
            distance[a, b] = distance[b, a] = total
    return distance


@kernel
def disagreements(kind: int, codes: NDArray[np.int32], weights: Floats, climbs: Floats) -> Floats:
    """What the categories of two records cost together: weights of mismatches, or of the nodes above them."""
    n, d = codes.shape
    total = np.zeros((n, n))
    for a in range(n):
        for b in range(a):
            for j in range(d):
                if kind == HIERARCHY:
                    one, other = codes[a, j], codes[b, j]
                    total[a, b] += node_cost(climbs, min(one, other), max(one, other))
                elif codes[a, j] != codes[b, j]:
                    total[a, b] += weights[j]
            total[b, a] = total[a, b]
    return total


@kernel
def sums_of_nearest(distance: Floats, copies: Ints, size: int, rows: Ints) -> Floats:
    """For each type in `rows`, the sum of the q smallest distances to other records (copies count), q = 0..size-1."""
    sums = np.zeros((len(rows), size))
    least = np.empty(size)
    for i in range(len(rows)):
        a = rows[i]
        least[:] = np.inf
        for b in range(len(distance)):
            for _ in range(min(copies[b] - (a == b), size)):
                value = distance[a, b]
                if value >= least[size - 1]:
                    break
                q = size - 1
                while q > 0 and least[q - 1] > value:
                    least[q] = least[q - 1]
                    q -= 1
                least[q] = value
        for q in range(1, size):
            sums[i, q] = sums[i, q - 1] + least[q - 1]
    return sums
