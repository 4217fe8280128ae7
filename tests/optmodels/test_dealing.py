"""Prescribed numbers of classes under tight conditions: an answer wherever there is one, or the proof that none is."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import MoObam
from optmodels import Table, registry
from optmodels.conditions import Conditions, broken_classes, dealing
from optmodels.conditions.dealing import Dealt, deal
from optmodels.errors import NoSolutionError
from optmodels.partition import members
from optmodels.solution import Status
from optmodels.solver import dealing_out
from optmodels.testing import brute_force, check_solution, small_table
from solvers.local_search import construct

TIGHT: list[dict[str, Any]] = [
    {"delta": 0.7},
    {"delta": 1.2},
    {"beta": 0.3},
    {"recursive": (1.1, 2)},
    {"most_share": 0.5},
    {"entropy_l": 1.9},
    {"t": 0.1, "t_distance": "equal"},
]
BY_NAME: list[dict[str, Any]] = [
    {"t": {"secret_0": 0.3}, "distinct_l": {"secret_1": 2}},
    {"t": {"secret_0": 0.2, "secret_1": 0.3}, "t_distance": {"secret_1": "ordered"}},
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


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.integers(5, 8),
    st.integers(2, 3),
    st.sampled_from(
        [
            *TIGHT,
            {"t": 0.3},
            {"t": 0.2, "t_distance": "ordered"},
            {"t": {"secret_0": 0.3}, "distinct_l": {"secret_1": 2}},
        ]
    ),
    st.sampled_from([1, 4, 10_000]),
)
def test_what_is_found_or_forbidden_of_two_attributes_is(
    seed: int, n: int, n_classes: int, tight: dict[str, Any], listed: int
) -> None:
    """However few counts are listed, what is dealt keeps the conditions, and what is called impossible is."""
    table = small_table(n, seed=seed, sensitive=2, values=2 + seed % 2)
    test = Conditions(2, **tight).compile(table)
    with patch.object(dealing, "_MOST_COUNTS", listed):
        dealt = deal(test, n_classes)
    possible = n_classes * 2 <= n and brute_force(MoObam(k=2, n_clusters=n_classes, **tight).build(table)) is not None
    assert dealt.decided or listed < 10_000
    assert possible or dealt.labels is None
    assert not (possible and dealt.proves_there_are_none)
    if dealt.labels is not None:
        assert sorted({*dealt.labels.tolist()}) == list(range(n_classes))
        assert not broken_classes(test, *members(dealt.labels)).any()


def test_a_test_of_one_attribute_alone() -> None:
    table = small_table(12, seed=3, sensitive=3, values=4)
    asked = Conditions(2, t={"secret_1": 0.3}, delta={"secret_1": 1.1}, distinct_l={"secret_1": 2, "secret_2": 3})
    of_one = table.roles.revised(sensitive="secret_1", identifiers=["secret_0", "secret_2"])
    one = Table.with_roles(table.frame, of_one)
    alone, own = asked.compile(table).alone(1), Conditions(2, t=0.3, delta=1.1, distinct_l=2).compile(one)
    for name, found in alone._asdict().items():
        np.testing.assert_array_equal(found, getattr(own, name), err_msg=name)


@pytest.mark.parametrize(
    ("tight", "n_classes", "found"),
    [
        ({"distinct_l": 2}, 300, True),  # dealt out in turn
        ({"beta": 3.0}, 100, True),
        ({"distinct_l": 3}, 300, False),  # too few of what is rare
        ({"delta": 1.0}, 300, False),
        ({"most_share": 0.5}, 333, False),  # no class of three
        ({"t": 0.1}, 300, False),  # nor of so few can be so close
        ({"t": 0.1, "t_distance": "variational"}, 333, False),
        ({"t": 0.2}, 100, True),
    ],
)
def test_a_thousand_records(tight: dict[str, Any], n_classes: int, found: bool) -> None:
    test = Conditions(3, **tight).compile(table_of([0] * 480 + [1] * 470 + [2] * 50))
    dealt = deal(test, n_classes)
    assert dealt.decided
    assert (dealt.labels is not None) == found
    assert dealt.labels is None or not broken_classes(test, *members(dealt.labels)).any()


def test_what_is_not_known_is_said() -> None:
    problem = MoObam(k=3, n_clusters=8, t=0.1).build(small_table(60, seed=1, sensitive=2, values=6))
    search = registry.configured(registry.solver("local_search"), QUICK["local_search"])
    with patch.object(dealing_out, "deal", lambda *_, **__: Dealt()), patch.object(construct, "deal", dealing_out.deal):
        solution = search.solve(problem, time_limit=1)
    assert solution.status is Status.NONE
    with pytest.raises(NoSolutionError, match=r"Whether 8 classes can satisfy k >= 3, t <= 0.1.* is not known"):
        solution.require()


def test_what_there_was_no_time_to_decide_is_not_decided_however_much_was_listed() -> None:
    test = Conditions(2, t=0.3).compile(table_of([0, 1, 0, 1, 0, 1, 0, 0]))
    with patch.object(dealing, "_chosen", lambda *_: (None, False)):
        assert dealing._counted(test, dealing._kinds(test), 2, 1.0) == (None, False)


@pytest.mark.parametrize(("values", "n_classes"), [("aab" * 3, 2), ("aaaabbb" * 3, 2), ("aaaabbb" * 7, 3)])
def test_classes_that_mirror_the_table_are_found_where_equal_ones_do_not(values: str, n_classes: int) -> None:
    """Each is as many times the least part of the table that mirrors it as the others, or once more."""
    frame = pd.DataFrame({"age": range(len(values)), "illness": list(values)})
    test = Conditions(2, t=0.0).compile(Table(frame, quasi={"age": "numeric"}, sensitive="illness"))
    dealt = deal(test, n_classes)
    assert dealt.labels is not None
    assert not broken_classes(test, *members(dealt.labels)).any()
    assert len(np.unique(dealt.labels)) == n_classes
    assert deal(test, values.count("b") + 1) == Dealt(decided=True)
