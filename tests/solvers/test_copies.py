"""Tables of few different records: copies set aside, and proofs whose size is that of the different ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import solvers.columns._columns as columns
from formulations import LiangSamavi, Microaggregation
from optmodels import Status, Table
from optmodels.structures import Priced, compiled_price
from solvers import Columns, LocalSearch, Mondrian
from solvers.local_search.copies import set_aside


def _coarse(n: int, seed: int = 0) -> Table:
    """Many records at some places, and a few at others."""
    draw = np.random.default_rng(seed)
    places = draw.integers(0, 30, size=(40, 2))
    many = np.repeat([1, 2, 3, n // 10], 10)
    rows = draw.permutation(np.repeat(places, many, axis=0))
    return Table(pd.DataFrame(rows, columns=["x", "y"]), quasi={"x": "numeric", "y": "numeric"})


@pytest.mark.parametrize("model", [Microaggregation, LiangSamavi])
@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("given", [False, True])
def test_nothing_is_lost_by_setting_aside(model: type[Microaggregation], k: int, given: bool) -> None:
    for seed in range(5):
        problem = model(k=k).build(_coarse(900, seed))
        priced = problem.require(Priced)
        start = Mondrian().solve(problem, seed=seed).require()
        aside = set_aside(compiled_price(priced), priced.test, start if given else None)
        assert aside is not None
        assert len(aside.rows) <= problem.n / 2
        part = aside.part(priced)
        labels = np.unique(start[aside.rows], return_inverse=True)[1] if given else np.zeros(part.n, np.int64)
        whole = problem.evaluate(aside.whole(labels))
        assert whole.feasible
        before = problem.evaluate(start if given else np.zeros(problem.n, np.int64)).values[problem.target.name]
        assert whole.values[problem.target.name] <= before * (1 + 1e-12)


def test_where_all_differ_nothing_is_set_aside() -> None:
    frame = pd.DataFrame({"x": np.arange(50.0)})
    priced = Microaggregation(k=3).build(Table(frame, quasi={"x": "numeric"})).require(Priced)
    assert set_aside(compiled_price(priced), priced.test) is None


def test_local_search_and_columns_agree_on_a_coarse_table(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Microaggregation(k=3).build(_coarse(300))
    monkeypatch.setattr(columns, "_MOST_RECORDS", 100)  # there are 40 different ones among 360
    assert Columns().refuses(problem) is None
    proven = Columns().solve(problem, time_limit=60)
    assert proven.status is Status.OPTIMAL
    found = LocalSearch(iterations=3_000).solve(problem, seed=1)
    assert found.details["searched"] < 180
    assert found.value == pytest.approx(proven.value, rel=0.05)
    assert found.value >= proven.value * (1 - 1e-9)  # type: ignore[operator]
    again = LocalSearch(iterations=100).solve(problem, start=found.require(), seed=1)
    assert again.value <= found.value  # type: ignore[operator]


def test_where_too_many_differ_columns_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_MOST_RECORDS", 100)
    frame = pd.DataFrame({"x": np.arange(200.0)})
    assert "all pairs of records" in str(
        Columns().refuses(Microaggregation(k=3).build(Table(frame, quasi={"x": "numeric"})))
    )
