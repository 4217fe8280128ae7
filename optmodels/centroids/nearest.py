"""Every unit to its nearest of many centroids, without comparing it with most of them.

Units come sorted along one axis, so the nearest centroid is found by looking outwards from the unit's place on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.centroids.units import Ints, Units, cost
from optmodels.kernels import part
from optmodels.price import Codes, Floats

# Centroids for each combination of categories from which on they are sorted by combination.
_CROWDED = 8
# Units for each combination of categories from which on it is worth a table of what it costs with every centroid.
_REPEATED = 8


@part
def assign(units: Units, numeric: Floats, codes: Codes, labels: NDArray[np.int32]) -> None:
    """Every unit to its nearest centroid, the first of several equally near."""
    if units.axis < 0:
        for u in range(len(labels)):
            labels[u] = nearest_open(units, u, numeric, codes, np.ones(len(numeric), np.bool_))
        return
    keys = np.zeros(len(numeric), np.int64)
    if len(units.radix) == codes.shape[1]:
        for c in range(len(numeric)):
            for j in range(codes.shape[1]):
                keys[c] += codes[c, j] * units.radix[j]
    # Mergesort is stable: within one combination of categories, centroids stay sorted along the axis.
    along = np.argsort(numeric[:, units.axis], kind="mergesort")
    order = along[np.argsort(keys[along], kind="mergesort")]
    sorted_keys = keys[order]
    changes = np.flatnonzero(sorted_keys[1:] != sorted_keys[:-1]) + 1
    starts = np.concatenate((np.zeros(1, np.int64), changes, np.full(1, len(order), np.int64)))
    if len(units.radix) == codes.shape[1] and len(order) >= _CROWDED * (len(starts) - 1):
        _assign_by_mix(units, numeric, codes, order, starts, labels)
    elif len(units.mixes) * _REPEATED <= len(labels):
        _assign_by_table(units, numeric, codes, along, labels)
    else:
        _assign_along(units, numeric, codes, along, labels)


@part
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


@part
def _assign_by_table(units: Units, numeric: Floats, codes: Codes, order: Ints, labels: NDArray[np.int32]) -> None:
    """The same where combinations of categories are few: what each costs with each centroid is known beforehand."""
    m, d = numeric.shape
    apart = np.zeros((len(units.mixes), m))
    for mix in range(len(units.mixes)):
        for place in range(m):
            for j in range(codes.shape[1]):
                if units.mixes[mix, j] != codes[order[place], j]:
                    apart[mix, place] += units.code_weights[j]
    centroids = numeric[order]
    at = 0
    for u in range(len(labels)):
        x, own = units.numeric[u, units.axis], apart[units.mix[u]]
        while at + 1 < m and centroids[at + 1, units.axis] <= x:
            at += 1
        nearest, least, left, right = -1, np.inf, at, at + 1
        while left >= 0 or right < m:
            below = x - centroids[left, units.axis] if left >= 0 else np.inf
            above = centroids[right, units.axis] - x if right < m else np.inf
            if abs(below) <= above:
                place = left
                left -= 1
            else:
                place = right
                right += 1
            if min(below * below, above * above) > least:
                break
            distance = 0.0
            for j in range(d):
                distance += (units.numeric[u, j] - centroids[place, j]) ** 2
            distance += own[place]
            if distance < least or (distance == least and order[place] < nearest):
                nearest, least = order[place], distance
        labels[u] = nearest


@part
def _assign_by_mix(
    units: Units, numeric: Floats, codes: Codes, order: Ints, starts: Ints, labels: NDArray[np.int32]
) -> None:
    """The same for many centroids: those of the unit's own categories first, others only if they can be nearer."""
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


@part
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


@part
def nearest_open(units: Units, u: int, numeric: Floats, codes: Codes, open_to: NDArray[np.bool_]) -> int:
    """The nearest of the centroids that are open."""
    nearest, least = -1, np.inf
    for c in range(len(numeric)):
        if open_to[c]:
            distance = cost(units, u, numeric, codes, c)
            if distance < least:
                nearest, least = c, distance
    return nearest
