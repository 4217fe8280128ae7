"""Features of original and released rows in one space, so that a model of the one can be asked about the other.

A number is itself and an interval its middle. A level is a one in the column of that level; a set of levels, a range
of them or a node of a hierarchy is spread evenly over the levels it covers. So every released cell lies where the
average of what it may have been lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from optmodels.errors import InputError, unknown
from optmodels.metrics.utility.cells import covered, middle
from optmodels.table.encoding import known_order, level_text
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.role_types import Kind

if TYPE_CHECKING:
    from optmodels.table import Table

Categories = Literal["onehot", "codes"]
Matrix = NDArray[np.float64]

_MOST_LEVELS = 1000


@dataclass(frozen=True)
class Feature:
    """One column: its kind, the range or the levels of its original values, and its hierarchy if it has one."""

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    levels: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    spread: bool = True  # levels side by side, or one number for the place in their order

    @property
    def width(self) -> int:
        """Columns that it takes in a matrix."""
        return len(self.levels) if self.kind == "categorical" and self.spread else 1

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each level in the order of levels."""
        return {level: place for place, level in enumerate(self.levels)}

    @cached_property
    def nodes(self) -> dict[str, list[str]]:
        """The values below each node of the hierarchy, by the node's label."""
        below: dict[str, list[str]] = {}
        if self.hierarchy is not None:
            leaves = [level_text(value) for value in self.hierarchy.values]
            for level in range(1, self.hierarchy.n_levels):
                for leaf, node in zip(leaves, self.hierarchy.nodes[:, level], strict=True):
                    below.setdefault(str(self.hierarchy.labels[node]), []).append(leaf)
        return below

    def encode(self, column: pd.Series) -> Matrix:
        """(n, width) the column's cells as numbers; a missing cell is NaN."""
        if self.kind == "numeric" and types.is_numeric_dtype(column.dtype):
            numbers = column.to_numpy(np.float64, na_value=np.nan)
            if np.isinf(numbers).any():
                raise self._stranger(str(numbers[np.isinf(numbers)][0]))
            return numbers.reshape(-1, 1)
        codes, distinct = pd.factorize(column)
        rows = np.full((len(distinct) + 1, self.width), np.nan)  # the last is where the code -1 of a gap points
        for row, value in enumerate(distinct):
            rows[row] = self._cell(level_text(value))
        return rows[codes]

    def _cell(self, text: str) -> float | Matrix:
        if self.kind == "numeric":
            number = middle(text, self.low, self.high) if text not in self.nodes else self._mean(text)
            if number is None:
                raise self._stranger(text)
            return number
        places = covered(text, self.places)
        if places is None and text in self.nodes:
            # a hierarchy may know more values than occur
            places = [self.places[leaf] for leaf in self.nodes[text] if leaf in self.places]
        if not places:
            raise self._stranger(text)
        if self.kind == "ordinal" or not self.spread:
            return float(np.mean(places))
        shares = np.zeros(self.width)
        shares[list(places)] = 1 / len(places)
        return shares

    def _mean(self, node: str) -> float:
        """The mean of the values below a node, as far as they lie where the original's do."""
        numbers = []
        for leaf in self.nodes[node]:
            number = middle(leaf, self.low, self.high)
            if number is None:
                raise InputError(
                    f"Column '{self.name}' is numeric, and its hierarchy has '{leaf}' below '{node}', which is not a "
                    "number: mend the hierarchy, or name the column as categorical."
                )
            numbers.append(number)
        return float(np.mean([number for number in numbers if self.low <= number <= self.high] or numbers))

    def _stranger(self, text: str) -> InputError:
        known = (
            "a finite number or an interval"
            if self.kind == "numeric"
            else "one of the original's values or a set of them"
        )
        comma = " A comma separates bounds in brackets only, as in [20, 30), and decimals follow a point."
        return InputError(
            f"Column '{self.name}' of the release has the value '{text}', which is not {known}."
            f"{comma if self.kind == 'numeric' and ',' in text else ''} If it is a node of a "
            f"hierarchy, give that hierarchy for '{self.name}'; otherwise leave the column out of the features."
        )


@dataclass(frozen=True)
class FeatureSpace:
    """The features of a table, learned from its original rows; released rows are put into the same space.

    >>> original = pd.DataFrame({"age": [20, 30, 40], "job": ["cook", "nurse", "cook"]})
    >>> space = FeatureSpace.of_frame(original)
    >>> space.encode(pd.DataFrame({"age": ["[20-30]"], "job": ["{cook,nurse}"]}))
    array([[25. ,  0.5,  0.5]])
    """

    features: tuple[Feature, ...]

    @classmethod
    def of_frame(
        cls,
        original: pd.DataFrame,
        *,
        kinds: Mapping[str, Kind] | None = None,
        orders: Mapping[str, Sequence[object]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        categories: Categories = "onehot",
    ) -> FeatureSpace:
        """The columns of a frame as features; without a kind, numbers are numeric and all else is categorical."""
        if categories not in ("onehot", "codes"):
            raise unknown("encoding of categories", str(categories), ("onehot", "codes"))
        known, trees, order = kinds or {}, hierarchies or {}, orders or {}
        return cls(
            tuple(
                _feature(
                    original[name], known.get(name), order.get(name), trees.get(name), spread=categories == "onehot"
                )
                for name in original.columns
            )
        )

    @classmethod
    def of_table(
        cls, table: Table, names: Sequence[str] | None = None, *, categories: Categories = "onehot"
    ) -> FeatureSpace:
        """The features of a table: all columns but the target unless some are named."""
        frame = table.frame
        chosen = [name for name in frame.columns if name != table.target] if names is None else list(names)
        for name in chosen:
            if name not in frame.columns:
                raise unknown("column of the table", name, map(str, frame.columns))
        return cls.of_frame(
            frame[chosen],
            kinds=table.kinds,
            orders={
                **table.roles.orders,
                **{n: tuple(v) for n, v in table.levels.items() if table.kinds[n] == "ordinal"},
            },
            hierarchies=table.hierarchies,
            categories=categories,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the features come from."""
        return tuple(feature.name for feature in self.features)

    @property
    def owners(self) -> NDArray[np.int64]:
        """For each column of the matrix the number of the feature it belongs to."""
        return np.repeat(np.arange(len(self.features)), [feature.width for feature in self.features])

    def encode(self, frame: pd.DataFrame) -> Matrix:
        """(n, width) the rows of a frame, original or released, in this space."""
        absent = [name for name in self.names if name not in frame.columns]
        if absent:
            raise InputError(
                f"The column '{absent[0]}' is a feature, and a table to learn from or to ask about lacks it: name the "
                f"features that all have. That table has {', '.join(map(str, frame.columns))}."
            )
        blocks = [feature.encode(frame[feature.name]) for feature in self.features]
        return np.hstack(blocks) if blocks else np.empty((len(frame), 0))


def _feature(
    column: pd.Series,
    kind: Kind | None,
    order: Sequence[object] | None,
    hierarchy: Hierarchy | None,
    *,
    spread: bool,
) -> Feature:
    name = str(column.name)
    order = order or known_order(column)
    numbers = types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
    if kind is None:
        kind = "ordinal" if order is not None else "numeric" if numbers else "categorical"
    if kind == "numeric":
        values = pd.to_numeric(column, errors="coerce")
        if values.isna().all():
            raise InputError(f"Column '{name}' is to be a numeric feature but has no number.")
        if np.isinf(values.to_numpy(np.float64, na_value=np.nan)).any():
            raise InputError(f"Column '{name}' of the original has an infinite value, which nobody can learn from.")
        return Feature(name, kind, float(values.min()), float(values.max()), hierarchy=hierarchy)
    if order is None:
        present = column.dropna().unique().tolist()
        try:
            order = sorted(present)
        except TypeError:  # numbers and text in one column
            order = sorted(present, key=level_text)
    levels = tuple(level_text(level) for level in order)
    if kind == "categorical" and spread and len(levels) > _MOST_LEVELS:
        raise InputError(
            f"Column '{name}' has {len(levels):,} values, too many for a feature of each: leave the column out of the "
            "features, or encode categories as 'codes'."
        )
    return Feature(name, kind, levels=levels, hierarchy=hierarchy, spread=spread)
