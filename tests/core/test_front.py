from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import MoObam
from optmodels import ParetoFront, Solution, Status, Stop
from optmodels.errors import InputError
from optmodels.problem import Problem
from optmodels.testing import small_table


def random_solutions(problem: Problem, seed: int, count: int = 12) -> list[Solution]:
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        labels = draw.integers(0, 3, problem.n)
        evaluation = problem.evaluate(labels)
        found.append(Solution(problem, "random", Status.FEASIBLE, Stop.CONVERGED, labels, evaluation.values))
    return found


@pytest.fixture
def problem() -> Problem:
    return MoObam(k=2).build(small_table(10, seed=4))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_points_are_distinct_and_none_dominates_another(seed: int) -> None:
    problem = MoObam(k=2).build(small_table(10, seed=4))
    solutions = random_solutions(problem, seed)
    front = ParetoFront.of(problem, solutions + solutions)
    losses = [point.values["loss"] for point in front]
    entropies = [point.values["entropy"] for point in front]
    assert losses == sorted(losses)
    assert all(a < b for a, b in pairwise(entropies))
    for solution in solutions:
        assert any(
            p.values["loss"] <= solution.values["loss"] + 1e-12
            and p.values["entropy"] >= solution.values["entropy"] - 1e-12
            for p in front
        )
    halves = ParetoFront.of(problem, solutions[:6]).merge(ParetoFront.of(problem, solutions[6:]))
    assert halves.costs == pytest.approx(front.costs)


def test_hypervolume_and_distance_by_hand(problem: Problem) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 1))
    reference = {"loss": 1.5, "entropy": -0.5}
    expected, last = 0.0, -0.5
    for loss, minus_entropy in front.costs:  # losses rise along the front, and so do entropies
        expected += (1.5 - loss) * (-minus_entropy - last)
        last = -minus_entropy
    assert front.hypervolume(reference) == pytest.approx(expected)
    assert front.igd_plus(front) == 0.0
    with pytest.raises(InputError, match="missing: entropy"):
        front.hypervolume({"loss": 1.0})


def test_knee_and_pick(problem: Problem) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 2, 40))
    assert len(front) >= 3
    assert front.pick().values == front[0].values
    assert front.pick(weights={"entropy": 1.0}).values == front[-1].values
    middle = front[1].values["entropy"]
    assert front.pick(limits={"entropy": middle}).values == front[1].values
    assert front.knee() in front.points
    with pytest.raises(InputError, match="Did you mean 'entropy'"):
        front.pick(weights={"entropi": 1.0})
    with pytest.raises(InputError, match="the front spans"):
        front.pick(limits={"loss": -1.0})


def test_save_and_load(problem: Problem, tmp_path: Path) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 3), {"note": "kept"})
    front.save(tmp_path / "front")
    again = ParetoFront.load(tmp_path / "front", problem)
    assert again.frame().equals(front.frame())
    assert [p.labels.tolist() for p in again] == [p.labels.tolist() for p in front]  # type: ignore[union-attr]
    assert again.details == front.details
    with pytest.raises(InputError, match=r"front\.json is missing"):
        ParetoFront.load(tmp_path, problem)
    with pytest.raises(InputError, match="10 records and the table has 8"):
        ParetoFront.load(tmp_path / "front", MoObam(k=2).build(small_table(8)))


def test_plot_and_release(problem: Problem) -> None:
    front = ParetoFront.of(problem, [s for s in random_solutions(problem, 5) if problem.evaluate(s.labels).feasible])  # type: ignore[arg-type]
    assert len(front.plot().data[0].x) == len(front)
    assert front.knee().release().audit.k >= 2
