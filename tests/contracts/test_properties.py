"""What must hold of any table: other orders, names and units change nothing they should not, and k costs what it costs.

`make trust` tries the same on many thousands of tables, with every solver (`benchmarks/trust`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from formulations import Microaggregation, MoObam
from optmodels import Table, registry
from optmodels.errors import InputError
from optmodels.problem import Formulation
from optmodels.solution import Solution, Status
from optmodels.testing import brute_force, brute_force_front, check_front, check_solution
from optmodels.testing.solvers import quick

TEXTS = ["a", "ü", "c d", "x,y", 'q"q', "line\nbreak", "", "*", "-0", "NA", "東京", "=1+1", "\t", "r\rr"]
NUMBERS = st.one_of(
    st.integers(0, 3),
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-52, 1e9, 1e9 + 1e-6, 1e-100, 1e100, -1e100, float(2**53)]),
    st.floats(-1e6, 1e6, allow_nan=False),
)
QUASI = {"x": "numeric", "c": "categorical"}
SOME = settings(max_examples=30)


@st.composite
def frames(draw: st.DrawFn, least: int = 2, most: int = 7) -> pd.DataFrame:
    n = draw(st.integers(least, most))

    def column(of: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(of, min_size=n, max_size=n))

    return pd.DataFrame(
        {
            "x": np.array(column(NUMBERS), float),
            "c": column(st.sampled_from(TEXTS)),
            "s": column(st.sampled_from(["flu", "cold", "rare"])),
        }
    )


def table_of(frame: pd.DataFrame, **more: Any) -> Table:
    return Table(frame, quasi=QUASI, sensitive="s", scaling="alike", **more).sorted()


def solved(frame: pd.DataFrame, model: Formulation, solver: str, **more: Any) -> Solution:
    return quick(solver).solve(model.build(table_of(frame, **more)))


def rows(solution: Solution, columns: list[str]) -> list[list[str]] | None:
    """The released rows as text, in an order of their own."""
    if solution.labels is None:
        return None
    return sorted(solution.release().frame[columns].astype(str).to_numpy().tolist())


@pytest.mark.parametrize("solver", ["columns", "mdav", "mondrian", "zheng"])
def test_orders_and_names_change_no_byte(solver: str) -> None:
    @SOME
    @given(frames(), st.integers(2, 3), st.integers(0, 100))
    def check(frame: pd.DataFrame, k: int, seed: int) -> None:
        if k > len(frame):
            return
        columns, model = list(frame.columns), Microaggregation(k=k)
        first = solved(frame, model, solver)
        check_solution(first)
        shuffled = solved(frame.sample(frac=1, random_state=seed), model, solver)
        assert first.labels is not None
        assert shuffled.labels is not None
        one, two = (found.release().frame.to_csv(index=False) for found in (first, shuffled))
        assert one == two
        assert rows(solved(frame[columns[::-1]], model, solver), columns) == rows(first, columns)
        renamed = rows(solved(frame.assign(c="§" + frame["c"]), model, solver), columns)
        assert renamed is not None
        assert sorted([x, c.removeprefix("§"), s] for x, c, s in renamed) == rows(first, columns)

    check()


@SOME
@given(frames(), st.sampled_from(["columns", "mdav", "local_search"]), st.integers(-20, 20))
def test_units_change_no_class(frame: pd.DataFrame, solver: str, power: int) -> None:
    frame = frame.assign(x=frame["x"].clip(-1e9, 1e9).where(frame["x"].abs() > 1e-100, 0.0))
    model = Microaggregation(k=2)
    one, two = (solved(some, model, solver) for some in (frame, frame.assign(x=frame["x"] * 2.0**power)))
    assert one.labels is not None
    assert two.labels is not None
    assert one.labels.tolist() == two.labels.tolist()


@SOME
@given(frames(least=4))
def test_a_larger_k_has_no_smaller_optimum(frame: pd.DataFrame) -> None:
    found = [solved(frame, Microaggregation(k=k), "columns") for k in range(2, len(frame) + 1)]
    assert all(one.status is Status.OPTIMAL for one in found)
    values = [one.value for one in found if one.value is not None]
    for fewer, more in pairwise(values):
        assert fewer <= more * (1 + 1e-9) + 1e-300


@settings(max_examples=10)
@given(frames(most=5))
def test_an_exact_front_is_that_of_brute_force_and_nothing_dominates_it(frame: pd.DataFrame) -> None:
    problem = MoObam(k=2).build(table_of(frame))
    check_front(registry.solver("epsilon")().pareto(problem), brute_force_front(problem))  # type: ignore[attr-defined]


CONDITIONS = st.sampled_from([{"distinct_l": 2}, {"distinct_l": 3}, {"delta": 0.7}, {"t": 0.1}, {"beta": 0.3}])


@SOME
@given(frames(), CONDITIONS, st.integers(2, 3))
def test_infeasible_is_said_where_brute_force_finds_nothing_and_nowhere_else(
    frame: pd.DataFrame, condition: dict[str, Any], k: int
) -> None:
    try:
        problem = Microaggregation(k=k, **condition).build(table_of(frame))
    except InputError:
        assume(False)
    found, best = registry.solver("columns")().solve(problem), brute_force(problem)
    assert found.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
    assert best is not None or found.reason


@SOME
@given(
    frames(least=3),
    st.sampled_from(["drop", "category", "impute"]),
    st.sampled_from([None, 0.34]),
    st.booleans(),
    st.sampled_from(["mdav", "columns", "local_search"]),
)
def test_gaps_people_and_suppression_leave_every_record_in_one_class_or_out(
    frame: pd.DataFrame, missing: str, suppress: float | None, people: bool, solver: str
) -> None:
    frame = frame.assign(c=frame["c"].where(frame.index != 0), who=np.arange(len(frame)) // 2)
    roles = {"person": "who"} if people else {"identifiers": "who"}
    try:
        table = table_of(frame, missing=missing, **roles)
        problem = Microaggregation(k=2, **({} if suppress is None else {"suppress": suppress})).build(table)
    except InputError:  # which says that too few records are left, or that a gap has no place
        assume(False)
    found = quick(solver).solve(problem, time_limit=20)
    check_solution(found)
    if found.labels is None:
        assert brute_force(problem) is None
        return
    out = int((found.labels < 0).sum())
    assert out <= (suppress or 0.0) * table.n
    made = found.release()
    assert len(made.frame) == table.n - out
    kept = table.frame["s"][found.labels >= 0]
    assert sorted(made.frame["s"].astype(str)) == sorted(kept.astype(str))


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("kind", ["equal", "distinct", "categories"])
def test_as_many_records_as_k_or_one_more(n: int, kind: str) -> None:
    several = 200 if kind == "categories" else n
    frame = pd.DataFrame(
        {
            "x": np.zeros(several) if kind == "equal" else np.arange(several, dtype=float),
            "c": [f"town {i}" for i in range(several)] if kind == "categories" else ["a"] * several,
            "s": ["flu"] * several,
        }
    )
    k = several if n == 2 else several - 1
    for solver in ("columns", "mdav", "local_search", "mondrian"):
        found = quick(solver).solve(Microaggregation(k=k).build(table_of(frame)), time_limit=20)
        check_solution(found)
        assert found.labels is not None
        assert set(found.labels.tolist()) == {0}
