"""A report as one page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from optmodels.markup import Markup, named, tag
from optmodels.report import sections
from optmodels.report.dossier import Dossier
from optmodels.report.sheet import sheet
from optmodels.report.words import promised


def page(dossier: Dossier) -> str:
    """The report of what is in a dossier; sections of which nothing is known are left out."""
    found = [(title, key, body) for title, key, make in sections.SECTIONS if (body := make(dossier)) is not None]
    lead = (_verdict(dossier), _about(dossier))
    return sheet(_title(dossier), lead, found, tiles=sections.tiles(dossier))


def _title(dossier: Dossier) -> str:
    kind = "Release" if dossier.is_release else "Audit"
    return f"{kind} of {dossier.audit.records:,} records"


def _verdict(dossier: Dossier) -> Markup | None:
    if not dossier.is_release:
        return None
    broken = [row for row in promised(dossier.audit) if not row.kept]
    if broken:
        return tag("p", tag("span", "The released table breaks its promise", class_="verdict bad"))
    return tag("p", tag("span", "The released table keeps its promise", class_="verdict good"))


def _about(dossier: Dossier) -> Markup:
    data = dossier.source.get("data")
    return tag(
        "p",
        "Measured on the released table itself, as an attacker would meet it"
        if dossier.is_release
        else "Measured on the table as it stands, as an attacker would meet it",
        None if data is None else tag("span", "; data: ", named(data)),
        ". This page shows counts and shares of the original table, never one of its records."
        if dossier.before
        else ".",
        class_="soft",
    )
