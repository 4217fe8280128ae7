"""Table: a frame whose columns have roles. Bad input never gets past it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types

from optmodels.errors import InputError, unknown
from optmodels.partition import Labels, class_sizes, group_rows
from optmodels.table.encoding import (
    Codes,
    binned,
    known_order,
    level_column,
    numeric_column,
    ordered_levels,
    places_in_order,
    settle_missing,
    sorted_levels,
)
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.reading import as_frame, column_names, read_frame
from optmodels.table.roles import Bins, Kind, Missing, Others, Roles, Scaling

if TYPE_CHECKING:
    from optmodels.table.summary import Levels, Whole

Item = TypeVar("Item", bound=np.generic)

_RUN_LEVELS = 4  # steps from the values of a number to the root of the hierarchy that is built for it
_HAIR = 1e-9  # 81 ** (1 / 4) is a hair more than 3


@dataclass(frozen=True)
class Collapsed:
    """Equal records once: `rows` are their first appearances, `counts` how many there are of each."""

    rows: NDArray[np.int64]
    inverse: Labels
    counts: NDArray[np.int64]

    def expand(self, values: NDArray[Item]) -> NDArray[Item]:
        """What was found for each distinct record, for every record.

        >>> Collapsed(np.array([0, 2]), np.array([0, 0, 1]), np.array([2, 1])).expand(np.array([7, 9]))
        array([7, 7, 9])
        """
        expanded: NDArray[Item] = values[self.inverse]
        return expanded


class Table:
    """A frame with roles, checked when made; what solvers need is encoded when first asked for.

    >>> people = pd.DataFrame({"age": [31, 45, 31], "town": ["b", "a", "b"], "illness": ["flu", "flu", "cold"]})
    >>> table = Table(people, quasi={"age": "numeric", "town": "categorical"}, sensitive="illness")
    >>> table
    Table(3 records; quasi age numeric, town categorical; sensitive illness)
    >>> table.values.tolist(), table.codes.tolist(), table.sensitive_codes.tolist()
    ([[31.0], [45.0], [31.0]], [[1], [0], [1]], [[1], [1], [0]])
    """

    roles: Roles
    missing_report: dict[str, Any]
    _frame: pd.DataFrame
    _whole: Whole | None = None  # what this table is a part of

    def __init__(
        self,
        frame: object,
        *,
        quasi: Mapping[str, Kind],
        sensitive: str | Sequence[str] = (),
        identifiers: Sequence[str] = (),
        target: str | None = None,
        others: Others | Mapping[str, Literal["keep", "drop"]] = "error",
        missing: Missing = "error",
        scaling: Scaling = "none",
        weights: Mapping[str, float] | None = None,
        gamma: float = 1.0,
        bins: Mapping[str, Bins] | None = None,
        orders: Mapping[str, Sequence[object]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> None:
        roles = Roles(quasi=quasi).revised(
            sensitive=sensitive,
            identifiers=identifiers,
            target=target,
            others=others,
            missing=missing,
            scaling=scaling,
            weights=weights,
            gamma=gamma,
            bins=bins,
            orders=orders,
            hierarchies=hierarchies,
        )
        self._fill(as_frame(frame), roles)

    @classmethod
    def with_roles(cls, frame: object, roles: Roles | str | Path) -> Table:
        """A table from data and roles settled earlier, or the TOML file that holds them."""
        table = object.__new__(cls)
        table._fill(as_frame(frame), _loaded(roles))
        return table

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        roles: Roles | str | Path | None = None,
        quasi: Mapping[str, Kind] | None = None,
        sensitive: str | Sequence[str] | None = None,
        identifiers: Sequence[str] | None = None,
        target: str | None = None,
        others: Others | Mapping[str, Literal["keep", "drop"]] | None = None,
        missing: Missing | None = None,
        scaling: Scaling | None = None,
        weights: Mapping[str, float] | None = None,
        gamma: float | None = None,
        bins: Mapping[str, Bins] | None = None,
        orders: Mapping[str, Sequence[object]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        separator: str | None = None,
        encoding: str | None = None,
    ) -> Table:
        """Read CSV, Parquet or Arrow, only the columns that are kept; what is given here replaces what `roles` says."""
        chosen = (_loaded(roles) if roles is not None else Roles(quasi=quasi or {})).revised(
            quasi=quasi,
            sensitive=sensitive,
            identifiers=identifiers,
            target=target,
            others=others,
            missing=missing,
            scaling=scaling,
            weights=weights,
            gamma=gamma,
            bins=bins,
            orders=orders,
            hierarchies=hierarchies,
        )
        kept = chosen.settle(column_names(path, separator=separator, encoding=encoding))
        literal = [name for name, kind in chosen.quasi.items() if kind == "categorical"]
        frame = read_frame(path, columns=kept, text=literal, separator=separator, encoding=encoding)
        table = object.__new__(cls)
        table._fill(frame, chosen, settled=True)
        return table

    def _fill(self, frame: pd.DataFrame, roles: Roles, *, settled: bool = False) -> None:
        kept = tuple(frame.columns) if settled else roles.settle(frame.columns)
        if not len(frame):
            raise InputError("The table has columns but no records.")
        frame = frame.set_axis(pd.RangeIndex(len(frame)))
        columns = {name: frame[name] for name in kept}
        for name in (*roles.quasi, *roles.sensitive):
            numeric = roles.quasi.get(name) == "numeric" or name in roles.bins
            columns[name] = (numeric_column if numeric else level_column)(columns[name], name)
        self.roles = roles = _with_known_orders(roles, columns)
        columns, self.missing_report = settle_missing(columns, roles)
        for name, bins in roles.bins.items():
            columns[name] = binned(columns[name], bins, name)
        self._frame = pd.DataFrame(columns, copy=False)
        self._frame.index = pd.RangeIndex(len(self._frame))
        self._check_levels()

    def _check_levels(self) -> None:
        """Meet unlisted values and uncovered leaves now rather than when an encoding is first asked for."""
        for name in (*self.quasi, *self.sensitive):
            if name in self.roles.orders or self.kinds.get(name) == "ordinal":
                self._encode(name)
            if name in self.hierarchies:
                try:
                    self.hierarchies[name].codes(self._frame[name].unique())
                except InputError as problem:
                    raise InputError(f"Column '{name}': {problem}") from problem

    def _encode(self, name: str) -> tuple[Codes, pd.Index]:
        column = self._frame[name]
        order = self.roles.orders.get(name) or (known_order(column) if name in self.roles.bins else None)
        return sorted_levels(column, name) if order is None else ordered_levels(column, order, name)

    @property
    def frame(self) -> pd.DataFrame:
        """The cleaned data: the columns kept, in their own order. A copy-on-write view, so changing it is harmless."""
        return self._frame.copy(deep=False)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self._frame)

    @property
    def records_in_all(self) -> int:
        """Number of records of the table that this one is a part of; its own where it is all there is."""
        return self.n if self._whole is None else self._whole.n

    def __len__(self) -> int:
        return len(self._frame)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers, in the order given."""
        return tuple(self.roles.quasi)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind of each quasi-identifier."""
        return dict(self.roles.quasi)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers with distances: numeric and ordinal."""
        return tuple(name for name, kind in self.roles.quasi.items() if kind != "categorical")

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers that only match or do not."""
        return tuple(name for name, kind in self.roles.quasi.items() if kind == "categorical")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive attributes."""
        return self.roles.sensitive

    @property
    def target(self) -> str | None:
        """Name of the column a classifier is to predict, if any."""
        return self.roles.target

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """Generalisation hierarchies by column."""
        return dict(self.roles.hierarchies)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each quasi-identifier, 1 unless given."""
        return {name: self.roles.weights.get(name, 1.0) for name in self.roles.quasi}

    @cached_property
    def _levelled(self) -> dict[str, tuple[Codes, pd.Index]]:
        return {name: self._encode(name) for name, kind in self.roles.quasi.items() if kind != "numeric"}

    @cached_property
    def levels(self) -> dict[str, pd.Index]:
        """Values of each categorical and ordinal quasi-identifier, in the order of their codes."""
        return {name: levels for name, (_, levels) in self._levelled.items()}

    @cached_property
    def codes(self) -> Codes:
        """(n, categorical) which level each record has."""
        return _side_by_side([self._levelled[name][0] for name in self.categorical], self.n, np.int32)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """(n, measured) numbers as given, and ranks 0..m-1 of ordinal values."""
        columns: list[NDArray[Any]] = [
            self._frame[name].to_numpy() if self.roles.quasi[name] == "numeric" else self._levelled[name][0]
            for name in self.measured
        ]
        return _side_by_side(columns, self.n, np.float64)

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """What the scaling takes off each measured attribute."""
        if self._whole is not None:
            return np.array([self._whole.scaling(name, self.roles.scaling)[0] for name in self.measured])
        match self.roles.scaling:
            case "standard":
                return np.asarray(self.values.mean(axis=0))
            case "range":
                return np.asarray(self.values.min(axis=0))
        return np.zeros(len(self.measured))

    @cached_property
    def scales(self) -> NDArray[np.float64]:
        """What the scaling divides each measured attribute by: sample standard deviation or range, 1 if constant."""
        if self._whole is not None:
            return np.array([self._whole.scaling(name, self.roles.scaling)[1] for name in self.measured])
        if self.roles.scaling == "none":
            return np.ones(len(self.measured))
        ranges = self.values.max(axis=0) - self.values.min(axis=0)
        # column by column, because a deviation of the whole array would take as much memory again
        divisors = (
            ranges
            if self.roles.scaling == "range"
            else np.array([np.std(self.values[:, j], ddof=1) if spread > 0 else 1.0 for j, spread in enumerate(ranges)])
        )
        return np.where(ranges > 0, divisors, 1.0)

    @cached_property
    def ranges(self) -> NDArray[np.float64]:
        """How far apart the extremes of each measured attribute are."""
        if self._whole is not None:
            found = [self._whole.measured(name) for name in self.measured]
            return np.array([moments.high - moments.low for moments in found])
        return np.asarray(np.ptp(self.values, axis=0))

    @cached_property
    def occurring(self) -> NDArray[np.int64]:
        """How many different values each categorical attribute has."""
        if self._whole is not None:
            found = [self._whole.levels[name].counts for name in self.categorical]
        else:
            found = [np.bincount(codes) for codes in self.codes.T]
        return np.array([np.count_nonzero(counts) for counts in found], np.int64)

    @cached_property
    def scaled(self) -> NDArray[np.float64]:
        """(n, measured) the values after scaling, times the square root of each weight."""
        factors = np.sqrt([self.weights[name] for name in self.measured]) / self.scales
        if self.roles.scaling == "none" and (factors == 1).all():
            return self.values
        result = self.values - self.centres
        result *= factors
        return result

    @cached_property
    def mismatch_weights(self) -> NDArray[np.float64]:
        """(categorical,) what a mismatch costs: gamma times the weight."""
        return self.roles.gamma * np.array([self.weights[name] for name in self.categorical], np.float64)

    @cached_property
    def _sensitive_levelled(self) -> list[tuple[Codes, pd.Index]]:
        return [self._encode(name) for name in self.sensitive]

    @cached_property
    def sensitive_codes(self) -> Codes:
        """(n, sensitive) which level each record has."""
        return _side_by_side([codes for codes, _ in self._sensitive_levelled], self.n, np.int32)

    @cached_property
    def sensitive_levels(self) -> tuple[pd.Index, ...]:
        """Values of each sensitive attribute, in the order of their codes."""
        return tuple(levels for _, levels in self._sensitive_levelled)

    @cached_property
    def sensitive_ordered(self) -> tuple[bool, ...]:
        """Do the levels of each sensitive attribute have an order: numbers, bins, or an order given?"""

        def ordered(name: str) -> bool:
            dtype = self._frame[name].dtype
            numbers = types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype)
            return numbers or name in self.roles.bins or name in self.roles.orders

        return tuple(ordered(name) for name in self.sensitive)

    @cached_property
    def sensitive_shares(self) -> NDArray[np.float64]:
        """The distribution of the values of the sensitive attributes, one after the other."""
        if self._whole is not None:
            return self._whole.shares()
        sizes = [len(levels) for levels in self.sensitive_levels]
        counts = [np.bincount(codes, minlength=m) for codes, m in zip(self.sensitive_codes.T, sizes, strict=True)]
        return np.concatenate([np.zeros(0), *counts]) / self.n

    def level_codes(self, name: str) -> Codes:
        """Which level of a categorical or ordinal quasi-identifier each record has."""
        if name not in self.levels:
            raise unknown("categorical or ordinal quasi-identifier", name, self.levels)
        if name in self.categorical:
            return self.codes[:, self.categorical.index(name)]
        return self.values[:, self.measured.index(name)].astype(np.int32)

    def leaf_codes(self, name: str) -> NDArray[np.int32]:
        """The leaf of each record in the hierarchy of a column."""
        if name not in self.hierarchies:
            raise unknown("hierarchy for the column", name, self.hierarchies)
        return self.hierarchies[name].codes(self._frame[name])

    def collapse(self, sensitive: bool = True) -> Collapsed:
        """Records with equal quasi-identifiers (and sensitive values, unless told otherwise) once, with their counts.

        >>> table = Table(pd.DataFrame({"age": [31, 45, 31]}), quasi={"age": "numeric"})
        >>> table.collapse().counts
        array([2, 1])
        """
        blocks: list[NDArray[Any]] = [self.values, self.codes, *([self.sensitive_codes] if sensitive else [])]
        inverse = group_rows([block[:, j] for block in blocks for j in range(block.shape[1])])
        counts = class_sizes(inverse)
        rows = np.empty(len(counts), np.int64)
        rows[inverse[::-1]] = np.arange(self.n - 1, -1, -1)  # written last, and so kept: the first appearance
        return Collapsed(rows, inverse, counts)

    def take(self, rows: ArrayLike) -> Table:
        """Some of the records, by number or by mask, with the levels and the scaling of the whole table."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            if chosen.shape != (self.n,):
                raise InputError(f"A mask of {chosen.size} records was given for a table of {self.n}.")
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
            raise InputError("Name the records of a part by their numbers or by a mask, and at least one of them.")
        strangers = chosen[(chosen < 0) | (chosen >= self.n)]
        if strangers.size:
            raise InputError(f"The table has records 0 to {self.n - 1}, not {strangers[0]}.")
        part = object.__new__(Table)
        part.roles, part.missing_report, part._whole = self.roles, self.missing_report, self._whole
        part._frame = self._frame.take(chosen).set_axis(pd.RangeIndex(len(chosen)))
        known = vars(part)
        for name in ("levels", "centres", "scales", "mismatch_weights", "sensitive_levels", "sensitive_ordered"):
            known[name] = getattr(self, name)
        for name in ("values", "scaled", "codes", "sensitive_codes"):
            known[name] = getattr(self, name)[chosen]
        return part

    def part(self, rows: ArrayLike) -> Table:
        """Some of the records, measured as the whole table is: its ranges and its distributions are theirs, too.

        >>> table = Table(pd.DataFrame({"age": [31, 45, 61]}), quasi={"age": "numeric"})
        >>> table.part([0, 1]).ranges, table.take([0, 1]).ranges
        (array([30.]), array([14.]))
        """
        part = self.take(rows)
        part._whole = self._summed_up
        return part

    @cached_property
    def _summed_up(self) -> Whole:
        from optmodels.table.summary import Whole

        return Whole.of(self) if self._whole is None else self._whole

    def part_of(self, whole: Whole) -> Table:
        """The same records with the levels, the scaling, the ranges and the distribution of a larger table."""
        part = object.__new__(Table)
        part.roles, part.missing_report, part._frame = self.roles, self.missing_report, self._frame
        part._whole = whole
        known = vars(part)

        def encoded(levels: Levels, own: tuple[Codes, pd.Index]) -> tuple[Codes, pd.Index]:
            codes, values = own
            places = places_in_order(levels.values, values)[0] if levels.given else levels.values.get_indexer(values)
            return np.asarray(places, np.int32)[codes], levels.values

        known["_levelled"] = {name: encoded(whole.levels[name], own) for name, own in self._levelled.items()}
        known["_sensitive_levelled"] = [
            encoded(levels, own) for levels, own in zip(whole.sensitive.values(), self._sensitive_levelled, strict=True)
        ]
        known["sensitive_ordered"] = whole.sensitive_ordered
        return part

    def rescaled(
        self,
        *,
        scaling: Scaling | None = None,
        weights: Mapping[str, float] | None = None,
        gamma: float | None = None,
    ) -> Table:
        """The same records measured otherwise; what is not given stays, weights name by name.

        >>> table = Table(pd.DataFrame({"age": [31, 45, 31]}), quasi={"age": "numeric"})
        >>> table.rescaled(scaling="range").scaled.ravel()
        array([0., 1., 0.])
        """
        merged = None if weights is None else {**self.roles.weights, **weights}
        other = object.__new__(Table)
        other.roles = self.roles.revised(scaling=scaling, weights=merged, gamma=gamma)
        other.missing_report, other._frame, other._whole = self.missing_report, self._frame, self._whole
        known = vars(other)
        for name in ("levels", "values", "codes", "sensitive_levels", "sensitive_ordered", "sensitive_codes"):
            known[name] = getattr(self, name)
        return other

    def with_hierarchies(self) -> Table:
        """The same records with a hierarchy for every quasi-identifier; those that are given stay.

        Numbers and ordinals get five levels: the values, three of ever longer runs of neighbours, and the root.
        Categories, of which nothing is known, are kept or suppressed.

        >>> table = Table(pd.DataFrame({"age": range(81), "town": ["a", "b", "c"] * 27}), quasi={"age": "numeric",
        ...     "town": "categorical"}).with_hierarchies()
        >>> {name: hierarchy.n_levels for name, hierarchy in table.hierarchies.items()}
        {'age': 5, 'town': 2}
        """
        lacking = [name for name in self.quasi if name not in self.hierarchies]
        if not lacking:
            return self
        other = self.rescaled()
        built = {name: self._plain_hierarchy(name) for name in lacking}
        other.roles = self.roles.revised(hierarchies={**self.hierarchies, **built})
        return other

    def _plain_hierarchy(self, name: str) -> Hierarchy:
        kind = self.kinds[name]
        values = pd.Index(np.sort(self._frame[name].unique())) if kind == "numeric" else self.levels[name]
        if kind == "categorical":
            return Hierarchy(values, [])
        return Hierarchy.of_neighbours(values, fanout=max(2, ceil(len(values) ** (1 / _RUN_LEVELS) - _HAIR)))

    def __repr__(self) -> str:
        quasi = ", ".join(f"{name} {kind}" for name, kind in self.roles.quasi.items())
        sensitive = f"; sensitive {', '.join(self.sensitive)}" if self.sensitive else ""
        return f"Table({self.n:,} records; quasi {quasi}{sensitive})"


def _loaded(roles: Roles | str | Path) -> Roles:
    return roles if isinstance(roles, Roles) else Roles.load(roles)


def _with_known_orders(roles: Roles, columns: Mapping[str, pd.Series]) -> Roles:
    """The roles with the orders that columns bring along, so that a saved role file has them too."""
    orders = dict(roles.orders)
    for name, kind in [*roles.quasi.items(), *((name, "sensitive") for name in roles.sensitive)]:
        if kind not in ("ordinal", "sensitive") or name in orders or name in roles.bins:
            continue
        order = known_order(columns[name])
        if order is not None:
            orders[name] = order
        elif kind == "ordinal" and not types.is_numeric_dtype(columns[name].dtype):
            found = [str(value) for value in columns[name].dropna().unique()[:10]]
            raise InputError(
                f"The ordinal column '{name}' holds text, whose order cannot be guessed; give it from lowest to "
                f"highest, orders={{'{name}': [...]}}. Values found: {', '.join(found)}."
            )
    return roles if orders == roles.orders else roles.revised(orders=orders)


def _side_by_side(columns: Sequence[NDArray[Any]], n: int, dtype: type[Item]) -> NDArray[Item]:
    result = np.empty((n, len(columns)), dtype)
    for j, column in enumerate(columns):
        result[:, j] = column
    return result
