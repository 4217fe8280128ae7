"""A report as one page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from optmodels.markup import Markup, named, tag
from optmodels.report import sections
from optmodels.report.dossier import Dossier
from optmodels.report.style import STYLE
from optmodels.report.words import promised


def page(dossier: Dossier) -> str:
    """The report of what is in a dossier; sections of which nothing is known are left out."""
    found = [(title, key, body) for title, key, make in sections.SECTIONS if (body := make(dossier)) is not None]
    title = _title(dossier)
    links = [tag("a", heading, href=f"#{key}") for heading, key, _ in found]
    body = tag(
        "main",
        tag("header", tag("h1", title), _verdict(dossier), _about(dossier)),
        sections.tiles(dossier),
        tag("nav", *links, aria_label="Sections of this report"),
        *(tag("section", tag("h2", heading, id=key), inside) for heading, key, inside in found),
    )
    head = tag(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        ),
        tag("title", _title(dossier)),
        tag("style", Markup(STYLE)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


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
