"""Optimal univariate microaggregation: the same value as brute force and as column generation, and proven."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels import Table
from optmodels.errors import RefusedError
from optmodels.testing import brute_force, check_solution, small_table
from solvers.auto import choice
from solvers.columns import Columns
from solvers.univariate import Univariate


def ages(values: list[float] | np.ndarray, **roles: object) -> Table:
    return Table(pd.DataFrame({"age": values}), quasi={"age": "numeric"}, **roles)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9), st.integers(2, 4), st.sampled_from([0.1, 1.0, 1e7]))
def test_brute_force_agrees(values: list[int], k: int, unit: float) -> None:
    problem = Microaggregation(k=min(k, len(values))).build(ages(unit * np.array(values)))
    solution = Univariate().solve(problem)
    check_solution(solution)
    best = brute_force(problem)
    assert best is not None
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(best[1].values["loss"], abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_columns_agree(k: int) -> None:
    draw = np.random.default_rng(k)
    problem = Microaggregation(k=k).build(ages(draw.lognormal(size=60), scaling="standard", weights={"age": 2.0}))
    exact = Columns().solve(problem, time_limit=60)
    solution = Univariate().solve(problem)
    assert exact.status == solution.status == "optimal"
    assert solution.value == pytest.approx(exact.value)


def test_values_far_from_zero_do_not_cancel() -> None:
    draw = np.random.default_rng(0)
    values = draw.normal(size=500)
    near = Univariate().solve(Microaggregation(k=4).build(ages(values)))
    far = Univariate().solve(Microaggregation(k=4).build(ages(np.round(values * 2**20) / 2**20 + 2.0**30)))
    assert near.labels is not None
    assert far.labels is not None
    assert far.value == pytest.approx(near.value, rel=1e-4)
    assert far.status == "optimal"


def test_equal_records_cost_nothing() -> None:
    solution = Univariate().solve(Microaggregation(k=3).build(ages([0.1] * 7 + [0.3] * 8)))
    assert (solution.status, solution.value, solution.bound) == ("optimal", 0.0, 0.0)
    alone = Univariate().solve(Microaggregation(k=3).build(ages([0.1] * 7)))
    assert (alone.status, alone.value) == ("optimal", 0.0)


def test_what_does_not_vary_does_not_matter() -> None:
    frame = pd.DataFrame({"age": [1, 2, 8, 9], "year": [2000] * 4, "town": ["a"] * 4, "job": ["x", "y", "x", "y"]})
    quasi = {"age": "numeric", "year": "numeric", "town": "categorical"}
    constant = Microaggregation(k=2).build(Table(frame, quasi=quasi, others="drop"))  # type: ignore[arg-type]
    assert Univariate().solve(constant).labels is not None
    assert choice(constant).name == "univariate"
    varying = Microaggregation(k=2).build(Table(frame, quasi={**quasi, "job": "categorical"}))  # type: ignore[dict-item]
    with pytest.raises(RefusedError, match="one numeric or ordinal"):
        Univariate().solve(varying)


def test_intervals_may_be_best_when_nested() -> None:
    """Why widths are refused: neighbours in sorted order need not be together."""
    problem = LiangSamavi(k=2).build(ages([-1, 0, 0, 0, 1]))
    best = brute_force(problem)
    assert best is not None
    assert best[1].values["loss"] == pytest.approx(2.0)
    assert best[0].tolist() == [0, 1, 1, 1, 0]
    contiguous = [problem.evaluate((np.arange(5) >= cut).astype(int)).values["loss"] for cut in (2, 3)]
    assert min(contiguous) == pytest.approx(2.5)
    with pytest.raises(RefusedError, match="nested"):
        Univariate().solve(problem)


def test_other_conditions_are_refused() -> None:
    table = small_table(9, numeric=1, categorical=0)
    with pytest.raises(RefusedError, match="ask for k only"):
        Univariate().solve(Microaggregation(k=2, distinct_l=2).build(table))
    with pytest.raises(RefusedError, match="number of classes"):
        Univariate().solve(MoObam(k=2, n_clusters=2).build(table))


def test_time_over_claims_nothing() -> None:
    solution = Univariate().solve(Microaggregation(k=2).build(ages(np.arange(50.0))), time_limit=1e-9)
    assert solution.stop == "time"
    assert solution.status == "feasible"
    assert solution.bound is None
