"""Table: a frame whose columns have roles. Bad input never gets past it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from optmodels.errors import InputError, unknown
from optmodels.partition import people_in
from optmodels.table import wording
from optmodels.table.cleaning import Report
from optmodels.table.collapsed import Collapsed
from optmodels.table.encoded import Encoded
from optmodels.table.encoding import Codes
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.measuring import Measuring
from optmodels.table.part_rows import rows_of_part
from optmodels.table.plain_hierarchy import plain_hierarchy, star_hierarchy
from optmodels.table.prepared import Prepared, prepared, read
from optmodels.table.reading import as_frame
from optmodels.table.role_types import Kind, MoreRoles, Scaling, SomeRoles
from optmodels.table.roles import Roles, names_roles
from optmodels.table.showing import table_figure, table_html
from optmodels.table.summary import Whole
from optmodels.values import value_order

if TYPE_CHECKING:
    from optmodels.plot.figures import Backend

_COPIES_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3  # what shares its data is safe from changes to the other


class Table:
    """A frame with roles, checked when made; what solvers need is encoded when first asked for.

    Keyword arguments are the fields of `Roles`, which says what each of them means.

    >>> people = pd.DataFrame({"age": [31, 45, 31], "town": ["b", "a", "b"], "illness": ["flu", "flu", "cold"]})
    >>> table = Table(people, quasi={"age": "numeric", "town": "categorical"}, sensitive="illness")
    >>> table
    Table(3 records; quasi age numeric, town categorical; sensitive illness)
    >>> table.values.tolist(), table.codes.tolist(), table.sensitive_codes.tolist()
    ([[31.0], [45.0], [31.0]], [[1], [0], [1]], [[1], [1], [0]])
    """

    roles: Roles
    missing_report: dict[str, Any]  # what was done about missing values, and to which columns
    dropped: tuple[str, ...]  # columns that were there and are not kept, identifiers among them
    cleaning_report: Report  # how many cells each step of cleaning changed, by column
    repeated_identifiers: dict[str, int]  # people with several records, by identifier, where `person` is not said
    _columns: Encoded
    _measuring: Measuring

    @names_roles
    def __init__(self, frame: object, *, quasi: Mapping[str, Kind], **roles: Unpack[MoreRoles]) -> None:
        self._hold(prepared(as_frame(frame), Roles(quasi=quasi).revised(**roles)))

    @classmethod
    def with_roles(cls, frame: object, roles: Roles | str | Path) -> Table:
        """A table from data and roles made earlier, or the TOML file that holds them."""
        table = object.__new__(cls)
        table._hold(prepared(as_frame(frame), _loaded(roles)))
        return table

    @classmethod
    @names_roles
    def from_file(
        cls, path: str | Path, *, roles: Roles | str | Path | None = None, **given: Unpack[SomeRoles]
    ) -> Table:
        """Read CSV, Parquet or Arrow, only the columns that are kept; what is given here replaces what `roles` says.

        What is not anonymised is released as it is written in the file, 007 as 007 and 2.50 as 2.50. The separator and
        the encoding of a CSV are found out unless given; numbers have a decimal point unless `decimal` says otherwise.
        Attributes count alike unless `scaling` says otherwise.
        """
        own = Roles(quasi=given.get("quasi") or {}, scaling="alike") if roles is None else _loaded(roles)
        table = object.__new__(cls)
        table._hold(read(path, own.revised(**given)))
        return table

    def _hold(self, made: Prepared) -> None:
        self.missing_report, self.cleaning_report = made.missing_report, made.cleaning_report
        self.dropped, self.repeated_identifiers = made.dropped, made.repeated_identifiers
        self._set(made.roles, made.columns)

    def _set(self, roles: Roles, columns: Encoded, whole: Whole | None = None) -> None:
        self.roles, self._columns = roles, columns
        self._measuring = Measuring(columns, roles, whole)

    def _other(self, roles: Roles, columns: Encoded, whole: Whole | None) -> Table:
        """A table of the same origin."""
        other = object.__new__(Table)
        other.missing_report, other.cleaning_report = self.missing_report, self.cleaning_report
        other.dropped = self.dropped
        other.repeated_identifiers = self.repeated_identifiers
        other._set(roles, columns, whole)
        return other

    @property
    def frame(self) -> pd.DataFrame:
        """The cleaned data: the columns kept, in their own order. Changing it does not change the table."""
        return self._columns.frame.copy(deep=not _COPIES_ON_WRITE)

    def as_read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A frame of this table's records with what is not anonymised in the words in which it was read.

        Numbers of a CSV file are measured as numbers and written as they were: 2.50 as 2.50; dates stay dates.
        """
        return wording.as_read(self._columns, frame)

    def as_dates(self, name: str, numbers: Iterable[float]) -> list[str]:
        """Numbers of a quasi-identifier as the dates that they stand for; nothing where it has no dates.

        >>> seen = pd.DataFrame({"seen": ["31.01.2024", "05.02.2024"]})
        >>> table = Table(seen, quasi={"seen": "date"})
        >>> table.values.ravel().tolist(), table.as_dates("seen", [19755])
        ([19753.0, 19758.0], ['02.02.2024'])
        """
        return wording.as_dates(self.roles, name, numbers)

    def as_measured(self, released: pd.DataFrame) -> pd.DataFrame:
        """A release of this table, its sensitive attributes measured as the table's are, from the released words."""
        return wording.as_measured(self._columns, released)

    @property
    def decimals(self) -> dict[str, int | None]:
        """How many decimals numeric quasi-identifiers are written with, and are released with; None: all there are."""
        whole = self._measuring.whole
        return self._columns.decimals if whole is None else dict(whole.decimals)

    @property
    def n(self) -> int:
        """Number of records."""
        return self._columns.n

    @property
    def records_in_all(self) -> int:
        """Number of records of the table that this one is a part of; its own where it is all there is."""
        return self.n if self._measuring.whole is None else self._measuring.whole.n

    def __len__(self) -> int:
        return self.n

    @property
    def rows(self) -> NDArray[np.int64]:
        """(n,) which row of the frame or file each record was, from 0 on.

        >>> people = pd.DataFrame({"age": [45, None, 31]})
        >>> Table(people, quasi={"age": "numeric"}, missing="drop").sorted().rows
        array([2, 0])
        """
        return np.arange(self.n) if self._columns.moved is None else self._columns.moved

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
        return self._columns.measured

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers that only match or do not."""
        return self._columns.categorical

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
        return {name: tree for name, tree in self.roles.hierarchies.items() if isinstance(tree, Hierarchy)}

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each quasi-identifier, 1 unless given."""
        return dict(self._measuring.weights)

    @property
    def levels(self) -> dict[str, pd.Index]:
        """Values of each categorical and ordinal quasi-identifier, in the order of their codes."""
        return self._columns.levels

    @property
    def codes(self) -> Codes:
        """(n, categorical) which level each record has."""
        return self._columns.codes

    @property
    def values(self) -> NDArray[np.float64]:
        """(n, measured) numbers as given, and ranks 0..m-1 of ordinal values."""
        return self._columns.values

    @property
    def centres(self) -> NDArray[np.float64]:
        """What the scaling takes off each measured attribute."""
        return self._measuring.centres

    @property
    def scales(self) -> NDArray[np.float64]:
        """What the scaling divides each measured attribute by: sample standard deviation or range, 1 if constant."""
        return self._measuring.scales

    @property
    def ranges(self) -> NDArray[np.float64]:
        """How far apart the extremes of each measured attribute are."""
        return self._measuring.ranges

    @property
    def occurring(self) -> NDArray[np.int64]:
        """How many different values each categorical attribute has."""
        return self._measuring.occurring

    @property
    def scaled(self) -> NDArray[np.float64]:
        """(n, measured) the values after scaling, times the square root of each weight."""
        return self._measuring.scaled

    @property
    def mismatch_weights(self) -> NDArray[np.float64]:
        """(categorical,) what a mismatch costs: gamma times the weight."""
        return self._measuring.mismatch_weights

    @property
    def sensitive_codes(self) -> Codes:
        """(n, sensitive) which level each record has."""
        return self._columns.sensitive_codes

    @property
    def sensitive_levels(self) -> tuple[pd.Index, ...]:
        """Values of each sensitive attribute, in the order of their codes."""
        return self._columns.sensitive_levels

    @property
    def sensitive_ordered(self) -> tuple[bool, ...]:
        """Do the levels of each sensitive attribute have an order: one given, bins, or numbers with decimals?"""
        return self._columns.sensitive_ordered

    @property
    def sensitive_orders(self) -> dict[str, pd.Index]:
        """The levels of those sensitive attributes whose levels have an order, from lowest to highest."""
        levelled = zip(self.sensitive, self.sensitive_levels, self.sensitive_ordered, strict=True)
        return {name: levels for name, levels, ordered in levelled if ordered}

    @property
    def orders(self) -> dict[str, pd.Index]:
        """The values of every column that has an order, from lowest to highest."""
        return self.sensitive_orders | {name: self.levels[name] for name in self.measured if name in self.levels}

    @property
    def sensitive_nominal(self) -> tuple[str, ...]:
        """The sensitive attributes whose values have no order."""
        return tuple(name for name in self.sensitive if name not in self.sensitive_orders)

    @property
    def order_guessed(self) -> dict[str, bool]:
        """Sensitive attributes of numbers of which nobody said whether they have an order, and whether they got one."""
        return self._columns.order_guessed

    @property
    def sensitive_shares(self) -> NDArray[np.float64]:
        """The distribution of the values of the sensitive attributes, one after the other."""
        return self._measuring.sensitive_shares

    @property
    def people(self) -> Codes | None:
        """(n,) which person each record is of; None where every record is a person of its own."""
        return self._columns.people

    @cached_property
    def n_people(self) -> int:
        """Number of people: of records, where nothing says which are of the same person."""
        return self.n if self.people is None else len(np.unique(self.people))

    def people_in(self, labels: ArrayLike) -> NDArray[np.int64]:
        """How many different people each class 0..C-1 has: its size, where every record is a person.

        >>> visits = pd.DataFrame({"patient": ["p1", "p1", "p2"], "age": [31, 31, 45]})
        >>> Table(visits, quasi={"age": "numeric"}, person="patient").people_in([0, 0, 0])
        array([2])
        """
        return people_in(labels, self.people)

    def level_codes(self, name: str) -> Codes:
        """Which level of a categorical or ordinal quasi-identifier each record has."""
        return self._columns.level_codes(name)

    def leaf_codes(self, name: str) -> NDArray[np.int32]:
        """The leaf of each record in the hierarchy of a column."""
        if name not in self.hierarchies:
            raise unknown("hierarchy for the column", name, self.hierarchies)
        return self.hierarchies[name].codes(self._columns.frame[name])

    def collapse(self, sensitive: bool = True) -> Collapsed:
        """Records with equal quasi-identifiers (and sensitive values, unless told otherwise) once, with their counts.

        >>> table = Table(pd.DataFrame({"age": [31, 45, 31]}), quasi={"age": "numeric"})
        >>> table.collapse().counts
        array([2, 1])
        """
        blocks: list[NDArray[Any]] = [self.values, self.codes, *([self.sensitive_codes] if sensitive else [])]
        blocks += [] if self.people is None else [self.people[:, None]]
        return Collapsed.of([block[:, j] for block in blocks for j in range(block.shape[1])])

    def take(self, rows: ArrayLike) -> Table:
        """Some of the records, by number or by mask, with the levels and the scaling of the whole table."""
        return self._some(rows, self._measuring.whole)

    def _some(self, rows: ArrayLike, whole: Whole | None) -> Table:
        chosen = rows_of_part(rows, self.n)
        part = self._other(self.roles, self._columns.take(chosen), whole)
        part._measuring = self._measuring.take(chosen, part._columns, whole)
        return part

    def sorted(self) -> Table:
        """The same records in the order of their values, so that nothing made of them depends on how they came.

        The command line sorts every file that it reads: the same rows in another order make the same release, byte by
        byte, and so do the same columns, which count by their names. Labels are then those of the sorted records;
        `rows` says which row of the file each of them was.

        >>> table = Table(pd.DataFrame({"age": [45, 31], "town": ["a", "b"]}), quasi={"age": "numeric"}, others="keep")
        >>> table.sorted().frame["age"].tolist()
        [31, 45]
        """
        seen = self.as_read(self.frame)
        if self.people is not None:
            seen = seen.assign(**{max(map(str, seen.columns)) + "_": self.people})  # behind all others by its name
        by_name = seen[sorted(seen.columns, key=str)]
        return self._other(self.roles, self._columns.take(value_order(by_name)), self._measuring.whole)

    def part(self, rows: ArrayLike) -> Table:
        """Some of the records, measured as the whole table is: its ranges and its distributions are theirs, too.

        >>> table = Table(pd.DataFrame({"age": [31, 45, 61]}), quasi={"age": "numeric"})
        >>> table.part([0, 1]).ranges, table.take([0, 1]).ranges
        (array([30.]), array([14.]))
        """
        return self._some(rows, self.summary)

    @cached_property
    def summary(self) -> Whole:
        """What parts have to know of this table; where it is itself a part, of the whole that it belongs to."""
        return Whole.of(self._columns) if self._measuring.whole is None else self._measuring.whole

    def part_of(self, whole: Whole) -> Table:
        """The same records with the levels, the scaling, the ranges and the distribution of a larger table."""
        columns = self._columns.with_levels(whole.levels, whole.sensitive, whole.sensitive_ordered)
        return self._other(self.roles, columns, whole)

    def rescaled(
        self, *, scaling: Scaling | None = None, weights: Mapping[str, float] | None = None, gamma: float | None = None
    ) -> Table:
        """The same records measured otherwise; what is not given stays, weights name by name.

        >>> table = Table(pd.DataFrame({"age": [31, 45, 31]}), quasi={"age": "numeric"})
        >>> table.rescaled(scaling="range").scaled.ravel()
        array([0., 1., 0.])
        """
        merged = None if weights is None else {**self.roles.given_weights, **weights}
        roles = self.roles.revised(scaling=scaling, weights=merged, gamma=gamma)
        return self._other(roles, self._columns, self._measuring.whole)

    def hierarchy(self, name: str) -> Hierarchy:
        """The hierarchy of a quasi-identifier.

        Raises:
            InputError: it has none; the message says how to get one.
        """
        if name not in self.hierarchies:
            raise InputError(
                f"The quasi-identifier '{name}' has no hierarchy to generalise it by; give the table one, "
                f"hierarchies={{'{name}': Hierarchy.from_csv(...)}}, or Hierarchy.automatic(values)."
            )
        return self.hierarchies[name]

    def with_hierarchies(self, kinds: Collection[Kind] = ("numeric", "ordinal", "categorical")) -> Table:
        """The same records with a hierarchy for every quasi-identifier of some kinds; those that are given stay.

        Numbers and ordinals get five levels: the values, three of ever longer runs of neighbours, and the root.
        Categories, of which nothing is known, are kept or suppressed.

        >>> table = Table(pd.DataFrame({"age": range(81), "town": ["a", "b", "c"] * 27}), quasi={"age": "numeric",
        ...     "town": "categorical"}).with_hierarchies()
        >>> {name: hierarchy.n_levels for name, hierarchy in table.hierarchies.items()}
        {'age': 5, 'town': 2}
        """
        lacking = [name for name in self.quasi if name not in self.hierarchies and self.kinds[name] in kinds]
        if not lacking:
            return self
        built = {name: plain_hierarchy(self._columns, name) for name in lacking}
        roles = self.roles.revised(hierarchies={**self.hierarchies, **built})
        return self._other(roles, self._columns, self._measuring.whole)

    def with_stars(self) -> Table:
        """The same records with a star above the values of every quasi-identifier, whatever hierarchies were given.

        >>> table = Table(pd.DataFrame({"age": range(81)}), quasi={"age": "numeric"}).with_stars()
        >>> table.hierarchies["age"].n_levels
        2
        """
        stars = {name: star_hierarchy(self._columns, name) for name in self.quasi}
        roles = self.roles.revised(hierarchies={**self.hierarchies, **stars})
        return self._other(roles, self._columns, self._measuring.whole)

    def plot(self, *columns: str, backend: Backend = "plotly") -> Any:
        """How the values of some columns are spread; of all with a role unless some are named.

        It is a Plotly figure, or with the backend "matplotlib" one for print. `optmodels.plot.changes` has the data.
        """
        return table_figure(self.frame, columns or (*self.quasi, *self.sensitive), self.orders, backend)

    def _repr_html_(self) -> str:
        return table_html(self.frame, self.kinds, self.sensitive, self.target)

    def __repr__(self) -> str:
        quasi = ", ".join(f"{name} {kind}" for name, kind in self.roles.quasi.items())
        sensitive = f"; sensitive {', '.join(self.sensitive)}" if self.sensitive else ""
        return f"Table({self.n:,} records; quasi {quasi}{sensitive})"


def _loaded(roles: Roles | str | Path) -> Roles:
    return roles if isinstance(roles, Roles) else Roles.load(roles)
