import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from formulations import Microaggregation, MoObam
from optmodels.errors import RefusedError
from optmodels.problem import Problem
from optmodels.table import Table
from optmodels.testing import brute_force_front, check_front, check_solution, small_table
from solvers.epsilon import Epsilon


def pareto(problem: Problem, **options: Any) -> om.ParetoFront:
    return Epsilon(**options).pareto(problem)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 2), st.sampled_from([None, 2, 3]))
def test_front_is_the_brute_force_front(seed: int, sensitive: int, n_clusters: int | None) -> None:
    problem = MoObam(k=2, n_clusters=n_clusters).build(small_table(7, seed=seed, sensitive=sensitive))
    front = pareto(problem)
    expected = brute_force_front(problem)
    assert len(front) == len(expected)
    for point, values in zip(front, expected, strict=True):
        check_solution(point)
        assert point.status == "optimal"
        assert (point.values["loss"], point.values["entropy"]) == pytest.approx(values, abs=1e-9)
    assert front.details["complete"] is True


def test_over_another_exact_solver_the_front_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = MoObam(k=2).build(small_table(7, seed=5))
    expected = pareto(problem).costs
    monkeypatch.setattr("solvers.epsilon.least_loss.MOST_RECORDS", 0)
    for solver in ("columns", "milp"):
        assert pareto(problem, solver=solver).costs == pytest.approx(expected, abs=1e-7)


def test_a_front_cut_short_says_what_is_proven_of_the_rest() -> None:
    problem = MoObam(k=2).build(small_table(8, seed=3))
    whole, part = pareto(problem), Epsilon(levels=3).pareto(problem)
    assert part.details["complete"] is False
    levels = part.details["levels"]
    assert isinstance(levels, list)
    assert sum(level["loss_at_least"] is not None for level in levels) <= 3
    for point in whole:
        proven = max(
            level["loss_at_least"] or 0.0
            for level in levels
            if level["entropy_at_least"] <= point.values["entropy"] + 1e-7
        )
        assert point.values["loss"] >= proven - 1e-9


def test_one_objective_has_no_front() -> None:
    with pytest.raises(RefusedError):
        pareto(Microaggregation(k=2).build(small_table()))


def test_fourteen_people_of_german_credit_agree_with_every_partition_into_two() -> None:
    problem = MoObam(k=5).build(om.dataset("german").take(np.arange(14)))
    points = {}
    for mask in range(1 << 13):
        labels = (mask >> np.arange(14)) & 1
        if labels.sum() in (0, *range(5, 10)):
            values = problem.evaluate(labels).values
            points[mask] = (values["loss"], values["entropy"])
    for point in pareto(problem):
        better = [p for p in points.values() if p[1] >= point.values["entropy"] - 1e-9]
        assert math.isclose(min(p[0] for p in better), point.values["loss"], rel_tol=1e-9)


def test_equal_records_do_not_make_the_search_visit_every_partition() -> None:
    table = om.Table(
        pd.DataFrame({"age": [5.0] * 18, "illness": ["flu", "cold"] * 9}), quasi={"age": "numeric"}, sensitive="illness"
    )
    for n_clusters in (None, 4):
        front = Epsilon().pareto(MoObam(k=2, n_clusters=n_clusters).build(table), time_limit=10)
        assert [(point.status, point.values["loss"]) for point in front] == [("optimal", 0.0)]


def test_what_has_no_partition_is_infeasible_with_a_reason() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "s": ["u", "u", "u", "v"]})
    table = om.Table(frame, quasi={"a": "numeric"}, sensitive="s")
    for objective in ("bi", "lambda"):
        problem = MoObam(k=2, n_clusters=2, least_entropy=(0.5,), objective=objective).build(table)
        solution = Epsilon().solve(problem)
        assert (solution.status, solution.bound) == ("infeasible", None)
        assert "least entropies" in solution.reason


def test_ctrl_c_in_the_inner_solver_ends_the_front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.epsilon.least_loss.MOST_RECORDS", 0)
    monkeypatch.setattr("solvers.columns.Columns.search", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    front = pareto(MoObam(k=2).build(small_table(8)))
    assert (len(front), front.details["stop"]) == (1, "interrupted")
    assert front[0].labels is not None
    assert not front[0].labels.any()  # all there was time for: everyone together
    assert (front[0].status, front[0].bound) == ("feasible", 0.0)


def test_a_score_cut_short_has_an_incumbent_and_says_why_it_stopped() -> None:
    problem = MoObam(k=3, objective="lambda").build(small_table(30))
    solution = Epsilon().solve(problem, time_limit=0.01)
    assert (solution.status, solution.stop) == ("feasible", "time")


def test_a_score_has_a_bound_before_anything_is_searched() -> None:
    table = small_table(22, seed=1, sensitive=2)
    found = Epsilon().solve(MoObam(k=2, objective="lambda", lam=0.2).build(table), time_limit=1e-3)
    assert found.bound is not None
    assert found.bound <= (found.value or 0.0)


def test_steps_that_the_other_solver_refuses_are_refused_beforehand() -> None:
    problem = MoObam(k=3).build(small_table(70))
    with pytest.raises(RefusedError, match=r"its steps go to 'milp', and .* at most 60"):
        Epsilon(solver="milp").pareto(problem)


def test_points_that_differ_by_a_hair_are_points_of_the_front() -> None:
    numbers = [1397316.1328759657, 5.044699825124654, 0.001801685236618586, 46226.0304502127]
    table = Table(
        pd.DataFrame({"x": [*numbers, 17.603294353428485, 432.3408472384529], "s": list("ffccff")}),
        quasi={"x": "numeric"},
        sensitive="s",
        scaling="range",
    )
    problem = MoObam(k=2).build(table)
    front = Epsilon().pareto(problem, seed=0)
    losses = [point.values["loss"] for point in front]
    assert 0 < losses[1] - losses[0] < 1e-7
    check_front(front, brute_force_front(problem))
