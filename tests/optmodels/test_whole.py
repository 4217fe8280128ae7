"""Parts of a table that know the whole are encoded, scaled and compared as the whole is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels import Table
from optmodels.table.summary import Whole


def people(n: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 90, n),
            "town": draw.choice(list("abcdefg"), n),
            "grade": draw.choice(["low", "mid", "high"], n),
            "stage": draw.integers(1, 5, n),
            "illness": draw.choice(["flu", "cold", "gout"], n),
            "income": draw.normal(40, 10, n).round(1),
        }
    )


ROLES: dict[str, Any] = {
    "quasi": {"age": "numeric", "town": "categorical", "grade": "ordinal", "stage": "ordinal"},
    "sensitive": ["illness", "income"],
    "orders": {"grade": ["low", "mid", "high"]},
    "bins": {"income": [-1000.0, 35.0, 45.0, 1000.0]},
}


@given(st.integers(8, 40), st.integers(0, 1000), st.sampled_from(["none", "standard", "range"]))
@settings(max_examples=40, deadline=None)
def test_parts_of_a_whole_are_rows_of_the_table(n: int, seed: int, scaling: Any) -> None:
    frame = people(n, seed)
    table = Table(frame, scaling=scaling, **ROLES)
    middle = n // 3
    pieces = [Table(some, scaling=scaling, **ROLES) for some in (frame[:middle], frame[middle:])]
    whole = Whole.all_of([piece.summary for piece in pieces])
    parts = [piece.part_of(whole) for piece in pieces]
    for name in ("values", "scaled", "codes", "sensitive_codes"):
        together = np.concatenate([getattr(part, name) for part in parts])
        assert together == pytest.approx(getattr(table, name), abs=1e-9), name
    for part in parts:
        assert {name: levels.tolist() for name, levels in part.levels.items()} == {
            name: levels.tolist() for name, levels in table.levels.items()
        }
        assert part.ranges == pytest.approx(table.ranges)
        assert part.sensitive_shares == pytest.approx(table.sensitive_shares)
        assert part.rescaled(scaling="range").scales == pytest.approx(table.rescaled(scaling="range").scales)


@pytest.mark.parametrize("model", [LiangSamavi(k=2), Microaggregation(k=2, t=0.3), MoObam(k=2, scaling="standard")])
def test_problems_of_parts_add_up(model: Any) -> None:
    frame = people(40, 3)
    problem = model.build(Table(frame, **ROLES))
    pieces = [Table(some, **ROLES) for some in (frame[:20], frame[20:])]
    whole = Whole.all_of([piece.summary for piece in pieces])
    parts = [model.build(piece.part_of(whole)) for piece in pieces]
    labels = np.arange(40) // 4
    prices = [part.price.total(np.arange(20) // 4) for part in parts]
    assert sum(prices) == pytest.approx(problem.price.total(labels))
    found = [part.evaluate(np.arange(20) // 4).violations for part in parts]
    for condition, broken in problem.evaluate(labels).violations.items():
        assert sum(each[condition] for each in found) == broken


def test_values_of_one_piece_only() -> None:
    roles: dict[str, Any] = {"quasi": {"stage": "ordinal"}, "orders": {"stage": ["1", "2", "3"]}}
    pieces = [Table(pd.DataFrame({"stage": values}), **roles) for values in ([1, 1], [3, 2])]
    whole = Whole.all_of([piece.summary for piece in pieces])
    assert [piece.part_of(whole).values.ravel().tolist() for piece in pieces] == [[0, 0], [2, 1]]
    assert whole.levels["stage"].values.tolist() == [1, 2, 3]
