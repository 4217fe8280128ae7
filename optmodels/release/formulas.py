"""Texts that a spreadsheet would run as formulas, written so that it does not."""

from __future__ import annotations

import re

import pandas as pd
from pandas.api import types

from optmodels.errors import InputError

_FORMULA = re.compile(r"[=+\-@\t\r\n'＝＋－＠]")  # some spreadsheets take the wide ones for the others
_NUMBER = re.compile(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with an apostrophe before every text that begins like a formula.

    Texts that begin with an apostrophe get one, too, so that no two texts become one; numbers stay as they are.

    Raises:
        InputError: the name of a column begins like a formula.

    >>> without_formulas(pd.DataFrame({"note": ["=1+1", "-5", "fine", "'so"]}))["note"].tolist()
    ["'=1+1", '-5', 'fine', "''so"]
    """
    for name in map(str, frame.columns):
        if _harmless(name) != name:
            raise InputError(f"The column '{name}' has a name that a spreadsheet runs as a formula: rename it.")
    return pd.DataFrame({name: _harmless_column(column) for name, column in frame.items()})


def _harmless_column(column: pd.Series) -> pd.Series:
    if types.is_numeric_dtype(column.dtype) or types.is_datetime64_any_dtype(column.dtype):
        return column
    codes, values = pd.factorize(column)
    spelled = pd.Index([_harmless(one) if isinstance(one, str) else one for one in values], dtype=object)
    return pd.Series(spelled.take(codes), column.index).where(codes >= 0, None)


def _harmless(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
