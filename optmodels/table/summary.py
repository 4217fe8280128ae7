"""What a part of a table has to know of the whole: its values, their counts, means and ranges.

A table too large for one memory is met in pieces. Each piece is summed up, the sums are merged, and a piece that is
made part of their whole is encoded, scaled and compared as if all of the table were there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from optmodels.table.encoded import Encoded, Levelled
from optmodels.table.levels import ColumnLevels, Counts
from optmodels.table.role_types import Scaling

Floats = NDArray[np.float64]


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
class Whole:
    """A table summed up.

    >>> import pandas as pd
    >>> from optmodels.table.roles import Roles
    >>> pieces = [pd.DataFrame({"age": [30, 32]}), pd.DataFrame({"age": [40, 50]})]
    >>> one, other = (Whole.of(Encoded(piece, Roles(quasi={"age": "numeric"}))) for piece in pieces)
    >>> both = one.merged(other)
    >>> both.n, both.moments["age"].mean
    (4, 38.0)
    """

    n: int
    moments: Mapping[str, Moments]  # of numeric quasi-identifiers
    levels: Mapping[str, ColumnLevels]  # of the others
    sensitive: Mapping[str, ColumnLevels]
    sensitive_ordered: tuple[bool, ...]
    decimals: Mapping[str, int | None]  # of numeric quasi-identifiers

    @classmethod
    def of(cls, columns: Encoded) -> Whole:
        """A table's columns summed up as if they were all there is."""
        roles = columns.roles

        def levels(name: str, levelled: Levelled) -> ColumnLevels:
            codes, values = levelled
            order = roles.orders.get(name)
            given = tuple(values) if name in roles.bins else tuple(order) if order is not None else None
            return ColumnLevels(values, np.bincount(codes, minlength=len(values)).astype(np.int64), given)

        places = {name: j for j, name in enumerate(columns.measured) if roles.quasi[name] == "numeric"}
        quasi = {name: (columns.level_codes(name), values) for name, values in columns.levels.items()}
        sensitive = zip(columns.sensitive_codes.T, columns.sensitive_levels, strict=True)
        return cls(
            n=columns.n,
            moments={name: Moments.of(columns.values[:, j]) for name, j in places.items()},
            levels={name: levels(name, levelled) for name, levelled in quasi.items()},
            sensitive={name: levels(name, one) for name, one in zip(roles.sensitive, sensitive, strict=True)},
            sensitive_ordered=columns.sensitive_ordered,
            decimals=columns.decimals,
        )

    def merged(self, other: Whole) -> Whole:
        """Both tables summed up together."""
        return Whole(
            self.n + other.n,
            {name: moments.merged(other.moments[name]) for name, moments in self.moments.items()},
            {name: levels.merged(other.levels[name], name) for name, levels in self.levels.items()},
            {name: levels.merged(other.sensitive[name], name) for name, levels in self.sensitive.items()},
            tuple(a or b for a, b in zip(self.sensitive_ordered, other.sensitive_ordered, strict=True)),
            {name: _more(places, other.decimals[name]) for name, places in self.decimals.items()},
        )

    @classmethod
    def all_of(cls, pieces: list[Whole]) -> Whole:
        """Several tables summed up together."""
        return reduce(cls.merged, pieces)

    def moments_of(self, name: str) -> Moments:
        """The moments of a numeric quasi-identifier, or of an ordinal one's ranks."""
        return self.moments[name] if name in self.moments else Moments.of_ranks(self.levels[name].counts)

    def shares(self) -> Floats:
        """The distribution of the sensitive attributes, one after the other."""
        return np.concatenate([np.zeros(0), *(levels.counts / self.n for levels in self.sensitive.values())])

    def scaling(self, name: str, scaling: Scaling) -> tuple[float, float]:
        """What a scaling takes off a measured attribute, and what it divides it by."""
        moments = self.moments_of(name)
        reach = moments.high - moments.low
        match scaling:
            case "standard":
                return moments.mean, float(np.sqrt(moments.squares / max(moments.n - 1, 1))) if reach > 0 else 1.0
            case "alike":
                return moments.mean, float(np.sqrt(moments.squares / moments.n)) if reach > 0 else 1.0
            case "range":
                return moments.low, reach if reach > 0 else 1.0
        return 0.0, 1.0


def _more(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)
