"""What is odd about columns, and what can be done about it: nothing is changed, only told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from optmodels.inspection.columns import Column
from optmodels.inspection.vocabulary import POSSIBLE, UNKNOWN_NUMBERS, UNKNOWN_WORDS, said_by
from optmodels.table.dates import TIMES_OF_DAY

FindingKind = Literal[
    "missing values",
    "blank values",
    "words for unknown",
    "numbers for unknown",
    "inconsistent spelling",
    "impossible numbers",
    "impossible dates",
    "text among numbers",
    "decimal commas",
    "name like a value",
    "leading zeros",
    "dates",
    "mixed dates",
    "ambiguous dates",
    "nearly unique",
    "constant",
    "repeated identifier",
    "duplicate rows",
]
_SHOWN = 5
_NEARLY_UNIQUE = 0.9
_FAR = 1.5  # times the largest of the others: how far out 99 or 999 must be to look like no measurement


@dataclass(frozen=True)
class Finding:
    """Something odd: in which column (None: in the whole file), what, in how many records, examples, the remedy."""

    column: str | None
    kind: FindingKind
    what: str
    records: int
    examples: tuple[str, ...]
    remedy: str

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values."""
        return asdict(self)


def findings_of(column: Column) -> Iterator[Finding]:
    """Everything odd about one column."""
    for find in _FINDERS:
        yield from find(column)


def unknown_values(column: Column) -> tuple[str, ...]:
    """Values as written that look as if they stood for not knowing: words, and numbers that only they reach."""
    return (*_unknown_words(column), *_unknown_numbers(column))


def spellings(column: Column) -> dict[str, str]:
    """Values that differ from a more frequent one only in case and spaces, and that one.

    >>> import pandas as pd
    >>> spellings(Column.of(pd.Series(["Male", "Male", "male", "Male ", "Female"]), "sex"))
    {'male': 'Male', 'Male ': 'Male'}
    """
    chosen: dict[str, str] = {}
    for value in column.counts:  # the most frequent first
        tidy = " ".join(value.split())
        chosen.setdefault(tidy.casefold(), tidy)
    common = {value: chosen[" ".join(value.split()).casefold()] for value in column.counts}
    return {value: tidy for value, tidy in common.items() if tidy not in ("", value)}


def possible(column: Column) -> tuple[float, float] | None:
    """Between which numbers those of a column of this name lie, if the name says so."""
    word = said_by(column.name, POSSIBLE)
    return POSSIBLE[word] if word and column.type == "number" else None


def _missing(column: Column) -> Iterator[Finding]:
    if column.missing:
        yield Finding(
            column.name,
            "missing values",
            f"{_records(column.missing)} without a value",
            column.missing,
            (),
            "choose what becomes of them: missing in the role file, or --missing drop, impute or category",
        )


def _blank(column: Column) -> Iterator[Finding]:
    blanks = [value for value in column.counts if not value.strip()]
    if blanks:
        yield _about(
            column, "blank values", "{} with nothing but spaces", blanks, "read them as missing: clean.unknown"
        )


def _unknown(column: Column) -> Iterator[Finding]:
    words, numbers = _unknown_words(column), _unknown_numbers(column)
    remedy = "if it does, read it as missing: clean.unknown in the role file, or --unknown COLUMN=VALUE"
    if words:
        yield _about(column, "words for unknown", "{} with a word that stands for not knowing", words, remedy)
    if numbers:
        what = "{} with a number far from the rest that is often written for not knowing"
        yield _about(column, "numbers for unknown", what, numbers, remedy)


def _unknown_words(column: Column) -> tuple[str, ...]:
    return tuple(value for value in column.counts if value.strip().lower() in UNKNOWN_WORDS)


def _unknown_numbers(column: Column) -> tuple[str, ...]:
    if column.type == "code":  # of which none is below zero
        return tuple(value for value in column.counts if value.startswith("-") and _as_number(value) in UNKNOWN_NUMBERS)
    candidates = {value for value in column.numbers.tolist() if value in UNKNOWN_NUMBERS}
    others = [value for value in column.numbers.tolist() if value not in candidates]
    if not candidates or len(others) < 2:
        return ()
    odd = {
        v for v in candidates if (v < 0 <= others[0]) or (v >= 9 and v > _FAR * max(abs(others[0]), abs(others[-1])))
    }
    return tuple(value for value in column.counts if _as_number(value) in odd)


def _inconsistent(column: Column) -> Iterator[Finding]:
    if column.type not in ("text", "boolean", "code", "date"):
        return
    other = spellings(column)
    if other:
        written = [value for value in dict.fromkeys([*other.values(), *other]) if value in column.counts]
        records = sum(column.counts[value] for value in other)
        yield Finding(
            column.name,
            "inconsistent spelling",
            f"{_records(records)} with a value that is written otherwise elsewhere",
            records,
            tuple(repr(value) for value in written[:_SHOWN]),
            "one spelling for each: clean.trim and clean.case, or clean.replace in the role file",
        )


def _impossible(column: Column) -> Iterator[Finding]:
    ends = possible(column)
    if ends is None:
        return
    unknown = set(_unknown_numbers(column))
    wrong = [
        value
        for value in column.counts
        if value not in unknown and (number := _as_number(value)) is not None and not ends[0] <= number <= ends[1]
    ]
    if wrong:
        yield _about(
            column,
            "impossible numbers",
            f"{{}} outside {ends[0]:g} to {ends[1]:g}",
            wrong,
            "correct them, read them as missing (clean.unknown), or move them to the nearest possible (clean.clip)",
        )


def _strays(column: Column) -> Iterator[Finding]:
    if column.strays:
        strays = [value for value in column.counts if value.strip() in column.strays]
        remedy = "correct them, or read them as missing: clean.unknown"
        if column.type == "date":
            yield _about(column, "impossible dates", "{} with what is no day in a column of dates", strays, remedy)
        else:
            yield _about(column, "text among numbers", "{} with text in a column of numbers", strays, remedy)


def _decimal_commas(column: Column) -> Iterator[Finding]:
    if column.decimal_commas:
        commas = [value for value in column.counts if value.strip() in column.decimal_commas]
        what = "{} with a number that has a decimal comma"
        remedy = "tell the reader: --decimal ,"
        if column.perhaps_thousands:
            what, remedy = (
                "{} with a comma before three digits, which may set off thousands or decimals",
                "if thousands, write the numbers without commas; if decimals, tell the reader: --decimal ,",
            )
        yield _about(column, "decimal commas", what, commas, remedy)


def _name_like_a_value(column: Column) -> Iterator[Finding]:
    """A file without a header, whose first record was taken for one."""
    if column.name in column.counts or (column.type == "number" and _as_number(column.name) is not None):
        what = "a name that looks like one of its values"
        remedy = "if the first line is a record, put a line with the names of the columns above it"
        yield Finding(column.name, "name like a value", what, 0, column.known[:_SHOWN], remedy)


def _leading_zeros(column: Column) -> Iterator[Finding]:
    if column.leading_zeros and column.type == "code":
        zeros = [value for value in column.counts if value.strip() in column.leading_zeros]
        what = "{} with digits that start with a zero, which a number would lose"
        yield _about(column, "leading zeros", what, zeros, "make it categorical: it is then kept as text")


def _dates(column: Column) -> Iterator[Finding]:
    if column.type != "date":
        return
    formats, strays = column.date_formats, set(column.strays)
    shown = tuple(value for value in column.known if value not in strays)[:_SHOWN]
    records = sum(count for value, count in column.counts.items() if value.strip() not in strays)
    if column.mixed_dates:
        what = f"dates, written in several ways: {', '.join(column.mixed_dates)}"
        remedy = "see that days are not taken for months; they are read in these ways, and released in the first"
        yield Finding(column.name, "mixed dates", what, records, shown, remedy)
        return
    if len({form.split("T")[0].split(" %H")[0] for form in formats}) > 1:
        what = f"dates that can be read as {formats[0]} or as {formats[1]}"
        remedy = "write them as year-month-day, so that nobody takes a month for a day"
        yield Finding(column.name, "ambiguous dates", what, records, shown, remedy)
        return
    if formats[0] in TIMES_OF_DAY:
        what = f"times of day, written {formats[0]}"
        remedy = "a minute singles out people: release hours by a hierarchy, or leave the column out"
        yield Finding(column.name, "dates", what, records, shown, remedy)
        return
    what = f"dates, written {formats[0]}"
    remedy = "a day singles out people: release months, quarters or years by a hierarchy, or leave the column out"
    yield Finding(column.name, "dates", what, records, shown, remedy)


def _nearly_unique(column: Column) -> Iterator[Finding]:
    if column.records > 1 and column.unique_share >= _NEARLY_UNIQUE:
        remedy = "if it names people, it is an identifier; if others know it, a quasi-identifier; else leave it out"
        alone = [value for value, count in column.counts.items() if count == 1]
        yield _about(column, "nearly unique", "{} alone with their value", alone, remedy)


def _constant(column: Column) -> Iterator[Finding]:
    if column.distinct + bool(column.missing) == 1 and column.records > 1:
        values = list(column.counts)
        what = "one and the same value in all records" if values else "no value in any record"
        yield Finding(column.name, "constant", what, column.records, tuple(values), "leave it out: it tells nothing")


_FINDERS: tuple[Callable[[Column], Iterator[Finding]], ...] = (
    _missing,
    _blank,
    _unknown,
    _inconsistent,
    _impossible,
    _strays,
    _decimal_commas,
    _name_like_a_value,
    _leading_zeros,
    _dates,
    _nearly_unique,
    _constant,
)


def _about(column: Column, kind: FindingKind, what: str, values: Iterable[str], remedy: str) -> Finding:
    found = list(values)
    records = sum(column.counts[value] for value in found)
    examples = tuple(repr(value) if value != value.strip() else value for value in found[:_SHOWN])
    return Finding(column.name, kind, what.format(_records(records)), records, examples, remedy)


def _records(many: int) -> str:
    return f"{many:,} record{'' if many == 1 else 's'}"


def _as_number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None
