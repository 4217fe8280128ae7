"""A published study run again, as one page: what was concluded, their figures beside ours, how it was done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from optmodels.markup import joined, tag
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import number

if TYPE_CHECKING:
    from optmodels.reproduce.report import Report

_MARKS = {True: "holds", False: "does not hold", None: "cannot be judged"}


def page(report: Report, source: Mapping[str, str]) -> str:
    """The report of a reproduction."""
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
    said = [tag("li", text) for text in (*report.protocol, *report.remarks)]
    facts = [("scale", report.scale), ("seconds", number(round(report.seconds)))]
    sections.append(("How it was made", "making", joined((tag("ul", *said), signature(source, facts)))))
    return sheet(
        report.source, [tag("p", "A published study, run again.", class_="soft")], sections, tiles=tiled(tiles)
    )
