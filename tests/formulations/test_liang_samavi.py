from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import LiangSamavi
from optmodels import Conditions, Table
from optmodels.errors import InputError, RefusedError
from optmodels.partition import class_sizes
from optmodels.testing import check_formulation, small_table
from optmodels.testing.views import rows_hold
from solvers import solve


@pytest.mark.parametrize("weights", [None, {"number_0": 3.0, "category_0": 0.5}])
def test_contract(weights):
    check_formulation(LiangSamavi(k=2, weights=weights), small_table(9))


def test_published_optimum_of_the_example():
    path = Path(os.environ.get("OPTMODELS_DATA", "")) / "liang" / "person20.csv"
    if not path.is_file():
        pytest.skip("OPTMODELS_DATA names no folder with liang/person20.csv")
    frame = pd.read_csv(path)
    problem = LiangSamavi(k=3).build(Table(frame, quasi=dict.fromkeys(frame, "numeric")))
    assert problem.evaluate(np.zeros(20, int)).values["loss"] == pytest.approx(80.0)  # 20 records, 4 whole ranges
    optimum = [0, 1, 0, 2, 2, 3, 3, 4, 3, 3, 4, 1, 1, 5, 5, 0, 4, 0, 2, 5]
    assert problem.evaluate(optimum).values["loss"] == pytest.approx(19.266129, abs=5e-7)
    view = problem.to_pyomo()
    view.encode(problem.check(optimum))
    assert rows_hold(view.native)
    assert pyo.value(view.native.objective) == pytest.approx(19.266129, abs=5e-7)
    assert (problem.largest, problem.price_scale, problem.release_method) == (5, 1.0, "interval")


def test_categorical_attributes_count_by_ncp():
    frame = pd.DataFrame({"town": list("aabc")})
    problem = LiangSamavi(k=2).build(Table(frame, quasi={"town": "categorical"}))
    assert problem.evaluate([0, 0, 1, 1]).values["loss"] == pytest.approx(2 * (2 - 1) / (3 - 1))


def test_weights_replace_the_tables_name_by_name():
    frame = pd.DataFrame({"age": [0.0, 1.0], "pay": [0.0, 1.0]})
    table = Table(frame, quasi={"age": "numeric", "pay": "numeric"}, weights={"age": 2.0, "pay": 3.0})
    assert LiangSamavi(k=2, weights={"pay": 5.0}).build(table).evaluate([0, 0]).values["loss"] == pytest.approx(14.0)


def test_a_weight_for_no_column_is_an_error():
    with pytest.raises(InputError, match="no quasi-identifier 'number_O'"):
        LiangSamavi(k=2, weights={"number_O": 1.0}).build(small_table(6))
    with pytest.raises(InputError, match="must not be negative"):
        LiangSamavi(k=2, weights={"number_0": -1.0}).build(small_table(6))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 9), classes=st.integers(1, 3))
def test_pyomo_objective_is_the_evaluation(seed, n, classes):
    problem = LiangSamavi(k=2, weights={"category_0": 0.7}).build(small_table(n, seed=seed))
    labels = np.random.default_rng(seed).integers(0, classes, n)
    view = problem.to_pyomo()
    assert view.encode(problem.check(labels))
    found = problem.evaluate(labels)
    assert pyo.value(view.native.objective) == pytest.approx(found.values["loss"])
    assert rows_hold(view.native) == found.feasible
    if found.feasible:
        assert (view.decode(view.native) == problem.check(labels)).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 10))
def test_every_feasible_decision_decodes_into_a_release_that_is_no_worse(seed, n):
    """Partners need not be each other's, nor intervals tight: both are loosened here."""
    k, draw = 3, np.random.default_rng(seed)
    problem = LiangSamavi(k=k).build(small_table(n, seed=seed))
    labels = problem.check(draw.permutation(np.arange(n) % 2))
    view = problem.to_pyomo()
    model = view.native
    view.encode(labels)
    for pair in draw.permutation(np.array(list(model.v))).tolist():
        degree = [sum(pyo.value(model.v[p]) for p in model.v if record in p) for record in pair]
        if min(degree) > k - 1:
            model.v[tuple(pair)].set_value(0)
    least, most = problem.price.numeric.min(axis=0), problem.price.numeric.max(axis=0)
    for j in range(len(least)):
        wider = draw.random(int(labels.max()) + 1)[labels]  # the same for all of a class
        for i in range(n):
            low, high = model.y[i, j], model.z[i, j]
            low.set_value(low.value + wider[i] * (least[j] - low.value))
            high.set_value(high.value + wider[i] * (most[j] - high.value))
    assert rows_hold(model)
    decoded = view.decode(model)
    assert class_sizes(decoded).min() >= k
    assert problem.evaluate(decoded).values["loss"] <= pyo.value(model.objective) + 1e-9


def test_large_tables_are_refused_with_the_reason():
    problem = LiangSamavi(k=3).build(small_table(400))
    assert "400 records" in problem.lacks_pyomo()
    with pytest.raises(RefusedError, match="rows"):
        problem.to_pyomo()


def test_conditions_beyond_k_are_held_by_columns_and_refused_by_the_pairwise_model() -> None:
    table = small_table(8, seed=2, values=2)
    problem = LiangSamavi(k=2, distinct_l=2).build(table)
    with pytest.raises(RefusedError, match=r"knows of no condition but k.*distinct l >= 2"):
        problem.to_pyomo()
    solution = solve(problem, solver="columns", time_limit=60)
    assert solution.status == "optimal"
    assert solution.release().audit.check(Conditions(2, distinct_l=2)) == []
    assert solution.value > solve(LiangSamavi(k=2).build(table), solver="columns", time_limit=60).value
