"""A column looked at: what its values are as written, how many there are, and how well they tell records apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.inspection.vocabulary import CODES, UNKNOWN_WORDS, said_by
from optmodels.table.dates import formats_and_rest, formats_of, formats_together
from optmodels.table.encoding import level_text

Type = Literal["number", "date", "boolean", "code", "text", "empty"]

_BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"0", "1"})
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_LEADING_ZERO = re.compile(r"0\d+")
_LIKE_A_DATE = re.compile(r"\d+[-./ ][0-9A-Za-z]+[-./ ]\d+")
_WRITTEN_LIKE_A_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ][\d:.]+)?")
_MOST_FORMATS = 4  # that dates of one column are written in; more are rather no dates
_STRAY = 0.05  # of the distinct values, those that may be something else than the column is
_LOOK = 200  # values that are looked at before it is asked of all of them whether they are dates


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its values as written and how many records have each."""

    name: str
    records: int
    counts: Mapping[str, int]  # by value as written, missing cells aside, the most frequent first

    @classmethod
    def of(cls, column: pd.Series, name: str) -> Column:
        """A column of a frame, its values as text.

        >>> Column.of(pd.Series(["b", "a", "b", None]), "letter").counts
        {'b': 2, 'a': 1}
        """
        found = column.value_counts(dropna=True)
        counts: dict[str, int] = {}
        for value, count in zip(found.index.tolist(), found.tolist(), strict=True):
            if count:
                text = _text(value)
                counts[text] = counts.get(text, 0) + int(count)
        return cls(name, len(column), counts)

    @cached_property
    def missing(self) -> int:
        """Cells without a value."""
        return self.records - sum(self.counts.values())

    @property
    def distinct(self) -> int:
        """Different values."""
        return len(self.counts)

    @cached_property
    def unique_share(self) -> float:
        """The share of records that are alone with their value."""
        return sum(1 for count in self.counts.values() if count == 1) / max(self.records, 1)

    @cached_property
    def repeats(self) -> dict[str, int]:
        """The values that several records have, and how many."""
        return {value: count for value, count in self.counts.items() if count > 1}

    @property
    def distinction(self) -> float:
        """Different values per record."""
        return self.distinct / max(self.records, 1)

    @cached_property
    def separation(self) -> float:
        """The share of pairs of records that the column tells apart; missing cells are alike."""
        sizes = np.array([*self.counts.values(), self.missing], np.float64)
        pairs = self.records * (self.records - 1)
        return 1.0 - float(sizes @ (sizes - 1)) / pairs if pairs else 0.0

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The values that say something, without spaces around them: no blanks and no words for not knowing."""
        stripped = (value.strip() for value in self.counts)
        return tuple(dict.fromkeys(value for value in stripped if value and value.lower() not in UNKNOWN_WORDS))

    @cached_property
    def no_dates(self) -> tuple[str, ...]:
        """Values that are no dates in a column of dates, such as a 30th of February."""
        known = self.known
        if len(known) < 3 or not _LIKE_A_DATE.search(known[0]) or formats_of(known):
            return ()
        for some in (known[:_LOOK], known):
            found, rest = formats_and_rest(some)
            odd = sum(1 for value in rest if not _WRITTEN_LIKE_A_DATE.fullmatch(value))
            if not found or 2 * len(rest) > len(some) or odd > _STRAY * len(some):
                return ()
        return rest if len(found) <= _MOST_FORMATS else ()

    @cached_property
    def _dates(self) -> tuple[str, ...]:
        none = set(self.no_dates)
        return tuple(value for value in self.known if value not in none)

    @cached_property
    def date_formats(self) -> tuple[str, ...]:
        """The formats in which all of the column is dates, but for a few values that are none."""
        return formats_of(self._dates)

    @cached_property
    def mixed_dates(self) -> tuple[str, ...]:
        """The formats of dates that are written in several ways, a few values that are none aside."""
        dates = self._dates
        if self.date_formats or len(dates) < 2 or not any(_LIKE_A_DATE.search(value) for value in dates[:1]):
            return ()
        found = formats_together(dates)
        return found if len(found) <= _MOST_FORMATS else ()

    @cached_property
    def decimal_commas(self) -> tuple[str, ...]:
        """Numbers with a comma before the decimals, where the column has them and nothing but numbers besides."""
        found = tuple(value for value in self.known if _COMMA_NUMBER.fullmatch(value))
        return found if all(_COMMA_NUMBER.fullmatch(v) or _NUMBER.fullmatch(v) for v in self.known) else ()

    @cached_property
    def perhaps_thousands(self) -> bool:
        """Whether every comma stands before three digits, as one does that sets off thousands."""
        return bool(self.decimal_commas) and all(map(_THOUSANDS.fullmatch, self.decimal_commas))

    @cached_property
    def leading_zeros(self) -> tuple[str, ...]:
        """Values of digits that start with a zero, which a number would lose."""
        return tuple(value for value in self.known if _LEADING_ZERO.fullmatch(value))

    @cached_property
    def strays(self) -> tuple[str, ...]:
        """Values that are no numbers in a column of numbers, or no dates in a column of dates."""
        if self.type == "date":
            return self.no_dates
        return tuple(v for v in self.known if not _is_number(v)) if self.type == "number" else ()

    @cached_property
    def type(self) -> Type:
        """What the values are: numbers, dates, yes or no, codes of digits and letters, or text."""
        known = self.known
        if not known:
            return "empty"
        if {value.lower() for value in known} in _BOOLEANS:
            return "boolean"
        if self.mixed_dates or (self.date_formats and not self._counts_something):
            return "date"
        numbers = sum(map(_is_number, known))
        if numbers >= len(known) * (1 - _STRAY):
            digits = all(value.isdecimal() for value in known)
            coded = digits and said_by(self.name, CODES) and len({len(value) for value in known}) == 1
            return "code" if self.leading_zeros or coded else "number"
        if said_by(self.name, CODES) and max(map(len, known)) <= 12 and not any(" " in v.strip() for v in known[:50]):
            return "code"
        return "text"

    @property
    def _counts_something(self) -> bool:
        """Whether eight digits are rather a number than a day: a format of digits alone needs years that make sense."""
        return self.date_formats == ("%Y%m%d",) and not all("1850" <= value[:4] <= "2100" for value in self.known)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The different numbers of a column of numbers, sorted."""
        if self.type != "number":
            return np.empty(0)
        return np.unique([_number(value) for value in self.known if _is_number(value)])

    def to_dict(self) -> dict[str, Any]:
        """The column in figures."""
        return {
            "type": self.type,
            "records": self.records,
            "missing": self.missing,
            "distinct": self.distinct,
            "distinction": self.distinction,
            "separation": self.separation,
            "unique_share": self.unique_share,
            "frequent": dict(list(self.counts.items())[:5]),
            "least": float(self.numbers[0]) if self.numbers.size else None,
            "most": float(self.numbers[-1]) if self.numbers.size else None,
            "date_formats": list(self.date_formats),
        }


def _text(value: object) -> str:
    if isinstance(value, pd.Timestamp):
        return str(value.date()) if value == value.normalize() else value.isoformat(sep=" ")
    return level_text(value)


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text) or _COMMA_NUMBER.fullmatch(text))


def _number(text: str) -> float:
    return float(text.replace(".", "").replace(",", ".") if _COMMA_NUMBER.fullmatch(text) else text)
