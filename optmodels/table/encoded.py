"""The quasi-identifiers and the sensitive attributes of a table as arrays, each made when first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError, unknown
from optmodels.table.encoding import Codes, check_told_apart, known_order, ordered_levels, sorted_levels
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.levels import ColumnLevels
from optmodels.table.roles import Roles
from optmodels.table.spelling import decimals, has_decimals, is_number_type

Item = TypeVar("Item", bound=np.generic)
Levelled = tuple[Codes, pd.Index]  # which level each record has, and the levels in the order of their codes


class Encoded:
    """The columns of a cleaned frame as numbers, ranks and codes; records are rows.

    >>> roles = Roles(quasi={"age": "numeric", "town": "categorical"})
    >>> columns = Encoded(pd.DataFrame({"age": [31, 45], "town": ["b", "a"]}), roles)
    >>> columns.values.tolist(), columns.codes.tolist()
    ([[31.0], [45.0]], [[1], [0]])
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        roles: Roles,
        as_read: pd.DataFrame | None = None,
        people: Codes | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        self.frame, self.roles = frame, roles
        self.moved = rows  # (n,) which row of the source each record was; None where that is its own number
        # columns that are released in other words than those in which they are measured
        self.as_read = pd.DataFrame(index=frame.index) if as_read is None else as_read
        self.people = people  # (n,) which person each record is of; None where every record is a person

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.frame)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers with distances: numeric and ordinal."""
        return tuple(name for name, kind in self.roles.quasi.items() if kind != "categorical")

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers that only match or do not."""
        return tuple(name for name, kind in self.roles.quasi.items() if kind == "categorical")

    def check(self) -> None:
        """Meet values that an order does not list, or a hierarchy does not cover, now rather than later."""
        for name in self.roles.encoded:
            if name in self.roles.orders or self.roles.quasi.get(name) == "ordinal":
                self._encode(name)
            hierarchy = self.roles.hierarchies.get(name)
            if isinstance(hierarchy, Hierarchy):
                try:
                    hierarchy.codes(self.frame[name].unique())
                except InputError as problem:
                    raise InputError(f"Column '{name}': {problem}") from problem
        for name, levels in zip(self.roles.sensitive, self.sensitive_levels, strict=True):
            check_told_apart(levels, name)

    def _encode(self, name: str) -> Levelled:
        column = self.frame[name]
        order = self.roles.orders.get(name) or (known_order(column) if name in self.roles.bins else None)
        return sorted_levels(column, name) if order is None else ordered_levels(column, order, name)

    @cached_property
    def quasi_levelled(self) -> Mapping[str, Levelled]:
        """The categorical and ordinal quasi-identifiers, encoded."""
        return {name: self._encode(name) for name, kind in self.roles.quasi.items() if kind != "numeric"}

    @cached_property
    def sensitive_levelled(self) -> Mapping[str, Levelled]:
        """The sensitive attributes, encoded."""
        return {name: self._encode(name) for name in self.roles.sensitive}

    @cached_property
    def levels(self) -> dict[str, pd.Index]:
        """Values of each categorical and ordinal quasi-identifier, in the order of their codes."""
        return {name: levels for name, (_, levels) in self.quasi_levelled.items()}

    @cached_property
    def codes(self) -> Codes:
        """(n, categorical) which level each record has."""
        return _side_by_side([self.quasi_levelled[name][0] for name in self.categorical], self.n, np.int32)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """(n, measured) numbers as given, and ranks 0..m-1 of ordinal values."""
        columns: list[NDArray[Any]] = [
            self.frame[name].to_numpy() if self.roles.quasi[name] == "numeric" else self.quasi_levelled[name][0]
            for name in self.measured
        ]
        return _side_by_side(columns, self.n, np.float64)

    @cached_property
    def decimals(self) -> dict[str, int | None]:
        """How many decimals each numeric quasi-identifier is written with; None where there is no telling."""
        numeric = [name for name, kind in self.roles.quasi.items() if kind == "numeric"]
        return {name: decimals(self.frame[name].to_numpy()) for name in numeric}

    @cached_property
    def sensitive_codes(self) -> Codes:
        """(n, sensitive) which level each record has."""
        return _side_by_side([codes for codes, _ in self.sensitive_levelled.values()], self.n, np.int32)

    @cached_property
    def sensitive_levels(self) -> tuple[pd.Index, ...]:
        """Values of each sensitive attribute, in the order of their codes."""
        return tuple(levels for _, levels in self.sensitive_levelled.values())

    @cached_property
    def sensitive_ordered(self) -> tuple[bool, ...]:
        """Do the levels of each sensitive attribute have an order: one given, bins, or numbers with decimals?"""
        said = (*self.roles.ordered, *self.roles.bins, *self.roles.orders)
        return tuple(
            name in said or (name not in self.roles.nominal and has_decimals(levels))
            for name, (_, levels) in self.sensitive_levelled.items()
        )

    @property
    def order_guessed(self) -> dict[str, bool]:
        """Sensitive attributes of numbers of which nobody said whether they have an order, and whether they got one.

        Whole numbers may be codes, and an order would make codes seem close that have nothing to do with each other.
        Numbers with decimals are measurements.
        """
        roles = self.roles
        trees = (name for name, tree in roles.hierarchies.items() if isinstance(tree, Hierarchy))
        said = (*roles.ordered, *roles.nominal, *roles.orders, *roles.bins, *trees)
        levelled = zip(roles.sensitive, self.sensitive_ordered, self.sensitive_levels, strict=True)
        return {
            name: ordered
            for name, ordered, levels in levelled
            if name not in said and len(levels) > 2 and is_number_type(levels.dtype)
        }

    def level_codes(self, name: str) -> Codes:
        """Which level of a categorical or ordinal quasi-identifier each record has."""
        if name not in self.levels:
            raise unknown("categorical or ordinal quasi-identifier", name, self.levels)
        if name in self.categorical:
            return self.codes[:, self.categorical.index(name)]
        return self.values[:, self.measured.index(name)].astype(np.int32)

    def take(self, rows: NDArray[np.integer[Any]]) -> Encoded:
        """Some of the records, with the levels of all."""
        index, people = pd.RangeIndex(len(rows)), None if self.people is None else self.people[rows]
        words = self.as_read.take(rows).set_axis(index)
        moved = np.asarray(rows, np.int64) if self.moved is None else self.moved[rows]
        part = Encoded(self.frame.take(rows).set_axis(index), self.roles, words, people, moved)
        known = vars(part)
        for name in ("levels", "decimals", "sensitive_levels", "sensitive_ordered"):
            known[name] = getattr(self, name)
        for name in ("values", "codes", "sensitive_codes"):
            known[name] = getattr(self, name)[rows]
        return part

    def with_levels(
        self, quasi: Mapping[str, ColumnLevels], sensitive: Mapping[str, ColumnLevels], ordered: tuple[bool, ...]
    ) -> Encoded:
        """The same records, numbered by the levels of a larger table."""
        part = Encoded(self.frame, self.roles, self.as_read, self.people, self.moved)
        known = vars(part)
        known["quasi_levelled"] = _numbered_by(quasi, self.quasi_levelled)
        known["sensitive_levelled"] = _numbered_by(sensitive, self.sensitive_levelled)
        known["sensitive_ordered"] = ordered
        return part


def _numbered_by(levels: Mapping[str, ColumnLevels], own: Mapping[str, Levelled]) -> dict[str, Levelled]:
    return {name: (levels[name].places(values)[codes], levels[name].values) for name, (codes, values) in own.items()}


def _side_by_side(columns: Sequence[NDArray[Any]], n: int, dtype: type[Item]) -> NDArray[Item]:
    result = np.empty((n, len(columns)), dtype)
    for j, column in enumerate(columns):
        result[:, j] = column
    return result
