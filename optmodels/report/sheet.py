"""A page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd

from optmodels.markup import Markup, grid, joined, named, tag
from optmodels.report.style import STYLE
from optmodels.report.words import number

_VERSIONS = ("optmodels", "numpy", "pandas", "scipy", "numba", "highspy", "pymoo")
_POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"

Section = tuple[str, str, Markup]  # its heading, the name that links lead to, and what it tells


def sheet(title: str, lead: Sequence[object], sections: Iterable[Section], *, tiles: Markup | None = None) -> str:
    """A whole page: a title with what is said first, tiles with the main figures, and sections."""
    found = list(sections)
    links = [tag("a", heading, href=f"#{key}") for heading, key, _ in found]
    body = tag(
        "main",
        tag("header", tag("h1", title), *lead),
        tiles,
        tag("nav", *links, aria_label="Sections of this report"),
        *(tag("section", tag("h2", heading, id=key), inside) for heading, key, inside in found),
    )
    head = tag(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(_POLICY),
        tag("title", title),
        tag("style", Markup(STYLE)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


def tiled(shown: Iterable[tuple[object, object]]) -> Markup:
    """What somebody sees who reads nothing else: a few figures, each with what it is."""
    return tag(
        "div", *(tag("div", tag("b", value), tag("span", what), class_="tile") for value, what in shown), class_="tiles"
    )


def signature(
    source: Mapping[str, str], facts: Sequence[tuple[object, object]] = (), made: datetime | None = None
) -> Markup:
    """How a page came about: whatever facts there are, the data with its fingerprint, date, versions, the command."""
    rows = list(facts)
    for key, title in (("data", "data"), ("sha256", "SHA-256 of the data")):
        if source.get(key):
            rows.append((title, named(source[key])))
    rows.append(("written", (made or datetime.now().astimezone()).strftime("%Y-%m-%d %H:%M %Z").strip()))
    rows.append(("versions", f"Python {platform.python_version()}, {_versions()}"))
    command = source.get("command")
    shown = joined((tag("p", "The command:"), tag("pre", tag("bdi", command)))) if command else None
    return joined((grid((), rows, class_="facts"), shown))


def frame_table(frame: pd.DataFrame, *, most: int = 200, even: bool = False) -> Markup:
    """A frame as a table that becomes a list where there is little room; of a long one the first rows.

    Columns of sentences are `even`: as wide as each other, however long a name is.
    """
    titles = [str(name) for name in frame.columns]
    numeric = [frame[name].dtype.kind in "fiu" for name in frame.columns]
    body = [
        tag(
            "tr",
            tag("th", _cell(row[0]), scope="row"),
            *(
                tag("td", _cell(cell), data_title=title, class_="number" if right else "")
                for cell, title, right in zip(row[1:], titles[1:], numeric[1:], strict=True)
            ),
        )
        for row in frame.head(most).itertuples(index=False, name=None)
    ]
    heads = (
        tag("th", one, scope="col", class_="number" if right else "")
        for one, right in zip(titles, numeric, strict=True)
    )
    table = tag(
        "table",
        tag("thead", tag("tr", *heads)),
        tag("tbody", *body),
        class_="stack plain even" if even else "stack plain",
    )
    rest = tag("p", f"{len(frame) - most:,} more rows are not shown.", class_="soft") if len(frame) > most else None
    return joined((table, rest))


def _cell(value: Any) -> Markup | str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return "-" if value != value else number(value)
    return "-" if value is None else named(value)


def _versions() -> str:
    found = []
    for package in _VERSIONS:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
