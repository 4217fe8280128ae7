"""A column as a few bands that fit into a picture: its values, intervals of numbers, or the commonest and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

MOST = 12  # bands that one picture shows
MISSING = "(missing)"
_HAIR, _TINY = 1e-9, 1e-290
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Bands:
    """Bands with their names; numbers fall between `edges`, any other value is looked up among `values`.

    `places` has the band of each of `values`. A value that is not known falls into the last band. Few numbers have
    a band each, and one that is none of them falls into that of the nearest.
    """

    labels: tuple[str, ...]
    edges: NDArray[np.float64] | None
    values: pd.Index
    places: Places

    def __len__(self) -> int:
        return len(self.labels)

    def of(self, column: pd.Series | pd.Index | Sequence[object]) -> Places:
        """The band of each value."""
        last = len(self.labels) - 1
        if self.edges is not None:
            numbers = pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(np.float64)
            found = np.searchsorted(self.edges, numbers, side="right") - 1
            between = np.clip(found, 0, len(self.edges) - 2)
            return np.where(np.isnan(numbers), last, between).astype(np.int64)
        known = self.values.get_indexer(pd.Index(column))
        missing = np.asarray(pd.isna(pd.Series(column)))
        return np.append(self.places, last)[np.where(missing, -1, known)]

    def counts(self, column: pd.Series) -> Places:
        """How many values of a column are in each band."""
        return np.bincount(self.of(column), minlength=len(self)).astype(np.int64)


def bands_of(column: pd.Series, *, order: Sequence[object] | pd.Index | None = None, most: int = MOST) -> Bands:
    """The bands of a column: numbers of many values in round intervals, values with an `order` in runs of neighbours.

    Any other column has its values from the commonest on, and at last whatever there is no place for.

    >>> bands_of(pd.Series([18, 25, 33, 61]), most=3).labels
    ('0 to 20', '20 to 40', '40 to 60', '60 to 80')
    >>> bands_of(pd.Series(["b", "a", "b", "c", "d"]), most=3).labels
    ('b', 'a', '2 other values')
    """
    present = column.dropna()
    is_number = types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
    if is_number and order is None and present.nunique() > most:
        return _intervals(present.to_numpy(np.float64), most, bool(column.isna().any()))
    if is_number and order is None:
        return _nearest(np.unique(present.to_numpy(np.float64)), bool(column.isna().any()))
    if order is not None:
        return _runs(pd.Index(order), most, bool(column.isna().any()))
    counts = present.astype(object).value_counts(sort=True)
    return _commonest(pd.Index(counts.index), most, bool(column.isna().any()))


def column_bands(column: pd.Series, order: pd.Index | None, *, most: int = MOST) -> Bands:
    """The bands in which a column of a table is shown, in its order where it has one and is not of numbers."""
    is_number = types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
    return bands_of(column, order=None if is_number else order, most=most)


def distribution_of(column: pd.Series, order: pd.Index | None, *, most: int = MOST) -> pd.DataFrame:
    """How many values of a column are in each of its bands: value, records."""
    bands = column_bands(column, order, most=most)
    return pd.DataFrame({"value": bands.labels, "records": bands.counts(column)})


def bands_of_levels(values: pd.Index, counts: Places, *, ordered: bool, most: int = MOST) -> Bands:
    """The bands of a column of which only its values and how often each occurs are known.

    >>> bands_of_levels(pd.Index(["a", "b", "c", "d"]), np.array([1, 3, 2, 1]), ordered=False, most=3).labels
    ('b', 'c', '2 other values')
    """
    if ordered:
        return _runs(values, most, missing=False)
    return _commonest(values[np.argsort(-counts, kind="stable")], most, missing=False)


def round_edges(low: float, high: float, most: int = MOST) -> NDArray[np.float64]:
    """Round numbers at equal distances, the first no more than `low` and the last more than `high`.

    >>> round_edges(18, 61, 5)
    array([10., 20., 30., 40., 50., 60., 70.])
    """
    reach, size = high - low, max(abs(low), abs(high))
    if not np.isfinite(reach) or reach / most <= max(_HAIR * size, _TINY):  # no round numbers lie between
        return np.array([low, high if high > low else np.nextafter(low, np.inf)])
    power = 10.0 ** floor(log10(reach / most))
    step = next(s * power for s in _STEPS if s * power >= reach / most * (1 - 1e-9))
    first, last = floor(low / step), ceil(high / step)
    last += last * step <= high
    return np.array([float(f"{place * step:.12g}") for place in range(first, last + 1)])


def _intervals(numbers: NDArray[np.float64], most: int, missing: bool) -> Bands:
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    edges = round_edges(low, high, most)
    names = [said(edge) for edge in edges]
    labels = [f"{a} to {b}" for a, b in pairwise(names)]
    if low == high:
        labels = [said(low)]
    return Bands((*labels, *([MISSING] if missing else [])), edges, pd.Index([]), np.zeros(0, np.int64))


def _nearest(values: NDArray[np.float64], missing: bool) -> Bands:
    edges = np.concatenate([[-np.inf], (values[:-1] + values[1:]) / 2, [np.inf]])
    labels = [said(value) for value in values]
    names = (*labels, *([MISSING] if missing or not labels else []))
    return Bands(names, edges, pd.Index(values), np.arange(len(values), dtype=np.int64))


def _runs(values: pd.Index, most: int, missing: bool) -> Bands:
    together = max(1, ceil(len(values) / most))
    places = np.arange(len(values), dtype=np.int64) // together
    labels = []
    for start in range(0, len(values), together):
        run = values[start : start + together]
        labels.append(said(run[0]) if len(run) == 1 else f"{said(run[0])} to {said(run[-1])}")
    return Bands((*labels, *([MISSING] if missing or not labels else [])), None, values, places)


def _commonest(values: pd.Index, most: int, missing: bool) -> Bands:
    shown = len(values) if len(values) <= most else most - 1
    places = np.minimum(np.arange(len(values), dtype=np.int64), shown)
    labels = [said(value) for value in values[:shown]]
    if len(values) > shown:
        labels.append(f"{len(values) - shown:,} other values")
    return Bands((*labels, *([MISSING] if missing or not labels else [])), None, values, places)


def said(value: Any) -> str:
    """A value as a name in a picture: whole numbers without a point, others in a few digits.

    >>> said(31.0), said(0.30000000000000004), said("flu")
    ('31', '0.3', 'flu')
    """
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return said(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.6g}"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return f"{int(value):,}" if abs(int(value)) >= 10_000 else str(value)
    return str(value)
