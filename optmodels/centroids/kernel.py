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
# Centroids for each combination of categories from which on they are sorted by combination.
_CROWDED = 8


class Units(NamedTuple):
    """Units in the order of their place on the axis, with the sensitive values of their records."""

    numeric: Floats  # (units, d)
    codes: Codes  # (units, c)
    code_weights: Floats
    code_starts: Ints  # (c + 1): the slice of each categorical attribute in a tally of all of them
    counts: Ints  # records of each unit
    axis: int  # the numeric attribute along which units are sorted; -1 where there is none
    radix: Ints  # (c): what turns the categories of a record into one number; empty where that would be too large
    mix: Ints  # (units): which combination of categories a unit has
    mixes: Codes  # (mixes, c): the combinations of categories
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
    if units.axis < 0:
        for u in range(len(labels)):
            labels[u] = _scan(units, u, numeric, codes, np.ones(len(numeric), np.bool_))
        return
    keys = np.zeros(len(numeric), np.int64)
    if len(units.radix) == codes.shape[1]:
        for c in range(len(numeric)):
            for j in range(codes.shape[1]):
                keys[c] += codes[c, j] * units.radix[j]
    # Mergesort is stable: within one combination of categories, centroids stay sorted along the axis.
    along = np.argsort(numeric[:, units.axis], kind="mergesort")
    order = along[np.argsort(keys[along], kind="mergesort")]
    starts = [0]
    for place in range(1, len(order)):
        if keys[order[place]] != keys[order[place - 1]]:
            starts.append(place)
    starts.append(len(order))
    if len(units.radix) == codes.shape[1] and len(order) >= _CROWDED * (len(starts) - 1):
        _assign_by_mix(units, numeric, codes, order, np.array(starts), labels)
    else:
        _assign_along(units, numeric, codes, along, labels)


@njit(cache=True)
def _assign_along(units: Units, numeric: Floats, codes: Codes, order: Ints, labels: NDArray[np.int32]) -> None:
    """Look outwards along the axis, from each unit's place among the centroids."""
    m = len(numeric)
    along = numeric[order, units.axis]
    at = 0  # units and centroids are both sorted: the nearest place only moves on
    for u in range(len(labels)):
        x = units.numeric[u, units.axis]
        while at + 1 < m and along[at + 1] <= x:
            at += 1
        nearest, _ = _outwards(units, u, numeric, codes, order, along, 0, m, at, 0.0, -1, np.inf)
        labels[u] = nearest


@njit(cache=True)
def _assign_by_mix(
    units: Units, numeric: Floats, codes: Codes, order: Ints, starts: Ints, labels: NDArray[np.int32]
) -> None:
    """The same for many centroids: those with the unit's own categories first, others only if they can still be nearer."""
    along = numeric[order, units.axis]
    n_mixes, n_buckets = len(units.mixes), len(starts) - 1
    apart = np.zeros((n_mixes, n_buckets))
    turns = np.empty((n_mixes, n_buckets), np.int64)
    for mix in range(n_mixes):
        for bucket in range(n_buckets):
            for j in range(codes.shape[1]):
                if units.mixes[mix, j] != codes[order[starts[bucket]], j]:
                    apart[mix, bucket] += units.code_weights[j]
        turns[mix] = np.argsort(apart[mix], kind="mergesort")
    for u in range(len(labels)):
        x, mix = units.numeric[u, units.axis], units.mix[u]
        nearest, least = -1, np.inf
        for bucket in turns[mix]:
            if apart[mix, bucket] > least:
                break
            low, high = starts[bucket], starts[bucket + 1]
            at = low + np.searchsorted(along[low:high], x, side="right") - 1
            nearest, least = _outwards(
                units, u, numeric, codes, order, along, low, high, at, apart[mix, bucket], nearest, least
            )
        labels[u] = nearest


@njit(cache=True)
def _outwards(
    units: Units, u: int, numeric: Floats, codes: Codes, order: Ints, along: Floats,
    low: int, high: int, at: int, apart: float, nearest: int, least: float,
) -> tuple[int, float]:  # fmt: skip
    """The nearest of order[low:high], looking both ways from place `at`, or what was known to be nearer."""
    x = units.numeric[u, units.axis]
    left, right = at, at + 1
    while left >= low or right < high:
        below = (x - along[left]) ** 2 if left >= low else np.inf
        above = (along[right] - x) ** 2 if right < high else np.inf
        if min(below, above) + apart > least:
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
    return nearest, least


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
    alive = open_to.sum()
    while alive > 1:
        broken = np.zeros(m, np.bool_)
        for c in range(m):
            broken[c] = open_to[c] and not tried[c] and not meets(test, counts[c], sizes[c])
        if not broken.any():
            break
        places = np.flatnonzero(broken)
        for c in places[np.argsort(sizes[places], kind="mergesort")]:
            if alive == 1 or meets(test, counts[c], sizes[c]):  # what was dissolved before it may have mended it
                continue
            worth_completing = fixed or sizes[c] >= _WORTH_COMPLETING * test.k
            if worth_completing and _complete(units, test, numeric, codes, c, labels, sizes, counts):
                continue
            tried[c] = True
            if not fixed:
                open_to[c] = False
                alive -= 1
                for u in range(len(labels)):
                    if labels[u] == c:
                        _move(units, u, _scan(units, u, numeric, codes, open_to), labels, sizes, counts)
    lacking: int = _lacking(test, sizes, counts, fixed)
    return lacking


@njit(cache=True)
def _complete(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, c: int,
    labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Draw units into class c until it meets the conditions: first of those around its centroid, then of all."""
    around = _around(units, test, numeric, codes, c, labels, sizes, 4 * test.k + 16)
    if _draw_in(units, test, numeric, codes, c, around, labels, sizes, counts):
        return True
    if len(around) == len(labels):
        return False
    everything = np.arange(len(labels))
    drawn: bool = _draw_in(units, test, numeric, codes, c, everything, labels, sizes, counts)
    return drawn


@njit(cache=True)
def _around(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, c: int,
    labels: NDArray[np.int32], sizes: Ints, few: int,
) -> Ints:  # fmt: skip
    """The few nearest units of centroid c in classes that could spare them; all units where there is no axis."""
    n = len(labels)
    if units.axis < 0 or few >= n:
        return np.arange(n)
    x = numeric[c, units.axis]
    right = np.searchsorted(units.numeric[:, units.axis], x)
    left = right - 1
    found, distances, many = np.empty(few, np.int64), np.full(few, np.inf), 0
    while left >= 0 or right < n:
        below = (x - units.numeric[left, units.axis]) ** 2 if left >= 0 else np.inf
        above = (units.numeric[right, units.axis] - x) ** 2 if right < n else np.inf
        if many == few and min(below, above) >= distances[-1]:
            break
        if below <= above:
            u = left
            left -= 1
        else:
            u = right
            right += 1
        if labels[u] == c or sizes[labels[u]] - units.counts[u] < test.k:
            continue
        distance = cost(units, u, numeric, codes, c)
        if many < few or distance < distances[-1]:
            place = min(many, few - 1)
            while place > 0 and distances[place - 1] > distance:
                distances[place] = distances[place - 1]
                found[place] = found[place - 1]
                place -= 1
            distances[place] = distance
            found[place] = u
            many = min(many + 1, few)
    return found[:many]


@njit(cache=True)
def _draw_in(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, c: int, candidates: Ints,
    labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Draw in the candidates whose move costs least until class c meets the conditions; undo it if it never does."""
    extra = np.full(len(candidates), np.inf)
    for place in range(len(candidates)):
        u = candidates[place]
        if labels[u] != c and sizes[labels[u]] - units.counts[u] >= test.k:
            extra[place] = cost(units, u, numeric, codes, c) - cost(units, u, numeric, codes, labels[u])
    came_from, moved, n_moved = np.empty(len(candidates), np.int32), np.empty(len(candidates), np.int64), 0
    for place in np.argsort(extra, kind="mergesort"):
        if extra[place] == np.inf or sizes[c] > 4 * test.k + 16:
            break
        u = candidates[place]
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
    for back in range(n_moved - 1, -1, -1):
        _move(units, moved[back], came_from[back], labels, sizes, counts)
    return False


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
def centroids_of(units: Units, labels: NDArray[np.int32], numeric: Floats, codes: Codes) -> None:
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
    first = int(np.argmax(sizes))
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
