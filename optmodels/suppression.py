"""Records that are left out of all classes: how many may be, what each costs, and whom it pays to leave out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, count_values, meets
from optmodels.kernels import kernel, part
from optmodels.partition import LEFT_OUT, Labels, members
from optmodels.price import PlainPrice, Price, class_price

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

# Of a larger class only those are tried that are furthest from it, or at its ends.
_ALL_TRIED = 64
# In a larger table nobody's neighbours are looked for.
_NEIGHBOURS_SOUGHT = 20_000
# A share of the records is a whole number of them if it is one but for rounding.
_HAIR = 1e-9


@dataclass(frozen=True)
class Suppression:
    """How many records may be left out of all classes, and what each of them adds to the target.

    >>> Suppression.of_share(0.05, 30, price=0.2).most, Suppression.of_share(0.29, 100).most
    (1, 29)
    """

    most: int = 0
    price: float = 0.0

    @classmethod
    def of_share(cls, share: float, n: int, price: float = 0.0) -> Suppression:
        """At most this share of n records, rounded down."""
        return cls(int(share * n + _HAIR), price)


NOBODY = Suppression()


def left_out(labels: Labels) -> int:
    """How many records are in no class.

    >>> left_out(np.array([0, -1, 0, 1, -1]))
    2
    """
    return int((labels == LEFT_OUT).sum())


def savings(price: Price | PlainPrice, test: ClassTest, labels: Labels, most: int, *, whole: bool) -> Iterator[Saving]:
    """Whom to leave out, one after the other, where that saves most for each: single records, or `whole` classes too.

    Classes without those who were left out meet the test. What is saved never falls below 0, and is not asked to pay.
    """
    order, starts = members(labels)
    classes = [order[starts[c] : starts[c + 1]] for c in range(len(starts) - 1)]
    if isinstance(price, Price):
        singles = list(zip(*_dearest(*price_arrays(price), test, order, starts), strict=True))
    else:
        singles = [_plainly_dearest(price, test, rows) for rows in classes]
    heap: list[tuple[float, int]] = []
    best: dict[int, Saving] = {}

    for c, single in enumerate(singles):
        found = _best(price, classes[c], single, most, whole=whole)
        if found is not None:
            best[c] = found
            heap.append((-found.each, c))
    heapify(heap)
    while heap and most > 0:
        _, c = heappop(heap)
        saving = best[c]
        if len(saving.rows) <= most:
            yield saving
            most -= len(saving.rows)
            classes[c] = classes[c][~np.isin(classes[c], saving.rows)]
        found = _best(price, classes[c], _single(price, test, classes[c]), most, whole=whole)
        if found is not None:
            best[c] = found
            heappush(heap, (-found.each, c))


@dataclass(frozen=True, eq=False)
class Saving:
    """Records of one class, and what the class costs less for each of them without them."""

    rows: Rows
    each: float


def without(labels: Labels, some: Iterator[Saving] | list[Saving]) -> Labels:
    """The partition with these records left out."""
    result = labels.copy()
    for saving in some:
        result[saving.rows] = LEFT_OUT
    return result


def without_payers(
    price: Price | PlainPrice, test: ClassTest, labels: Labels, most: int, each: float, *, whole: bool
) -> Labels:
    """The partition without at most so many records, those for whom leaving saves more than it costs `each`.

    Some may save less, where they make way for others who save more. Somebody stays.
    """
    best, total, end = 0.0, 0.0, 0
    seen: list[Saving] = []
    for saving in savings(price, test, labels, most, whole=whole):
        seen.append(saving)
        total += (saving.each - each) * len(saving.rows)
        if total > best:
            best, end = total, len(seen)
    found = without(labels, seen[:end])
    return found if (found != LEFT_OUT).any() else labels


def without_broken(test: ClassTest, labels: Labels, most: int) -> Labels | None:
    """The partition without the classes that fail the test; None if these have more records than may be left out."""
    order, starts = members(labels)
    rows = [order[starts[c] : starts[c + 1]] for c in range(len(starts) - 1)]
    failing = [some for some in rows if not meets(test, count_values(test, some), len(some))]
    missing = left_out(labels) + sum(map(len, failing))
    if not failing or missing > most or missing == len(labels):
        return None
    result = labels.copy()
    result[np.concatenate(failing)] = LEFT_OUT
    return result


def trimmed(test: ClassTest, n: int, most: int) -> Rows | None:
    """Records that are enough of a mix to meet the test together, where everybody is not; None if none are found.

    One after the other of those whose sensitive values are the most frequent is left out.
    """
    kept = np.ones(n, bool)
    counts = count_values(test, np.arange(n))
    for missing in range(most + 1):
        if meets(test, counts, n - missing):
            return np.flatnonzero(kept)
        weight = np.where(kept, counts[test.codes].sum(axis=1), -1)
        dearest = int(weight.argmax())
        kept[dearest] = False
        counts[test.codes[dearest]] -= 1
    return None


def loneliest(price: Price, labels: Labels, k: int, most: int) -> Rows:
    """So many records that are furthest from the k - 1 nearest others; in a large table, from the rest of their class.

    `price` is a spread, in whose geometry that is.
    """
    points = [price.numeric]
    for j, weight in enumerate(price.code_weights.tolist()):
        points.append(np.eye(int(price.codes[:, j].max()) + 1)[price.codes[:, j]] * np.sqrt(weight / 2))
    places = np.hstack(points)
    if price.n <= _NEIGHBOURS_SOUGHT:
        from scipy.spatial import cKDTree

        away = np.square(cKDTree(places).query(places, min(k, price.n))[0]).sum(axis=1)
    else:
        inside = np.flatnonzero(labels != LEFT_OUT)
        order, starts = members(labels[inside])
        means = np.add.reduceat(places[inside][order], starts[:-1], axis=0) / np.diff(starts)[:, None]
        away = np.full(price.n, np.inf)
        away[inside] = np.square(places[inside] - means[labels[inside]]).sum(axis=1)
    return np.sort(np.argsort(-away, kind="stable")[:most])


def price_arrays(price: Price) -> tuple[int, Floats, NDArray[np.int32], Floats, Floats]:
    """A price as kernels take it."""
    return price.kind, price.numeric, price.codes, price.code_weights, price.climbs


def _single(price: Price | PlainPrice, test: ClassTest, rows: Rows) -> tuple[float, int]:
    if isinstance(price, PlainPrice):
        return _plainly_dearest(price, test, rows)
    gains, places = _dearest(*price_arrays(price), test, rows, np.array([0, len(rows)]))
    return float(gains[0]), int(places[0])


def _best(price: Price | PlainPrice, rows: Rows, single: tuple[float, int], most: int, *, whole: bool) -> Saving | None:
    """The better of leaving out one record and the whole class, where they may be."""
    if not len(rows):
        return None
    gain, place = single
    one = Saving(rows[place : place + 1], gain) if place >= 0 else None
    if whole and len(rows) <= most:
        each = price.of(rows) / len(rows)
        if one is None or each >= gain:
            return Saving(rows, each)
    return one


def _plainly_dearest(price: PlainPrice, test: ClassTest, rows: Rows) -> tuple[float, int]:
    counts, total = count_values(test, rows), price.of(rows)
    best, place = -np.inf, -1
    for i in range(len(rows)):
        fewer = counts.copy()
        fewer[test.codes[rows[i]]] -= 1
        if meets(test, fewer, len(rows) - 1):
            gain = total - price.of(np.delete(rows, i))
            if gain > best:
                best, place = gain, i
    return best, place


@kernel(nogil=True)
def _dearest(
    kind: int,
    numeric: Floats,
    codes: NDArray[np.int32],
    code_weights: Floats,
    climbs: Floats,
    test: ClassTest,
    order: Rows,
    starts: Rows,
) -> tuple[Floats, Rows]:
    """For each class what it saves at most to leave out one record, and its place in the class; -1 where none can be.

    The arguments after the test are `members(labels)`.
    """
    gains, places = np.full(len(starts) - 1, -np.inf), np.full(len(starts) - 1, -1)
    for c in range(len(gains)):
        rows = order[starts[c] : starts[c + 1]]
        if len(rows) <= test.k:
            continue
        counts = count_values(test, rows)
        tried = np.ones(len(rows), np.bool_) if len(rows) <= _ALL_TRIED else _outer(numeric, codes, code_weights, rows)
        total = class_price(kind, numeric, codes, code_weights, climbs, rows)
        others = rows[1:].copy()
        for i in range(len(rows)):
            if i > 0:
                others[i - 1] = rows[i - 1]
            if not tried[i]:
                continue
            for j in range(test.codes.shape[1]):
                counts[test.codes[rows[i], j]] -= 1
            if meets(test, counts, len(others)):
                gain = total - class_price(kind, numeric, codes, code_weights, climbs, others)
                if gain > gains[c]:
                    gains[c], places[c] = gain, i
            for j in range(test.codes.shape[1]):
                counts[test.codes[rows[i], j]] += 1
    return gains, places


@part
def _outer(numeric: Floats, codes: NDArray[np.int32], code_weights: Floats, rows: Rows) -> NDArray[np.bool_]:
    """Which records of a class are at an end of it in some attribute, or furthest from its middle."""
    found = np.zeros(len(rows), np.bool_)
    away = np.zeros(len(rows))
    for j in range(numeric.shape[1]):
        values = numeric[rows, j]
        found[values.argmin()] = True
        found[values.argmax()] = True
        away += (values - values.mean()) ** 2
    for j in range(codes.shape[1]):
        values = codes[rows, j]
        counts = np.bincount(values)
        away += code_weights[j] * (values != counts.argmax())
        found[counts[values].argmin()] = True
    found[away.argmax()] = True
    return found
