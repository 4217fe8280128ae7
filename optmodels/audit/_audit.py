"""The audit: what a table as it stands protects and what it risks, from its values alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types

from optmodels.audit.findings import Findings
from optmodels.audit.levels import SensitiveLevels, sensitive_levels
from optmodels.audit.people import People, most_records, once_per_value
from optmodels.audit.text import audit_text
from optmodels.errors import InputError, unknown
from optmodels.markup import grid, named, notebook
from optmodels.metrics import loss, privacy, risk
from optmodels.partition import Histograms, class_sizes, group_frame, histograms, not_comparable, people_in
from optmodels.plot.risks import risk_change
from optmodels.suppressed_rows import without_suppressed
from optmodels.table.encoding import natural_order, places_in_order
from optmodels.table.spelling import has_decimals

if TYPE_CHECKING:
    from optmodels.plot.figures import Backend
    from optmodels.table import Table
    from optmodels.table.hierarchy import Hierarchy

TAUS = (0.05, 0.075, 0.1)

Orders = Collection[str] | Mapping[str, Sequence[object] | pd.Index]


@dataclass(frozen=True)
class Audit(Findings):
    """Privacy levels and risks of a table whose classes are its groups of equal quasi-identifiers."""

    def to_html(self, frame: pd.DataFrame | None = None, *, source: Mapping[str, str] | None = None) -> str:
        """The audit as one page that needs nothing else; with the table that was audited it shows groups, too.

        `source` says where the table comes from: data, sha256 and command.
        """
        from optmodels.report import Dossier, page

        seen = None if frame is None else without_suppressed(frame, len(frame) - self.records)[0]
        return page(Dossier(audit=self, frame=seen, source=source or {}))

    def plot(self, before: Audit | None = None, *, backend: Backend = "plotly") -> Any:
        """Its risks as a figure, beside those of the table `before` if given; `optmodels.plot.risks` has the data."""
        from optmodels.plot.figures import bars_figure, in_backend

        found = risk_change(before, self)
        bars = found[["meaning", *(["before"] if before is not None else []), "after"]]
        title = f"Risks of {self.records:,} records in {self.classes:,} classes"
        value = "chance or share (lower is better)"
        return in_backend(bars_figure({"": bars}, title=title, value=value, percent=True, horizontal=True), backend)

    def _repr_html_(self) -> str:
        facts = {
            "k": f"{self.k:,}",
            "quasi-identifiers": ", ".join(self.quasi),
            "largest chance to pick a known person's record": f"{self.prosecutor:.4g}",
        }
        titles = ("sensitive", "distinct l", "entropy l", "largest share", "t", "ground")
        rows = [
            (named(one), of.distinct_l, f"{of.entropy_l:.4g}", f"{of.alpha:.4g}", f"{of.t_emd:.4g}", of.t_ground)
            for one, of in self.sensitive.items()
        ]
        return notebook(
            f"Audit of {self.records:,} records in {self.classes:,} classes",
            facts,
            grid(titles, rows) if rows else None,
        )

    def __str__(self) -> str:
        return audit_text(self)


def audit(
    frame: pd.DataFrame,
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] = (),
    ordered: Orders = (),
    nominal: Collection[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    taus: Sequence[float] = TAUS,
    population: pd.DataFrame | None = None,
    original: pd.DataFrame | None = None,
    suppressed: int | None = None,
    person: str | ArrayLike | None = None,
) -> Audit:
    """Audit a table as an attacker would meet it: its classes are the groups of equal quasi-identifiers.

    Rows that say nothing in any column are suppressed records: they are counted, and are in no class.

    Args:
        frame: the table, released or not; a missing value equals another missing value.
        quasi: names of the quasi-identifiers.
        sensitive: names of the sensitive attributes.
        ordered: sensitive attributes whose values have an order: names, for their natural order, or a mapping from
            name to all values from lowest to highest. Numbers with decimals have one unless they are nominal, whole
            numbers, which may be codes, have none unless they are named here.
        nominal: sensitive attributes whose values are names, equally far apart, though they may be numbers.
        hierarchies: hierarchies of sensitive attributes; they decide the ground distance of `t_emd`.
        taus: probabilities above which a record counts as linked.
        population: a table the release is a sample of, recoded alike, for journalist and marketer risk.
        original: the table that it was made from, whose sensitive values t, beta and delta compare with; those of the
            release itself unless given, which are others only where records are left out.
        suppressed: how many rows that say nothing are suppressed records, where that is known: a class may say
            nothing as well. All of them unless given.
        person: whose each record is, a column or as many values: k and risks then count people.

    >>> people = pd.DataFrame({"age": ["30-39"] * 3 + ["40-49"] * 2, "illness": ["flu", "flu", "cold", "flu", "flu"]})
    >>> found = audit(people, quasi=["age"], sensitive="illness")
    >>> found.classes, found.k, found.homogeneity["total"], found.sensitive["illness"].distinct_l
    (2, 2, 2, 1)
    """
    names = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    _check_columns(frame, tuple(quasi), names, (*ordered, *nominal))
    frame, missing = without_suppressed(frame, suppressed)
    original = None if original is None else without_suppressed(original)[0]
    labels = group_frame(frame, quasi)
    sizes = class_sizes(labels)
    whose = _whose(frame, person)
    found: dict[str, Histograms] = {}
    levels: dict[str, SensitiveLevels] = {}
    by_people: dict[str, SensitiveLevels] = {}
    for name in names:
        column = frame[name]
        if original is not None:
            column = pd.concat([column, _column(original, name)], ignore_index=True)
        codes, values, has_order = _numbered(column, ordered, nominal)
        found[name] = histograms(labels, codes[: len(frame)])
        hierarchy = (hierarchies or {}).get(name)
        shares = None if original is None else np.bincount(codes[len(frame) :], minlength=len(values)) / len(original)
        levels[name] = sensitive_levels(found[name], values, has_order, hierarchy, shares=shares)
        if whose is not None:
            once = once_per_value(labels, whose, codes[: len(frame)])
            by_people[name] = sensitive_levels(once, values, has_order, hierarchy, shares=shares)
    reached = None if population is None else risk.population_sizes(frame, labels, population, quasi)
    heads = None if whose is None else people_in(labels, whose)
    people = None if whose is None else People(int(whose.max()) + 1, most_records(whose), by_people)
    return replace(judged(sizes, found, levels, quasi, taus, reached, heads), suppressed=missing, people=people)


def _column(original: pd.DataFrame, name: str) -> pd.Series:
    if name not in original.columns:
        raise InputError(f"The original table has no column '{name}': give the table that the release was made from.")
    return original[name]


def audit_table(table: Table) -> Audit:
    """The audit of a table with roles as it is, before anything is done to it."""
    return audit(
        table.frame,
        quasi=table.quasi,
        sensitive=table.sensitive,
        ordered=table.sensitive_orders,
        nominal=table.sensitive_nominal,
        hierarchies=table.hierarchies,
        person=table.people,
    )


def judged(
    sizes: NDArray[np.int64],
    found: Mapping[str, Histograms],
    levels: Mapping[str, SensitiveLevels],
    quasi: Sequence[str],
    taus: Sequence[float] = TAUS,
    reached: NDArray[np.int64] | None = None,
    people: NDArray[np.int64] | None = None,
) -> Audit:
    """The audit of classes of these sizes, with these histograms of sensitive attributes and what they protect.

    `reached` are the sizes of the classes in a population, `people` says of how many people the records of each are.
    """
    heads = sizes if people is None else people
    return Audit(
        records=int(sizes.sum()),
        classes=len(sizes),
        k=privacy.k_anonymity(heads),
        average_class_size=loss.average_class_size(sizes),
        linkage={f"{tau:g}": risk.linkage(sizes, tau, heads) for tau in taus},
        homogeneity=risk.homogeneity(found),
        prosecutor=risk.prosecutor(heads),
        journalist=risk.journalist(heads, reached),
        marketer=risk.marketer(heads, reached),
        discernibility=loss.discernibility(sizes),
        quasi=tuple(quasi),
        sensitive=levels,
    )


def _whose(frame: pd.DataFrame, person: str | ArrayLike | None) -> NDArray[np.int64] | None:
    """Whose each record is, 0..P-1, or None if each is another's."""
    if person is None:
        return None
    if isinstance(person, str) and person not in frame.columns:
        raise unknown("column", person, map(str, frame.columns))
    column = frame[person] if isinstance(person, str) else pd.Series(np.asarray(person))
    if len(column) != len(frame):
        raise InputError(f"The table has {len(frame)} records, but {len(column)} were said whose they are.")
    if column.isna().any():
        first = int(column.isna().to_numpy().argmax()) + 1
        raise InputError(f"Row {first} does not say whose it is ('{person}'); fill it in, or leave the record out.")
    return np.asarray(pd.factorize(column)[0], np.int64)


def _check_columns(
    frame: pd.DataFrame, quasi: tuple[str, ...], sensitive: tuple[str, ...], further: Collection[str]
) -> None:
    if not quasi:
        raise InputError("An audit needs at least one quasi-identifier: name the columns that others may know.")
    asked = [*quasi, *sensitive]
    for name in [*asked, *further]:
        if name not in frame.columns:
            raise unknown("column", str(name), map(str, frame.columns))
    twice = [name for at, name in enumerate(asked) if name in asked[:at]]
    if twice:
        raise InputError(f"The column '{twice[0]}' is named twice; it can be a quasi-identifier or sensitive, once.")
    doubled = [name for name in asked if isinstance(frame[name], pd.DataFrame)]
    if doubled:
        raise InputError(f"The table has several columns called '{doubled[0]}'; rename all but one.")
    if not len(frame):
        raise InputError("There is nothing to audit: the table has no records.")


def _numbered(
    column: pd.Series, ordered: Orders, nominal: Collection[str]
) -> tuple[NDArray[np.integer[Any]], pd.Index, bool]:
    """Codes of a sensitive attribute's values, the values, and whether their codes follow an order."""
    name, dtype = str(column.name), column.dtype
    given = pd.Index(ordered[name]) if isinstance(ordered, Mapping) and name in ordered else None
    if given is None and isinstance(dtype, pd.CategoricalDtype) and dtype.ordered and name not in nominal:
        given = pd.Index(dtype.categories)
    if given is None and name in ordered and not types.is_numeric_dtype(dtype):
        given = natural_order(column)
    natural = name in ordered or (name not in nominal and has_decimals(pd.Index(column)))
    codes, values = _factorized(column, sort=natural and given is None)
    if given is not None:
        place, given = places_in_order(given, values)
        if (place < 0).any():
            stranger = values[place < 0][0]
            raise InputError(f"The order given for '{name}' does not list its value {stranger!r}; add it.")
        codes, values = np.where(codes < 0, -1, place[codes]), given
    if (codes < 0).any():  # a missing value is a value like any other, and comes last
        codes, values = np.where(codes < 0, len(values), codes), values.append(pd.Index([None], dtype=object))
    return codes, values, natural or given is not None


def _factorized(column: pd.Series, sort: bool) -> tuple[NDArray[np.integer[Any]], pd.Index]:
    if isinstance(column.dtype, pd.CategoricalDtype) and not sort:
        return column.cat.codes.to_numpy(), column.cat.categories
    try:
        codes, values = pd.factorize(column, sort=sort)
    except TypeError as problem:
        raise not_comparable(str(column.name), problem) from problem
    return codes, pd.Index(values)
