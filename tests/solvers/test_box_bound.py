"""The bound at any size for prices through hierarchies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from formulations import Generalisation
from optmodels import Hierarchy, Problem, Table
from optmodels.price import Price
from optmodels.structures import Priced, compiled_price
from solvers import Columns, LocalSearch, bounded, solve
from solvers.bound.box_bound import BoxBound
from tests.solvers.test_bound import check_chunks


def _problem(n: int, suppress: float = 0.0, k: int = 4) -> Problem:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({name: draw.binomial(31, 0.5, n) for name in "ab"}).assign(x=draw.normal(size=n).round(1))
    trees = {name: Hierarchy.automatic(range(32), fanout=2) for name in "ab"}
    table = Table(frame, quasi={"a": "categorical", "b": "categorical", "x": "numeric"}, hierarchies=trees)
    return Generalisation(k=k, suppress=suppress).build(table)


def _of_records(problem: Problem, price: Price) -> np.ndarray:
    found = solve(problem, solver=LocalSearch(iterations=100), seed=1)
    assert found.value is not None
    priced = problem.require(Priced)
    bound = BoxBound(priced, found.value * priced.scale / priced.n, found.require())
    for _ in bound.steps(lambda: False):
        pass
    assert price.total(found.require()) >= bound.value
    return bound.of_records


def test_duals_of_no_class_exceed_its_price() -> None:
    problem = _problem(200)
    price = compiled_price(problem.require(Priced))
    duals = _of_records(problem, price)
    points = np.column_stack([price.numeric, price.codes])
    draw = np.random.default_rng(0)
    worth = []
    for _ in range(3_000):
        near = np.argsort(np.abs(points - points[draw.integers(200)]).sum(axis=1))
        rows = near[draw.choice(10, size=draw.integers(4, 8), replace=False)]
        worth.append(duals[rows].sum() / price.of(rows))
    assert 0.9 < max(worth) <= 1.0 + 1e-9  # some class is hardly worth less than it costs


def test_it_is_worth_having_where_nodes_are_paid_for() -> None:
    problem = _problem(300)
    proven = bounded(solve(problem, solver=LocalSearch(iterations=4_000), seed=2))
    assert proven.gap is not None
    assert proven.gap < 0.12  # shares in the nearest records leave 0.4


@pytest.mark.parametrize("suppress", [0.0, 0.1])
def test_it_is_not_above_what_is_proven_otherwise(suppress: float) -> None:
    problem = _problem(40, suppress, k=3)
    best = Columns().solve(problem, time_limit=60, seed=1)
    proven = bounded(solve(problem, solver=LocalSearch(iterations=100), seed=1))
    assert best.status == "optimal"
    assert proven.bound is not None
    assert best.value is not None
    assert 0.7 * best.value < proven.bound <= best.value * (1 + 1e-9)


def test_chunks_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    check_chunks(solve(_problem(300), solver=LocalSearch(iterations=100), seed=1), monkeypatch)
