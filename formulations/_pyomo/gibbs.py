"""Entropy in a linear model: Gibbs' inequality as cuts, exact and without approximating the logarithm.

For any distribution q, H(p) <= -sum p_s log q_s. So a class with counts n_s and size N has entropy at least e
exactly if  sum_s n_s * (-log q_s) >= e * N  for all q. The cut at a violated class's own distribution cuts that
class off, and there are finitely many classes, so adding cuts where they are violated ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log, log2

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from optmodels.conditions import TOLERANCE, ClassTest
from optmodels.partition import Labels

# A free level this close above a class's entropy is at it: MILP solvers hold their rows no better.
LEVEL_TOLERANCE = 1e-7


def bits(counts: NDArray[np.int64]) -> float:
    """The entropy of counts, in bits.

    >>> bits(np.array([2, 0, 2]))
    1.0
    """
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def coefficients(counts: NDArray[np.int64], largest: int) -> NDArray[np.float64]:
    """-log2 of a class's shares: the cut that is tight at this class and holds for all of at most `largest` records.

    A value the class lacks would have an infinite coefficient. Mixing the class's distribution with a little of
    the lacking values bounds what such records can add, and since there is at least one where there are any, the
    coefficient may carry the whole bound; 1/largest is the mixture that makes it smallest.

    >>> coefficients(np.array([2, 2]), 4)
    array([1., 1.])
    >>> float(coefficients(np.array([2, 0]), 2)[1])
    2.0
    """
    lacking = counts == 0
    result = np.zeros(len(counts))
    result[~lacking] = -np.log2(counts[~lacking] / counts.sum())
    if lacking.any():
        others = largest - 1
        result[lacking] = log2(int(lacking.sum()) * largest) + others * log2(largest / max(others, 1))
    return result + 0.0


class GibbsCuts:
    """Least entropies of the class of every record, one for each sensitive attribute, given or free."""

    def __init__(
        self, model: pyo.ConcreteModel, test: ClassTest, largest: int, count: Callable[[int, int], pyo.Expression]
    ) -> None:
        self.model = model
        self.test = test
        self.largest = largest
        self.count = count
        self.n = len(test.codes)
        self.least = (test.entropy - TOLERANCE) / log(2)
        self.bounded = [j for j in range(len(test.entropy)) if test.entropy[j] > 0]
        self.is_free = False
        self.sizes: list[int] = []
        self._known: set[tuple[int, ...]] = set()
        model.gibbs = pyo.ConstraintList()

    @property
    def active(self) -> bool:
        """Whether any entropy is held at all."""
        return bool(self.bounded)

    def free(self) -> pyo.Expression:
        """Make the levels variables, `model.level` in bits, and return their sum.

        The product of a level with the size of a record's class is exact through the one-hot sizes: `at_size` is
        the level in the layer of the right size and 0 in the others.
        """
        model = self.model
        attributes = range(len(self.test.entropies))
        self.sizes = sizes = sorted({m for _, m in model.has_size})
        whole = [bits(self._counts(np.arange(self.n), j)) for j in attributes]
        least = np.clip(self.least[: len(whole)], 0.0, whole)
        model.level = pyo.Var(attributes, bounds=lambda _, j: (float(least[j]), whole[j]))
        model.at_size = pyo.Var(range(self.n), attributes, sizes, bounds=lambda _, i, j, m: (0.0, whole[j]))
        model.at_own_size = pyo.Constraint(
            model.at_size.index_set(), rule=lambda _, i, j, m: model.at_size[i, j, m] <= whole[j] * model.has_size[i, m]
        )
        model.at_one_size = pyo.Constraint(
            range(self.n),
            attributes,
            rule=lambda _, i, j: sum(model.at_size[i, j, m] for m in sizes) == model.level[j],
        )
        self.bounded = list(attributes)
        self.is_free = True
        return sum(model.level[j] for j in attributes)

    def add(self, labels: Labels) -> int:
        """Add the cuts that the classes of a partition violate, for the class of every record; how many classes."""
        added = 0
        for j, counts in self._classes(labels):
            level = pyo.value(self.model.level[j]) - LEVEL_TOLERANCE if self.is_free else self.least[j]
            key = (j, *(counts // np.gcd.reduce(counts)).tolist())
            # A cut that is there already is violated by no more than the solver's tolerance.
            if bits(counts) < level and key not in self._known:
                self._known.add(key)
                self._cut(j, coefficients(counts, self.largest))
                added += 1
        return added

    def _cut(self, attribute: int, weights: NDArray[np.float64]) -> None:
        first = int(self.test.starts[attribute])
        for i in range(self.n):
            counts = [self.count(i, first + s) for s in range(len(weights))]
            left = sum(float(weight) * count for weight, count in zip(weights, counts, strict=True))
            if self.is_free:
                right = sum(m * self.model.at_size[i, attribute, m] for m in self.sizes)
            else:
                right = float(self.least[attribute]) * sum(counts)
            self.model.gibbs.add(left >= right)

    def encode(self, labels: Labels) -> None:
        """Write the entropies that a partition reaches into the levels."""
        if self.is_free:
            reached = dict.fromkeys(self.bounded, float("inf"))
            for j, counts in self._classes(labels):
                reached[j] = min(reached[j], bits(counts))
            for j, variable in self.model.level.items():
                variable.set_value(reached[j], skip_validation=True)  # below its bound: the partition is infeasible
            for (i, j, m), variable in self.model.at_size.items():
                variable.set_value(reached[j] * self.model.has_size[i, m].value)

    def _classes(self, labels: Labels) -> Iterator[tuple[int, NDArray[np.int64]]]:
        for c in range(int(labels.max()) + 1):
            rows = np.flatnonzero(labels == c)
            for j in self.bounded:
                yield j, self._counts(rows, j)

    def _counts(self, rows: NDArray[np.int64], attribute: int) -> NDArray[np.int64]:
        first, last = self.test.starts[attribute], self.test.starts[attribute + 1]
        return np.bincount(self.test.codes[rows, attribute] - first, minlength=int(last - first))
