"""Fronts of any model's own target against entropy, of one attribute or several: brute force has no others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Generalisation, LiangSamavi, Microaggregation
from optmodels.problem import Problem
from optmodels.structures import EntropyLevels
from optmodels.testing import brute_force, brute_force_front, check_front, check_structures, small_table
from solvers import pareto, solve
from solvers.epsilon import Epsilon, certified_levels

MODELS = {"spread": Microaggregation, "extent": LiangSamavi, "hierarchy": Generalisation}


def posed(model: str, n: int, seed: int, sensitive: int, **conditions: float) -> Problem:
    table = small_table(n, seed=seed, sensitive=sensitive)
    problem: Problem = MODELS[model](k=2, **conditions).build(table)
    return problem.with_objectives("loss", "entropy")


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(MODELS)), st.integers(1, 2))
def test_front_is_the_brute_force_front(seed: int, model: str, sensitive: int) -> None:
    problem = posed(model, 6, seed, sensitive)
    front = Epsilon().pareto(problem)
    check_front(front, brute_force_front(problem))
    assert front.details["complete"] is True
    assert all(point.status == "optimal" for point in front)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_levels_are_those_of_the_judge(model: str) -> None:
    problem = posed(model, 6, 3, 2)
    assert problem.structure(EntropyLevels) is not None
    check_structures(problem)


def test_an_entropy_that_was_asked_for_stays() -> None:
    problem = posed("spread", 7, 5, 1, entropy_l=1.5)
    check_front(Epsilon().pareto(problem), brute_force_front(problem))


def test_of_more_records_every_point_has_a_bound() -> None:
    problem = posed("spread", 30, 2, 2)
    assert certified_levels.applies(problem)
    front = Epsilon(levels=3).pareto(problem, time_limit=3.0)
    check_front(front)
    assert len(front) > 1
    assert all(point.bound is not None for point in front)


def test_a_wish_is_solved_for_and_no_other_objectives_have_levels() -> None:
    problem = posed("extent", 6, 1, 1)
    found = solve(problem, wish={"loss": 0.2, "entropy": 0.5})
    expected = brute_force(found.problem)
    assert expected is not None
    assert found.status == "optimal"
    assert found.value == pytest.approx(expected[1].values["achievement"])
    model = problem.formulation.build(problem.table)
    for others in (("entropy", "loss"), ("loss", "entropy", "classes"), ("loss", "linkage")):
        assert model.with_objectives(*others).structure(EntropyLevels) is None


def test_without_a_choice_a_small_front_is_exact() -> None:
    front = pareto(posed("spread", 8, 1, 1))
    assert front.details["complete"] is True
