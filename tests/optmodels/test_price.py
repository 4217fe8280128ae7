import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels import Table
from optmodels.price import extent, spread
from optmodels.testing import small_table


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 10))
def test_prices_agree_with_their_definitions(seed: int, size: int) -> None:
    table = small_table(12, seed=seed, numeric=3, categorical=2)
    rows = np.random.default_rng(seed).choice(12, size, replace=False)
    numbers = table.values[rows]
    modes = [np.bincount(column).max() for column in table.codes[rows].T]
    distinct = [len(set(column)) for column in table.codes[rows].T]
    domains = [len(table.levels[name]) for name in table.categorical]
    assert np.isclose(spread(table).of(rows), ((numbers - numbers.mean(axis=0)) ** 2).sum() + 2 * size - sum(modes))
    sides = (np.ptp(numbers, axis=0) / np.ptp(table.values, axis=0)).sum()
    sides += sum((d - 1) / max(1, domain - 1) for d, domain in zip(distinct, domains, strict=True))
    assert np.isclose(extent(table).of(rows), size * sides)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_merging_two_classes_never_costs_less(seed: int) -> None:
    table = small_table(12, seed=seed, categorical=2)
    labels = np.random.default_rng(seed).integers(0, 3, 12)
    merged = np.minimum(labels, 1)
    for price in (spread(table), extent(table)):
        assert price.total(merged) >= price.total(labels) - 1e-9


def test_large_raw_values_do_not_cancel() -> None:
    table = Table(pd.DataFrame({"x": [1e9, 1e9 + 1, 1e9 + 2]}), quasi={"x": "numeric"})
    assert spread(table).of(np.arange(3)) == 2.0


def test_a_constant_column_adds_nothing() -> None:
    table = Table(pd.DataFrame({"x": [5.0, 5.0], "y": ["a", "a"]}), quasi={"x": "numeric", "y": "categorical"})
    assert spread(table).of(np.arange(2)) == 0.0
    assert extent(table).of(np.arange(2)) == 0.0
