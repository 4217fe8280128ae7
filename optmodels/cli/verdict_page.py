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
    said = "The release breaks its promise" if verdict.broken else "The release keeps every promise that was checked"
    lead = (
        "The file of the release was read again and every promise worked out anew, by code that had no part in "
        "making it. Release: "
    )
    return _page(verdict, source, "promise", said, (lead, named(release), "."), "Verification of a release")


def certificate_page(verdict: Verdict, certificate: Path, rests_on: str, source: Mapping[str, str]) -> str:
    """Every claim of a certificate with what was found, the broken ones first."""
    said = "It does not prove what it says" if verdict.broken else "Every claim that was checked holds"
    lead = "Every claim was worked out anew by code that has no solver. It rests on "
    about = (lead, named(rests_on), ". Certificate: ", named(certificate), ".")
    return _page(verdict, source, "claim", said, about, "Verification of a certificate")


def _page(
    verdict: Verdict, source: Mapping[str, str], word: str, said: str, about: tuple[str | Markup, ...], title: str
) -> str:
    checks = sorted(verdict.checks, key=lambda one: (one.kept is not False, one.kept is not None))
    kept = sum(one.kept is True for one in checks)
    tiles = [(f"{kept:,}", f"{word}s are kept"), (f"{len(verdict.broken):,}", "are broken")]
    if verdict.unchecked:
        tiles.append((f"{len(verdict.unchecked):,}", "cannot be told from these files"))
    lead = [
        tag("p", tag("span", said, class_=f"verdict {'bad' if verdict.broken else 'good'}")),
        tag("p", *about, class_="soft"),
    ]
    rows = [(one.what, one.promised, one.found, one.kept) for one in checks]
    sections = [(f"Every {word}", f"{word}s", _table(rows, word)), ("How it was checked", "making", signature(source))]
    return sheet(title, lead, sections, tiles=tiled(tiles))


def _table(rows: list[tuple[str, str, str, bool | None]], word: str) -> Markup:
    titles = (word, {"promise": "promised", "claim": "claimed"}[word], "found", "verdict")
    head = tag("tr", *(tag("th", title, scope="col") for title in titles))
    body = [
        tag(
            "tr",
            tag("th", named(what), scope="row"),
            tag("td", named(promised), data_title=titles[1]),
            tag("td", named(found), data_title="found"),
            tag("td", _verdict(kept), data_title="verdict"),
        )
        for what, promised, found, kept in rows
    ]
    return tag("table", tag("thead", head), tag("tbody", *body), class_="stack plain")


def _verdict(kept: bool | None) -> Markup:
    word = _WORDS[kept]
    return joined((word,)) if kept is None else tag("span", word, class_=f"verdict {'good' if kept else 'bad'}")
