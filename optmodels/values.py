"""Values of columns: numbers as text, and rows in an order that tells nothing that their values do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def spelled(numbers: NDArray[np.generic]) -> list[str]:
    """Numbers as text; whole ones without a point."""
    return [str(int(n)) if isinstance(n, float) and n.is_integer() else str(n) for n in numbers.tolist()]


def in_value_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows sorted by all their values, so that their order tells nothing that the values do not.

    Categories that only carry a data type's own order of appearance become plain values, for the same reason.

    >>> in_value_order(pd.DataFrame({"a": [2, 1, 2], "b": ["y", "z", "x"]}, index=[7, 8, 9]))
       a  b
    0  1  z
    1  2  x
    2  2  y
    """
    return in_value_order_with_places(frame)[0]


def in_value_order_with_places(frame: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """The same, and which row each was before.

    >>> in_value_order_with_places(pd.DataFrame({"a": [2, 1]}))[1]
    array([1, 0])
    """
    plain = pd.DataFrame({name: _without_hidden_order(column) for name, column in frame.items()})
    order = value_order(plain)
    return plain.take(order).reset_index(drop=True), order


def value_order(frame: pd.DataFrame) -> NDArray[np.intp]:
    """The places of the rows in the order of all their values, missing ones last.

    >>> value_order(pd.DataFrame({"a": [2, 1, 2], "b": ["y", "z", "x"]}))
    array([1, 2, 0])
    """
    return np.lexsort([_ranks(frame[name]) for name in reversed(frame.columns)])


def _without_hidden_order(column: pd.Series) -> pd.Series:
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    if column.dtype.ordered:
        return column.cat.remove_unused_categories()
    return column.astype(column.cat.categories.dtype)


def _ranks(column: pd.Series) -> NDArray[np.int64]:
    """Rank of each value among the column's values; missing ones come last."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, categories = column.cat.codes.to_numpy(np.int64), column.cat.categories
        if column.dtype.ordered:
            return np.where(codes < 0, len(categories), codes)
        return _by_value(categories)[codes]  # which are in the order of appearance where a file is read
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:  # lists and the like, in a column that is kept as it is
        codes, distinct = pd.factorize(column.map(repr))
    return _by_value(pd.Index(distinct))[codes]


def _by_value(distinct: pd.Index) -> NDArray[np.int64]:
    """The rank of each of some values, and behind them that of a missing one, to which the code -1 points."""
    rank = np.full(len(distinct) + 1, len(distinct), np.int64)
    rank[_sorted_places(distinct)] = np.arange(len(distinct))
    return rank


def _sorted_places(values: pd.Index) -> NDArray[np.intp]:
    try:
        return np.asarray(values.argsort())
    except TypeError:  # numbers and text in one column
        keys: list[tuple[str, Any]] = [(type(value).__name__, str(value)) for value in values]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.intp)
