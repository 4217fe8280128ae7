"""What a reproduction hands back: published figures beside ours, what was concluded, and how it was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from optmodels.markup import joined, tag
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import number

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from optmodels.reproduce.setting import Spent

Writer = Callable[[Path], object]

_MARKS = {True: "holds", False: "does not hold", None: "cannot be judged"}


@dataclass(frozen=True)
class Comparison:
    """One published table: what it says, what we find, the difference, and why they differ where they do."""

    key: str  # the name of its file
    title: str
    frame: pd.DataFrame = field(repr=False)
    remark: str = ""
    shown: bool = True  # on a terminal; a figure's data is for the file
    columns: tuple[str, ...] = ()  # those that fit on a terminal, if not all do; the file has all


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim that was put to the test, and whether it holds here.

    `holds` is None where what was run could not have shown the contrary; `found` then says why.
    """

    claim: str
    holds: bool | None
    found: str


@dataclass(frozen=True)
class Report:
    """A study run again."""

    name: str
    source: str
    scale: str
    protocol: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[ClaimVerdict, ...] = ()
    remarks: tuple[str, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict, repr=False)
    seconds: float = 0.0
    spent: tuple[Spent, ...] = ()  # what its pieces took, those of earlier runs among them
    complete: bool = True  # neither interrupted nor failed
    failed: bool = False  # a piece of it went wrong, so that what should follow is not here

    def to_dict(self) -> dict[str, Any]:
        """Everything but the figures, ready for JSON."""
        return {
            "reproduction": self.name,
            "source": self.source,
            "scale": self.scale,
            "seconds": self.seconds,
            "complete": self.complete,
            "pieces": [vars(one) for one in self.spent],
            "protocol": list(self.protocol),
            "tables": {one.key: one.frame.to_dict("records") for one in self.comparisons},
            "differences": {one.key: one.remark for one in self.comparisons if one.remark},
            "verdicts": [vars(one) for one in self.verdicts],
            "remarks": list(self.remarks),
        }

    def to_html(self, *, source: Mapping[str, str] | None = None) -> str:
        """The report as one page: verdicts, their figures beside ours, and how it was done."""
        return _html(self, source or {})

    def writers(self, document: str) -> dict[str, Writer]:
        """Every file of the report by its name: a CSV for each table, a page for each figure, and the JSON document."""
        tables = {f"{one.key}.csv": _csv(one.frame) for one in self.comparisons}
        pages = {f"{key}.html": _page(figure) for key, figure in self.figures.items()}
        return {**tables, **pages, "report.json": lambda file: file.write_text(document + "\n", encoding="utf-8")}


def _html(report: Report, source: Mapping[str, str]) -> str:
    """What was concluded, their figures beside ours, and how it was done, as one page."""
    counts = {mark: sum(one.holds is holds for one in report.verdicts) for holds, mark in _MARKS.items()}
    tiles = [(number(count), f"claims: {mark}") for mark, count in counts.items() if report.verdicts]
    sections: list[Section] = []
    if report.verdicts:
        judged = [
            tag(
                "li",
                tag("b", _MARKS[one.holds]),
                f": {one.claim}: {one.found}.",
                class_="serious" if one.holds is False else "",
            )
            for one in report.verdicts
        ]
        sections.append(("What was claimed, and what we find", "verdicts", tag("ul", *judged)))
    for place, one in enumerate(report.comparisons):
        told = (frame_table(one.frame, most=80), tag("p", one.remark, class_="soft") if one.remark else None)
        sections.append((one.title, f"table-{place}", joined(told)))
    pieces = (f"Pieces: {one.described()}." for one in report.spent)
    said = [tag("li", text) for text in (*report.protocol, *report.remarks, *pieces)]
    facts = [("scale", report.scale), ("seconds", number(round(report.seconds)))]
    sections.append(("How it was made", "making", joined((tag("ul", *said), signature(source, facts)))))
    return sheet(
        report.source, [tag("p", "A published study, run again.", class_="soft")], sections, tiles=tiled(tiles)
    )


def _csv(frame: pd.DataFrame) -> Writer:
    return lambda file: frame.to_csv(file, index=False)


def _page(figure: Figure) -> Writer:
    return lambda file: figure.write_html(file, include_plotlyjs=True)


def published(name: str) -> pd.DataFrame:
    """A published table from the data files of this package; their first line is the source.

    >>> published("aminifar_table_3").columns.tolist()
    ['level', 'version', 'published']
    """
    text = files("optmodels.reproduce").joinpath("published", f"{name}.csv")
    with text.open(encoding="utf-8") as file:
        return pd.read_csv(file, comment="#")


def beside(theirs: pd.DataFrame, ours: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
    """Published and our values by common keys, and our value minus theirs; rows in the published order.

    >>> theirs = pd.DataFrame({"k": [3, 5], "published": [5.69, 9.09]})
    >>> beside(theirs, pd.DataFrame({"k": [5, 3], "ours": [7.27, 4.68]}), ["k"])
       k  published  ours  difference
    0  3       5.69  4.68       -1.01
    1  5       9.09  7.27       -1.82
    """
    joined = theirs.merge(ours, on=list(on), how="left")
    return joined.assign(difference=joined["ours"] - joined["published"])


def long(frame: pd.DataFrame, keys: Iterable[str], value: str) -> pd.DataFrame:
    """A table with a column for each metric, as one row for each value, the column's name under `metric`."""
    return frame.melt(id_vars=list(keys), var_name="metric", value_name=value)


def largest(differences: pd.Series) -> float:
    """The largest difference in absolute terms, NaN if there is none."""
    known = differences.dropna().abs()
    return float(known.max()) if len(known) else float(np.nan)
