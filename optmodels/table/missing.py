"""Missing values: an error, left out, filled in, or a value of their own."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from optmodels.errors import InputError
from optmodels.table.encoding import categories, factorized, level_text
from optmodels.table.roles import Roles

MISSING_LEVEL = "missing"


def treat_missing(columns: dict[str, pd.Series], roles: Roles) -> tuple[dict[str, pd.Series], dict[str, Any]]:
    """Apply the table's policy to the columns with a role; the report says what was done to which column.

    Other columns that are kept stay as they are.
    """
    gaps = {name: columns[name].isna().to_numpy() for name in roles.complete if columns[name].hasnans}
    report: dict[str, Any] = {"policy": roles.missing, "records_dropped": 0, "columns": {}}
    if not gaps:
        return columns, report
    treated = dict(columns)
    for name, gap in gaps.items():
        report["columns"][name] = {"missing": int(gap.sum())}
    match roles.missing:
        case "error":
            raise _missing_error(gaps)
        case "drop":
            whole = ~np.logical_or.reduce(list(gaps.values()))
            if not whole.any():
                raise InputError(
                    "Every record has a missing value, so missing='drop' would leave none; use missing='impute'."
                )
            treated = {name: column[whole] for name, column in columns.items()}
            report["records_dropped"] = int(len(whole) - whole.sum())
        case "impute":
            for name in gaps:
                if name == roles.person:
                    raise InputError(
                        f"Column '{name}' says whose record it is, which cannot be imputed; fill in its "
                        f"{int(gaps[name].sum()):,} missing cells, or leave these records out with missing='drop'."
                    )
                value = _typical(columns[name], name, by_mean=roles.is_number(name))
                column = columns[name]
                if isinstance(value, float) and types.is_integer_dtype(column.dtype) and not value.is_integer():
                    column = column.astype(np.float64)  # the mean of whole numbers need not be one
                treated[name] = column.fillna(value)
                report["columns"][name]["filled_with"] = value
        case "category":
            for name in gaps:
                treated[name], label = _with_missing_level(columns[name], name, roles)
                report["columns"][name]["filled_with"] = label
    return treated, report


def _missing_error(gaps: dict[str, NDArray[np.bool_]]) -> InputError:
    counts = ", ".join(f"'{name}' ({gap.sum():,}, first in row {int(gap.argmax()) + 1})" for name, gap in gaps.items())
    return InputError(
        f"There are missing values in {counts}. Choose what to do with them: missing='drop' leaves these records out, "
        "missing='impute' fills in the mean or the most frequent value, missing='category' makes them a value of "
        "their own (not for numeric columns)."
    )


def _typical(column: pd.Series, name: str, by_mean: bool) -> Any:
    if column.isna().all():
        raise InputError(f"Column '{name}' has missing values only, so nothing can be imputed; give it no role.")
    if not by_mean:
        found = column.mode()
        value = min(found, key=level_text) if _in_no_order(column) else found.iloc[0]
        return value.item() if isinstance(value, np.generic) else value
    known = column.dropna()
    return fsum(known) / len(known)  # exact, so that the order of records does not matter


def _in_no_order(column: pd.Series) -> bool:
    """Whether a column has categories in whatever order, as those of a file are, in which a value appears first."""
    return isinstance(column.dtype, pd.CategoricalDtype) and not column.dtype.ordered


def _with_missing_level(column: pd.Series, name: str, roles: Roles) -> tuple[pd.Series, str]:
    numbers = types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
    if roles.quasi.get(name) != "categorical" and (numbers or name in roles.quasi or name in roles.orders):
        raise InputError(
            f"missing='category' cannot make a value of its own for missing cells of '{name}', whose values have an "
            f"order; use missing='drop' or missing='impute', or turn '{name}' into a categorical column of text."
        )
    codes, distinct = factorized(column, name)
    texts = [level_text(value) for value in distinct]
    if not isinstance(column.dtype, pd.CategoricalDtype) or _in_no_order(column):  # in that of words, not of the rows
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        texts = [texts[place] for place in order]
        codes = np.where(codes < 0, codes, np.argsort(order)[codes]) if len(order) else codes
    label = MISSING_LEVEL
    while label in texts:
        label += "_"
    codes = np.where(codes < 0, len(texts), codes)
    return categories(codes, [*texts, label], column.index, name), label
