"""What classes cost, worked out twice: in floating point for many at once, and in fractions without any rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassPrices:
    """Prices of classes by the squares, the sides or the nodes of their records' values; see `optmodels.price`."""

    name: str  # spread, extent or hierarchy
    numeric: Floats
    codes: Ints
    weights: Floats
    climbs: Floats  # of each leaf: the last leaf below every node above it, then what these nodes cost
    scale: Fraction

    @classmethod
    def of(cls, said: Mapping[str, Any], n: int) -> ClassPrices:
        """The prices as a certificate has them."""
        if said["name"] not in ("spread", "extent", "hierarchy"):
            raise ValueError(f"it has prices called {said['name']!r}")
        numeric = np.array(said["numeric"], np.float64).reshape(n, -1)
        codes = np.array(said["codes"], np.int64).reshape(n, -1)
        weights, climbs = np.array(said["code_weights"], np.float64), np.array(said["climbs"], np.float64)
        every = np.concatenate([numeric.ravel(), weights, climbs.ravel()])
        if not np.isfinite(every).all() or (weights < 0).any() or len(weights) != codes.shape[1]:
            raise ValueError("its prices are of numbers that are none, or below 0")
        return cls(said["name"], numeric, codes, weights, climbs, Fraction(said["scale"]))

    def exactly(self, rows: Sequence[int]) -> Fraction:
        """The price of one class, without rounding."""
        size, total = len(rows), Fraction(0)
        for column in self.numeric[list(rows)].T:
            values = [Fraction(x) for x in column.tolist()]
            if self.name == "spread":
                total += sum(x * x for x in values) - Fraction(sum(values)) ** 2 / size
            else:
                total += size * (max(values) - min(values))
        for weight, column in zip(self.weights.tolist(), self.codes[list(rows)].T, strict=True):
            if self.name == "spread":
                total += Fraction(weight) * (size - int(np.unique(column, return_counts=True)[1].max()))
            elif self.name == "extent":
                total += Fraction(weight) * size * (len(np.unique(column)) - 1)
            else:
                total += size * Fraction(float(self._nodes(column.min(keepdims=True), column.max(keepdims=True))[0]))
        return total

    def roughly(self, rows: Ints) -> Floats:
        """(classes, size) -> prices, each to within a few units in the last place."""
        size, total = rows.shape[1], np.zeros(len(rows))
        for column in self.numeric.T:
            values = column[rows] - column[rows[:, :1]]
            if self.name == "spread":
                total += ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            else:
                total += size * np.ptp(values, axis=1)
        for weight, column in zip(self.weights.tolist(), self.codes.T, strict=True):
            values = np.sort(column[rows], axis=1)
            if self.name == "hierarchy":
                total += size * self._nodes(values[:, 0], values[:, -1])
            elif self.name == "extent":
                total += weight * size * (np.diff(values, axis=1) != 0).sum(axis=1)
            else:
                total += weight * (size - (values[:, :, None] == values[:, None, :]).sum(axis=2).max(axis=1))
        return total

    def apart(self, one: Ints, others: Ints, size: int) -> Floats:
        """(one, others) a share of a class's price for each of its pairs: no class of this size costs less than all.

        Squared distances over the size are the price itself. Of `size` records with a most frequent value of a, at most
        (size - a)(size + a - 1)/2 pairs differ. A gap between sorted values is counted by at most size^2/4 pairs, and
        no pair meets in a node above the one that all meet in.
        """
        rough = size / (size * size // 4)
        numbers, names = np.zeros((len(one), len(others))), np.zeros((len(one), len(others)))
        for column in self.numeric.T:
            step = np.abs(column[one][:, None] - column[others])
            numbers += step * step if self.name == "spread" else step
        for weight, column in zip(self.weights.tolist(), self.codes.T, strict=True):
            low, high = (by(column[one][:, None], column[others]) for by in (np.minimum, np.maximum))
            names += self._nodes(low, high) if self.name == "hierarchy" else weight * (low != high)
        if self.name == "spread":
            return numbers / size + names / (size - 1)
        return numbers * rough + names * (2 / (size - 1) if self.name == "hierarchy" else rough)

    def _nodes(self, low: Ints, high: Ints) -> Floats:
        """What the lowest nodes above two leaves, and all between them, cost."""
        levels = self.climbs.shape[1] // 2
        level = (self.climbs[low][..., :levels] >= high[..., None]).argmax(axis=-1)
        found: Floats = np.where(low == high, 0.0, self.climbs[low, levels + level])
        return found
