"""Inspection: what a file holds, what is odd about it, and the roles that fit its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from optmodels.errors import InputError
from optmodels.files import write_whole
from optmodels.inspection.columns import Column
from optmodels.inspection.findings import Finding, findings_of
from optmodels.inspection.page import page
from optmodels.inspection.proposals import Proposal, proposals
from optmodels.inspection.role_text import role_text
from optmodels.partition import Labels, class_sizes, group_frame
from optmodels.table.dates import OR
from optmodels.table.reading import as_frame, column_names, read_frame
from optmodels.table.role_checks import check_column_names
from optmodels.table.role_types import Kind
from optmodels.table.roles import Roles


@dataclass(frozen=True, eq=False)
class Inspection:
    """What was seen in a file; nothing of it was changed.

    Attributes:
        source: the name of the file.
        columns: each column in figures, by name.
        findings: what is odd, column by column, and then about the whole.
        proposals: a role for each column, with the reason.
        unique_share: the share of records alone with their values of all proposed quasi-identifiers together.
    """

    source: str
    columns: Mapping[str, Column]
    findings: tuple[Finding, ...]
    proposals: Mapping[str, Proposal]
    unique_share: float

    @property
    def records(self) -> int:
        """Number of records."""
        return next(iter(self.columns.values())).records

    @cached_property
    def proposed(self) -> Roles:
        """The proposals as roles that a table takes.

        Raises:
            InputError: no column fits as a quasi-identifier.
        """
        quasi: dict[str, Kind] = {name: one.kind for name, one in self.proposals.items() if one.kind is not None}
        if not quasi:
            raise InputError(
                f"None of the columns of '{self.source}' looks like a quasi-identifier: say yourself which are, "
                "quasi={'age': 'numeric', ...}."
            )
        return Roles(
            quasi=quasi,
            sensitive=self.named("sensitive"),
            identifiers=self.named("identifier"),
            person=next(iter(self.named("person")), None),
            others=dict.fromkeys(self.named("drop"), "drop") or "error",
            scaling="alike",
            dates={
                name: OR.join(self.columns[name].mixed_dates)
                for name, kind in quasi.items()
                if kind == "date" and self.columns[name].mixed_dates
            },
            decimal=","
            if any(one.decimal_commas and not one.perhaps_thousands for one in self.columns.values())
            else None,
        )

    def named(self, role: str) -> tuple[str, ...]:
        """The columns that are proposed for a role."""
        return tuple(name for name, one in self.proposals.items() if one.role == role)

    def to_toml(self) -> str:
        """The proposals as a role file to be edited, with the reasons as comments."""
        return role_text(self.source, self.columns, self.findings, self.proposals)

    def save_roles(self, path: str | Path) -> None:
        """Write the role file."""
        text = self.to_toml()
        write_whole(Path(path), lambda file: file.write_text(text, encoding="utf-8", newline="\n"))

    def to_html(self, source: Mapping[str, str] | None = None) -> str:
        """A page for whoever decides what the columns are; `source` has the data's fingerprint and the command.

        >>> people = pd.DataFrame({"name": ["Ann", "Bo"], "age": [31, 45]})
        >>> "Inspection of 2 records" in inspect_frame(people).to_html()
        True
        """
        return page(
            self.source,
            self.columns,
            self.findings,
            self.proposals,
            unique_share=self.unique_share,
            source=source or {},
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "source": self.source,
            "records": self.records,
            "unique_share": self.unique_share,
            "columns": {
                name: {**column.to_dict(), **_said(self.proposals[name])} for name, column in self.columns.items()
            },
            "findings": [finding.to_dict() for finding in self.findings],
        }


def _said(proposal: Proposal) -> dict[str, Any]:
    return {"role": proposal.role, "kind": proposal.kind, "reason": proposal.reason}


def inspect_file(
    path: str | Path, *, separator: str | None = None, decimal: str | None = None, encoding: str | None = None
) -> Inspection:
    """Look at a CSV, Parquet or Arrow file; what is in a CSV is taken as it is written."""
    names = column_names(path, separator=separator, decimal=decimal, encoding=encoding)
    frame = read_frame(path, text=names, separator=separator, decimal=decimal, encoding=encoding)
    return inspect_frame(frame, source=str(path))


def inspect_frame(data: object, *, source: str = "the table") -> Inspection:
    """Look at a table in memory.

    >>> people = pd.DataFrame({"name": ["Ann", "Bo", "Cy"], "age": [31, 45, 999], "sex": ["f", "m", "F"]})
    >>> seen = inspect_frame(people)
    >>> [(finding.column, finding.kind) for finding in seen.findings]
    [('name', 'nearly unique'), ('age', 'numbers for unknown'), ('age', 'nearly unique'), ('sex', ...)]
    >>> seen.proposed.quasi, seen.proposed.identifiers
    ({'age': 'numeric', 'sex': 'categorical'}, ('name',))
    """
    frame = as_frame(data)
    check_column_names(tuple(frame.columns))
    if frame.empty:
        raise InputError("There is nothing to inspect: the table has no records or no columns.")
    columns = {name: Column.of(frame[name], name) for name in frame.columns}
    alike = group_frame(frame, list(frame.columns))
    once = frame[~pd.Series(alike).duplicated().to_numpy()]
    repeating = [name for name in frame.columns if once[name].dropna().duplicated().any()]
    found = proposals(list(columns.values()), repeating)
    findings = [finding for column in columns.values() for finding in findings_of(column)]
    findings += _repeated(columns, found, repeating) + _duplicates(frame, alike)
    quasi = [name for name, one in found.items() if one.role == "quasi"]
    sizes = class_sizes(group_frame(frame, quasi)) if quasi else np.array([len(frame)])
    return Inspection(source, columns, tuple(findings), found, float((sizes == 1).sum() / len(frame)))


def _repeated(
    columns: Mapping[str, Column], found: Mapping[str, Proposal], repeating: Collection[str]
) -> list[Finding]:
    """Identifiers that several records have; those of records entered twice alone only where there are no others."""
    told = []
    naming = [name for name, one in found.items() if one.role in ("identifier", "person") and columns[name].repeats]
    for name in [name for name in naming if name in repeating] or naming:
        again = columns[name].repeats
        records = sum(again.values())
        what = f"{records:,} records share it with another: {len(again):,} people with several records each"
        remedy = f"k must count people, not records: person = '{name}' in the role file, or --person {name}"
        told.append(Finding(name, "repeated identifier", what, records, tuple(list(again)[:5]), remedy))
    return told


def _duplicates(frame: pd.DataFrame, labels: Labels) -> list[Finding]:
    copies = int(len(labels) - len(class_sizes(labels)))
    if not copies:
        return []
    again = frame[pd.Series(labels).duplicated().to_numpy()].iloc[0]
    example = ", ".join(str(value) for value in again.tolist()[:5])
    remedy = "if they are the same records entered twice, remove the copies; people who are alike may well be real"
    return [
        Finding(
            None,
            "duplicate rows",
            f"{copies:,} row{'s equal' if copies > 1 else ' equals'} an earlier one",
            copies,
            (example,),
            remedy,
        )
    ]
