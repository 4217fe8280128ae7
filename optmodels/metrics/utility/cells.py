"""What a released cell covers: a number's interval, a set of levels, a range of them, a node of a hierarchy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

ANYTHING = "*"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# as releases and hierarchies write them: [20-29], [20, 30), 20-29, [20..29], [20 to 29], [20<0>29]; without brackets a
# comma is no separator of bounds, because it also groups thousands and marks decimals
_BETWEEN_BOUNDS = r"\s*(?:-|\.\.|to|<\d+>)\s*"
_INTERVAL = re.compile(rf"({_NUMBER}){_BETWEEN_BOUNDS}({_NUMBER})")
_BRACKETED = re.compile(rf"[\[(]\s*({_NUMBER})(?:{_BETWEEN_BOUNDS}|\s*,\s*)({_NUMBER})\s*[\])]")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# open to one side: <30, <= 30, >65, >=65, 65+
_OPEN = re.compile(rf"(?:(<=?|>=?)\s*({_NUMBER})|({_NUMBER})\+)")
_MASKED = re.compile(r"(\d+)(\*+)")  # digits hidden from the right, as of postcodes: 130**
_SEPARATORS = re.compile(r",|;|\||<\d+>")
_BETWEEN = re.compile(r"-|\.\.| to |,|<\d+>")


def middle(text: str, low: float, high: float) -> float | None:
    """The number that stands for a cell of a numeric column whose values lie between `low` and `high`, or None.

    >>> middle("[20-30]", 0, 99), middle("[-5, 5)", 0, 99), middle("{1,2,6}", 0, 99), middle("*", 0, 99)
    (25.0, 0.0, 3.0, 49.5)
    >>> middle(">=65", 0, 99), middle("<30", 0, 99), middle("80+", 0, 99), middle("2*", 0, 99)
    (82.0, 15.0, 89.5, 24.5)

    A comma outside brackets groups thousands, where that gives a number of the column.

    >>> middle("1,234", 0, 5000), middle("1,234", 0, 99), middle("20,30", 0, 99), middle("old", 0, 99)
    (1234.0, None, None, None)
    """
    found = _middle(text, low, high)
    return found if found is not None and isfinite(found) else None


def _middle(text: str, low: float, high: float) -> float | None:
    if text == ANYTHING:
        return (low + high) / 2
    if found := _INTERVAL.fullmatch(text) or _BRACKETED.fullmatch(text):
        return (float(found[1]) + float(found[2])) / 2
    if found := _OPEN.fullmatch(text):
        bound = float(found[2] or found[3])
        return (min(low, bound) + bound) / 2 if (found[1] or "").startswith("<") else (bound + max(high, bound)) / 2
    if found := _MASKED.fullmatch(text):
        return (float(found[1] + "0" * len(found[2])) + float(found[1] + "9" * len(found[2]))) / 2
    if _THOUSANDS.fullmatch(text):
        number = float(text.replace(",", ""))
        return number if low <= number <= high else None
    parts = _SEPARATORS.split(text[1:-1]) if text.startswith("{") and text.endswith("}") else [text]
    try:
        return sum(float(part) for part in parts) / len(parts)
    except ValueError:
        return None


def covered(text: str, places: Mapping[str, int]) -> Sequence[int] | None:
    """The places of the levels that a cell covers, given the place of each level in their order, or None.

    >>> order = {"low": 0, "mid": 1, "very-high": 2}
    >>> covered("mid", order), covered("{low,mid}", order), covered("[mid-very-high]", order), covered("*", order)
    ([1], [0, 1], [1, 2], [0, 1, 2])
    >>> covered("13*", {"125": 0, "130": 1, "139": 2})
    [1, 2]
    >>> covered("medium", order)
    """
    if text in places:
        return [places[text]]
    if text == ANYTHING:
        return sorted(places.values())
    inner = text[1:-1]
    if text.startswith("{") and text.endswith("}"):
        for separator in dict.fromkeys(_SEPARATORS.findall(inner)):
            # hierarchies made by this package put a blank behind the comma, recoded sets do not
            for parts in (inner.split(separator), inner.split(separator + " ")):
                if all(part in places for part in parts):
                    return sorted(places[part] for part in parts)
    if text.startswith("[") and text.endswith(("]", ")")):
        for start, end in _cuts(inner):
            if start in places and end in places and places[start] <= places[end]:
                return list(range(places[start], places[end] + 1))
    if shown := text.rstrip(ANYTHING):  # the end is hidden: 130**
        same = [place for level, place in places.items() if len(level) == len(text) and level.startswith(shown)]
        return sorted(same) if shown != text and same else None
    return None


def _cuts(inner: str) -> Iterator[tuple[str, str]]:
    for found in _BETWEEN.finditer(inner):
        yield inner[: found.start()].strip(), inner[found.end() :].strip()
