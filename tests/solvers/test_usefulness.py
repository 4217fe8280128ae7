"""Majeed and Hwang's construction: ranked by cosine similarity, cut into classes of k."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar, MajeedHwang, Microaggregation, MoObam
from optmodels import Table
from optmodels.errors import RefusedError
from optmodels.partition import class_sizes
from optmodels.problem import Problem
from optmodels.testing import check_solution, small_table
from solvers.usefulness import Usefulness, most_similar, scaled_places, similarity_order


def numbers(*ages: float) -> Table:
    frame = pd.DataFrame({"age": ages, "weight": 1.0, "flag": np.arange(len(ages)) % 2})
    return Table(frame, quasi={"age": "numeric", "weight": "numeric"}, sensitive="flag")


def test_the_order_is_that_of_cosines_and_equal_records_are_neighbours() -> None:
    table = numbers(20, 80, 20, 50, 80, 35)
    places = scaled_places(table)
    vectors = places / np.linalg.norm(places, axis=1, keepdims=True)
    similarity = vectors @ vectors.mean(axis=0)
    order = similarity_order(vectors, places)
    assert (np.diff(similarity[order]) <= 1e-9).all()
    place = np.argsort(order)
    assert abs(place[0] - place[2]) == 1
    assert abs(place[1] - place[4]) == 1


def test_a_single_attribute_has_no_angles_and_is_ranked_by_its_values() -> None:
    frame = pd.DataFrame({"age": [20, 80, 21, 81, 22, 82], "flag": [0, 1] * 3})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="flag")
    assert Usefulness().solve(MajeedHwang(k=3, trees=2).build(table)).require().tolist() == [0, 1, 0, 1, 0, 1]


@settings(max_examples=40)
@given(st.integers(2, 60), st.integers(2, 9), st.integers(0, 10_000))
def test_classes_have_k_records_and_leftovers_go_to_the_most_similar(n: int, k: int, seed: int) -> None:
    if k > n:
        return
    table = small_table(n, seed=seed)
    solution = Usefulness().solve(MajeedHwang(k=k, trees=2).build(table))
    check_solution(solution)
    sizes = class_sizes(solution.require())
    assert len(sizes) == n // k
    assert (sizes - k).sum() == n % k


def test_a_leftover_joins_the_class_whose_mean_is_nearest_in_angle() -> None:
    vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [0.2, 0.8]])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert most_similar(vectors, np.array([0, 0, 1, 1, 2]), np.array([4]), 2).tolist() == [1]


def uncertain(bits: float) -> Problem:
    return MajeedHwang(k=3, levels="least", threshold=bits, trees=2).build(small_table(40, seed=2, values=2))


@pytest.mark.parametrize(
    "problem",
    [
        uncertain(0.8),
        uncertain(0.9),
        MajeedHwang(k=3, levels="least", most_disclosure=0.6, trees=2).build(small_table(40, seed=2, values=2)),
        Microaggregation(k=3, distinct_l=2).build(small_table(20)),
        Microaggregation(k=2, t=0.3).build(small_table(20)),
        MoObam(k=3).build(small_table(20)),
    ],
)
def test_classes_grow_until_conditions_are_met(problem: Problem) -> None:
    solution = Usefulness().solve(problem)
    check_solution(solution)
    assert solution.labels is not None


@pytest.mark.parametrize(
    "problem",
    [MoObam(k=2, n_clusters=3).build(small_table(9)), Aminifar(n_clusters=3).build(small_table(9, categorical=0))],
)
def test_what_it_cannot_promise_it_refuses(problem: Problem) -> None:
    with pytest.raises(RefusedError, match="cannot solve this problem"):
        Usefulness().solve(problem)
