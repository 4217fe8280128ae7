"""Columns into arrays: numbers checked, values numbered, sensitive numbers binned."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pandas.api import types

from optmodels.errors import InputError
from optmodels.partition import not_comparable
from optmodels.table.role_types import Bins

_SHOWN = 3
_SAMPLE = 1_000
_NUMBER_IN_TEXT = re.compile(r"((?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\d+)", re.ASCII)
_WITH_COMMA = re.compile(r"\s*[-+]?\d*,\d+\s*")
_LARGEST = 1e140  # sums of squares of millions of such numbers are numbers still
_SMALLEST = 1e-140  # and their inverse: the least width of a column whose squares are not all zero
# What pandas, Arrow or R read as missing from a CSV file, unless they are told otherwise.
_READ_AS_MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "null", "None", "NaN", "nan", "-NaN", "-nan"]
) | {"1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}

Codes = NDArray[np.int32]


def numeric_column(column: pd.Series, name: str) -> pd.Series:
    """The column as plain finite numbers or NaN; text that reads as a number is taken as one.

    >>> numeric_column(pd.Series(["1.5", "2"]), "dose").tolist()
    [1.5, 2.0]
    """
    plain = _plain(column, name)
    if types.is_bool_dtype(plain.dtype):
        return plain.astype(np.int64)
    if not types.is_numeric_dtype(plain.dtype):
        plain = _read_numbers(plain, name)
    if plain.dtype.kind not in "iuf":
        raise InputError(f"Column '{name}' holds values of type {plain.dtype}, which is not a plain number.")
    _check_finite(plain, name)
    _check_size(plain, name)
    return _one_zero(plain)


def level_column(column: pd.Series, name: str) -> pd.Series:
    """The column as plain text, numbers or categories, fit to be numbered; dates and intervals become text."""
    if isinstance(column.dtype, pd.BooleanDtype) and column.isna().any():  # as numbers they would be 0 and 1
        column = column.astype(object).where(column.notna(), None)
    plain = _plain(column, name)
    if isinstance(plain.dtype, pd.CategoricalDtype):
        if _holds_dates(plain.cat.categories):
            return plain.cat.rename_categories([str(category) for category in plain.cat.categories])
    elif _holds_dates(plain):
        codes, distinct = factorized(plain, name)
        return categories(codes, [str(value) for value in distinct], plain.index, name)
    elif plain.dtype.kind == "f":
        _check_finite(plain, name)
        return _one_zero(plain)
    elif types.is_object_dtype(plain.dtype):
        return _one_spelling(plain, name)
    return plain


def keeps_words(column: pd.Series) -> bool:
    """Whether a sensitive column can be released as it is: mixed objects, or two zeros, are equal but look unlike."""
    if not types.is_object_dtype(column.dtype):
        return column.dtype.kind != "f"
    return _holds_dates(column) and column.map(type).nunique() == 1


def filled_alike(words: pd.Series, cleaned: pd.Series) -> pd.Series:
    """The words of a column for the records that are left, where its gaps were filled as in the cleaned one."""
    if len(words) != len(cleaned):
        words = words.loc[cleaned.index]
    gaps = words.isna() & ~cleaned.isna()
    if not gaps.any():
        return words
    if not isinstance(words.dtype, pd.CategoricalDtype):
        return cleaned
    return words.astype(object).where(~gaps, cleaned.map(level_text).astype(object))


def check_told_apart(values: pd.Index, name: str) -> None:
    """Values that readers of CSV take for missing are one value to them, so of a sensitive attribute's one may be such.

    Raises:
        InputError: it has several.

    >>> check_told_apart(pd.Index(["flu", "NA"]), "illness")
    """
    unread = [value for value in values.tolist() if isinstance(value, str) and value in _READ_AS_MISSING]
    if len(unread) > 1:
        found = ", ".join(repr(value) for value in unread)
        raise InputError(
            f"Column '{name}' has the values {found}, which whoever reads a release takes for one and the same missing "
            "value, so they protect nobody as different ones. Write them out in words, or leave all of these cells "
            "empty and choose what to do with missing values: missing='category', missing='impute' or missing='drop'."
        )


def _one_zero(column: pd.Series) -> pd.Series:
    """The column without negative zeros: they equal zero, and are written differently."""
    numbers = column.to_numpy()
    if column.dtype.kind == "f" and bool((np.signbit(numbers) & (numbers == 0)).any()):
        return column + 0.0
    return column


def _one_spelling(column: pd.Series, name: str) -> pd.Series:
    """Equal values of different types, 1 and 1.0 and True, as the first of them: they are written differently."""
    codes, distinct = factorized(column, name)
    spelled = np.array([*distinct.tolist(), None], object)  # where the code -1 of a missing value points
    return pd.Series(spelled[codes], column.index, dtype=object, name=column.name)


def _plain(column: pd.Series, name: str) -> pd.Series:
    """The column in numpy's types, or text or categories: pandas' nullable and Arrow types are unwrapped."""
    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype):
        return pd.Series(pa.array(column.array).to_pandas().array, column.index, name=name)
    if isinstance(dtype, pd.SparseDtype):
        return pd.Series(np.asarray(column), column.index, name=name)
    if types.is_numeric_dtype(dtype) and not isinstance(dtype, np.dtype):  # Int64, Float64, boolean
        if column.isna().any():
            return pd.Series(column.to_numpy(np.float64, na_value=np.nan), column.index, name=name)
        return pd.Series(column.to_numpy(dtype.numpy_dtype), column.index, name=name)  # type: ignore[attr-defined]
    return column.infer_objects() if types.is_object_dtype(dtype) else column


def _holds_dates(column: pd.Series | pd.Index) -> bool:
    if types.is_object_dtype(column.dtype):
        first = next(iter(column.dropna()[:1]), None)
        return isinstance(first, datetime.date | datetime.time | datetime.timedelta | pd.Period | pd.Interval)
    return column.dtype.kind in "mM" or isinstance(column.dtype, pd.PeriodDtype | pd.IntervalDtype)


def factorized(column: pd.Series, name: str) -> tuple[NDArray[np.intp], pd.Index]:
    """The number of each cell's value, -1 where it is missing, and the values in the order of their numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.intp), column.cat.categories
    try:
        numbers, distinct = pd.factorize(column)
    except TypeError as problem:
        raise InputError(
            f"Column '{name}' holds values that cannot be compared ({problem}); turn them into text."
        ) from problem
    return numbers.astype(np.intp, copy=False), pd.Index(distinct)


def categories(
    codes: NDArray[np.intp], texts: list[str], index: pd.Index, name: str, *, ordered: bool = False
) -> pd.Series:
    """A column of categories with these texts, from the number of each cell's."""
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(texts), ordered=ordered), index, name=name)


def _read_numbers(column: pd.Series, name: str) -> pd.Series:
    codes, distinct = factorized(column, name)
    if _holds_dates(distinct):
        raise InputError(
            f"Column '{name}' holds dates, not numbers; turn it into a number first, such as the year, or make it "
            "'categorical', where every date is a value of its own."
        )
    numbers = np.asarray(pd.to_numeric(pd.Index(distinct.to_numpy(object), dtype=object), errors="coerce"))
    if numbers.dtype.kind not in "iuf":
        numbers = numbers.astype(np.float64)
    unreadable = np.flatnonzero(pd.isna(numbers) & ~pd.isna(distinct))
    bad = np.flatnonzero(np.isin(codes, unreadable)) if unreadable.size else unreadable
    if bad.size:
        raise InputError(
            f"Column '{name}' is to be numeric but has text in {_cells(column, bad)}. Correct these cells, leave them "
            f"empty and choose a policy for missing values, or make '{name}' categorical.{_comma(column, bad)}"
        )
    if (codes < 0).any():
        numbers = np.append(numbers.astype(np.float64), np.nan)  # code -1 picks this one
    return pd.Series(numbers[codes], column.index, name=name)


def _comma(column: pd.Series, rows: NDArray[np.intp]) -> str:
    """What to tell if all that is wrong with some cells is their decimal mark."""
    texts = {str(column.iloc[row]) for row in rows[:_SAMPLE].tolist()}
    return " If the comma is the decimal mark, say so: decimal=','." if all(map(_WITH_COMMA.fullmatch, texts)) else ""


def _check_finite(column: pd.Series, name: str) -> None:
    if column.dtype.kind == "f" and np.isinf(column.to_numpy()).any():
        bad = np.flatnonzero(np.isinf(column.to_numpy()))
        raise InputError(
            f"Column '{name}' has an infinity in {_cells(column, bad)}; replace it by a number or leave the cell empty."
        )


def _check_size(column: pd.Series, name: str) -> None:
    if column.dtype == np.float64 and max(-column.min(), column.max()) > _LARGEST:
        bad = np.flatnonzero(np.abs(column.to_numpy()) > _LARGEST)
        raise InputError(
            f"Column '{name}' has numbers beyond {_LARGEST:g} in {_cells(column, bad)}, whose squares are none that a "
            f"computer can add up; give '{name}' in larger units, or its logarithm."
        )
    width = float(column.max()) - float(column.min()) if len(column) else 0.0
    if column.dtype.kind == "f" and 0.0 < width < _SMALLEST:
        first = int(np.flatnonzero(column.to_numpy() != column.iloc[0])[0])
        raise InputError(
            f"The numbers of column '{name}' differ by less than {_SMALLEST:g}, "
            f"{_cells(column, np.array([0, first]))}, and the square of that is nothing to a computer; "
            f"give '{name}' in smaller units."
        )


def _cells(column: pd.Series, rows: NDArray[np.intp]) -> str:
    shown = ", ".join(f"row {row + 1} ({_shown(column.iloc[row])})" for row in rows[:_SHOWN].tolist())
    return shown + (f" and {rows.size - _SHOWN:,} more" if rows.size > _SHOWN else "")


def _shown(value: object) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else text[:37] + "..."


def sorted_levels(column: pd.Series, name: str) -> tuple[Codes, pd.Index]:
    """Number the values that occur, in sorted order.

    >>> codes, levels = sorted_levels(pd.Series(["b", "a", "b"]), "letter")
    >>> codes.tolist(), levels.tolist()
    ([1, 0, 1], ['a', 'b'])
    """
    codes, distinct = factorized(column, name)
    used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
    distinct_used = distinct[used]
    try:
        order = np.asarray(distinct_used.argsort())
    except TypeError:  # numbers and text in one column
        order = np.argsort([f"{type(value).__name__} {value}" for value in distinct_used], kind="stable")
    rank = np.full(len(distinct), -1, np.int32)
    rank[used[order]] = np.arange(len(used), dtype=np.int32)
    return rank[codes], distinct_used[order]


def ordered_levels(column: pd.Series, order: Sequence[object], name: str) -> tuple[Codes, pd.Index]:
    """Number the values in a given order; an unlisted value is an error."""
    codes, distinct = factorized(column, name)
    rank, levels = places_in_order(order, distinct)
    strangers = np.flatnonzero(np.isin(codes, np.flatnonzero(rank < 0))) if (rank < 0).any() else np.empty(0, np.intp)
    if strangers.size:
        raise InputError(
            f"Column '{name}' has a value that its order does not list, in {_cells(column, strangers)}; the order is "
            f"{', '.join(map(str, order))}. Add the value to orders['{name}']."
        )
    return rank[codes], levels


def places_in_order(order: Sequence[object] | pd.Index, values: pd.Index) -> tuple[Codes, pd.Index]:
    """Place of each value in an order, -1 if it has none, and the order in the values' own spelling.

    A number matches its text, since orders from a command line are text and columns of a file may be numbers.

    >>> places, levels = places_in_order(["3", "2", "1"], pd.Index([1, 3]))
    >>> places.tolist(), levels.tolist()
    ([2, 0], [3, '2', 1])
    """
    levels = pd.Index(list(order))
    places = levels.get_indexer(values).astype(np.int32)
    texts = pd.Index([level_text(level) for level in levels], dtype=object)
    if not (places < 0).any() or texts.has_duplicates:
        return places, levels
    by_text = texts.get_indexer(pd.Index([level_text(value) for value in values], dtype=object))
    places = np.where(places < 0, by_text, places).astype(np.int32)
    spelled = levels.tolist()
    for place, value in zip(places.tolist(), values.tolist(), strict=True):
        if place >= 0:
            spelled[place] = value
    return places, pd.Index(spelled)


def known_order(column: pd.Series) -> tuple[object, ...] | None:
    """The order a column brings along as an ordered categorical, if it is one."""
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        return tuple(column.cat.categories.tolist())
    return None


def natural_order(column: pd.Series) -> pd.Index:
    """The values of a column in ascending order; in text, numbers are compared as numbers.

    >>> natural_order(pd.Series(["[100, 200)", "[20, 100)", "[-5, 20)"], dtype="category")).tolist()
    ['[-5, 20)', '[20, 100)', '[100, 200)']
    """
    values = column.dropna().unique().tolist()
    if all(isinstance(value, str) for value in values):
        return pd.Index(sorted(values, key=_natural_key))
    try:
        rising: pd.Index = pd.Index(sorted(values))
        return rising
    except TypeError as problem:
        raise not_comparable(str(column.name), problem) from problem


def _natural_key(text: str) -> list[str | float]:
    parts = _NUMBER_IN_TEXT.split(text)  # text and numbers take turns, so like is compared with like
    return [float(part) if at % 2 else part for at, part in enumerate(parts)]


def binned(column: pd.Series, bins: Bins, name: str) -> pd.Series:
    """Numbers in ordered bins: so many quantiles, or between given edges; the last bin includes its upper edge.

    >>> binned(pd.Series([1, 12, 20]), [0, 10, 20], "income").tolist()
    ['[0, 10)', '[10, 20]', '[10, 20]']
    """
    numbers = column.to_numpy(np.float64)
    if isinstance(bins, int):
        edges = np.unique(_tidied(np.quantile(numbers, np.linspace(0, 1, bins + 1)), numbers))
    else:
        edges = np.asarray(bins, np.float64)
    outside = np.flatnonzero((numbers < edges[0]) | (numbers > edges[-1]))
    if outside.size:
        raise InputError(
            f"Column '{name}' has a value outside its bins {edges[0]:g} to {edges[-1]:g}, in "
            f"{_cells(column, outside)}; widen the edges in bins['{name}']."
        )
    last = max(len(edges) - 2, 0)
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, last)
    ends = [_number_text(edge) for edge in edges.tolist()]
    labels = [f"[{low}, {high}{']' if at == last else ')'}" for at, (low, high) in enumerate(pairwise(ends))]
    return categories(codes, labels or ends, column.index, name, ordered=True)


def _tidied(edges: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges without the last digits, which are those of rounding, wherever they part the numbers alike without them."""
    short = [float(f"{edge:.12g}") for edge in edges.tolist()]
    return np.array(
        [
            tidy if 0 < place < len(edges) - 1 and (numbers < tidy).sum() == (numbers < edge).sum() else edge
            for place, (edge, tidy) in enumerate(zip(edges.tolist(), short, strict=True))
        ]
    )


def _number_text(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def level_text(value: object) -> str:
    """How a value is written in a file: whole numbers without a decimal point.

    >>> level_text(3.0), level_text("a")
    ('3', 'a')
    """
    return _number_text(value) if isinstance(value, float) else str(value)
