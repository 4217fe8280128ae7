"""Making a partition meet its conditions: a class that does not is merged with its nearest class."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.partition import Labels, canonical
from optmodels.price import Codes, Floats, Price


def merge_until_met(price: Price, test: ClassTest, labels: NDArray[np.int64]) -> Labels:
    """The partition with every class that breaks a condition merged into its nearest classes until none does.

    It ends: one class of everyone meets whatever can be met at all.
    """
    return canonical(_merge(price.numeric, price.codes, price.code_weights, test, canonical(labels)))


@njit(cache=True)
def _merge(numeric: Floats, codes: Codes, code_weights: Floats, test: ClassTest, labels: Labels) -> Labels:
    n_classes = labels.max() + 1
    sizes = np.zeros(n_classes, np.int64)
    sums = np.zeros((n_classes, numeric.shape[1]))
    counts = np.zeros((n_classes, test.starts[-1]), np.int64)
    # A class is represented by its mean and, for categories, by its first record: good enough to find neighbours.
    sample = np.zeros(n_classes, np.int64)
    for i in range(len(labels) - 1, -1, -1):
        c = labels[i]
        sizes[c] += 1
        sample[c] = i
        sums[c] += numeric[i]
        for j in range(test.codes.shape[1]):
            counts[c, test.codes[i, j]] += 1
    means = sums / sizes.reshape(-1, 1)
    kinds = codes[sample]
    into = np.arange(n_classes)
    alive = n_classes
    for c in range(n_classes):
        # A class may grow several times in its own turn; classes it swallowed are skipped by `sizes == 0`.
        while sizes[c] > 0 and alive > 1 and not meets(test, counts[c], sizes[c]):
            other = _nearest(means, kinds, code_weights, sizes, c)
            sizes[c] += sizes[other]
            sums[c] += sums[other]
            means[c] = sums[c] / sizes[c]
            counts[c] += counts[other]
            sizes[other] = 0
            into[other] = c
            alive -= 1
    for c in range(n_classes):
        while into[c] != into[into[c]]:
            into[c] = into[into[c]]
    return into[labels]


@njit(cache=True)
def _nearest(means: Floats, kinds: Codes, code_weights: Floats, sizes: NDArray[np.int64], c: int) -> int:
    nearest, least = -1, np.inf
    for other in range(len(sizes)):
        if other == c or sizes[other] == 0:
            continue
        distance = 0.0
        for j in range(means.shape[1]):
            distance += (means[other, j] - means[c, j]) ** 2
        if distance >= least:
            continue
        for j in range(kinds.shape[1]):
            if kinds[other, j] != kinds[c, j]:
                distance += code_weights[j]
        if distance < least:
            nearest, least = other, distance
    return nearest
