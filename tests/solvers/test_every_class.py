"""Every class of few records: proven optima, a clock, and ties that must not be listed."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

import optmodels as om
from formulations import MoObam
from formulations.mo_obam import MoObamProblem
from optmodels.structures import Priced
from optmodels.testing import brute_force, brute_force_front, small_table
from solvers.epsilon import Epsilon, every_class
from solvers.epsilon.class_cover import cover_some, new_cover
from solvers.epsilon.every_class import EveryClass


def problem_of(table: om.Table, n_clusters: int | None = None, k: int = 2) -> MoObamProblem:
    problem = MoObam(k=k, n_clusters=n_clusters).build(table)
    assert isinstance(problem, MoObamProblem)
    return problem


def equal_records(n: int) -> om.Table:
    frame = pd.DataFrame({"age": [5.0] * n, "illness": (["flu", "cold"] * n)[:n]})
    return om.Table(frame, quasi={"age": "numeric"}, sensitive="illness")


@pytest.mark.parametrize("most_listed", [0, 40, 3_000_000])
@pytest.mark.parametrize("seed", range(4))
def test_optimum_or_bound_whatever_may_be_listed(most_listed: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(small_table(8, seed=seed))
    expected = brute_force(problem)
    assert expected is not None
    optimum = expected[1].values["loss"] * problem.price_scale
    monkeypatch.setattr(every_class, "_MOST_LISTED", most_listed)
    best = EveryClass(problem.require(Priced)).best(np.zeros(1))
    assert best is not None
    assert best.labels is not None
    assert best.bound <= optimum * (1 + 1e-9) + 1e-12
    assert best.price >= optimum * (1 - 1e-9)
    assert problem.evaluate(best.labels).feasible
    if most_listed > 40:
        assert best.price == pytest.approx(optimum)
        assert best.bound == pytest.approx(optimum)


@pytest.mark.parametrize("n_clusters", [None, 4])
def test_ties_of_equal_records_are_not_listed(n_clusters: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[int] = []
    original = every_class.cheaper_than

    def counted(*arguments: object) -> object:
        classes, costs = original(*arguments)
        listed.append(len(classes))
        return classes, costs

    monkeypatch.setattr(every_class, "cheaper_than", counted)
    monkeypatch.setattr(every_class, "_MOST_LISTED", 10_000)
    best = EveryClass(problem_of(equal_records(16), n_clusters).require(Priced)).best(np.zeros(1))
    assert best is not None
    assert best.labels is not None
    assert (best.bound, best.price) == (0.0, 0.0)
    assert max(listed, default=0) <= 10_000


def test_when_time_is_over_what_is_known_is_returned() -> None:
    problem = problem_of(small_table(12, seed=1), k=3)
    classes = EveryClass(problem.require(Priced))
    early = classes.best(np.zeros(1), over=lambda: True)
    proven = EveryClass(problem.require(Priced)).best(np.zeros(1))
    assert early is not None
    assert proven is not None
    assert early.labels is None
    assert early.bound <= proven.price * (1 + 1e-9)


def test_a_cover_in_portions_is_the_cover_in_one_go() -> None:
    draw = np.random.default_rng(2)
    classes = np.arange(1, 1 << 10)
    costs = np.sort(draw.uniform(0, 1, len(classes)))
    masks = draw.permutation(classes)
    whole, portions = new_cover(10, masks, costs, 9.0), new_cover(10, masks, costs, 9.0)
    assert cover_some(10, 2, 0, whole, 1 << 40)
    times = 0
    while not cover_some(10, 2, 0, portions, 7):
        times += 1
    assert times > 3
    assert whole.best_cost[0] == portions.best_cost[0]
    found = whole.best[: whole.place[1]]
    assert np.bitwise_or.reduce(found) == found.sum() == (1 << 10) - 1


BILLS = (32049, 204, 96, 118, 1248, 2526854, 788695, 2499, 2474)


def skewed(bills: Sequence[float]) -> om.Table:
    illness = [["flu", "cold", "gout"][i % 3] for i in range(len(bills))]
    frame = pd.DataFrame({"bill": np.array(bills, float), "illness": illness})
    return om.Table(frame, quasi={"bill": "numeric"}, sensitive="illness", scaling="range")


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_skewed_numbers_end_and_are_proven(seed: int | None) -> None:
    """The master's tolerance leaves pooled classes with reduced costs below zero, again and again the same."""
    bills = BILLS if seed is None else np.random.default_rng(seed).lognormal(8, 3, 8).round().tolist()
    problem = problem_of(skewed(bills))
    front = Epsilon().pareto(problem, time_limit=100)
    assert front.details["complete"] is True
    expected = brute_force_front(problem)
    assert len(front) == len(expected)
    for point, values in zip(front, expected, strict=True):
        assert (point.values["loss"], point.values["entropy"]) == pytest.approx(values, abs=1e-9)


def test_a_front_without_time_does_not_claim_to_have_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EveryClass, "best", lambda *_, **__: every_class.Best(0.0))
    front = Epsilon().pareto(problem_of(small_table(8)), time_limit=100)
    assert front.details["complete"] is False
    assert front.details["stop"] == "time"
