import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels import Conditions, Table
from optmodels.conditions import count_values, meets
from optmodels.errors import InputError
from optmodels.testing import small_table


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 1}, "k must be a whole number of at least 2, not 1"),
        ({"k": 2.5}, "not 2.5"),
        ({"k": True}, "not True"),
        ({"k": 3, "distinct_l": 0}, "distinct_l"),
        ({"k": 3, "entropy_l": 0.5}, "entropy_l"),
        ({"k": 3, "t": -0.1}, "t must be a distance"),
        ({"k": 3, "t": float("nan")}, "t must be a distance"),
        ({"k": 3, "t": float("inf")}, "t must be a distance"),
        ({"k": 3, "t_distance": "emdd"}, "Did you mean 'emd'"),
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Conditions(**wrong)  # type: ignore[arg-type]


def test_k_beyond_the_table_and_no_sensitive_attribute() -> None:
    with pytest.raises(InputError, match="k=9 is more than the table's 8 records"):
        Conditions(k=9).compile(small_table(8))
    with pytest.raises(InputError, match="the table has none: name at least one column as sensitive"):
        Conditions(k=2, distinct_l=2).compile(small_table(8, sensitive=0))


def test_what_cannot_hold_is_said_beforehand() -> None:
    table = small_table(8, values=2)
    assert "only 2 distinct values" in str(Conditions(k=2, distinct_l=3).impossible(table))
    assert "in the whole table" in str(Conditions(k=2, entropy_l=2.5).impossible(table))
    assert Conditions(k=2, distinct_l=2, t=0.0).impossible(table) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9))
def test_compiled_test_agrees_with_the_definitions(seed: int, size: int) -> None:
    table = small_table(12, seed=seed, sensitive=2)
    draw = np.random.default_rng(seed)
    rows = draw.choice(12, size, replace=False)
    conditions = Conditions(
        k=int(draw.integers(2, 5)),
        distinct_l=int(draw.integers(1, 4)),
        entropy_l=float(draw.uniform(1, 2.5)),
        t=float(draw.uniform(0.05, 0.6)),
    )
    test = conditions.compile(table)
    expected = size >= conditions.k
    for name in table.sensitive:
        whole, inside = table.frame[name].value_counts(), table.frame[name].iloc[rows].value_counts()
        shares = inside / size
        entropy_l = np.exp(-(shares * np.log(shares)).sum())
        distance = 0.5 * (inside.reindex(whole.index, fill_value=0) / size - whole / 12).abs().sum()
        expected &= len(inside) >= (conditions.distinct_l or 0)
        expected &= bool(entropy_l >= conditions.entropy_l - 1e-9)  # type: ignore[operator]
        expected &= bool(distance <= conditions.t + 1e-9)  # type: ignore[operator]
    assert meets(test, count_values(test, rows), size) == expected


def test_ordered_sensitive_attributes_use_the_ordered_distance() -> None:
    frame = pd.DataFrame({"age": range(6), "pay": [10, 10, 20, 20, 30, 30]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="pay")
    labels = np.array([0, 0, 0, 1, 1, 1])
    # Class {10, 10, 20}: prefix differences 1/3, 1/3 over m - 1 = 2 steps give 1/3; equal distance gives 1/3 too,
    # but class {10, 10} against the table is 1/2 ordered ((2/3 + 1/3) / 2) and 2/3 equal.
    assert Conditions(k=2, t=0.34).violations(Conditions(k=2, t=0.34).compile(table), labels) == {"k": 0, "t": 0}
    pair = np.array([0, 0, 1, 1, 1, 1])
    for t, broken in ((0.49, 1), (0.51, 0)):
        assert Conditions(k=2, t=t).violations(Conditions(k=2, t=t).compile(table), pair)["t"] == broken
