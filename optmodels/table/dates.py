"""Dates as people write them: which of a few formats a column's texts are in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pandas as pd

# The usual ways to write a date, and to write a time after it. Two that read the same texts are told apart by days
# above 12, and where there is none the first of them is taken.
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%d %B %Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M", "T%H:%M:%S", "T%H:%M:%S.%f")
FORMATS = tuple(day + time for day in _DAYS for time in _TIMES)


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


def _is_one(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def _fits(texts: Sequence[str], form: str) -> bool:
    wide = form != "%Y%m%d" or all(len(text) == 8 and text.isdecimal() for text in texts)
    return wide and not read(texts, form).isna().any()


def read(texts: Sequence[Any], form: str) -> pd.DatetimeIndex:
    """The times that texts stand for, missing where one is no date in this format.

    >>> read(["01.02.2021", "x"], "%d.%m.%Y").isna().tolist()
    [False, True]
    """
    return pd.DatetimeIndex(pd.to_datetime(pd.Index(list(texts), dtype=object), format=form, errors="coerce"))
