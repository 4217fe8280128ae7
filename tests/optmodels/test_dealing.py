"""Prescribed numbers of classes under tight conditions: an answer wherever there is one, or the proof that none is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import MoObam
from optmodels import Table, registry
from optmodels.conditions import Conditions, broken_classes
from optmodels.conditions.dealing import deal
from optmodels.partition import members
from optmodels.solution import Status
from optmodels.testing import brute_force, check_solution

TIGHT: list[dict[str, Any]] = [
    {"delta": 0.7},
    {"delta": 1.2},
    {"beta": 0.3},
    {"recursive": (1.1, 2)},
    {"most_share": 0.5},
    {"entropy_l": 1.9},
    {"t": 0.1, "t_distance": "equal"},
]
QUICK = {
    "local_search": {"iterations": 20},
    "nsga2": {"evaluations": 40, "population": 8},
    "pso": {"particles": 6, "iterations": 3},
}


def table_of(values: list[int], seed: int = 0) -> Table:
    ages = np.random.default_rng(seed).integers(18, 80, len(values))
    frame = pd.DataFrame({"age": ages, "illness": [f"v{value}" for value in values]})
    return Table(frame, quasi={"age": "numeric"}, sensitive="illness", scaling="range")


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=8),
    st.integers(1, 4),
    st.sampled_from(TIGHT),
    st.integers(2, 3),
)
def test_dealing_agrees_with_brute_force(values: list[int], n_classes: int, tight: dict[str, Any], k: int) -> None:
    table = table_of(values)
    test = Conditions(k, **tight).compile(table)
    dealt = deal(test, n_classes)
    assert dealt.decided
    if n_classes * k > len(values):
        assert dealt.labels is None
        return
    best = brute_force(MoObam(k=k, n_clusters=n_classes, **tight).build(table))
    assert (dealt.labels is None) == (best is None)
    if dealt.labels is not None:
        assert sorted({*dealt.labels.tolist()}) == list(range(n_classes))
        assert not broken_classes(test, *members(dealt.labels)).any()


@pytest.mark.parametrize("tight", TIGHT, ids=str)
@pytest.mark.parametrize("solver", QUICK)
def test_solvers_answer_where_brute_force_does(solver: str, tight: dict[str, Any]) -> None:
    kind = registry.configured(registry.solver(solver), QUICK[solver])
    for values in ([0, 1, 2, 0, 1, 2, 0, 1], [0, 0, 0, 1, 1, 2, 0, 1], [0, 0, 0, 0, 0, 1, 1, 2]):
        problem = MoObam(k=2, n_clusters=3, **tight).build(table_of(values, seed=1))
        solution = kind.solve(problem, time_limit=20)
        check_solution(solution)
        expected = brute_force(problem)
        assert (solution.labels is None) == (expected is None)
        assert (solution.status is Status.INFEASIBLE) == (expected is None)


@pytest.mark.parametrize("solver", ["local_search", "nsga2", "pso", "auto"])
def test_four_classes_of_24_records_under_a_tight_delta(solver: str) -> None:
    draw = np.random.default_rng(3)
    values = draw.permutation(np.repeat([0, 1, 2], [16, 4, 4])).tolist()  # each class must have one of each at least
    problem = MoObam(k=4, n_clusters=4, delta=1.2).build(table_of(values, seed=2))
    options = QUICK.get(solver, {})
    solution = registry.configured(registry.solver(solver), options).solve(problem, time_limit=3)
    check_solution(solution)
    assert solution.labels is not None
    assert not solution.release().audit.check(problem.conditions)


def test_a_front_of_prescribed_classes_has_a_point() -> None:
    problem = MoObam(k=4, n_clusters=4, delta=1.2).build(table_of([0] * 16 + [1] * 4 + [2] * 4))
    nsga2 = registry.configured(registry.solver("nsga2"), QUICK["nsga2"])
    assert len(nsga2.pareto(problem, time_limit=5))  # type: ignore[attr-defined]
    impossible = MoObam(k=4, n_clusters=5, delta=0.1).build(table_of([0] * 16 + [1] * 4 + [2] * 4))
    front = nsga2.pareto(impossible, time_limit=5)  # type: ignore[attr-defined]
    assert not len(front)
    assert "5 classes" in str(front.details["infeasible"])


def test_too_many_counts_are_not_listed() -> None:
    test = Conditions(2, distinct_l=2).compile(table_of(list(range(40))))
    assert deal(test, 3).labels is None
    assert not deal(test, 3).decided
