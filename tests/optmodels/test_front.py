import json
from collections.abc import Callable
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation, MoObam
from optmodels import ParetoFront, Solution, Status, Stop, registry
from optmodels.errors import InputError
from optmodels.matrix import mixed_table
from optmodels.problem import Problem
from optmodels.solver import FrontSolver
from optmodels.solver.run import Progress
from optmodels.testing import small_table


def random_solutions(problem: Problem, seed: int, count: int = 12) -> list[Solution]:
    draw = np.random.default_rng(seed)
    found: list[Solution] = []
    while len(found) < count:
        labels = draw.integers(0, 3, problem.n)
        evaluation = problem.evaluate(labels)
        if evaluation.feasible:
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


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30, 1e300])
def test_points_in_small_and_large_units_are_told_apart(problem: Problem, unit: float) -> None:
    labels = np.zeros(problem.n, np.int64)
    pairs = [(1.0, 0.5), (2.0, 0.75), (2.0, 0.75 + 1e-14), (3.0, 1.0), (3.5, 0.875)]
    points = [
        Solution(problem, "made", Status.FEASIBLE, Stop.CONVERGED, labels, {"loss": loss * unit, "entropy": bits})
        for loss, bits in pairs
    ]
    assert [point.values["loss"] / unit for point in ParetoFront.of(problem, points)] == pytest.approx([1, 2, 3])


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
    with pytest.raises(InputError, match="There is no objective 'los'"):
        front.hypervolume({**reference, "los": 1.0})
    with pytest.raises(InputError, match="'loss' must be a number"):
        front.hypervolume({**reference, "loss": float("nan")})


def front_of(problem: Problem, *values: tuple[float, float]) -> ParetoFront:
    """Points of these losses and entropies, whatever partition has them."""
    named = [{"loss": loss, "entropy": entropy} for loss, entropy in values]
    labels = np.zeros(problem.n, np.int64)
    points = [Solution(problem, "hand", Status.FEASIBLE, Stop.CONVERGED, labels, value) for value in named]
    return ParetoFront.of(problem, points)


def test_knee_and_distance_of_fronts_made_by_hand(problem: Problem) -> None:
    front = front_of(problem, (0.1, 0.0), (0.2, 1.5), (0.6, 1.8), (0.9, 2.0))
    assert front.knee_index == 1  # scaled: 1, 0.125 + 0.25, 0.625 + 0.1, 1
    assert front.knee().values == {"loss": 0.2, "entropy": 1.5}
    # Only what a front lacks counts: 0.3 of loss and 0.4 of entropy, which are 0.5 apart.
    worse, better = front_of(problem, (0.4, 1.0)), front_of(problem, (0.1, 1.4))
    assert worse.igd_plus(better) == pytest.approx(0.5)
    assert better.igd_plus(worse) == 0.0
    assert worse.igd_plus(front_of(problem, (0.3, 0.5), (0.4, 1.1))) == pytest.approx(0.1)
    assert (worse.knee_index, worse.pick(limits={"entropy": 1.0}).values["loss"]) == (0, 0.4)


def test_nothing_can_be_picked_from_an_empty_front(problem: Problem) -> None:
    for choose in (ParetoFront.knee, ParetoFront.pick, lambda front: front.pick(limits={"loss": 1.0})):
        with pytest.raises(InputError, match="The front has no point"):
            choose(ParetoFront.of(problem, []))


def test_knee_and_pick(problem: Problem) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 2, 40))
    assert len(front) >= 3
    assert front.pick().values == front[0].values
    assert front.pick(weights={"entropy": 1.0}).values == front[-1].values
    middle = front[1].values["entropy"]
    assert front.pick(limits={"entropy": middle}).values == front[1].values
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


def test_points_of_a_front_that_is_not_judged_are_judged_one_by_one(problem: Problem, tmp_path: Path) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 5))
    front.save(tmp_path)
    frame = pd.read_parquet(tmp_path / "front.parquet")
    frame.loc[0, "loss"] -= 0.25
    frame.to_parquet(tmp_path / "front.parquet")
    saved = ParetoFront.load(tmp_path, problem, judge=False)
    assert len(saved) == len(front)
    assert saved.judged(len(front) - 1).values == front[len(front) - 1].values
    with pytest.raises(InputError, match="point 0 was saved with loss"):
        saved.judged(0)
    with pytest.raises(InputError, match="point 0 was saved with loss"):
        ParetoFront.load(tmp_path, problem)


def test_plot_and_release(problem: Problem) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 5))
    assert len(front.plot().data[0].x) == len(front)
    assert front.knee().release().audit.k >= 2


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (MoObam(k=3), "it has k=2 and the problem 3"),
        (MoObam(k=2, gamma=0.5), "it has gamma=None and the problem 0.5"),
        (MoObam(k=2, distinct_l=2), "it has distinct_l=None and the problem 2"),
        (MoObam(k=2, least_entropy=(0.5,)), r"it has least_entropy=None and the problem \[0.5\]"),
    ],
    ids=str,
)
def test_a_front_is_not_loaded_for_other_parameters(other: MoObam, difference: str, tmp_path: Path) -> None:
    table = small_table(10, seed=4)
    problem = MoObam(k=2).build(table)
    ParetoFront.of(problem, random_solutions(problem, 3)).save(tmp_path)
    with pytest.raises(InputError, match=difference):
        ParetoFront.load(tmp_path, other.build(table))


def test_parameters_that_json_spells_otherwise_are_the_same(tmp_path: Path) -> None:
    problem = MoObam(k=2, least_entropy=(0.0,)).build(small_table(10, seed=4))
    front = ParetoFront.of(problem, random_solutions(problem, 3))
    front.save(tmp_path)
    assert len(ParetoFront.load(tmp_path, problem)) == len(front)


def test_a_front_saved_before_a_model_took_a_condition_is_loaded_still(tmp_path: Path) -> None:
    problem = MoObam(k=2).build(small_table(10, seed=4))
    ParetoFront.of(problem, random_solutions(problem, 3)).save(tmp_path)
    (file,) = tmp_path.glob("*.json")
    record = json.loads(file.read_text())
    del record["parameters"]["beta_kind"], record["parameters"]["delta"]
    file.write_text(json.dumps(record))
    assert len(ParetoFront.load(tmp_path, problem))
    with pytest.raises(InputError, match=r"it has delta=None and the problem 1\.5"):
        ParetoFront.load(tmp_path, MoObam(k=2, delta=1.5).build(problem.table))


def test_a_front_is_not_loaded_for_another_formulation_or_table(problem: Problem, tmp_path: Path) -> None:
    ParetoFront.of(problem, random_solutions(problem, 3)).save(tmp_path)
    plain = Microaggregation(k=2).build(problem.table).with_objectives("loss", "entropy")
    with pytest.raises(InputError, match="its formulation is 'mo-obam' and the problem's is 'microaggregation'"):
        ParetoFront.load(tmp_path, plain)
    with pytest.raises(InputError, match="another table or seed: point 0 was saved with loss"):
        ParetoFront.load(tmp_path, MoObam(k=2).build(small_table(10, seed=5)))


def test_a_saved_point_that_breaks_a_condition_is_an_error(problem: Problem, tmp_path: Path) -> None:
    alone = np.arange(problem.n)
    broken = Solution(problem, "hand", Status.FEASIBLE, Stop.CONVERGED, alone, problem.evaluate(alone).values)
    ParetoFront.of(problem, [broken]).save(tmp_path)
    with pytest.raises(InputError, match=r"breaks what this problem asks for \(k >= 2\): k 10 times"):
        ParetoFront.load(tmp_path, problem)


def test_only_fronts_of_one_table_objectives_and_conditions_are_merged(problem: Problem) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 1))

    def of(other: Problem) -> ParetoFront:
        return ParetoFront.of(other, random_solutions(other, 2))

    with pytest.raises(InputError, match="of 10 and of 8 records"):
        front.merge(of(MoObam(k=2).build(small_table(8))))
    with pytest.raises(InputError, match="different tables"):
        front.merge(of(MoObam(k=2).build(small_table(10, seed=5))))
    with pytest.raises(InputError, match=r"objectives loss \(min\), linkage \(min\)"):
        front.merge(of(problem.with_objectives("loss", "linkage")))
    strict = MoObam(k=4).build(problem.table)
    with pytest.raises(InputError, match=r"Point 0 of the other front breaks .* \(k >= 4\)"):
        of(strict).merge(front)


def test_points_of_another_model_are_judged_again_and_lose_their_proof(problem: Problem) -> None:
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    strict = MoObam(k=5, gamma=3.0).build(problem.table)
    values = strict.evaluate(labels).values
    proven = Solution(strict, "hand", Status.OPTIMAL, Stop.CONVERGED, labels, values, bound=values["loss"])
    front = ParetoFront.of(problem, []).merge(ParetoFront.of(strict, [proven]))
    (point,) = front
    assert (point.status, point.bound, point.problem) == (Status.FEASIBLE, None, problem)
    assert point.values == problem.evaluate(labels).values
    assert point.values["loss"] != values["loss"]
    same = MoObam(k=5, gamma=3.0).build(problem.table)
    assert ParetoFront.of(same, []).merge(ParetoFront.of(strict, [proven]))[0].status == Status.OPTIMAL


def test_distances_of_empty_fronts_and_of_other_objectives(problem: Problem) -> None:
    front, empty = ParetoFront.of(problem, random_solutions(problem, 1)), ParetoFront.of(problem, [])
    assert empty.igd_plus(front) == inf
    with pytest.raises(InputError, match="no point"):
        front.igd_plus(empty)
    linkage = problem.with_objectives("loss", "linkage")
    with pytest.raises(InputError, match=r"with_objectives\('loss', 'linkage'\)"):
        front.igd_plus(ParetoFront.of(linkage, random_solutions(linkage, 1)))


@pytest.mark.parametrize("weight", [-1.0, float("nan"), inf])
def test_weights_are_finite_and_not_negative(problem: Problem, weight: float) -> None:
    front = ParetoFront.of(problem, random_solutions(problem, 2))
    with pytest.raises(InputError, match="The weight of 'entropy' must"):
        front.pick(weights={"entropy": weight})
    with pytest.raises(InputError, match="The limit of 'loss'"):
        front.pick(limits={"loss": float("nan")})


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("front", lambda frame: frame.drop(columns="status")),
        ("front", lambda frame: frame.assign(status="best")),
        ("front", lambda frame: frame.drop(columns="loss")),
        ("front", lambda frame: frame.assign(loss="low")),
        ("front", lambda frame: frame.assign(seed=float("nan"))),
        ("front", lambda frame: frame.iloc[1:]),
        ("labels", lambda frame: frame.iloc[1:]),
        ("labels", lambda frame: frame.rename(columns={"0": "first"})),
        ("labels", lambda frame: frame.astype(float).replace(1.0, float("nan"))),
    ],
)
def test_damaged_points_are_an_error_in_words(
    problem: Problem, tmp_path: Path, name: str, damage: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    ParetoFront.of(problem, random_solutions(problem, 3)).save(tmp_path)
    file = tmp_path / f"{name}.parquet"
    damage(pd.read_parquet(file)).to_parquet(file)
    with pytest.raises(InputError, match="is damaged"):
        ParetoFront.load(tmp_path, problem)


@pytest.mark.parametrize("part", [{"objectives": ["loss"]}, {"parameters": []}, {"details": 3}], ids=str)
def test_a_damaged_record_is_an_error_in_words(problem: Problem, tmp_path: Path, part: dict[str, Any]) -> None:
    ParetoFront.of(problem, random_solutions(problem, 3)).save(tmp_path)
    file = tmp_path / "front.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | part), encoding="utf-8")
    with pytest.raises(InputError, match="is not the record of a front, or damaged"):
        ParetoFront.load(tmp_path, problem)


@pytest.mark.parametrize(("solver", "options"), [("epsilon", {}), ("nsga2", {"evaluations": 400})])
def test_a_front_is_seen_while_it_grows(solver: str, options: dict[str, Any]) -> None:
    table = mixed_table(16)
    problem = registry.configured(registry.formulation("mo-obam"), {"k": 3}).build(table)
    seen: list[Progress] = []
    search = registry.configured(registry.solver(solver), options)
    assert isinstance(search, FrontSolver)
    found = search.pareto(problem, seed=1, on_progress=seen.append)
    last = [state for state in seen if state.points is not None][-1]
    assert last.points is not None
    assert last.points.shape[1] == 2
    best = {tuple(np.round(list(point.values.values()), 9)) for point in found}
    assert best <= {tuple(np.round(row, 9)) for row in last.points}
    if solver == "epsilon":
        assert last.bounds is not None
        assert np.isfinite(last.bounds).all()
