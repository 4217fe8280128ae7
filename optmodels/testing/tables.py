"""Tiny tables of every kind, and every condition at a level that some of their partitions meet and others do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from optmodels.table import Table
from optmodels.table.role_types import Kind

# One level of each condition there is; a test sees to it that none is missing.
CONDITION_LEVELS: Mapping[str, Mapping[str, Any]] = {
    "distinct_l": {"distinct_l": 2},
    "entropy_l": {"entropy_l": 1.5},
    "recursive": {"recursive": (2.0, 2)},
    "most_share": {"most_share": 0.7},
    "beta": {"beta": 1.0},
    "delta": {"delta": 1.2},
    "t": {"t": 0.35},
}


def small_table(
    n: int = 8,
    *,
    seed: int = 0,
    numeric: int = 2,
    categorical: int = 1,
    sensitive: int = 1,
    values: int = 3,
    repeated: bool = False,
) -> Table:
    """A random table small enough for brute force; `repeated` draws records from few distinct ones.

    >>> small_table(6).n
    6
    """
    draw = np.random.default_rng(seed)
    columns: dict[str, object] = {}
    for j in range(numeric):
        columns[f"number_{j}"] = draw.integers(0, 3, n) if repeated else draw.normal(size=n).round(3)
    for j in range(categorical):
        columns[f"category_{j}"] = draw.choice(list("abc"[: 2 if repeated else 3]), n)
    for j in range(sensitive):
        columns[f"secret_{j}"] = draw.choice(list("uvwxyz"[:values]), n)
    numbers: dict[str, Kind] = {f"number_{j}": "numeric" for j in range(numeric)}
    categories: dict[str, Kind] = {f"category_{j}": "categorical" for j in range(categorical)}
    quasi = numbers | categories
    return Table(pd.DataFrame(columns), quasi=quasi, sensitive=[f"secret_{j}" for j in range(sensitive)])


def tiny_tables(seed: int = 0) -> Iterator[tuple[str, Table]]:
    """Tables of seven or eight records, each with what is special about it."""
    yield "numbers and categories", small_table(7, seed=seed, sensitive=2)
    yield "numbers alone", small_table(7, seed=seed + 1, categorical=0, values=2)
    yield "categories alone", small_table(7, seed=seed + 2, numeric=0, categorical=2)
    yield "records that repeat", small_table(8, seed=seed + 3, repeated=True)
