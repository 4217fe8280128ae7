"""A table before anything is done to it, as a page: its columns, what is odd about them, which roles fit and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from optmodels.inspection.columns import Column
from optmodels.inspection.findings import Finding
from optmodels.inspection.proposals import Proposal
from optmodels.markup import Markup, escaped, joined, named, names, tag
from optmodels.report.bars import Bar, bars
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import percent

_MOST_VALUES = 8
_LEAST_TOLD = 5  # records that a value must have to be told with its name
_SAID = {
    "quasi": "others may know it: it is made coarser",
    "sensitive": "nobody should learn it: its mix in every group is protected",
    "identifier": "names people: it is dropped",
    "person": "says whose a record is: people are counted by it, and it is dropped",
    "target": "is to be predicted: it is released as it is",
    "keep": "is released as it is",
    "drop": "is dropped",
}


def page(
    name: str,
    columns: Mapping[str, Column],
    findings: Sequence[Finding],
    proposals: Mapping[str, Proposal],
    *,
    unique_share: float,
    source: Mapping[str, str],
) -> str:
    """What was seen in a table, for whoever decides what its columns are."""
    odd = len({finding.column for finding in findings})
    records = next(iter(columns.values())).records
    tiles = [
        (f"{records:,}", "records"),
        (f"{len(columns):,}", "columns"),
        (percent(unique_share), "of the records are alone with their values of the proposed quasi-identifiers"),
        (f"{len(findings):,}", "finding" if len(findings) == 1 else f"findings in {odd:,} places"),
    ]
    lead = [
        tag("p", "The table as it stands: nothing of it was changed. Data: ", named(name), ".", class_="soft"),
        tag(
            "p",
            "This page tells values of the original table. It is for whoever holds the data, not for publication.",
            class_="warning",
        ),
    ]
    sections: list[Section] = [("The roles that fit", "roles", _roles(proposals))]
    if findings:
        sections.append(("What is odd", "findings", _findings(findings)))
    sections += [
        ("How well columns tell people apart", "apart", _apart(columns, proposals)),
        ("Frequent values", "values", _values(columns)),
        ("How it was made", "making", signature(source)),
    ]
    return sheet(f"Inspection of {records:,} records", lead, sections, tiles=tiled(tiles))


def _roles(proposals: Mapping[str, Proposal]) -> Markup:
    frame = pd.DataFrame(
        [
            {
                "column": name,
                "proposed role": " ".join(filter(None, (one.role, one.kind))),
                "what that means": escaped(_SAID.get(one.role, "")),
                "why": escaped(one.reason),
            }
            for name, one in proposals.items()
        ],
        dtype=object,
    )
    note = "Proposed from names and values, to be read and corrected by somebody who knows the data."
    return joined((tag("p", note, class_="soft"), frame_table(frame, most=len(frame), even=True)))


def _findings(findings: Sequence[Finding]) -> Markup:
    rows = []
    for finding in findings:
        examples = joined((" (", names(finding.examples), ")")) if finding.examples else None
        where = named(finding.column) if finding.column is not None else "The whole file"
        rows.append(tag("li", tag("b", where), ": ", finding.what, examples, ". ", tag("i", finding.remedy), "."))
    return tag("ul", *rows)


def _apart(columns: Mapping[str, Column], proposals: Mapping[str, Proposal]) -> Markup:
    told = [
        Bar(
            name,
            (column.separation,),
            joined((percent(column.separation), f", {column.distinct:,} value{'' if column.distinct == 1 else 's'}")),
            warn=column.unique_share > 0.5 and proposals[name].role == "quasi",
        )
        for name, column in columns.items()
    ]
    note = (
        "The share of pairs of records that have different values of a column. A quasi-identifier is marked where more "
        "than half of the records are alone with their value."
    )
    return joined((tag("p", note, class_="soft"), bars("", told, value="pairs told apart", of="column")))


def _values(columns: Mapping[str, Column]) -> Markup:
    note = f"Those that {_LEAST_TOLD} records or more have, at most {_MOST_VALUES} of a column."
    pictures = [_frequent(name, column) for name, column in columns.items()]
    return joined((tag("p", note, class_="soft"), tag("div", *pictures, class_="pictures")))


def _frequent(name: str, column: Column) -> Markup:
    often = [(value, count) for value, count in column.counts.items() if count >= _LEAST_TOLD][:_MOST_VALUES]
    rest = column.records - column.missing - sum(count for _, count in often)
    rows = [(named(value), count) for value, count in often]
    if rest:
        rows.append((tag("i", f"{column.distinct - len(often):,} other values"), rest))
    if column.missing:
        rows.append((tag("i", "missing"), column.missing))
    most = max((count for _, count in rows), default=1)
    return bars(named(name), [Bar(label, (count / most,), f"{count:,}") for label, count in rows])
