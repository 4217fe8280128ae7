"""What texts spell: a CSV file has no types, and its numbers are told from codes by how they are written."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_CODE = re.compile(r"[-+]?0\d")  # 007: numbers do not begin with a zero more than they need
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_MOST_DECIMALS = 15  # more than that no floating point number has to tell
_SAMPLE = 1_000


def is_number_type(dtype: Any) -> bool:
    """Whether values of a type are numbers; truth values are not."""
    return types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype)


def has_decimals(values: pd.Index) -> bool:
    """Whether values are measurements: numbers of which some are not whole. Whole numbers may be codes.

    >>> has_decimals(pd.Index([1.5, 2])), has_decimals(pd.Index([1, 2])), has_decimals(pd.Index(["1.5", "2"]))
    (True, False, False)
    """
    if not is_number_type(values.dtype):
        return False
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    return bool((numbers != np.rint(numbers))[np.isfinite(numbers)].any())


def typed(column: pd.Series, decimal: str = ".") -> pd.Series:
    """A column of texts as the numbers that they spell; itself where one of them is no number, or written as a code.

    Texts that spell the same number, 2.5 and 2.50, are one value then. Codes have leading zeros, and numbers with more
    digits than floating point numbers tell apart are codes, too.

    >>> typed(pd.Series(["1", "2.50", None])).tolist(), typed(pd.Series(["01", "12"])).tolist()
    ([1.0, 2.5, nan], ['01', '12'])
    """
    codes, texts = pd.factorize(column)
    numbers = _numbers([_with_point(str(text), decimal) for text in texts])
    if numbers is None:
        return column
    if (codes < 0).any():
        numbers = np.append(numbers.astype(np.float64), np.nan)  # where the code -1 of a missing cell points
    return pd.Series(numbers[codes], column.index, name=column.name)


def _with_point(text: str, decimal: str) -> str:
    """A number with a decimal point; one that has a point already, of thousands, is left to be no number."""
    return text if decimal == "." else "" if "." in text else text.replace(decimal, ".")


def _numbers(texts: list[str]) -> NDArray[np.generic] | None:
    if not texts or not all(_NUMBER.fullmatch(text) and not _CODE.match(text) for text in texts):
        return None
    if all(_WHOLE.fullmatch(text) for text in texts):
        whole = [int(text) for text in texts]
        return np.array(whole, np.int64) if max(map(abs, whole)) < 2**53 else None
    numbers = np.array([float(text) for text in texts])
    if not np.isfinite(numbers).all():
        return None
    confused = len(np.unique(numbers)) < len(texts) and len({Decimal(text) for text in texts}) > len(np.unique(numbers))
    return None if confused else numbers


def decimals(numbers: NDArray[Any]) -> int | None:
    """How many decimals all of the numbers are written with; None where they have as many as a computer can tell.

    >>> decimals(np.array([1.5, 2.25])), decimals(np.array([1, 2])), decimals(np.array([0.1 + 0.2]))
    (2, 0, None)
    """
    if numbers.dtype.kind in "iub":
        return 0
    known = np.asarray(numbers[np.isfinite(numbers)])
    some = known[:_SAMPLE]  # most columns of measurements are known after a few
    for places in range(_MOST_DECIMALS + 1):
        if _has(some, places) and (len(known) == len(some) or _has(known, places)):
            return places
    return None


def _has(numbers: NDArray[Any], places: int) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.round(numbers, places) == numbers).all())
