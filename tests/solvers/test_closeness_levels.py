"""Fronts of a model's own target against closeness: brute force has no others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import LiangSamavi, Microaggregation
from optmodels.testing import brute_force_front, check_front, small_table
from solvers.epsilon import Epsilon

MODELS = {"spread": Microaggregation, "extent": LiangSamavi}


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(MODELS)), st.sampled_from(["closeness", "variational"]))
def test_front_is_the_brute_force_front(seed: int, model: str, second: str) -> None:
    table = small_table(6, seed=seed, sensitive=1)
    problem = MODELS[model](k=2).build(table).with_objectives("loss", second)
    front = Epsilon().pareto(problem)
    check_front(front, brute_force_front(problem))
    assert front.details["complete"] is True
    assert all(point.status == "optimal" for point in front)


def test_of_more_records_every_point_has_a_bound() -> None:
    problem = Microaggregation(k=3).build(small_table(20, seed=2)).with_objectives("loss", "closeness")
    front = Epsilon().pareto(problem, time_limit=3.0)
    check_front(front)
    assert len(front) > 1
    assert all(point.bound is not None for point in front)


@pytest.mark.parametrize("t", [0.6, 0.9])
def test_a_t_that_was_asked_for_stays(t: float) -> None:
    model = Microaggregation(k=2, t=t, t_distance="variational")
    problem = model.build(small_table(6, seed=3)).with_objectives("loss", "variational")
    check_front(Epsilon().pareto(problem), brute_force_front(problem))
    other = model.build(small_table(6, seed=3)).with_objectives("loss", "closeness")
    assert Epsilon().refuses_front(other) is not None
