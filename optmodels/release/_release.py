"""A release: a table recoded by a partition, audited from its own values before anything can be written."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types

from optmodels.audit import Audit, audit, audit_table
from optmodels.audit.kept import kept_columns
from optmodels.errors import BrokenPromiseError, InputError, unknown
from optmodels.files import Writer, write_together, write_whole
from optmodels.markup import grid, named, notebook
from optmodels.metrics.loss import attribute_losses, gcp, released_information_loss
from optmodels.partition import LEFT_OUT, Labels, canonical
from optmodels.plot.changes import distribution_change
from optmodels.plot.readings import Recoded
from optmodels.recoding import Method, recode
from optmodels.release.formulas import without_formulas
from optmodels.release.promise import Terms, promise_writer
from optmodels.report.words import plain
from optmodels.suppressed_rows import Suppressed, with_suppressed, without_suppressed
from optmodels.values import in_value_order
from optmodels.verifier import beside

if TYPE_CHECKING:
    from optmodels.conditions import Conditions
    from optmodels.plot.figures import Backend
    from optmodels.plot.points import Pictured
    from optmodels.table import Table

__all__ = ["Method", "Release", "Suppressed", "recode", "release"]


@dataclass(frozen=True)
class Release:
    """An anonymised table that keeps its promise, its audit, and how it came about.

    The rows are in an order that depends on the released values alone, and nothing that is written says which original
    record a row belongs to. `recoded`, which pictures of before and after are made from, does: it stays in memory.
    """

    frame: pd.DataFrame = field(repr=False)
    audit: Audit = field(repr=False)
    method: Method
    provenance: Mapping[str, object] = field(default_factory=dict)
    recoded: Recoded | None = field(default=None, repr=False, compare=False)
    terms: Terms | None = field(default=None, repr=False, compare=False)

    @property
    def loss(self) -> Mapping[str, float]:
        """What the recoding cost, against the original table."""
        return self.audit.loss

    def with_provenance(self, more: Mapping[str, object]) -> Release:
        """The same release with more said about how it came about."""
        return replace(self, provenance={**self.provenance, **more})

    def to_csv(
        self, path: str | Path, *, separator: str = ",", decimal: str = ".", escape_formulas: bool = False
    ) -> Path:
        """Write the table as CSV and its promise beside it, both or neither.

        With `escape_formulas` no text of it is one that a spreadsheet would run.

        Raises:
            BrokenPromiseError: the file, read again by the verifier, does not keep the promise; nothing is written.
        """
        write_together(self.files(path, separator=separator, decimal=decimal, escape_formulas=escape_formulas))
        return Path(path)

    def to_parquet(self, path: str | Path) -> Path:
        """Write the table as Parquet and its promise beside it, both or neither."""
        write_together(self.files(path, parquet=True))
        return Path(path)

    def files(
        self,
        path: str | Path,
        *,
        parquet: bool = False,
        separator: str = ",",
        decimal: str = ".",
        sha256: str | None = None,
        escape_formulas: bool = False,
    ) -> list[tuple[Path, Writer]]:
        """The file of the release and that of its promise, and what writes them, in this order and together.

        `sha256` is that of the data, which the promise then tells.
        """
        promise: dict[str, Any] = {}
        written: dict[str, object] = {"format": "parquet"}
        if not parquet:
            written = {"format": "csv", "separator": separator, "decimal": decimal, "escaped": escape_formulas}
        frame = without_formulas(self.frame) if escape_formulas and not parquet else self.frame

        def fill(file: Path) -> None:
            if parquet:
                frame.to_parquet(file, index=False)
            elif _has_carriage_return(frame):  # unquoted by default, and readers take it for a line's end
                frame.to_csv(file, index=False, sep=separator, decimal=decimal, quoting=csv.QUOTE_NONNUMERIC)
            else:
                frame.to_csv(file, index=False, sep=separator, decimal=decimal)

            if self.terms is not None:
                promise.update(self.terms.vouched(file, written, sha256))

        files: list[tuple[Path, Writer]] = [(Path(path), fill)]
        if self.terms is not None:
            files.append((beside(path), lambda file: promise_writer(promise, file)))
        return files

    def save_audit(self, path: str | Path) -> Path:
        """Write the audit as JSON."""
        return write_whole(path, lambda file: file.write_text(self.audit.to_json() + "\n", encoding="utf-8"))

    def save_report(self, path: str | Path) -> Path:
        """Write the report, one HTML page that needs nothing else."""
        return write_whole(path, lambda file: file.write_text(self.to_html(), encoding="utf-8"))

    def plot(self, *columns: str, backend: Backend = "plotly") -> Any:
        """How the values of some columns are spread, before and after; of all quasi-identifiers unless some are named.

        `optmodels.plot.changes` has the data.
        """
        from optmodels.plot.figures import bars_figure, in_backend

        if self.recoded is None:
            raise InputError("This release does not know what it was made from, so there is no before to show.")
        for one in columns:
            if one not in self.frame.columns:
                raise unknown("column", one, map(str, self.frame.columns))
        panels = {one: distribution_change(self.recoded, one) for one in columns or self.recoded.quasi}
        return in_backend(bars_figure(panels, title="Records before and after", value="records"), backend)

    def plot_loss(self, *, backend: Backend = "plotly") -> Any:
        """What was lost of each quasi-identifier, where 100% is as much as one class of everybody loses."""
        from optmodels.plot.figures import bars_figure, in_backend

        losses = self.audit.attribute_loss
        bars = pd.DataFrame({"attribute": list(losses), "lost": list(losses.values())})
        figure = bars_figure(
            {"": bars},
            title="Loss of each quasi-identifier",
            value="share of what one class of everybody loses (lower is better)",
            percent=True,
            warned=self.audit.all_but_lost,
            horizontal=True,
        )
        return in_backend(figure, backend)

    def _repr_html_(self) -> str:
        lost = ", ".join(f"{one} {share:.1%}" for one, share in self.audit.attribute_loss.items())
        facts = {"promise": plain(self.audit.promise or ""), "recoding": self.method, "lost": lost}
        rows = [[named(cell) for cell in row] for row in self.frame.head(5).itertuples(index=False)]
        return notebook(
            f"Release of {len(self.frame):,} records, k = {self.audit.k:,}",
            facts,
            grid([named(column) for column in self.frame.columns], rows),
        )

    def to_html(
        self,
        *,
        source: Mapping[str, str] | None = None,
        front: Pictured | None = None,
        chosen: int | None = None,
    ) -> str:
        """The report as one HTML page: promise, risk before and after, what is not protected, cost, how it was made.

        It has counts and shares of the original table and none of its records. `source` says where the data comes from
        (data, sha256, command); `front` is the one that the release was chosen from, and `chosen` its point's number.
        """
        from optmodels.report import Dossier, page

        made_from = self.recoded
        seen, _ = without_suppressed(self.frame, len(self.frame) - self.audit.records)
        return page(
            Dossier(
                audit=self.audit,
                frame=seen if made_from is None else made_from.original.as_measured(seen),
                before=None if made_from is None else audit_table(made_from.original),
                recoded=made_from,
                method=self.method,
                provenance=self.provenance,
                source=source or {},
                front=front,
                chosen=chosen,
            )
        )


def release(
    table: Table,
    labels: ArrayLike,
    *,
    promise: Conditions,
    method: Method = "centroid",
    suppressed: Suppressed = "drop",
    levels: NDArray[np.int64] | None = None,
    loss: Mapping[str, float] | None = None,
    provenance: Mapping[str, object] | None = None,
) -> Release:
    """Recode a table by a partition, audit the result from its own values, and hand it over if it keeps its promise.

    `levels` are those of hierarchies that classes are released on, see `recode`; `loss` is what else the maker of the
    release has to say about what it cost. Records with the label `LEFT_OUT` are dropped, or are rows that say nothing,
    in no column, and stand at the end. What is released of the others is compared with the whole table.

    Raises:
        BrokenPromiseError: the recoded table does not satisfy `promise`.

    >>> from optmodels.conditions import Conditions
    >>> from optmodels.table import Table
    >>> people = pd.DataFrame({"age": [31, 47, 33, 45], "illness": ["flu", "flu", "cold", "cold"]})
    >>> table = Table(people, quasi={"age": "numeric"}, sensitive="illness")
    >>> release(table, [0, 1, 0, 1], promise=Conditions(k=2, distinct_l=2), method="interval").frame
           age illness
    0  [31-33]    cold
    1  [31-33]     flu
    2  [45-47]    cold
    3  [45-47]     flu
    """
    classes = canonical(labels)
    kept = _kept_records(table, classes, suppressed)
    missing = table.n - len(kept)
    part = table.part(kept) if missing else table
    recoded = recode(part, classes[kept] if missing else labels, method, levels=levels)
    frame, people = _in_value_order(part.as_read(recoded), part.people)
    seen = frame
    if missing and suppressed == "star":
        numbers = [str(name) for name, column in part.frame.items() if types.is_numeric_dtype(column.dtype)]
        frame = with_suppressed(frame, missing, without_star=numbers)
        seen, _ = without_suppressed(frame, missing)
    measured = table.as_measured(seen)
    found = audit(
        measured,
        person=people,
        quasi=table.quasi,
        sensitive=table.sensitive,
        ordered=table.sensitive_orders,
        nominal=table.sensitive_nominal,
        hierarchies=table.hierarchies,
        original=table.as_measured(table.as_read(table.frame)) if missing else None,
        suppressed=0,
    )
    found = replace(found, suppressed=missing)
    broken = found.check(promise)
    if missing and not promise.suppress:
        broken.append(f"{missing} records are left out, and none may be")
    if broken:
        raise BrokenPromiseError(
            f"The release does not keep its promise: {'; '.join(broken)}. Nothing was written; the partition it was "
            "made from breaks the conditions."
        )
    classes = classes[kept]
    cost = {**(loss or {}), "gcp": (gcp(part, classes, levels, method=method) * len(kept) + missing) / table.n}
    if method == "centroid":
        lost = released_information_loss(part, recoded, of=table if missing else None)
        cost = {"information_loss": lost + missing / table.n} | cost
    noted = found.annotated(
        promise=promise.to_dict(),
        missing=table.missing_report | ({"cleaned": table.cleaning_report} if table.cleaning_report else {}),
        loss=cost,
        attribute_loss={
            name: loss + missing / table.n
            for name, loss in attribute_losses(part, classes, method, levels=levels, recoded=recoded).items()
        },
        kept=kept_columns(seen, table.quasi, table.sensitive),
    )
    said = dict(provenance or {})
    if table.repeated_identifiers:
        said["repeated_identifiers"] = table.repeated_identifiers
    if table.roles.person is not None:
        said["person"] = table.roles.person
    terms = Terms(table, promise, method, suppressed, missing, measured, people)
    return Release(frame, noted, method, said, Recoded(table, canonical(labels), method, levels), terms)


def _in_value_order(
    recoded: pd.DataFrame, people: NDArray[np.integer] | None
) -> tuple[pd.DataFrame, NDArray[np.integer] | None]:
    """The rows sorted by their values, and whose they are; among rows that are equal any order tells the same."""
    if people is None:
        return in_value_order(recoded), None
    hidden = max(recoded.columns, key=len) + "_"
    frame = in_value_order(recoded.assign(**{hidden: people}))
    return frame.drop(columns=hidden), frame[hidden].to_numpy()


def _kept_records(table: Table, classes: Labels, suppressed: Suppressed) -> NDArray[np.int64]:
    if suppressed not in get_args(Suppressed):
        raise unknown("way to release records left out", str(suppressed), get_args(Suppressed))
    kept = np.flatnonzero(classes != LEFT_OUT)
    if table.n and not len(kept):
        raise InputError("All records are left out: there is nothing to release.")
    return kept if len(classes) == table.n else np.arange(table.n)  # `recode` says what is wrong with the labels


def _has_carriage_return(frame: pd.DataFrame) -> bool:
    def within(texts: pd.Series | pd.Index) -> bool:
        return bool(texts.astype(str).str.contains("\r", regex=False).any())

    columns = [column for _, column in frame.items() if not types.is_numeric_dtype(column.dtype)]
    return within(frame.columns) or any(
        within(column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column) for column in columns
    )
