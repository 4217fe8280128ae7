"""Wishes: what comes nearest by brute force is what is found, picked from a front and proven."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import optmodels as om
from formulations import Microaggregation, MoObam
from optmodels.cli import app
from optmodels.errors import InputError
from optmodels.problem import Wish, wished
from optmodels.testing import brute_force, check_solution, small_table
from solvers import pareto, solve

VALUES = st.one_of(st.floats(-1.0, 3.0), st.sampled_from([0.0, -0.0, 1e-9, 1e6]))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.dictionaries(st.sampled_from(["loss", "entropy"]), VALUES, min_size=1))
def test_nothing_comes_nearer_to_a_wish_than_what_is_found(seed: int, wish: dict[str, float]) -> None:
    problem = MoObam(k=2).build(small_table(6, seed=seed))
    expected = brute_force(wished(problem, wish))
    assert expected is not None
    least = expected[1].values["achievement"]
    found = solve(problem, solver="epsilon", wish=wish)
    check_solution(found)
    assert found.status == "optimal"
    assert found.values["achievement"] == pytest.approx(least, rel=1e-7, abs=1e-9)
    front = pareto(problem, solver="epsilon")
    near = Wish(wish).achievement(problem.objectives, front.near(**wish).values)
    assert near == pytest.approx(least, rel=1e-7, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.tuples(VALUES, VALUES), st.tuples(VALUES, VALUES), st.dictionaries(st.sampled_from("le"), VALUES, min_size=1))
def test_achievement_never_falls_when_an_objective_gets_worse(
    one: tuple[float, float], other: tuple[float, float], wish: dict[str, float]
) -> None:
    objectives = (om.Objective("l"), om.Objective("e", "max", worst=0.0))
    better = {"l": min(one[0], other[0]), "e": max(one[1], other[1])}
    asked = Wish(wish)
    for values in (one, other):
        worse = dict(zip("le", values, strict=True))
        assert asked.achievement(objectives, better) <= asked.achievement(objectives, worse)


def test_a_limit_is_kept_before_anything_else_is_made_good() -> None:
    problem = MoObam(k=2).build(small_table(8, seed=3))
    front = pareto(problem, solver="epsilon")
    for point in front:
        entropy = point.values["entropy"]
        assert solve(problem, wish={"entropy": entropy}).values["loss"] == pytest.approx(point.values["loss"])
        assert front.near(entropy=entropy).values == point.values


def test_a_wish_of_more_records_has_a_bound_below_it() -> None:
    problem = MoObam(k=3).build(small_table(30, seed=4, numeric=1))
    found = solve(problem, wish={"loss": 0.1, "entropy": 1.0}, time_limit=3.0)
    check_solution(found)
    assert found.bound is not None
    assert found.release().audit.k >= 3


def test_objectives_that_a_model_has_not_can_be_wished() -> None:
    problem = Microaggregation(k=2).build(small_table(12, seed=1))
    found = solve(problem, wish={"classes": 5.0}, time_limit=2.0)
    assert found.values["classes"] >= 5.0
    assert found.bound is None
    again = pickle.loads(pickle.dumps(found.problem))
    assert again.evaluate(found.require()).values == found.values


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({}, "wish is empty"),
        ({"lost": 1.0}, "no objective 'lost'"),
        ({"loss": float("nan")}, "finite number"),
        ({"loss": float("inf")}, "finite number"),
        ({"loss": "a"}, "finite number"),
        ({"loss": True}, "finite number"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(wish: dict[str, float], said: str) -> None:
    problem = MoObam(k=2).build(small_table(6))
    with pytest.raises(InputError, match=said):
        wished(problem, wish)
    front = pareto(problem, solver="epsilon")
    with pytest.raises(InputError, match=said):
        front.near(**wish)


def test_on_the_command_line(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": np.arange(12.0), "illness": ["flu", "cold", "flu"] * 4})
    people.to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "release.csv"
    typed = ["anonymize", str(tmp_path / "people.csv"), "--numeric", "age", "--sensitive", "illness", "--k", "2"]
    typed += ["--formulation", "mo-obam", "--out", str(out)]
    for wish, said in (("loss", "key=value"), ("loss=low", "takes numbers"), ("lost=1", "lost"), (",", "empty")):
        refused = CliRunner().invoke(app, [*typed, "--wish", wish])
        assert refused.exit_code == 1
        assert said in refused.output + str(refused.exception)
        assert not out.exists()
    done = CliRunner().invoke(app, [*typed, "--wish", "entropy=0.9"])
    assert done.exit_code == 0, done.output
    table = om.Table(people, quasi={"age": "numeric"}, sensitive="illness", scaling="alike")
    assert len(pd.read_csv(out)) == table.n
