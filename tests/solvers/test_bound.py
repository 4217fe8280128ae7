"""Bounds at any size: never above the optimum, whatever the price, the table and the records left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solvers.bound.any_size as any_size
from formulations import Aminifar, Generalisation, LiangSamavi, Microaggregation
from optmodels import Formulation, Problem, RefusedError, Solution, Status, Table
from optmodels.structures import Priced
from optmodels.testing import brute_force, small_table
from solvers import LocalSearch, Mdav, Mondrian, bounded, solve

_PRICES = {"spread": Microaggregation, "extent": LiangSamavi, "hierarchy": Generalisation}


def _best(problem: Problem) -> float:
    found = brute_force(problem)
    assert found is not None
    return float(found[1].values[problem.target.name])


@pytest.mark.parametrize("price", _PRICES)
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("left_out", [0.0, 0.2])
def test_never_above_the_optimum(price: str, k: int, left_out: float) -> None:
    for seed in range(3):
        table = small_table(8, numeric=2, categorical=1, seed=seed)
        problem = _PRICES[price](k=k, suppress=left_out).build(table)
        proven = bounded(solve(problem, solver="mdav"))
        assert proven.bound is not None
        assert 0.0 <= proven.bound <= _best(problem) * (1 + 1e-12)


_AWKWARD = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-40, 3.0, 1e6, -1e6, 1e-6, 1e12, 1e12 + 1, 7.5])


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(_AWKWARD, st.sampled_from("xyz ")), min_size=4, max_size=8),
    k=st.integers(2, 4),
    price=st.sampled_from(sorted(_PRICES)),
)
def test_never_above_the_optimum_of_awkward_tables(rows: list[tuple[float, str]], k: int, price: str) -> None:
    frame = pd.DataFrame(rows, columns=["number", "name"])
    table = Table(frame, quasi={"number": "numeric", "name": "categorical"}, scaling="range")
    problem: Problem = _PRICES[price](k=k).build(table)
    proven = bounded(solve(problem, solver="mondrian"))
    best = _best(problem)
    assert proven.bound is not None
    assert proven.bound <= best * (1 + 1e-9) + 1e-300
    assert proven.bound <= (proven.value or 0.0)


def _clouds(n: int, seed: int = 1) -> Problem:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(draw.normal(size=(n, 2)), columns=["x", "y"])
    return Microaggregation(k=5).build(Table(frame, quasi={"x": "numeric", "y": "numeric"}))


def test_it_is_worth_having() -> None:
    problem = _clouds(400)
    found = solve(problem, solver=LocalSearch(iterations=300), seed=2)
    proven = bounded(found)
    assert proven.gap is not None
    assert proven.gap < 0.2  # half of the distances to the nearest, where it begins, leave 0.35 and more
    assert (proven.labels == found.labels).all()  # type: ignore[union-attr]
    assert proven.values == found.values


def test_whatever_is_found_is_not_below_it() -> None:
    problem = _clouds(300)
    bound = bounded(solve(problem, solver="mdav")).bound
    assert bound is not None
    for solver in (Mdav(), Mondrian(), LocalSearch(iterations=200)):
        assert (solver.solve(problem, time_limit=5).value or 0.0) >= bound


def test_duals_of_no_class_exceed_its_price() -> None:
    problem = _clouds(60)
    priced = problem.require(Priced)
    bound = any_size.DualBound(priced, unit=0.1)
    for _ in bound.steps(lambda: False):
        pass
    duals = np.empty(problem.n)
    duals[bound._tree.rows] = bound.duals * 0.1  # all records differ
    draw = np.random.default_rng(0)
    for _ in range(2_000):
        near = np.argsort(((problem.table.scaled - problem.table.scaled[draw.integers(60)]) ** 2).sum(1))
        rows = near[draw.choice(12, size=draw.integers(5, 9), replace=False)]
        assert duals[rows].sum() <= priced.price.of(rows) + 1e-9


def check_chunks(found: Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks change little in the bound, and threads nothing."""
    whole = bounded(found).bound
    monkeypatch.setattr(any_size, "_CHUNK", 64)
    values = set()
    for cores in ("1", "2"):
        monkeypatch.setenv("OPTMODELS_CORES", cores)
        values.add(bounded(found).bound)
    assert len(values) == 1
    assert values.pop() == pytest.approx(whole, rel=0.1)


def test_chunks_change_little_and_threads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    check_chunks(solve(_clouds(300), solver="mdav"), monkeypatch)


def test_what_costs_nothing_is_optimal() -> None:
    table = Table(pd.DataFrame({"age": [1, 1, 1, 2, 2, 2]}), quasi={"age": "numeric"})
    proven = bounded(solve(Microaggregation(k=3).build(table), solver="mdav"))
    assert proven.status is Status.OPTIMAL
    assert proven.bound == 0.0


def test_a_better_bound_is_kept() -> None:
    problem = Microaggregation(k=3).build(small_table(12, numeric=2, categorical=0))
    optimal = solve(problem, solver="columns")
    assert optimal.status is Status.OPTIMAL
    assert bounded(optimal) is optimal


def test_time_over_leaves_what_is_proven() -> None:
    found = solve(_clouds(3_000), solver="mondrian")
    proven = bounded(found, time_limit=1e-3)
    assert proven.bound is not None
    assert 0.0 <= proven.bound <= (found.value or 0.0)


def test_others_are_refused() -> None:
    formulation: Formulation = Aminifar(n_clusters=2)
    problem = formulation.build(small_table(12, categorical=0, values=2))
    found = solve(problem, solver="network")
    with pytest.raises(RefusedError, match="sum of prices"):
        bounded(found)
