"""HTML that cannot be broken by data: every plain text is escaped, only `Markup` is taken as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

_VOID = frozenset({"br", "col", "hr", "rect", "circle", "line", "path"})
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
SHOWN = 80  # characters of a name or value; what is longer is shortened
MOST_CELLS = 12  # rows of a small table in a notebook


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(value: object) -> Markup:
    r"""A value as HTML text; characters that no page may hold, or that are not seen, are written as codes.

    >>> escaped("<b>\x00")
    '&lt;b&gt;\\x00'
    """
    if isinstance(value, Markup):
        return value
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    return Markup(escape(_CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)))


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """An element; attributes are written with a trailing underscore where Python has the word, `class_`.

    >>> tag("p", "a < b", tag("b", "!"), class_="note")
    '<p class="note">a &lt; b<b>!</b></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items() if value != ""
    )
    inside = "".join(escaped(child) for child in children if child is not None)
    return Markup(f"<{name}{given}/>" if name in _VOID and not inside else f"<{name}{given}>{inside}</{name}>")


def joined(parts: Iterable[object], between: str = "") -> Markup:
    """Parts one after the other, each escaped unless it is HTML."""
    return Markup(escaped(between).join(escaped(part) for part in parts if part is not None))


def named(value: object) -> Markup:
    """A name or a value from data: on its own in its direction of writing, and shortened if it is very long.

    >>> named("<script>")
    '<bdi>&lt;script&gt;</bdi>'
    """
    text = "(empty)" if str(value) == "" else str(value)
    return tag("bdi", text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)")


def names(values: Iterable[object]) -> Markup:
    """Names one after the other."""
    return joined((named(value) for value in values), ", ")


def grid(header: Sequence[object], rows: Iterable[Sequence[object]], **attributes: object) -> Markup:
    """A table whose first column names its rows."""
    head = tag("tr", *(tag("th", cell, scope="col") for cell in header))
    body = [tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows]
    return tag("table", tag("thead", head) if header else None, tag("tbody", *body), **attributes)


def details(summary: object, *parts: object) -> Markup:
    """Parts under a heading, which a reader may fold away; open, so that they are printed."""
    return tag("details", tag("summary", summary), *parts, open="open")


def notebook(title: str, facts: Mapping[str, object], *parts: object) -> Markup:
    """What a notebook shows of an object: its name, a few facts, and whatever more there is."""
    rows = [(escaped(key), value if isinstance(value, Markup) else named(value)) for key, value in facts.items()]
    table = grid((), rows, style="text-align: left") if rows else None
    return tag("div", tag("strong", title), table, *parts, class_="optmodels")
