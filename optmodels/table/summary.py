"""What a part of a table has to know of the whole: its values, their counts, means and ranges.

A table too large for one memory is met in pieces. Each piece is summed up, the sums are merged, and a piece that is
made part of their whole is encoded, scaled and compared as if all of the table were there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.table.encoding import sorted_levels

if TYPE_CHECKING:
    from optmodels.table._table import Table
    from optmodels.table.roles import Scaling

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Moments:
    """Mean, sum of squared deviations from it, and extremes of so many numbers."""

    n: int
    mean: float
    squares: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Floats) -> Moments:
        """The moments of some numbers.

        >>> Moments.of(np.array([1.0, 3.0]))
        Moments(n=2, mean=2.0, squares=2.0, low=1.0, high=3.0)
        """
        mean = float(numbers.mean())
        squares = float(np.square(numbers - mean).sum())
        return cls(len(numbers), mean, squares, float(numbers.min()), float(numbers.max()))

    @classmethod
    def of_ranks(cls, counts: Counts) -> Moments:
        """The moments of ranks 0, 1, ... that occur so many times each."""
        n, ranks = int(counts.sum()), np.arange(len(counts))
        mean = float(ranks @ counts / n)
        found = np.flatnonzero(counts)
        return cls(n, mean, float(np.square(ranks - mean) @ counts), float(found[0]), float(found[-1]))

    def merged(self, other: Moments) -> Moments:
        """The moments of both sets of numbers together (Chan, Golub and LeVeque)."""
        n, apart = self.n + other.n, other.mean - self.mean
        return Moments(
            n,
            self.mean + apart * other.n / n,
            self.squares + other.squares + apart**2 * self.n * other.n / n,
            min(self.low, other.low),
            max(self.high, other.high),
        )


@dataclass(frozen=True)
class Levels:
    """The values of a column in the order of their codes, and how often each occurs."""

    values: pd.Index
    counts: Counts
    given: tuple[object, ...] | None  # the order that was given for them, if any

    def merged(self, other: Levels, name: str) -> Levels:
        """The values of both, in the order of both."""
        if self.given is not None:
            # a value that a piece lacks is spelled as in the order given, where others know it as a number
            spelled = [
                theirs if str(mine) == str(asked) and mine == asked else mine
                for mine, theirs, asked in zip(self.values, other.values, self.given, strict=True)
            ]
            return Levels(pd.Index(spelled), self.counts + other.counts, self.given)
        together = self.values.append(other.values)
        codes, values = sorted_levels(pd.Series(together), name)
        counts = np.bincount(codes, weights=np.concatenate([self.counts, other.counts]), minlength=len(values))
        return Levels(values, counts.astype(np.int64), None)


@dataclass(frozen=True)
class Whole:
    """A table summed up.

    >>> from optmodels.table import Table
    >>> ages = [Table(pd.DataFrame({"age": some}), quasi={"age": "numeric"}) for some in ([30, 32], [40, 50])]
    >>> whole = Whole.of(ages[0]).merged(Whole.of(ages[1]))
    >>> whole.n, whole.moments["age"].mean
    (4, 38.0)
    """

    n: int
    moments: Mapping[str, Moments]  # of numeric quasi-identifiers
    levels: Mapping[str, Levels]  # of the others
    sensitive: Mapping[str, Levels]
    sensitive_ordered: tuple[bool, ...]

    @classmethod
    def of(cls, table: Table) -> Whole:
        """A table summed up as if it were all there is."""
        numeric = [name for name, kind in table.kinds.items() if kind == "numeric"]

        def levels(name: str, codes: NDArray[np.int32], values: pd.Index) -> Levels:
            order = table.roles.orders.get(name)
            given = tuple(values) if name in table.roles.bins else tuple(order) if order is not None else None
            return Levels(values, np.bincount(codes, minlength=len(values)).astype(np.int64), given)

        return cls(
            n=table.n,
            moments={name: Moments.of(table.values[:, table.measured.index(name)]) for name in numeric},
            levels={name: levels(name, table.level_codes(name), table.levels[name]) for name in table.levels},
            sensitive={
                name: levels(name, table.sensitive_codes[:, j], table.sensitive_levels[j])
                for j, name in enumerate(table.sensitive)
            },
            sensitive_ordered=table.sensitive_ordered,
        )

    def merged(self, other: Whole) -> Whole:
        """Both tables summed up together."""
        return Whole(
            self.n + other.n,
            {name: moments.merged(other.moments[name]) for name, moments in self.moments.items()},
            {name: levels.merged(other.levels[name], name) for name, levels in self.levels.items()},
            {name: levels.merged(other.sensitive[name], name) for name, levels in self.sensitive.items()},
            self.sensitive_ordered,
        )

    @classmethod
    def all_of(cls, pieces: list[Whole]) -> Whole:
        """Several tables summed up together."""
        return reduce(cls.merged, pieces)

    def measured(self, name: str) -> Moments:
        """The moments of a numeric quasi-identifier, or of an ordinal one's ranks."""
        return self.moments[name] if name in self.moments else Moments.of_ranks(self.levels[name].counts)

    def shares(self) -> Floats:
        """The distribution of the sensitive attributes, one after the other."""
        return np.concatenate([np.zeros(0), *(levels.counts / self.n for levels in self.sensitive.values())])

    def scaling(self, name: str, scaling: Scaling) -> tuple[float, float]:
        """What a scaling takes off a measured attribute, and what it divides it by."""
        moments = self.measured(name)
        reach = moments.high - moments.low
        match scaling:
            case "standard":
                return moments.mean, float(np.sqrt(moments.squares / max(moments.n - 1, 1))) if reach > 0 else 1.0
            case "range":
                return moments.low, reach if reach > 0 else 1.0
        return 0.0, 1.0
