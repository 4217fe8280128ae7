"""The two algorithms of Liang and Samavi: their published figures, the plain greedy rule, and honest options."""

import os
import signal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels.errors import InputError, RefusedError
from optmodels.partition import canonical
from optmodels.problem import PricedProblem, Problem
from optmodels.solution import Stop
from optmodels.solver import Progress, Run
from optmodels.testing import small_table
from solvers.columns._columns import Columns
from solvers.liang.greedy import LiangGreedy, by_increasing_variance
from solvers.liang.split import LiangSplit


def published(name: str, rows: int | None = None) -> Problem:
    try:
        table = om.dataset(name)
    except InputError:
        pytest.skip(f"OPTMODELS_DATA names no folder with the data set {name}")
    frame = table.frame.head(rows or table.n)
    return LiangSamavi(k=3).build(om.Table(frame, quasi=dict.fromkeys(table.quasi, "numeric")))


@pytest.mark.parametrize(("name", "rows", "loss"), [("census_20k", 200, 27.62), ("ipums_1k_8attr", None, 482.33)])
def test_the_published_figures_of_the_greedy_algorithm(name: str, rows: int | None, loss: float) -> None:
    assert LiangGreedy().solve(published(name, rows)).value == pytest.approx(loss, abs=0.005)


def test_the_published_figure_of_the_split_algorithm() -> None:
    assert LiangSplit().solve(published("person20")).value == pytest.approx(19.266129, abs=1e-6)


def plain(problem: PricedProblem, order: np.ndarray) -> np.ndarray:
    """The greedy rule as it is told: every width computed anew."""
    price, k = problem.price, problem.test.k

    def width(rows: list[int]) -> float:
        return round(price.of(np.array(rows)) / len(rows), 9)

    labels, left = np.full(price.n, -1), [int(i) for i in order]
    classes: list[list[int]] = []
    while len(left) >= k:
        members = [left.pop(0)]
        while len(members) < k:
            best = min(left, key=lambda i: width([*members, i]))
            members.append(best)
            left.remove(best)
        classes.append(members)
    classes.sort(key=lambda members: members[0])
    for i in left:
        min(classes, key=lambda members: width([*members, i])).append(i)
    for label, members in enumerate(classes):
        labels[members] = label
    return labels


@settings(max_examples=60)
@given(st.integers(2, 60), st.integers(0, 3), st.integers(0, 2), st.integers(2, 5), st.booleans(), st.integers(0, 9999))
def test_greedy_classes_are_those_of_the_plain_rule(
    n: int, numeric: int, categorical: int, k: int, repeated: bool, seed: int
) -> None:
    table = small_table(n, seed=seed, numeric=numeric, categorical=categorical + (numeric == 0), repeated=repeated)
    problem = LiangSamavi(k=min(k, n)).build(table)
    solution = LiangGreedy().solve(problem)
    assert solution.labels is not None
    assert (canonical(plain(problem, by_increasing_variance(table))) == solution.labels).all()


def test_units_of_scaled_columns_do_not_change_the_order_of_the_walk() -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [0.0, 2.5, 1.5, 3.0]})
    orders = [
        by_increasing_variance(om.Table(one, quasi={"x": "numeric", "y": "numeric"}, scaling="range")).tolist()
        for one in (frame, frame.assign(x=frame["x"] * 1024))
    ]
    assert orders[0] == orders[1]


@pytest.mark.parametrize("formulation", [LiangSamavi(k=3), Microaggregation(k=3)], ids=["extent", "spread"])
def test_split_improves_on_sorted_groups(formulation: LiangSamavi | Microaggregation) -> None:
    problem = formulation.build(small_table(32, seed=4))
    order = by_increasing_variance(problem.table)
    groups = np.empty(32, np.int64)
    groups[order] = np.minimum(np.arange(32) // 3, 9)
    seen: list[Progress] = []
    solution = LiangSplit(groups=2).solve(problem, on_progress=seen.append)
    sorted_loss = problem.evaluate(groups).values["loss"]
    assert solution.history[0].value == pytest.approx(sorted_loss)
    assert solution.value is not None
    assert solution.value < sorted_loss
    assert solution.bound is None, "it proves nothing about the whole"
    assert [(note.done, note.total) for note in seen] == [(6 * i, 32) for i in range(1, 5)] + [(32, 32)]
    whole = LiangSplit(groups=100).solve(problem)
    assert whole.value is not None
    assert whole.value <= solution.value


def test_subproblems_may_go_to_another_exact_solver() -> None:
    problem = LiangSamavi(k=2).build(small_table(10, seed=1))
    for groups in (2, 5):
        found = [LiangSplit(groups=groups, solver=name).solve(problem).value for name in ("columns", "milp")]
        assert found[0] == pytest.approx(found[1], rel=0.2 if groups == 2 else 1e-6)
    with pytest.raises(InputError, match="proves nothing"):
        LiangSplit(solver="mdav")


def test_time_over_before_it_began_still_gives_classes() -> None:
    problem = LiangSamavi(k=3).build(small_table(100))
    for solver in (LiangGreedy(), LiangSplit()):
        solution = solver.solve(problem, time_limit=1e-9)
        assert solution.stop == "time"
        assert solution.labels is not None
        assert solution.labels.max() > 10


def test_a_subproblem_that_ran_out_of_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_slow(self: Columns, problem: Problem, run: Run) -> None:
        run.stop = Stop.TIME

    monkeypatch.setattr(Columns, "search", too_slow)
    assert LiangSplit().solve(LiangSamavi(k=3).build(small_table(9)), time_limit=60).stop == "time"


def test_ctrl_c_within_a_subproblem_ends_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Problem] = []

    def pressed(self: Columns, problem: Problem, run: Run) -> None:
        asked.append(problem)
        os.kill(os.getpid(), signal.SIGINT)
        run.interrupt.heed()

    monkeypatch.setattr(Columns, "search", pressed)
    solution = LiangSplit().solve(LiangSamavi(k=3).build(small_table(60)))
    assert solution.stop == "interrupted"
    assert solution.labels is not None
    assert len(asked) == 1


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(RefusedError, match="number of classes is prescribed"):
        LiangGreedy().solve(MoObam(k=2, n_clusters=3).build(small_table()))
    with pytest.raises(RefusedError, match="ask for k only"):
        LiangSplit().solve(Microaggregation(k=2, distinct_l=2).build(small_table()))
