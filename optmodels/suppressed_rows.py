"""Rows of a release that stand for records left out: they say nothing, in no column, and are all alike.

Whatever such a row said could be told from the others: a person who is found in no class must be one of these rows, and
with it the illness, the diagnosis date or the salary in it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api import types

Suppressed = Literal["drop", "star"]

STAR = "*"
_NUMBERS = r"[\[(]?[-+0-9.,eE:/ ]*[0-9][-+0-9.,eE:/ ]*[\])]?"


def with_suppressed(frame: pd.DataFrame, count: int, without_star: Collection[str] = ()) -> pd.DataFrame:
    """The rows, and after them so many that say nothing: a star in columns of text, a missing value in all others.

    Columns `without_star` hold numbers that are written in words of their own, and have no star either.

    >>> with_suppressed(pd.DataFrame({"age": [30, 40], "illness": ["flu", "cold"]}), 1)
        age illness
    0    30     flu
    1    40    cold
    2  <NA>       *
    """
    return pd.DataFrame(
        {name: _lengthened(column, count, star=name not in without_star) for name, column in frame.items()}
    )


def without_suppressed(frame: pd.DataFrame, known: int | None = None) -> tuple[pd.DataFrame, int]:
    """The rows that are of records in classes, and how many are not: those that say nothing in any column.

    Where it is `known` how many there are, it is so many of them: a class may say nothing as well. Where no row says
    anything, they are such a class.

    >>> kept, count = without_suppressed(pd.DataFrame({"age": [30, None], "illness": ["flu", "*"]}))
    >>> len(kept), count
    (1, 1)
    """
    silent = np.ones(len(frame), bool)
    for name in frame.columns:
        if known == 0 or not silent.any():
            return frame, 0
        silent &= _silent(frame[name])
    if known is None and silent.any():
        # In a column of words such a row has a star: a gap there is somebody's missing value.
        for name in frame.columns:
            if not _no_text(frame[name]) and not _numbers_in_words(frame[name]):
                silent &= (frame[name] == STAR).fillna(value=False).to_numpy(bool)
    if silent.all():
        silent[:] = False
    if known is not None:
        silent[np.flatnonzero(silent)[: int(silent.sum()) - known]] = False
    count = int(silent.sum())
    return (frame[~silent].reset_index(drop=True) if count else frame), count


def _silent(column: pd.Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    missing = column.isna().to_numpy(bool)
    return missing if _no_text(column) else missing | (column == STAR).fillna(value=False).to_numpy(bool)


def _numbers_in_words(column: pd.Series) -> bool:
    """Whether it holds nothing but numbers, dates and intervals of them, which have no star."""
    words = pd.Series(column[column.notna() & (column != STAR)].astype(str).unique(), dtype=str)
    return bool(words.str.fullmatch(_NUMBERS).all())


def _no_text(column: pd.Series) -> bool:
    kind = column.dtype
    return types.is_numeric_dtype(kind) or types.is_bool_dtype(kind) or types.is_datetime64_any_dtype(kind)


def _lengthened(column: pd.Series, count: int, *, star: bool) -> pd.Series:
    if types.is_integer_dtype(column.dtype) and isinstance(column.dtype, np.dtype):
        column = column.astype("UInt64" if column.dtype.kind == "u" else "Int64")  # whole numbers stay whole
    elif types.is_bool_dtype(column.dtype) and isinstance(column.dtype, np.dtype):
        column = column.astype("boolean")
    if star and (types.is_string_dtype(column.dtype) or column.dtype == object):
        return pd.concat([column, pd.Series([STAR] * count, dtype=column.dtype)], ignore_index=True)
    longer: pd.Series = column.reindex(range(len(column) + count))
    return longer
