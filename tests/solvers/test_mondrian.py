"""Mondrian: every part meets the conditions, no allowed cut is left out, and equal values stay together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation, MoObam
from formulations._pyomo.spread_problem import SpreadProblem
from optmodels import Table
from optmodels.conditions import ClassTest, count_values, meets
from optmodels.errors import RefusedError
from optmodels.partition import group_rows
from optmodels.testing import small_table
from solvers import solve
from solvers.mondrian import Mondrian


def numbers(n: int, d: int, values: int, seed: int) -> Table:
    draw = np.random.default_rng(seed)
    columns = {f"x{j}": draw.integers(0, values, n).astype(float) for j in range(d)}
    columns["illness"] = draw.choice(list("abc"), n)
    return Table(pd.DataFrame(columns), quasi=dict.fromkeys(list(columns)[:-1], "numeric"), sensitive="illness")


def plain(points: np.ndarray, test: ClassTest) -> list[list[int]]:
    """Strict Mondrian written down as it is told."""
    span = np.ptp(points, axis=0)
    scaled = (points - points.min(axis=0)) / np.where(span > 0, span, 1)

    def allowed(part: list[int]) -> bool:
        return len(part) >= test.k and bool(meets(test, count_values(test, np.array(part)), len(part)))

    def cut(part: list[int]) -> list[list[int]]:
        for j in np.argsort(-np.ptp(scaled[part], axis=0), kind="stable"):
            column = np.sort(scaled[part, j])
            median = column[len(part) // 2]
            below, at = int((column < median).sum()), int((column <= median).sum())
            for place in sorted((below, at), key=lambda place: abs(place - len(part) // 2)):
                left = [i for i in part if place and scaled[i, j] <= column[place - 1]]
                right = [i for i in part if i not in left]
                if allowed(left) and allowed(right):
                    return cut(left) + cut(right)
        return [part]

    return cut(list(range(len(points))))


def assert_cut_as_told(problem: SpreadProblem) -> None:
    solution = Mondrian().solve(problem)
    expected = np.empty(problem.n, np.int64)
    for label, part in enumerate(plain(problem.price.numeric, problem.test)):
        expected[part] = label
    assert solution.labels is not None
    assert (problem.check(expected) == solution.labels).all()


@given(st.integers(2, 60), st.integers(1, 9), st.integers(2, 5), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_equal_values_of_one_attribute_are_cut_as_told(n: int, values: int, k: int, seed: int) -> None:
    assert_cut_as_told(Microaggregation(k=min(k, n)).build(numbers(n, 1, values, seed)))


@pytest.mark.parametrize("conditions", [{}, {"distinct_l": 2}, {"entropy_l": 1.9}, {"t": 0.4}], ids=str)
@given(st.integers(12, 90), st.integers(2, 3), st.integers(2, 5), st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_several_attributes_are_cut_as_told(conditions: dict[str, float], n: int, d: int, k: int, seed: int) -> None:
    """Numbers that are all different, so that no two attributes are equally wide, which could be cut either way."""
    problem = Microaggregation(k=k, **conditions).build(numbers(n, d, 2**40, seed))  # type: ignore[arg-type]
    if problem.impossible() is None:
        assert_cut_as_told(problem)


@given(st.integers(10, 80), st.integers(0, 10_000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_conditions_hold_and_equal_records_stay_together(n: int, seed: int, relaxed: bool) -> None:
    table = numbers(n, 2, 4, seed)
    problem = Microaggregation(k=3, distinct_l=2, t=0.6).build(table)
    solution = Mondrian(relaxed=relaxed).solve(problem)
    if solution.labels is None:
        return
    assert problem.evaluate(solution.labels).feasible
    if not relaxed:
        kinds = group_rows([*problem.price.numeric.T])
        assert len(set(zip(kinds.tolist(), solution.labels.tolist(), strict=True))) == kinds.max() + 1


def test_relaxed_cuts_halve_equal_values() -> None:
    table = Table(pd.DataFrame({"age": [30] * 7 + [31] * 5}), quasi={"age": "numeric"})
    strict = Mondrian().solve(Microaggregation(k=3).build(table))
    relaxed = Mondrian(relaxed=True).solve(Microaggregation(k=3).build(table))
    assert strict.labels is not None
    assert relaxed.labels is not None
    assert sorted(np.bincount(strict.labels)) == [5, 7]
    assert sorted(np.bincount(relaxed.labels))[-1] <= 6


def test_categories_are_cut_too() -> None:
    table = small_table(40, numeric=0)
    solution = solve(Microaggregation(k=4).build(table), solver="mondrian")
    assert solution.labels is not None
    assert solution.labels.max() >= 1


def test_a_prescribed_number_of_classes_is_refused() -> None:
    with pytest.raises(RefusedError, match="number of classes is prescribed"):
        solve(MoObam(k=3, n_clusters=3).build(small_table(30)), solver="mondrian")


def test_relaxed_cuts_deal_out_equal_values_by_the_other_attributes() -> None:
    """Age is cut first, within those of 30: they are told apart by what they earn."""
    people = pd.DataFrame({"age": [31] * 2 + [30] * 10, "income": [5.0, 6.0, 0, 9, 1, 8, 2, 7, 1, 9, 0, 8]})
    table = Table(people, quasi={"age": "numeric", "income": "numeric"})
    solution = Mondrian(relaxed=True).solve(Microaggregation(k=4).build(table))
    assert solution.labels is not None
    of_thirty = people["income"][people["age"] == 30].groupby(solution.labels[2:])
    assert sorted(of_thirty.agg(list).map(sorted)) == [[0, 0, 1, 1, 2, 7], [8, 8, 9, 9]]
