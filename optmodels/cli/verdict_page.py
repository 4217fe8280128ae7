"""What became of every promise of a release, as a page for whoever has to be sure of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from optmodels.markup import Markup, joined, named, tag
from optmodels.report.sheet import sheet, signature, tiled

if TYPE_CHECKING:
    from optmodels.verifier import Verdict

_WORDS = {True: "kept", False: "broken", None: "not told"}


def page(verdict: Verdict, release: Path, source: Mapping[str, str]) -> str:
    """Every promise with what was found, the broken ones first."""
    checks = sorted(verdict.checks, key=lambda one: (one.kept is not False, one.kept is not None))
    kept = sum(one.kept is True for one in checks)
    tiles = [(f"{kept:,}", "promises are kept"), (f"{len(verdict.broken):,}", "are broken")]
    if verdict.unchecked:
        tiles.append((f"{len(verdict.unchecked):,}", "cannot be told from these files"))
    said = "The release breaks its promise" if verdict.broken else "The release keeps every promise that was checked"
    lead = [
        tag("p", tag("span", said, class_=f"verdict {'bad' if verdict.broken else 'good'}")),
        tag(
            "p",
            "The file of the release was read again and every promise worked out anew, by code that had no part in "
            "making it. Release: ",
            named(release),
            ".",
            class_="soft",
        ),
    ]
    sections = [
        ("Every promise", "promises", _table([(one.what, one.promised, one.found, one.kept) for one in checks])),
        ("How it was checked", "making", signature(source)),
    ]
    return sheet("Verification of a release", lead, sections, tiles=tiled(tiles))


def _table(rows: list[tuple[str, str, str, bool | None]]) -> Markup:
    head = tag("tr", *(tag("th", title, scope="col") for title in ("promise", "promised", "found", "verdict")))
    body = [
        tag(
            "tr",
            tag("th", named(what), scope="row"),
            tag("td", named(promised), data_title="promised"),
            tag("td", named(found), data_title="found"),
            tag("td", _verdict(kept), data_title="verdict"),
        )
        for what, promised, found, kept in rows
    ]
    return tag("table", tag("thead", head), tag("tbody", *body), class_="stack plain")


def _verdict(kept: bool | None) -> Markup:
    word = _WORDS[kept]
    return joined((word,)) if kept is None else tag("span", word, class_=f"verdict {'good' if kept else 'bad'}")
