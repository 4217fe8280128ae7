"""Bars that are tables: a picture for those who see, rows of names and numbers for those who listen or print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optmodels.markup import Markup, named, tag

_WIDTH = 100.0
_MARK = 1.0  # how thick the mark of a value on a range is


@dataclass(frozen=True)
class Bar:
    """One row: what it is of, the lengths of its bars as shares of the longest there may be, and what is written.

    A length of None is a value that is not told. `span` is drawn as a thin bar from one share to another.
    """

    label: object
    lengths: tuple[float | None, ...]
    text: object
    span: tuple[float, float] | None = None
    warn: bool = False


def bars(
    title: object,
    rows: Sequence[Bar],
    *,
    legend: Sequence[str] = (),
    value: str = "",
    of: str = "",
    sentences: bool = False,
) -> Markup:
    """Rows of bars with a caption and, where there are several bars in a row, what each of them is.

    Rows that are named by `sentences` have these above the bar where there is little room.
    """
    key = _legend(legend) if len(legend) > 1 else None
    head = tag(
        "tr",
        tag("th", of, scope="col"),
        tag("td", Markup(""), class_="bar"),
        tag("th", value, scope="col"),
    )
    body = [
        tag(
            "tr",
            tag("th", row.label if isinstance(row.label, Markup) else named(row.label), scope="row"),
            tag("td", _drawn(row), class_="bar"),
            tag("td", row.text),
            class_="warn" if row.warn else "",
        )
        for row in rows
    ]
    kind = "bars long" if sentences else "bars"
    caption = tag("caption", title, key) if title or key else None
    return tag("table", caption, tag("thead", head) if value or of else None, tag("tbody", *body), class_=kind)


def _legend(names: Sequence[str]) -> Markup:
    keys = (tag("span", tag("span", Markup(""), class_=f"key s{i}"), one) for i, one in enumerate(names))
    return tag("span", *keys, class_="legend")


def _drawn(row: Bar) -> Markup:
    high = 16.0 / max(1, len(row.lengths))
    drawn = []
    for place, length in enumerate(row.lengths):
        if length is None:
            continue
        width = _WIDTH * min(max(length, 0.0), 1.0)
        drawn.append(_rect(0.0, place * high + 1, width, high - 2, f"s{place}"))
    if row.span is not None:
        low, high_end = (min(max(end, 0.0), 1.0) * _WIDTH for end in row.span)
        drawn = [_rect(low, 3, max(high_end - low, _MARK), 10, "span")]
        at = (row.lengths[0] or 0.0) * _WIDTH
        drawn.append(_rect(min(at, _WIDTH - _MARK), 0, _MARK, 16, "mark"))
    return tag("svg", *drawn, viewBox="0 0 100 16", preserveAspectRatio="none", aria_hidden="true", focusable="false")


def _rect(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    return tag("rect", x=f"{x:.2f}", y=f"{y:.2f}", width=f"{width:.2f}", height=f"{height:.2f}", class_=kind)
