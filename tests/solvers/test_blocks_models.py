"""Blocks of every formulation: classes and centres are shared out, conditions hold for all, values are the whole's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels import Table
from optmodels.conditions import Conditions
from optmodels.errors import InputError, RefusedError
from optmodels.partition import canonical
from optmodels.problem import Formulation, Objective, Problem
from optmodels.solution import Status
from optmodels.testing import check_solution, small_table
from solvers.blocks import Blocks
from solvers.blocks.allotting import Allotment, _Halver, cut_with_classes
from solvers.blocks.cutting import Cut
from solvers.blocks.shared import shared
from solvers.blocks.work import median_cuts

EVOLVED: dict[str, Any] = {"inner": "nsga2", "inner_options": {"evaluations": 60, "population": 12}}
SEARCHED: dict[str, Any] = {"inner_options": {"iterations": 20}}
MODELS: dict[str, tuple[Formulation, dict[str, Any]]] = {
    "microaggregation": (Microaggregation(k=3, distinct_l=2), SEARCHED),
    "liang-samavi": (LiangSamavi(k=3), SEARCHED),
    "mo-obam": (MoObam(k=3, least_entropy=(0.5,)), SEARCHED),
    "classes": (MoObam(k=2, n_clusters=17), SEARCHED),
    "distinct classes": (MoObam(k=2, n_clusters=17, distinct_l=2), SEARCHED),
    "lambda": (MoObam(k=2, objective="lambda", lam=0.1), EVOLVED),
    "normalised": (MoObam(k=2, objective="normalised", lam=0.4), EVOLVED),
    "aminifar": (Aminifar(k=4), {}),
    "capped": (Aminifar(n_clusters=13, alpha=1.4), {}),
    "floors": (Aminifar(n_clusters=13, most_share=0.8, floor=0.3), {}),
    "soft": (Aminifar(n_clusters=13, alpha=1.0, soft=True), {}),
    "at-least": (Aminifar(k=3, sizes="at-least"), {}),
    "free": (Aminifar(k=4, centres="free", alpha=1.8), EVOLVED),
    "mass": (Mass(classifiers=("nb",)), {}),
    "mass k": (Mass(k=3, classifiers=(), t=0.6), {}),
    "flexible": (MajeedHwang(k=3, trees=3, threshold=0.5), {}),
    "chosen": (MajeedHwang(k=3, trees=3, threshold=None, most_disclosure=0.8), {}),
    "least": (MajeedHwang(k=3, trees=3, levels="least", threshold=0.7), {"inner": "generalise"}),
    "disclosure": (MajeedHwang(k=3, trees=3, levels="least", most_disclosure=0.75), {"inner": "generalise"}),
}
STAND_INS = {"lambda", "normalised", "aminifar", "capped", "floors", "soft", "at-least", "mass", "mass k", "chosen"}


def posed(name: str, n: int = 120, seed: int = 3) -> Problem:
    return MODELS[name][0].build(small_table(n, seed=seed))


@pytest.mark.parametrize("name", MODELS)
def test_every_formulation_in_blocks(name: str) -> None:
    problem = posed(name)
    for cut in ("kd", "strata"):
        solver = Blocks(block_size=30, cut=cut, compare=False, workers=1, **MODELS[name][1])  # type: ignore[arg-type]
        solution = solver.solve(problem, seed=1)
        check_solution(solution)
        assert solution.status is Status.FEASIBLE
        assert solution.bound is None
        assert solution.details["blocks"] >= 4  # type: ignore[operator]
        assert ("blocks_optimise" in solution.details) == (name in STAND_INS)


@pytest.mark.parametrize("name", MODELS)
def test_parts_say_the_same_wherever_they_are_made(name: str) -> None:
    """What other processes load poses the same blocks."""
    problem = posed(name)
    rows = np.arange(40)
    allotment = Allotment.of(problem)
    classes = None if allotment is None else np.arange(3)
    labels = np.arange(40) % 3
    with shared(problem) as where:
        again = where.load()
        assert again.restricted(rows, classes).evaluate(labels) == problem.restricted(rows, classes).evaluate(labels)


@pytest.mark.parametrize("name", ["capped", "mass k", "flexible"])
def test_processes_agree_with_threads(name: str) -> None:
    problem = posed(name)
    options: dict[str, Any] = {"block_size": 30, "compare": False, "workers": 1, **MODELS[name][1]}
    threads = Blocks(**options).solve(problem, seed=1)
    processes = Blocks(backend="processes", **options).solve(problem, seed=1)
    assert "workers_lost" not in processes.details
    assert (threads.labels == processes.labels).all()  # type: ignore[union-attr]


ADDITIVE = [name for name in MODELS if name not in STAND_INS]


@pytest.mark.parametrize("name", ADDITIVE)
def test_where_nothing_stands_in_values_add_up(name: str) -> None:
    problem = posed(name)
    allotment = Allotment.of(problem)
    m = 4 if allotment is None else len(allotment.least)
    labels = np.arange(problem.n) % m
    low = labels < m // 2
    halves = [np.flatnonzero(low), np.flatnonzero(~low)]
    classes = [np.arange(m // 2), np.arange(m // 2, m)] if allotment is not None else [None, None]
    target = problem.target.name
    total = sum(
        problem.restricted(rows, own).evaluate(labels[rows]).values[target]
        for rows, own in zip(halves, classes, strict=True)
    )
    assert total == pytest.approx(problem.evaluate(labels).values[target])


def test_parts_of_mass_are_measured_as_the_whole_is() -> None:
    """Losses weigh by records, distances from the whole table's mix by classes."""
    problem = posed("mass k")
    labels = np.arange(120) % 8
    whole = problem.evaluate(labels).values
    parts = [
        (len(rows), problem.restricted(rows, None).evaluate(labels[rows]).values)
        for rows in (np.flatnonzero(labels < 2), np.flatnonzero(labels >= 2))
    ]
    assert sum(n * values["loss"] for n, values in parts) / 120 == pytest.approx(whole["loss"])
    distances = (2 * parts[0][1]["privacy_loss"] + 6 * parts[1][1]["privacy_loss"]) / 8
    assert distances == pytest.approx(whole["privacy_loss"])
    assert max(values["t"] for _, values in parts) == pytest.approx(whole["t"])


@given(
    n=st.integers(20, 150),
    k=st.integers(2, 6),
    values=st.integers(2, 4),
    slack=st.floats(0.0, 1.0),
    exact=st.booleans(),
    centres=st.sampled_from([None, "free"]),
    seed=st.integers(0, 10_000),
    size=st.integers(2, 40),
)
@settings(max_examples=40, deadline=None)
def test_shares_keep_sizes_and_caps(
    n: int, k: int, values: int, slack: float, exact: bool, centres: Any, seed: int, size: int
) -> None:
    """Every class is in one block, and cuts down to single classes always come out: caps on one attribute allow it."""
    table = small_table(n, seed=seed, values=values)
    sizes = "exact" if exact else "at-least"
    tight = Aminifar(k=k, alpha=1e-6, sizes=sizes, centres=centres, n_init=1).build(table, seed=seed).impossible()
    assert tight is not None
    alpha = float(tight.rsplit(" ", 1)[1].rstrip(".")) + slack
    problem = Aminifar(k=k, alpha=alpha, sizes=sizes, centres=centres, n_init=1).build(table, seed=seed)
    assert problem.impossible() is None
    allotment = Allotment.of(problem)
    assert allotment is not None
    for by_strata in (False, True):
        cuts = cut_with_classes(allotment, size, by_strata=by_strata)
        assert sorted(cuts.order.tolist()) == list(range(n))
        assert cuts.classes is not None
        assert sorted(cuts.classes.tolist()) == list(range(len(allotment.least)))
        found = [median_cuts(cuts.part(problem, block)).labels for block in range(len(cuts))]
        together = np.empty(n, np.int64)
        for block, labels in enumerate(found):
            assert labels is not None
            together[cuts.rows(block)] = labels + 1000 * block
        assert problem.evaluate(canonical(together)).feasible


@given(
    n=st.integers(12, 120),
    k=st.integers(2, 5),
    share=st.floats(0.05, 1.0),
    seed=st.integers(0, 9_999),
    size=st.integers(2, 40),
)
@settings(max_examples=25, deadline=None)
def test_the_number_of_classes_comes_out(n: int, k: int, share: float, seed: int, size: int) -> None:
    """Whatever the blocks, as long as k records for every class are there; in a hurry cuts make all of them."""
    p = max(1, int(share * n / k))
    problem = MoObam(k=k, n_clusters=p).build(small_table(n, seed=seed))
    hurried = Blocks(block_size=size).solve(problem, time_limit=1e-6, seed=seed)
    check_solution(hurried)
    assert hurried.labels is not None
    assert hurried.labels.max() + 1 == p


@pytest.mark.parametrize("cut", ["kd", "strata"])
@pytest.mark.parametrize("soft", [False, True])
def test_blocks_that_lack_a_capped_value(cut: Cut, soft: bool) -> None:
    """Two capped attributes go by the Pyomo view, where nothing is to be capped in blocks without a rare value."""
    draw = np.random.default_rng(0)
    people = pd.DataFrame({"x": np.sort(draw.normal(size=60)), "b": draw.choice(list("pq"), 60)})
    people["a"] = ["rare" if i < 6 else "uvw"[i % 3] for i in range(60)]
    table = Table(people, quasi={"x": "numeric"}, sensitive=["a", "b"])
    problem = Aminifar(n_clusters=6, alpha=4.0, soft=soft).build(table)
    solution = Blocks(block_size=20, cut=cut, compare=False, workers=1).solve(problem, seed=1)
    check_solution(solution)
    assert solution.details["inner"] == "milp"


def test_centres_go_with_the_records_around_them() -> None:
    frame = pd.DataFrame({"x": [0, 1, 2, 50, 51, 52, 100, 101, 102, 150, 151, 152]})
    table = Table(frame, quasi={"x": "numeric"})
    problem = Aminifar(n_clusters=4, centres=((101,), (1,), (151,), (51,))).build(table)
    solution = Blocks(block_size=6, compare=False).solve(problem)
    assert solution.details["blocks"] == 2
    assert solution.value == pytest.approx(8.0), "each record is with the centre in its midst"


def test_classes_of_at_least_k_follow_their_centres() -> None:
    """Seven records lie around one centre and three around the other: shares of five each would be far off."""
    frame = pd.DataFrame({"x": [0, 1, 2, 3, 4, 5, 6, 90, 91, 92]})
    problem = Aminifar(k=2, n_clusters=None, sizes="at-least", centres=((1,), (3,), (5,), (90,), (92,))).build(
        Table(frame, quasi={"x": "numeric"})
    )
    cuts = cut_with_classes(Allotment.of(problem), 8)  # type: ignore[arg-type]
    assert len(cuts) == 2
    check_solution(Blocks(block_size=8).solve(problem))


def test_cuts_to_single_classes_end_where_one_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks go on being cut where others cannot be; for single classes of all that would be in vain."""
    table = Table(pd.DataFrame({"x": np.arange(64.0)}), quasi={"x": "numeric"})
    allotment = Allotment.of(Aminifar(n_clusters=16, n_init=1).build(table))
    assert allotment is not None
    assert len(cut_with_classes(allotment, 0)) == 16
    in_vain, halves = [], _Halver.halves

    def none_of_eight(halver: _Halver, rows: Any, classes: Any) -> Any:
        if len(rows) > 8:
            return halves(halver, rows, classes)
        in_vain.append(rows)
        return None

    monkeypatch.setattr(_Halver, "halves", none_of_eight)
    assert len(cut_with_classes(allotment, 4)) == len(in_vain) == 8
    in_vain.clear()
    assert len(cut_with_classes(allotment, 0)) < 8
    assert len(in_vain) == 1


def test_blocks_without_classes_are_merged_with_neighbours() -> None:
    """A bound on the disclosure of the release that only a mixture of both halves of the table keeps."""
    half = 40
    frame = pd.DataFrame({"x": np.arange(2.0 * half), "s": ["a"] * half + ["b"] * half})
    table = Table(frame, quasi={"x": "numeric"}, sensitive="s")
    problem = MajeedHwang(k=4, trees=2, levels="least", most_disclosure=0.6, weights={"x": 1}).build(table)
    solution = Blocks(block_size=half, inner="generalise", compare=False).solve(problem)
    assert solution.details["blocks"] == 2
    assert solution.details["blocks_merged"] == 1
    check_solution(solution)
    assert solution.values["disclosure"] <= 0.6


def test_what_no_merging_helps_has_a_remark() -> None:
    frame = pd.DataFrame({"x": np.arange(40.0), "s": ["a"] * 38 + ["b"] * 2})
    problem = MoObam(k=2, n_clusters=10, distinct_l=2).build(Table(frame, quasi={"x": "numeric"}, sensitive="s"))
    solution = Blocks(block_size=10, **SEARCHED).solve(problem)
    assert solution.status is Status.INFEASIBLE  # ten classes of two values each, and two records have the second one
    assert "not even in one block" in str(solution.details["remark"])


@pytest.mark.parametrize("name", ["capped", "classes", "mass", "chosen", "lambda"])
def test_a_time_limit_leaves_classes_in_every_model(name: str) -> None:
    options = {key: value for key, value in MODELS[name][1].items() if key == "inner"}
    solution = Blocks(block_size=30, **options).solve(posed(name), time_limit=1e-6)
    check_solution(solution)
    assert solution.status is Status.FEASIBLE
    assert solution.details["blocks_by_median_cuts"] > 0  # type: ignore[operator]


def test_seams_of_what_is_no_sum_are_told_as_such() -> None:
    problem = posed("aminifar", n=240)
    solution = Blocks(block_size=30).solve(problem)
    told: Any = solution.details["one_block"]
    assert told["how"].endswith("in the place of the table's own objective")
    few: Any = Blocks(block_size=120).solve(problem).details["one_block"]
    assert few["how"].startswith("measured")
    assert few["excess"] == pytest.approx(few["loss_in_blocks"] / few["loss_merged"] - 1)


def test_other_objectives_are_those_of_the_block() -> None:
    problem = MoObam(k=2).build(small_table(90)).with_objectives("closeness", "loss")
    solution = Blocks(block_size=30, compare=False, **EVOLVED).solve(problem)
    check_solution(solution)
    assert "the closeness of its own records" in str(solution.details["blocks_optimise"])
    everyone = np.zeros(30, np.int64)
    part = problem.restricted(np.arange(30), None)
    shares = problem.test.shares
    own = np.bincount(problem.test.codes[:30, 0], minlength=len(shares)) / 30
    assert part.evaluate(everyone).values["closeness"] == pytest.approx(np.abs(own - shares).sum() / 2)


def test_classes_are_shared_out_whatever_they_are_judged_by() -> None:
    problem = posed("aminifar").with_objectives("homogeneity", "loss")
    options = {"evaluations": 100, "population": 20}
    solution = Blocks(inner="nsga2", inner_options=options, block_size=30, compare=False).solve(problem)
    check_solution(solution)
    assert solution.status is Status.FEASIBLE
    assert solution.details["blocks"] >= 4  # type: ignore[operator]


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="recentre moves the centres"):
        Blocks(inner="network", inner_options={"recentre": True})
    with pytest.raises(RefusedError, match="'mdav' does not take blocks of it"):
        Blocks(inner="mdav").solve(posed("aminifar"))
    judged = posed("mass").with_objectives("recall_loss", "loss")
    with pytest.raises(RefusedError, match="cannot be judged by 'recall_loss'"):
        Blocks().solve(judged)


@dataclass(frozen=True)
class Longest(Formulation):
    """Nothing but a value: the size of the largest class."""

    name: ClassVar[str] = "longest"
    summary: ClassVar[str] = "for tests"

    k: int = 2

    def build(self, table: Table, seed: int = 0) -> Problem:
        return LongestProblem(table, self, Conditions(self.k))


class LongestProblem(Problem):
    objectives = (Objective("largest", "min"),)

    def values(self, labels: Any) -> dict[str, float]:
        return {"largest": float(np.bincount(labels).max())}


def test_a_model_that_only_has_values_is_cut_into_blocks_too() -> None:
    solution = Blocks(block_size=10, compare=False).solve(Longest().build(small_table(40)), time_limit=20)
    check_solution(solution)
    assert solution.details["blocks"] >= 4  # type: ignore[operator]
    assert "its own records" in str(solution.details["blocks_optimise"])
    assert solution.value is not None
    assert solution.value <= 5
