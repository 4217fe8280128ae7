"""From classes back to centroids, and what classes cost around given ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.centroids.units import Units, cost
from optmodels.kernels import kernel
from optmodels.price import Codes, Floats


@kernel
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


@kernel
def centred_prices(units: Units, labels: NDArray[np.int32], numeric: Floats, codes: Codes) -> Floats:
    """What partitions cost around the centroids themselves, not around the means and modes of their classes."""
    prices = np.zeros(len(labels))
    for i in range(len(labels)):
        for u in range(labels.shape[1]):
            prices[i] += units.counts[u] * cost(units, u, numeric[i], codes[i], labels[i, u])
    return prices
