"""Compiled decoding of centroid matrices: every unit to its nearest centroid, small classes mended, classes measured.

A unit is a set of records with equal quasi-identifiers that stay together. Units come sorted along one axis, so the
nearest of many centroids is found by looking outwards from the unit's place on that axis. No array has one entry for
every unit and centroid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, distance_from_table, meets
from optmodels.price import Codes, Floats

Ints = NDArray[np.int64]

# A class with at least this share of k is completed by its nearest units; a smaller one is dissolved.
_WORTH_COMPLETING = 0.5


class Units(NamedTuple):
    """Units in the order of their place on the axis, with the sensitive values of their records."""

    numeric: Floats  # (units, d)
    codes: Codes  # (units, c)
    code_weights: Floats
    code_starts: Ints  # (c + 1): the slice of each categorical attribute in a tally of all of them
    counts: Ints  # records of each unit
    axis: int  # the numeric attribute along which units are sorted; -1 where there is none
    cell_starts: Ints  # (units + 1): the slice of each unit in the next two
    places: Ints  # places of sensitive values in a class's counts
    amounts: Ints


class Asked(NamedTuple):
    """What is measured beyond price, number of classes and least entropies."""

    taus: Floats  # thresholds of linkage
    closeness: bool


class Partitions(NamedTuple):
    """What became of each matrix of centroids."""

    labels: NDArray[np.int32]  # (matrices, units): the centroid of each unit
    prices: Floats
    classes: Ints
    homogeneous: Ints  # records in classes with one value of some sensitive attribute
    closeness: Floats  # the largest distance of a class from the table
    entropies: Floats  # (matrices, s): least entropy of a class, in bits
    linkable: Ints  # (matrices, taus): records whose class is too small for tau
    missing: Ints  # records that classes lack, where mending was impossible


@njit(cache=True, parallel=True)
def decode_all(
    units: Units, test: ClassTest, asked: Asked, numeric: Floats, codes: Codes, fixed: bool, mend: bool
) -> Partitions:
    """Decode and measure matrices of centroids, numeric (m, centroids, d) and codes (m, centroids, c)."""
    many, s = len(numeric), len(test.starts) - 1
    labels = np.empty((many, len(units.counts)), np.int32)
    prices, closeness = np.empty(many), np.empty(many)
    classes, homogeneous, missing = np.empty(many, np.int64), np.empty(many, np.int64), np.empty(many, np.int64)
    entropies, linkable = np.empty((many, s)), np.zeros((many, len(asked.taus)), np.int64)
    for i in prange(many):
        sizes = np.zeros(numeric.shape[1], np.int64)
        counts = np.zeros((numeric.shape[1], test.starts[-1]), np.int64)
        assign(units, numeric[i], codes[i], labels[i])
        count(units, labels[i], sizes, counts)
        if mend:
            missing[i] = mend_classes(units, test, numeric[i], codes[i], fixed, labels[i], sizes, counts)
        else:
            missing[i] = _lacking(test, sizes, counts, fixed)
        prices[i], classes[i], homogeneous[i], closeness[i] = _measured(
            units, test, asked, labels[i], sizes, counts, entropies[i], linkable[i]
        )
    return Partitions(labels, prices, classes, homogeneous, closeness, entropies, linkable, missing)


@njit(cache=True)
def measure_all(units: Units, test: ClassTest, asked: Asked, labels: NDArray[np.int32], n_classes: int) -> Partitions:
    """Measure partitions that were made elsewhere, one per row: the class of each unit."""
    many, s = len(labels), len(test.starts) - 1
    prices, closeness = np.empty(many), np.empty(many)
    classes, homogeneous, missing = np.empty(many, np.int64), np.empty(many, np.int64), np.zeros(many, np.int64)
    entropies, linkable = np.empty((many, s)), np.zeros((many, len(asked.taus)), np.int64)
    for i in range(many):
        sizes = np.zeros(n_classes, np.int64)
        counts = np.zeros((n_classes, test.starts[-1]), np.int64)
        count(units, labels[i], sizes, counts)
        prices[i], classes[i], homogeneous[i], closeness[i] = _measured(
            units, test, asked, labels[i], sizes, counts, entropies[i], linkable[i]
        )
    return Partitions(labels, prices, classes, homogeneous, closeness, entropies, linkable, missing)


@njit(cache=True)
def _measured(
    units: Units, test: ClassTest, asked: Asked, labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64],
    entropies: Floats, linkable: Ints,
) -> tuple[float, int, int, float]:  # fmt: skip
    """Price, classes, homogeneous records and closeness of a partition; writes its entropies and linkable records."""
    classes = 0
    for size in sizes:
        if size > 0:
            classes += 1
            for t in range(len(asked.taus)):
                if size * asked.taus[t] < 1.0:
                    linkable[t] += size
    homogeneous = _diversity(test, sizes, counts, entropies)
    closeness = _furthest(test, sizes, counts) if asked.closeness else 0.0
    return _spread(units, labels, sizes), classes, homogeneous, closeness


@njit(cache=True)
def cost(units: Units, u: int, numeric: Floats, codes: Codes, c: int) -> float:
    """The squared distance of a unit from a centroid, plus the weights of mismatches."""
    total = 0.0
    for j in range(numeric.shape[1]):
        total += (units.numeric[u, j] - numeric[c, j]) ** 2
    for j in range(codes.shape[1]):
        if units.codes[u, j] != codes[c, j]:
            total += units.code_weights[j]
    return total


@njit(cache=True)
def assign(units: Units, numeric: Floats, codes: Codes, labels: NDArray[np.int32]) -> None:
    """Every unit to its nearest centroid, the first of several equally near."""
    m = len(numeric)
    if units.axis < 0:
        for u in range(len(labels)):
            labels[u] = _scan(units, u, numeric, codes, np.ones(m, np.bool_))
        return
    order = np.argsort(numeric[:, units.axis], kind="mergesort")
    along = numeric[order, units.axis]
    at = 0  # units and centroids are both sorted: the nearest place only moves on
    for u in range(len(labels)):
        x = units.numeric[u, units.axis]
        while at + 1 < m and along[at + 1] <= x:
            at += 1
        nearest, least = -1, np.inf
        left, right = at, at + 1
        while left >= 0 or right < m:
            below = (x - along[left]) ** 2 if left >= 0 else np.inf
            above = (along[right] - x) ** 2 if right < m else np.inf
            if min(below, above) > least:
                break
            if below <= above:
                c = order[left]
                left -= 1
            else:
                c = order[right]
                right += 1
            distance = cost(units, u, numeric, codes, c)
            if distance < least or (distance == least and c < nearest):
                nearest, least = c, distance
        labels[u] = nearest


@njit(cache=True)
def _scan(units: Units, u: int, numeric: Floats, codes: Codes, open_to: NDArray[np.bool_]) -> int:
    """The nearest of the centroids that are open."""
    nearest, least = -1, np.inf
    for c in range(len(numeric)):
        if open_to[c]:
            distance = cost(units, u, numeric, codes, c)
            if distance < least:
                nearest, least = c, distance
    return nearest


@njit(cache=True)
def count(units: Units, labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64]) -> None:
    """Add up sizes and sensitive counts of the classes."""
    for u in range(len(labels)):
        sizes[labels[u]] += units.counts[u]
        for cell in range(units.cell_starts[u], units.cell_starts[u + 1]):
            counts[labels[u], units.places[cell]] += units.amounts[cell]


@njit(cache=True)
def _move(units: Units, u: int, to: int, labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64]) -> None:
    old = labels[u]
    labels[u] = to
    sizes[old] -= units.counts[u]
    sizes[to] += units.counts[u]
    for cell in range(units.cell_starts[u], units.cell_starts[u + 1]):
        counts[old, units.places[cell]] -= units.amounts[cell]
        counts[to, units.places[cell]] += units.amounts[cell]


@njit(cache=True)
def _lacking(test: ClassTest, sizes: Ints, counts: NDArray[np.int64], fixed: bool) -> int:
    """Records that classes lack to reach k; a class that breaks another condition lacks one."""
    lacking = 0
    for c in range(len(sizes)):
        if sizes[c] > 0 or fixed:
            if sizes[c] < test.k:
                lacking += test.k - sizes[c]
            elif not meets(test, counts[c], sizes[c]):
                lacking += 1
    return lacking


@njit(cache=True)
def mend_classes(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, fixed: bool,
    labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64],
) -> int:  # fmt: skip
    """Make every class meet the conditions; returns how many records are missing where that proved impossible.

    From the smallest broken class on: one that is nearly large enough draws in its nearest units from classes that
    can spare them, any other is dissolved into the nearest classes. With a fixed number of classes none is dissolved.
    """
    m = len(sizes)
    open_to = np.ones(m, np.bool_)  # centroids that may still have a class
    tried = np.zeros(m, np.bool_)
    if not fixed:
        for c in range(m):
            open_to[c] = sizes[c] > 0
    while True:
        smallest, alive = -1, 0
        for c in range(m):
            alive += open_to[c]
            if open_to[c] and not tried[c] and (smallest < 0 or sizes[c] < sizes[smallest]):
                if not meets(test, counts[c], sizes[c]):
                    smallest = c
        if smallest < 0 or alive == 1:
            break
        if fixed or sizes[smallest] >= _WORTH_COMPLETING * test.k:
            if _complete(units, test, numeric, codes, smallest, labels, sizes, counts):
                continue
        tried[smallest] = True
        if not fixed:
            open_to[smallest] = False
            for u in range(len(labels)):
                if labels[u] == smallest:
                    _move(units, u, _scan(units, u, numeric, codes, open_to), labels, sizes, counts)
    return _lacking(test, sizes, counts, fixed)


@njit(cache=True)
def _complete(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, c: int,
    labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Draw the units whose move costs least into class c until it meets the conditions; undo it if it never does."""
    extra = np.empty(len(labels))
    for u in range(len(labels)):
        own = labels[u]
        # only units of classes that could spare them are worth ordering
        if own == c or sizes[own] - units.counts[u] < test.k:
            extra[u] = np.inf
        else:
            extra[u] = cost(units, u, numeric, codes, c) - cost(units, u, numeric, codes, own)
    came_from = np.empty(len(labels), np.int32)
    moved = np.empty(len(labels), np.int64)
    n_moved = 0
    # k classes of k + 1 units can spare k: fewer candidates might not do
    order = np.argsort(extra) if test.k > 8 else _first_of(extra, max(4 * test.k + 16, test.k * (test.k + 1)))
    for u in order:
        if extra[u] == np.inf:
            break
        own = labels[u]
        _move(units, u, c, labels, sizes, counts)
        if not meets(test, counts[own], sizes[own]):
            _move(units, u, own, labels, sizes, counts)
            continue
        came_from[n_moved] = own
        moved[n_moved] = u
        n_moved += 1
        if meets(test, counts[c], sizes[c]):
            return True
        if sizes[c] > 4 * test.k + 16:
            break
    for back in range(n_moved - 1, -1, -1):
        _move(units, moved[back], came_from[back], labels, sizes, counts)
    return False


@njit(cache=True)
def _first_of(values: Floats, few: int) -> Ints:
    """The places of the few least values, in order."""
    if few >= len(values):
        return np.argsort(values)
    ceiling = np.partition(values, few)[few]
    places = np.flatnonzero(values <= ceiling)
    return places[np.argsort(values[places])]


@njit(cache=True)
def _spread(units: Units, labels: NDArray[np.int32], sizes: Ints) -> float:
    """The total price of the classes around their own means and modes."""
    m, d, c = len(sizes), units.numeric.shape[1], units.codes.shape[1]
    means = np.zeros((m, d))
    for u in range(len(labels)):
        for j in range(d):
            means[labels[u], j] += units.counts[u] * units.numeric[u, j]
    for label in range(m):
        if sizes[label] > 0:
            means[label] /= sizes[label]
    total = 0.0
    for u in range(len(labels)):
        for j in range(d):
            total += units.counts[u] * (units.numeric[u, j] - means[labels[u], j]) ** 2
    if c > 0:
        tallies = np.zeros((m, units.code_starts[-1]), np.int64)
        for u in range(len(labels)):
            for j in range(c):
                tallies[labels[u], units.code_starts[j] + units.codes[u, j]] += units.counts[u]
        for label in range(m):
            if sizes[label] > 0:
                for j in range(c):
                    mode = tallies[label, units.code_starts[j] : units.code_starts[j + 1]].max()
                    total += units.code_weights[j] * (sizes[label] - mode)
    return total


@njit(cache=True)
def _diversity(test: ClassTest, sizes: Ints, counts: NDArray[np.int64], least: Floats) -> int:
    """Writes the least entropy of a class for each attribute; returns the records of homogeneous classes."""
    least[:] = np.inf
    homogeneous = 0
    for c in range(len(sizes)):
        if sizes[c] == 0:
            continue
        uniform = False
        for j in range(len(least)):
            entropy, present = 0.0, 0
            for place in range(test.starts[j], test.starts[j + 1]):
                if counts[c, place] > 0:
                    share = counts[c, place] / sizes[c]
                    entropy -= share * np.log2(share)
                    present += 1
            least[j] = min(least[j], entropy)
            uniform |= present == 1
        if uniform:
            homogeneous += sizes[c]
    return homogeneous


@njit(cache=True)
def _furthest(test: ClassTest, sizes: Ints, counts: NDArray[np.int64]) -> float:
    """The largest transport distance of a class from the table, over attributes (see `ClassTest`)."""
    furthest = 0.0
    for c in range(len(sizes)):
        if sizes[c] > 0:
            for j in range(len(test.starts) - 1):
                furthest = max(furthest, distance_from_table(test, counts[c], sizes[c], j))
    return furthest


@njit(cache=True)
def centroids_of(
    units: Units, labels: NDArray[np.int32], numeric: Floats, codes: Codes
) -> None:
    """Overwrite the centroids of classes by their means and modes; a centroid without a class by its nearest other.

    A copy never has a class of its own: of equally near centroids the first takes everything.
    """
    m, d, c = len(numeric), numeric.shape[1], codes.shape[1]
    sizes = np.zeros(m, np.int64)
    sums = np.zeros((m, d))
    tallies = np.zeros((m, units.code_starts[-1]), np.int64)
    for u in range(len(labels)):
        label = labels[u]
        sizes[label] += units.counts[u]
        for j in range(d):
            sums[label, j] += units.counts[u] * units.numeric[u, j]
        for j in range(c):
            tallies[label, units.code_starts[j] + units.codes[u, j]] += units.counts[u]
    for label in range(m):
        if sizes[label] > 0:
            numeric[label] = sums[label] / sizes[label]
            for j in range(c):
                codes[label, j] = np.argmax(tallies[label, units.code_starts[j] : units.code_starts[j + 1]])
    first = np.argmax(sizes)
    for label in range(m):
        if sizes[label] == 0:
            nearest, least = first, np.inf
            for other in range(m):
                if sizes[other] > 0:
                    distance = 0.0
                    for j in range(d):
                        distance += (numeric[other, j] - numeric[label, j]) ** 2
                    for j in range(c):
                        if codes[other, j] != codes[label, j]:
                            distance += units.code_weights[j]
                    if distance < least:
                        nearest, least = other, distance
            numeric[label] = numeric[nearest]
            codes[label] = codes[nearest]


@njit(cache=True, parallel=True)
def centred_prices(units: Units, labels: NDArray[np.int32], numeric: Floats, codes: Codes) -> Floats:
    """What partitions cost around the centroids themselves, not around the means and modes of their classes."""
    prices = np.zeros(len(labels))
    for i in prange(len(labels)):
        for u in range(labels.shape[1]):
            prices[i] += units.counts[u] * cost(units, u, numeric[i], codes[i], labels[i, u])
    return prices
