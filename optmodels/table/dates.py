"""Dates as people write them: which of a few formats a column's texts are in, and dates as numbers and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api import types

from optmodels.errors import InputError

# The usual ways to write a date, and to write a time after it. Two that read the same texts are told apart by days
# above 12, and where there is none the first of them is taken.
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%d %B %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M", "T%H:%M:%S", "T%H:%M:%S.%f")
OR = "|"  # between formats where dates are written in several; they are released in the first
_EPOCH = pd.Timestamp(1970, 1, 1)
_STORED = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S")  # how dates that are no text are written, without and with times
TIMES_OF_DAY = ("%H:%M", "%H:%M:%S")
FORMATS = (*(day + time for day in _DAYS for time in _TIMES), *TIMES_OF_DAY)


def formats_of(texts: Sequence[str]) -> tuple[str, ...]:
    """The formats that all of these texts can be read in; more than one where day and month cannot be told apart.

    >>> formats_of(["2021-03-01", "1999-12-31"])
    ('%Y-%m-%d',)
    >>> formats_of(["03/04/2021"]), formats_of(["03/04/2021", "03/25/2021"])
    (('%d/%m/%Y', '%m/%d/%Y'), ('%m/%d/%Y',))
    """
    if not texts:
        return ()
    return tuple(form for form in FORMATS if _is_one(texts[0], form) and _fits(texts, form))


def formats_in(column: pd.Series) -> tuple[str, ...] | None:
    """The formats that all dates of a column can be read in; None where it has no value.

    >>> formats_in(pd.Series(["03/04/2021", None])), formats_in(pd.Series([pd.Timestamp(2021, 4, 3)]))
    (('%d/%m/%Y', '%m/%d/%Y'), ('%Y-%m-%d', '%Y-%m-%d %H:%M:%S'))
    """
    known = column.dropna()
    if not len(known):
        return None
    if types.is_datetime64_any_dtype(column.dtype):
        whole = bool((known == known.dt.normalize()).all())
        return _STORED if whole else _STORED[1:]
    return formats_of([str(value) for value in known.unique()])


def chosen_format(formats: Sequence[str]) -> str:
    """The one of some formats that dates are written in, all of which fit.

    Raises:
        InputError: there is none, or days and months cannot be told apart.

    >>> chosen_format(("%Y-%m-%d", "%Y-%m-%d %H:%M:%S"))
    '%Y-%m-%d'
    """
    if not formats:
        raise InputError(
            "no format fits all dates: write them in one way, read what is no date as missing (clean.unknown), or say "
            "how they are written, such as dates = {seen = '%d.%m.%Y'}."
        )
    if len({form.split("T")[0].split(" %H")[0] for form in formats}) > 1:
        raise InputError(f"dates can be read as {formats[0]!r} or as {formats[1]!r}: say which.")
    return formats[0]


def formats_together(texts: Sequence[str]) -> tuple[str, ...]:
    """Formats one of which fits each of these texts, the one that fits most first; nothing where one fits none.

    >>> formats_together(["2021-03-01", "31.12.1999", "1999-12-31"])
    ('%Y-%m-%d', '%d.%m.%Y')
    """
    found, rest = formats_and_rest(texts)
    return () if rest else found


def formats_and_rest(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Formats that fit these texts, the one that fits most first, and the texts that none fits.

    >>> formats_and_rest(["31.12.1999", "30.02.1999", "1.1.2000"])
    (('%d.%m.%Y',), ('30.02.1999',))
    """
    left, found = list(texts), list[str]()
    while left:
        fitting = {form: [text for text in left if _is_one(text, form)] for form in FORMATS}
        best = max(fitting, key=lambda form: len(fitting[form]))
        if not fitting[best]:
            break
        found.append(best)
        fits = set(fitting[best])
        left = [text for text in left if text not in fits]
    return tuple(found), tuple(left)


def format_of(texts: Sequence[str], given: str | None = None) -> str:
    """The format that dates are written in: the one given, or the only one that fits.

    Raises:
        InputError: one of the texts is no date in it, or none fits all, or days and months cannot be told apart.

    >>> format_of(["31.12.1999", "01.02.2021"])
    '%d.%m.%Y'
    """
    found = (given,) if given else formats_of(texts)
    if not found:
        likely = next((form for form in FORMATS if any(_is_one(text, form) for text in texts[:20])), None)
        odd = next((text for text in texts if likely is None or not _is_one(text, likely)), texts[0])
        raise InputError(
            f"{odd!r} is no date that can be read beside the others; correct it, read it as missing "
            "(clean.unknown), or say how dates are written, such as format = '%d.%m.%Y'."
        )
    if given:
        odd_one = next((text for text in texts if not _is_one(text, given)), None)
        if odd_one is not None:
            raise InputError(f"{odd_one!r} is no date written as {given!r}; correct it, or give another format.")
    if len({form.removesuffix(".%f") for form in found}) > 1:
        raise InputError(
            f"Dates such as {texts[0]!r} can be read as {found[0]!r} or as {found[1]!r}: say which, as in "
            f"format = '{found[0]}'."
        )
    return found[0]


def _is_one(text: str, form: str) -> bool:
    return any(_is_written(text, one) for one in form.split(OR))


def _is_written(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def _fits(texts: Sequence[str], form: str) -> bool:
    wide = form != "%Y%m%d" or all(len(text) == 8 and text.isdecimal() for text in texts)
    return wide and not read(texts, form).isna().any()


def as_numbers(column: pd.Series, name: str, form: str) -> tuple[pd.Series, str]:
    """Dates as whole numbers of days, or of seconds where they have times, and the format that they are written in.

    Numbers are such already, if it is known in which format they were written.

    >>> days, form = as_numbers(pd.Series(["02.01.1970", None]), "seen", "")
    >>> days.tolist(), form
    ([1.0, nan], '%d.%m.%Y')
    """
    if types.is_numeric_dtype(column.dtype) and not isinstance(column.dtype, pd.CategoricalDtype):
        if form:
            return column, form
        raise InputError(f"Column '{name}' is to be dates and holds numbers; write them as text, such as 2024-01-31.")
    if types.is_datetime64_any_dtype(column.dtype):
        whole = bool((column.dropna() == column.dropna().dt.normalize()).all())
        form = form or _STORED[0 if whole else 1]
        column = column.dt.strftime(form.split(OR)[0])
    codes, values = pd.factorize(column)
    texts = [str(value) for value in values]
    try:
        form = format_of(texts, form or None) if texts else form
    except InputError as problem:
        raise InputError(f"Column '{name}': {problem}") from problem
    counted = (read(texts, form) - _EPOCH) // pd.Timedelta(1, _unit(form.split(OR)[0]))
    numbers = np.asarray(counted, np.int64)
    if (codes < 0).any():
        return pd.Series(np.append(numbers.astype(np.float64), np.nan)[codes], column.index, name=name), form
    return pd.Series(numbers[codes], column.index, name=name), form


def written(numbers: Iterable[float], form: str) -> list[str]:
    """Days or seconds as the dates that they are.

    >>> written([1, 31], "%d.%m.%Y")
    ['02.01.1970', '01.02.1970']
    """
    one = form.split(OR)[0]
    return [f"{_EPOCH + pd.Timedelta(round(number), _unit(one)):{one}}" for number in numbers]


def _unit(form: str) -> Literal["D", "s"]:
    return "s" if "%H" in form else "D"


def read(texts: Sequence[Any], form: str) -> pd.DatetimeIndex:
    """The times that texts stand for, missing where one is no date in this format.

    Of several formats the first counts that a text is a date in.

    >>> read(["01.02.2021", "x"], "%d.%m.%Y").isna().tolist()
    [False, True]
    >>> read(["01.02.2021", "2021-02-01"], "%Y-%m-%d|%d.%m.%Y").nunique()
    1
    """
    given = pd.Index(list(texts), dtype=object)
    one, *others = (
        pd.Series(pd.to_datetime(given, format=each, errors="coerce").to_numpy()) for each in form.split(OR)
    )
    for other in others:
        one = one.fillna(other)
    return pd.DatetimeIndex(one)
