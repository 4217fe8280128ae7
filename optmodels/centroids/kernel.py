"""Compiled decoding of centroid matrices: every unit to its nearest centroid, small classes mended, classes measured.

A unit is a set of records with equal quasi-identifiers that stay together. No array has one entry for every unit and
centroid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.centroids.mending import mend_classes, records_lacking
from optmodels.centroids.nearest import assign
from optmodels.centroids.units import Ints, Units, count
from optmodels.conditions import ClassTest, distance_from_table
from optmodels.halting import Flag
from optmodels.kernels import kernel, part
from optmodels.price import Codes, Floats


class AlsoMeasured(NamedTuple):
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


@kernel(nogil=True)
def decode_all(
    units: Units, test: ClassTest, asked: AlsoMeasured, numeric: Floats, codes: Codes, fixed: bool, mend: bool,
    halt: Flag,
) -> Partitions:  # fmt: skip
    """Decode and measure matrices of centroids, numeric (m, centroids, d) and codes (m, centroids, c).

    Once the flag is raised classes are mended no further.
    """
    found: Partitions = _unmeasured(test, asked, np.empty((len(numeric), len(units.counts)), np.int32))
    for i in range(len(numeric)):
        labels = found.labels[i]
        sizes = np.zeros(numeric.shape[1], np.int64)
        counts = np.zeros((numeric.shape[1], test.starts[-1]), np.int64)
        assign(units, numeric[i], codes[i], labels)
        count(units, labels, sizes, counts)
        if mend:
            found.missing[i] = mend_classes(units, test, numeric[i], codes[i], fixed, labels, sizes, counts, halt)
        else:
            found.missing[i] = records_lacking(test, sizes, counts, fixed)
        _measure(units, test, asked, found, i, sizes, counts)
    return found


@kernel
def measure_all(
    units: Units, test: ClassTest, asked: AlsoMeasured, labels: NDArray[np.int32], n_classes: int
) -> Partitions:
    """Measure partitions that were made elsewhere, one per row: the class of each unit."""
    found: Partitions = _unmeasured(test, asked, labels)
    for i in range(len(labels)):
        sizes = np.zeros(n_classes, np.int64)
        counts = np.zeros((n_classes, test.starts[-1]), np.int64)
        count(units, labels[i], sizes, counts)
        found.missing[i] = records_lacking(test, sizes, counts, False)
        _measure(units, test, asked, found, i, sizes, counts)
    return found


@part
def _unmeasured(test: ClassTest, asked: AlsoMeasured, labels: NDArray[np.int32]) -> Partitions:
    """Room for what is measured of every row of labels."""
    many, s = len(labels), len(test.starts) - 1
    prices, closeness = np.empty(many), np.empty(many)
    classes, homogeneous, missing = np.empty(many, np.int64), np.empty(many, np.int64), np.empty(many, np.int64)
    entropies, linkable = np.empty((many, s)), np.zeros((many, len(asked.taus)), np.int64)
    return Partitions(labels, prices, classes, homogeneous, closeness, entropies, linkable, missing)


@part
def _measure(
    units: Units, test: ClassTest, asked: AlsoMeasured, found: Partitions, i: int, sizes: Ints,
    counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Write what partition i is worth: all but what its classes lack."""
    found.classes[i] = 0
    for size in sizes:
        if size > 0:
            found.classes[i] += 1
            for t in range(len(asked.taus)):
                if size * asked.taus[t] < 1.0:
                    found.linkable[i, t] += size
    found.prices[i] = _spread(units, found.labels[i], sizes)
    found.homogeneous[i] = _diversity(test, sizes, counts, found.entropies[i])
    found.closeness[i] = _furthest(test, sizes, counts) if asked.closeness else 0.0


@part
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


@part
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


@part
def _furthest(test: ClassTest, sizes: Ints, counts: NDArray[np.int64]) -> float:
    """The largest transport distance of a class from the table, over attributes (see `ClassTest`)."""
    furthest = 0.0
    for c in range(len(sizes)):
        if sizes[c] > 0:
            for j in range(len(test.starts) - 1):
                furthest = max(furthest, distance_from_table(test, counts[c], sizes[c], j))
    return furthest
