"""Making a partition meet its conditions: a class that does not is merged with its nearest class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import kernel, part
from optmodels.partition import Labels, canonical, members
from optmodels.price import Codes, Floats, Price
from optmodels.solver import Run


def offer_mended(run: Run, price: Price, test: ClassTest, labels: Labels) -> None:
    """Offer a partition with every class that breaks a condition merged; coarser ones where more is asked for."""
    offer_coarser(run, labels if test.only_size else merge_until_met(price, test, labels))


def offer_coarser(run: Run, labels: Labels) -> None:
    """Offer a partition, and as long as nothing feasible is known, the same with neighbouring classes merged.

    Conditions on classes bear merging, so this is for what a model asks of the whole release.
    """
    run.offer(labels)
    while run.labels is None and labels.max(initial=0) > 0 and not run.expired:
        labels = labels // 2
        run.offer(labels)


def merge_until_met(price: Price, test: ClassTest, labels: NDArray[np.int64]) -> Labels:
    """The partition with every class that breaks a condition merged into its nearest classes until none does.

    It ends: one class of everyone meets whatever can be met at all.
    """
    first = canonical(labels)
    return canonical(_merge(price.numeric, price.codes, price.code_weights, test, *members(first))[first])


@kernel
def _merge(
    numeric: Floats,
    codes: Codes,
    code_weights: Floats,
    test: ClassTest,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> Labels:
    """The class that each class goes into; class c has the records order[starts[c]:starts[c + 1]]."""
    n_classes = len(starts) - 1
    sizes = np.diff(starts)
    sums = np.zeros((n_classes, numeric.shape[1]))
    for c in range(n_classes):
        for i in order[starts[c] : starts[c + 1]]:
            sums[c] += numeric[i]
    means = sums / sizes.reshape(-1, 1)
    # A class is represented by its mean and, for categories, by its first record: good enough to find neighbours.
    kinds = codes[order[starts[:-1]]]
    into = np.arange(n_classes)
    # Values are counted for one class at a time, and again where a class is swallowed: to keep the counts of all
    # classes would take classes times values. Classes that have become one are linked.
    counts = np.zeros(test.starts[-1], np.int64)
    after, last = np.full(n_classes, -1), np.arange(n_classes)
    alive = n_classes
    for c in range(n_classes):
        if sizes[c] == 0:  # it was swallowed
            continue
        counts[:] = 0
        _count(test, order, starts, after, c, counts)
        while alive > 1 and not meets(test, counts, sizes[c]):
            other = _nearest(means, kinds, code_weights, sizes, c)
            _count(test, order, starts, after, other, counts)
            after[last[c]], last[c] = other, last[other]
            sizes[c] += sizes[other]
            sums[c] += sums[other]
            means[c] = sums[c] / sizes[c]
            sizes[other] = 0
            into[other] = c
            alive -= 1
    for c in range(n_classes):
        while into[c] != into[into[c]]:
            into[c] = into[into[c]]
    return into


@part
def _count(
    test: ClassTest,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    after: NDArray[np.int64],
    c: int,
    counts: NDArray[np.int64],
) -> None:
    """Add the sensitive values of a class, and of those linked after it, to the counts."""
    while c >= 0:
        for i in order[starts[c] : starts[c + 1]]:
            for j in range(test.codes.shape[1]):
                counts[test.codes[i, j]] += 1
        c = after[c]


@part
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
