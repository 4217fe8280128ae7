"""How many records a class must have at least when entropies near the whole table's are asked for.

Whole records hardly ever mirror a distribution, so close to the whole table's entropy only large classes are left. A
class and everyone else must both have the entropy, so of any weights that sum to 1 the weighted mean of the two, which
is concave in each count, must reach it: the most it can be is found by giving records one by one to the best value.
"""

from __future__ import annotations

import numpy as np

from optmodels.kernels import kernel, part
from optmodels.price import Floats
from solvers.epsilon.class_counts import Ints, Needs

_WEIGHTS = np.linspace(0.0, 1.0, 11)
_EQUAL = 1e-9  # bits
_SECONDS = 3e-7  # for a value and a pair of records, on a slow machine


def least_size(whole: list[Ints], needs: Needs, most: Floats | None = None) -> int:
    """A size that no class under these needs falls below, when everyone together has the counts `whole`.

    `most` is `most_of_all(whole)`, for who asks more than once.

    >>> least_size([np.array([3, 3])], Needs(np.array([1.0]), 1.0, 2)), least_size(
    ...     [np.array([3, 2])], Needs(np.array([0.97]), 0.97, 2)
    ... )
    (2, 5)
    """
    n = int(whole[0].sum())
    most = most_of_all(whole) if most is None else most
    possible = (most >= needs.least[:, None] - _EQUAL).all(axis=0) & (most.sum(axis=0) >= needs.total - _EQUAL)
    possible[: needs.k] = False
    possible[n] = True
    return int(np.flatnonzero(possible)[0])


def most_of_all(whole: list[Ints]) -> Floats:
    """`most_of_least` of every attribute, one a row."""
    return np.array([most_of_least(counts) for counts in whole])


def seconds_for(whole: list[Ints]) -> float:
    """How long `most_of_all` takes, about: it grows with the square of the number of records."""
    return sum(_SECONDS * len(counts) * float(counts.sum()) ** 2 for counts in whole)


def most_of_least(counts: Ints) -> Floats:
    """For each size of a class, a bound on the lesser of its entropy and everyone else's, in bits."""
    n = int(counts.sum())
    sizes = np.arange(n + 1)
    weights = np.concatenate([np.repeat(_WEIGHTS[:, None], n + 1, axis=1), [sizes / n]])
    bound: Floats = _best_means(counts, weights).min(axis=0)
    bound[n] = _bits(counts.astype(np.float64))
    return bound


@kernel
def _bits(counts: Floats) -> float:
    size, bits = counts.sum(), 0.0
    for count in counts:
        if count > 0.0:
            bits -= count / size * np.log2(count / size)
    return bits


@kernel
def _best_means(counts: Ints, weights: Floats) -> Floats:
    """The largest weighted mean of a class's entropy and the rest's, for each size and each weight."""
    n = counts.sum()
    means = np.zeros(weights.shape)
    for w in range(weights.shape[0]):
        for size in range(1, n):
            mine, others = weights[w, size] / size, (1.0 - weights[w, size]) / (n - size)
            taken = np.zeros(len(counts))
            for _ in range(size):
                best, best_gain = 0, -np.inf
                for v in range(len(counts)):
                    if taken[v] < counts[v]:
                        gain = mine * _rise(taken[v]) - others * _rise(counts[v] - taken[v] - 1.0)
                        if gain > best_gain:
                            best, best_gain = v, gain
                taken[best] += 1.0
            means[w, size] = weights[w, size] * _bits(taken) + (1.0 - weights[w, size]) * _bits(counts - taken)
    return means


@part
def _rise(count: float) -> float:
    """By how much -c log2 c rises from this count to the next."""
    here = count * np.log2(count) if count > 0.0 else 0.0
    rise: float = here - (count + 1.0) * np.log2(count + 1.0)
    return rise
