"""How records are compared: what scaling, weights and the distribution of the whole table make of their columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.table.encoded import Encoded
from optmodels.table.roles import Roles
from optmodels.table.summary import Whole

Floats = NDArray[np.float64]


class Measuring:
    """Scales, ranges and shares of a table's columns: its own, or those of the whole that it is a part of."""

    def __init__(self, columns: Encoded, roles: Roles, whole: Whole | None) -> None:
        self.columns, self.roles, self.whole = columns, roles, whole

    @cached_property
    def weights(self) -> dict[str, float]:
        """Weight of each quasi-identifier, 1 unless given."""
        return {name: self.roles.given_weights.get(name, 1.0) for name in self.roles.quasi}

    @cached_property
    def centres(self) -> Floats:
        """What the scaling takes off each measured attribute."""
        values, names = self.columns.values, self.columns.measured
        if self.whole is not None:
            return np.array([self.whole.scaling(name, self.roles.scaling)[0] for name in names])
        match self.roles.scaling:
            case "standard" | "alike":
                return np.asarray(values.mean(axis=0))
            case "range":
                return np.asarray(values.min(axis=0))
        return np.zeros(len(names))

    @cached_property
    def scales(self) -> Floats:
        """What the scaling divides each measured attribute by: standard deviation or range, 1 if constant."""
        values, names = self.columns.values, self.columns.measured
        if self.whole is not None:
            return np.array([self.whole.scaling(name, self.roles.scaling)[1] for name in names])
        if self.roles.scaling == "none":
            return np.ones(len(names))
        ranges = values.max(axis=0) - values.min(axis=0)
        less = 0 if self.roles.scaling == "alike" else 1  # so that one class of everybody loses 1 a record
        # column by column, because a deviation of the whole array would take as much memory again
        divisors = (
            ranges
            if self.roles.scaling == "range"
            else np.array([np.std(values[:, j], ddof=less) if spread > 0 else 1.0 for j, spread in enumerate(ranges)])
        )
        return np.where(ranges > 0, divisors, 1.0)

    @cached_property
    def ranges(self) -> Floats:
        """How far apart the extremes of each measured attribute are."""
        if self.whole is not None:
            found = [self.whole.moments_of(name) for name in self.columns.measured]
            return np.array([moments.high - moments.low for moments in found])
        return np.asarray(np.ptp(self.columns.values, axis=0))

    @cached_property
    def occurring(self) -> NDArray[np.int64]:
        """How many different values each categorical attribute has."""
        if self.whole is not None:
            found = [self.whole.levels[name].counts for name in self.columns.categorical]
        else:
            found = [np.bincount(codes) for codes in self.columns.codes.T]
        return np.array([np.count_nonzero(counts) for counts in found], np.int64)

    @cached_property
    def scaled(self) -> Floats:
        """(n, measured) the values after scaling, times the square root of each weight."""
        values = self.columns.values
        factors = np.sqrt([self.weights[name] for name in self.columns.measured]) / self.scales
        if self.roles.scaling == "none" and (factors == 1).all():
            return values
        result = values - self.centres
        result *= factors
        return result

    @cached_property
    def mismatch_weights(self) -> Floats:
        """(categorical,) what a mismatch costs: gamma times the weight; if alike, the more the rarer mismatches are."""
        names = self.columns.categorical
        costs = self.roles.gamma * np.array([self.weights[name] for name in names], np.float64)
        if self.roles.scaling == "alike":
            costs *= [_of_everybody(self._counts(j, name)) for j, name in enumerate(names)]
        return costs

    def _counts(self, j: int, name: str) -> NDArray[np.int64]:
        return np.bincount(self.columns.codes[:, j]) if self.whole is None else self.whole.levels[name].counts

    @cached_property
    def sensitive_shares(self) -> Floats:
        """The distribution of the values of the sensitive attributes, one after the other."""
        if self.whole is not None:
            return self.whole.shares()
        counts = [
            np.bincount(codes, minlength=len(levels))
            for codes, levels in zip(self.columns.sensitive_codes.T, self.columns.sensitive_levels, strict=True)
        ]
        return np.concatenate([np.zeros(0), *counts]) / self.columns.n

    def take(self, rows: NDArray[np.integer[Any]], columns: Encoded, whole: Whole | None) -> Measuring:
        """The same for some of the records, whose columns these are, in the same scaling."""
        part = Measuring(columns, self.roles, whole)
        known = vars(part)
        known["centres"], known["scales"] = self.centres, self.scales
        known["scaled"] = self.scaled[rows]
        known["mismatch_weights"] = self.mismatch_weights
        return part


def _of_everybody(counts: NDArray[np.int64]) -> float:
    """Records for each that differs from the most frequent value: the cost at which one class loses 1 a record."""
    others = int(counts.sum() - counts.max())
    return int(counts.sum()) / others if others else 1.0
