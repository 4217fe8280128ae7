"""Conditions on sensitive values as rows of a linear model, the same for every way to model a class.

A class is known by its counts of sensitive values, which are linear in the model's variables. Every condition but
entropy is a row in them: bounds on shares, and the distance behind t, times the size; distinct values by a variable
for each; and recursive (c, l)-diversity because the sum of the l - 1 largest counts is the least of
(l - 1) u + sum of max(0, count - u) over all u. Entropy is completed lazily, by Gibbs' inequality.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from formulations._pyomo.gibbs import bits, coefficients
from optmodels.conditions import TOLERANCE, ClassTest

Count = Callable[[int, int], "pyo.Expression | int"]
Size = Callable[[int], "pyo.Expression | int"]

# No model holds its rows better than this, so no strict row is stricter.
_LEAST_HAIR = 1e-6


class ConditionRows:
    """The rows of some classes. All are homogeneous in the counts, so a class that is not used satisfies them.

    `count` is how many records a class has of the sensitive value at a place, `size` how many it has at all, `used` 1
    where it has any.
    """

    def __init__(
        self,
        model: pyo.ConcreteModel,
        test: ClassTest,
        classes: Sequence[int],
        count: Count,
        size: Size,
        used: Size = lambda _: 1,
    ) -> None:
        self.model, self.test, self.classes, self.count, self.size, self.used = model, test, classes, count, size, used
        attributes = range(len(test.starts) - 1)
        model.conditions = pyo.Block()
        self.rows = model.conditions.rows = pyo.ConstraintList()
        self._add_distinct([j for j in attributes if test.distinct_l[j] > 1])
        self._add_recursive([j for j in attributes if test.recursive_l[j] > 0])
        self._add_closeness([j for j in attributes if np.isfinite(test.t[j])])
        self._add_shares()

    def _places(self, j: int) -> range:
        return range(int(self.test.starts[j]), int(self.test.starts[j + 1]))

    def _add_distinct(self, attributes: list[int]) -> None:
        places = [(c, v) for c in self.classes for j in attributes for v in self._places(j)]
        self.present = self.model.conditions.present = pyo.Var(places, bounds=(0, 1))
        for c, v in places:
            self.rows.add(self.present[c, v] <= self.count(c, v))
        for c in self.classes:
            for j in attributes:
                distinct = sum(self.present[c, v] for v in self._places(j))
                self.rows.add(distinct >= int(self.test.distinct_l[j]) * self.used(c))

    def _add_recursive(self, attributes: list[int]) -> None:
        block, test, n = self.model.conditions, self.test, len(self.test.codes)
        owners = [(c, j) for c in self.classes for j in attributes]
        self.top = block.top = pyo.Var(owners, bounds=(0, n))
        self.threshold = block.threshold = pyo.Var(owners, bounds=(0, n))
        self.above = block.above = pyo.Var([(c, v) for c, j in owners for v in self._places(j)], bounds=(0, n))
        for c, j in owners:
            factor, frequent = float(test.recursive_c[j]), int(test.recursive_l[j]) - 1
            for v in self._places(j):
                self.rows.add(self.top[c, j] >= self.count(c, v))
                self.rows.add(self.above[c, v] >= self.count(c, v) - self.threshold[c, j])
            largest = frequent * self.threshold[c, j] + sum(self.above[c, v] for v in self._places(j))
            rare = self.size(c) - (largest if frequent else 0)
            self.rows.add(self.top[c, j] + hair(factor, n) * self.used(c) <= factor * rare)

    def _add_closeness(self, attributes: list[int]) -> None:
        """Transport distance times class size: a weighted sum of absolute values."""
        test, n = self.test, len(self.test.codes)
        self._edges = {j: range(int(test.edge_starts[j]), int(test.edge_starts[j + 1])) for j in attributes}
        owners = [(c, j, e) for c in self.classes for j in attributes for e in self._edges[j]]
        self.moved = self.model.conditions.moved = pyo.Var([(c, e) for c, _, e in owners], bounds=(0, 2 * n))
        for c, j, e in owners:
            flow = self._flow(c, j, e)
            self.rows.add(self.moved[c, e] >= flow)
            self.rows.add(self.moved[c, e] >= -flow)
        for c in self.classes:
            for j in attributes:
                distance = sum(float(test.edge_weight[e]) * self.moved[c, e] for e in self._edges[j])
                self.rows.add(distance <= (float(test.t[j]) + TOLERANCE) * self.size(c))

    def _flow(self, c: int, j: int, e: int) -> pyo.Expression:
        """How many records more than in the table of the same size are on one side of an edge."""
        test, first = self.test, int(self.test.starts[j])
        crossed = [first + int(test.order[first + q]) for q in range(test.edge_low[e], test.edge_high[e])]
        return sum(self.count(c, v) for v in crossed) - float(test.shares[crossed].sum()) * self.size(c)

    def _add_shares(self) -> None:
        n = len(self.test.codes)
        for least, most in zip(self.test.least_shares, self.test.most_shares, strict=True):
            for v in np.flatnonzero(self.test.shares > 0).tolist():
                low, high = 1 - between_shares(1 - float(least[v]), n), between_shares(float(most[v]), n)
                for c in self.classes:
                    if high < 1:
                        self.rows.add(self.count(c, v) - high * self.size(c) <= 0)
                    if low > 0:
                        self.rows.add(self.count(c, v) - low * self.size(c) >= 0)

    def encode(self) -> None:
        """Complete a partition that was written into the model's own variables."""
        for (c, v), variable in self.present.items():
            variable.set_value(min(1, round(pyo.value(self.count(c, v)))))
        for (c, j), variable in self.top.items():
            counts = sorted((pyo.value(self.count(c, v)) for v in self._places(j)), reverse=True)
            variable.set_value(counts[0])
            frequent = int(self.test.recursive_l[j]) - 1
            self.threshold[c, j].set_value(counts[min(frequent, len(counts)) - 1] if frequent else counts[0])
            for v in self._places(j):
                self.above[c, v].set_value(max(0, pyo.value(self.count(c, v)) - self.threshold[c, j].value))
        for c in self.classes:
            for j, edges in self._edges.items():
                for e in edges:
                    self.moved[c, e].set_value(abs(pyo.value(self._flow(c, j, e))))


class EntropyCuts:
    """Least entropies of classes, added where the present values of the model violate them."""

    def __init__(self, model: pyo.ConcreteModel, test: ClassTest, classes: Sequence[int], count: Count) -> None:
        self.test, self.classes, self.count = test, classes, count
        self.cuts = model.gibbs = pyo.ConstraintList()
        self._known: set[tuple[int, ...]] = set()

    @property
    def active(self) -> bool:
        """Whether any entropy is held at all."""
        return bool(self.test.entropy.any())

    def add(self, model: pyo.ConcreteModel) -> int:
        """Add the cuts that the present classes violate, for every class; how many."""
        test, added = self.test, 0
        for c in self.classes:
            for j in np.flatnonzero(test.entropy > 0).tolist():
                places = range(int(test.starts[j]), int(test.starts[j + 1]))
                own = np.array([round(pyo.value(self.count(c, v))) for v in places])
                least = (float(test.entropy[j]) - TOLERANCE) / log(2)
                if not own.sum() or bits(own) >= least:
                    continue
                key = (j, *(own // np.gcd.reduce(own)).tolist())
                if key not in self._known:
                    self._known.add(key)
                    self._cut(places, coefficients(own, len(test.codes)), least)
                    added += 1
        return added

    def _cut(self, places: range, weights: NDArray[np.float64], least: float) -> None:
        for c in self.classes:
            counts = [self.count(c, v) for v in places]
            left = sum((float(weight) - least) * count for weight, count in zip(weights, counts, strict=True))
            if not isinstance(left, (int, float)):
                self.cuts.add(left >= 0)


def between_shares(most: float, records: int) -> float:
    """A bound that lets the same shares of at most so many records through, and is as far as can be from all of them.

    >>> between_shares(0.5, 4), between_shares(1.0, 4)
    (0.5833333333333333, 1.0)
    """
    if most >= 1:
        return 1.0
    sizes = np.arange(1, records + 1)
    counts = np.floor(most * sizes)
    return float(((counts / sizes).max() + ((counts + 1) / sizes).min()) / 2)


def hair(factor: float, records: int) -> float:
    """Less than the least amount by which a whole number of records can be below `factor` times another.

    >>> hair(1.5, 10), hair(3, 10)
    (0.25, 0.5)
    """
    products = (factor * rare for rare in range(1, records + 1))
    return max(min(product - (ceil(product * (1 - TOLERANCE)) - 1) for product in products) / 2, _LEAST_HAIR)
