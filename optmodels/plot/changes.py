"""The data of pictures of what a release changed: distributions, means, correlations and rows, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from optmodels.partition import Histograms, histograms
from optmodels.plot.bands import MOST, Bands, column_bands, distribution_of
from optmodels.plot.readings import Recoded

if TYPE_CHECKING:
    from optmodels.table import Table

Floats = NDArray[np.float64]


def distribution(table: Table, name: str, *, most: int = MOST) -> pd.DataFrame:
    """How many records of a table are in each band of a column: value, records.

    >>> from optmodels.table import Table
    >>> people = pd.DataFrame({"age": [20, 22, 22], "town": ["b", "a", "b"]})
    >>> distribution(Table(people, quasi={"age": "numeric", "town": "categorical"}), "town").values.tolist()
    [['b', 2], ['a', 1]]
    """
    return distribution_of(table.frame[name], table.orders.get(name), most=most)


def distribution_change(recoded: Recoded, name: str, *, most: int = MOST) -> pd.DataFrame:
    """Records in each band of a column, and how many a reader of the release expects there: value, before, after.

    Intervals, sets and nodes of hierarchies stand for all that they cover, evenly.
    """
    column = recoded.original.frame[name]
    bands = column_bands(column, recoded.original.orders.get(name), most=most)
    before = bands.counts(column)
    if name in recoded.quasi:
        after = recoded.spread(name, bands).sum(axis=0)
    else:
        after = bands.counts(recoded.table.frame[name]).astype(np.float64)
    return pd.DataFrame({"value": bands.labels, "before": before, "after": after})


def distribution_distance(change: pd.DataFrame) -> float:
    """Half the sum of differences between shares before and after: the share of records that are in another band.

    >>> distribution_distance(pd.DataFrame({"before": [1, 3], "after": [2.0, 2.0]}))
    0.25
    """
    shares = change[["before", "after"]] / change[["before", "after"]].sum().clip(lower=1e-300)
    return float((shares["before"] - shares["after"]).abs().sum() / 2)


def mean_change(recoded: Recoded) -> pd.DataFrame:
    """Mean and standard deviation of numbers, before and as they are read after: attribute, mean_before and so on."""
    rows = []
    for name in _numeric(recoded.original):
        before = recoded.original.frame[name].to_numpy(np.float64)
        after = _records(recoded, name)
        rows.append((name, before.mean(), after.mean(), before.std(), after.std()))
    return pd.DataFrame(rows, columns=["attribute", "mean_before", "mean_after", "sd_before", "sd_after"])


def correlation_change(recoded: Recoded) -> pd.DataFrame:
    """How strongly columns hang together, before and as it is read after: one, other, measure, before, after.

    Of two numbers or ranks it is Pearson's correlation, from -1 to 1; of any other two Cramér's V over their bands,
    from 0 to 1. Where a column does not vary there is none.
    """
    table = recoded.original
    measured = [*table.measured, *(name for name in _numeric(table) if name not in table.measured)]
    columns = [*table.quasi, *table.sensitive]
    columns += [table.target] if table.target is not None and table.target not in columns else []
    orders = table.orders
    bands = {name: column_bands(table.frame[name], orders.get(name)) for name in columns}
    rows = []
    for one, other in combinations(columns, 2):
        if one in measured and other in measured:
            before = _pearson(_ranked(table, one), _ranked(table, other))
            after = _pearson(_records(recoded, one), _records(recoded, other))
            rows.append((one, other, "correlation", before, after))
        else:
            places = [bands[name].of(table.frame[name]) for name in (one, other)]
            crossed = np.zeros((len(bands[one]), len(bands[other])))
            np.add.at(crossed, tuple(places), 1.0)
            expected = _crossed(recoded, one, bands[one], other, bands[other])
            rows.append((one, other, "Cramér's V", _cramer(crossed), _cramer(expected)))
    return pd.DataFrame(rows, columns=["one", "other", "measure", "before", "after"])


def rows_before_and_after(recoded: Recoded, *, rows: int = 10, seed: int = 0) -> pd.DataFrame:
    """Some records as they were and as they are released, two columns for each: for the holder of the data alone.

    The columns have two levels: the name, and before or after. Records that were left out are not shown.
    """
    n = recoded.table.n
    chosen = np.sort(np.random.default_rng(seed).choice(n, min(rows, n), replace=False))
    before, after = recoded.table.frame, recoded.frame
    pairs = {}
    for name in recoded.quasi:
        pairs[name, "before"] = before[name].take(chosen).reset_index(drop=True)
        pairs[name, "after"] = after[name].take(chosen).reset_index(drop=True)
    for name in (name for name in after.columns if name not in recoded.quasi):
        pairs[name, "as it is"] = after[name].take(chosen).reset_index(drop=True)
    return pd.DataFrame(pairs)


def _numeric(table: Table) -> list[str]:
    """The columns of numbers: quasi-identifiers, sensitive attributes and the target."""
    named: Sequence[str | None] = (*table.quasi, *table.sensitive, table.target)
    columns = [name for name in dict.fromkeys(named) if name is not None]
    frame = table.frame
    return [
        name for name in columns if (table.kinds[name] == "numeric" if name in table.quasi else _is_number(frame[name]))
    ]


def _is_number(column: pd.Series) -> bool:
    return types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)


def _ranked(table: Table, name: str) -> Floats:
    if name in table.measured:
        return table.values[:, table.measured.index(name)]
    return table.frame[name].to_numpy(np.float64)


def _records(recoded: Recoded, name: str) -> Floats:
    """The number that each released record is read to have."""
    if name in recoded.quasi:
        return recoded.numbers(name)[recoded.labels]
    return recoded.table.frame[name].to_numpy(np.float64)


def _crossed(recoded: Recoded, one: str, bands: Bands, other: str, others: Bands) -> Floats:
    """(bands, other's bands) records expected in both, independently of each other within a class."""
    if one not in recoded.quasi and other not in recoded.quasi:  # both are released as they are, record by record
        together = np.zeros((len(bands), len(others)))
        np.add.at(together, (bands.of(recoded.table.frame[one]), others.of(recoded.table.frame[other])), 1.0)
        return together
    found: Floats = (_by_class(recoded, one, bands) / recoded.sizes[:, None]).T @ _by_class(recoded, other, others)
    return found


def _by_class(recoded: Recoded, name: str, bands: Bands) -> Floats:
    if name in recoded.quasi:
        return recoded.spread(name, bands)
    found: Histograms = histograms(recoded.labels, bands.of(recoded.table.frame[name]))
    counts = np.zeros((len(found.sizes), len(bands)))
    counts[np.repeat(np.arange(len(found.sizes)), np.diff(found.starts)), found.values] = found.counts
    return counts


def _pearson(one: Floats, other: Floats) -> float:
    both = np.isfinite(one) & np.isfinite(other)
    x, y = one[both] - one[both].mean(), other[both] - other[both].mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else float("nan")


def _cramer(crossed: Floats) -> float:
    """Cramér's V of a table of counts, which need not be whole.

    >>> _cramer(np.array([[2.0, 0.0], [0.0, 3.0]])), _cramer(np.array([[1.0, 1.0], [1.0, 1.0]]))
    (1.0, 0.0)
    """
    present = crossed[crossed.sum(axis=1) > 0][:, crossed.sum(axis=0) > 0]
    fewest = min(present.shape) - 1
    if fewest < 1:
        return float("nan")
    total = present.sum()
    expected = np.outer(present.sum(axis=1), present.sum(axis=0)) / total
    return float(np.sqrt((np.square(present - expected) / expected).sum() / total / fewest))
