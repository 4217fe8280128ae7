"""Levels chosen by optimisation: against brute force on tiny tables, and its promises on larger ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import MajeedHwang, Microaggregation
from formulations.majeed_hwang._majeed_hwang import LevelRule
from optmodels import Hierarchy, Table, registry
from optmodels.errors import InputError, RefusedError
from optmodels.front import ParetoFront
from optmodels.halting import lowered
from optmodels.partition import canonical, class_sizes
from optmodels.price import by_levels
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import Progress
from optmodels.structures import Levels
from optmodels.testing import brute_force, brute_force_front, check_solution, small_table
from solvers import pareto, solve
from solvers.auto import choice
from solvers.generalise import Generalise
from solvers.generalise.by_prices import with_nearest
from solvers.generalise.merging import Merging
from tests.formulations.test_majeed_hwang import table_and_weights

SAME = 1e-7
SEEDS = st.integers(0, 2**32 - 1)


def tiny(seed: int) -> Problem:
    draw = np.random.default_rng(seed)
    table, weights = table_and_weights(draw, seed, fewer_than=8, values=2)
    return MajeedHwang(
        k=int(draw.integers(2, 4)),
        levels="least",
        threshold=float(draw.choice([0.0, 0.0, 0.5, 0.9])),
        most_disclosure=draw.choice([None, None, 0.7]),
        weights=weights,
    ).build(table)


@settings(max_examples=20)
@given(SEEDS)
def test_the_pyomo_view_is_exact_and_heuristics_and_bounds_do_not_contradict_it(seed: int) -> None:
    problem = tiny(seed)
    best = None if problem.impossible() else brute_force(problem)
    exact, climbed = solve(problem, solver="milp"), Generalise().solve(problem)
    check_solution(exact)
    check_solution(climbed)
    if best is None:
        assert exact.status == "infeasible"
        assert climbed.labels is None
        return
    optimum = best[1].values["distortion"]
    assert exact.status == "optimal"
    assert exact.value == pytest.approx(optimum, rel=SAME, abs=SAME)
    assert climbed.value is not None
    assert climbed.value >= optimum - SAME
    assert climbed.bound is not None
    assert climbed.bound <= optimum + SAME


@settings(max_examples=20)
@given(SEEDS)
def test_the_view_takes_any_partition_in_and_gives_it_back_at_its_value(seed: int) -> None:
    import pyomo.environ as pyo

    problem = tiny(seed)
    draw = np.random.default_rng(seed)
    labels = draw.permutation(
        np.minimum(np.arange(problem.n) // problem.conditions.k, problem.n // problem.conditions.k - 1)
    )
    labels = problem.check(np.maximum(labels, 0))
    view = problem.to_pyomo()
    assert view.encode is not None
    assert view.encode(labels)
    within = problem.values(labels)
    assert pyo.value(view.native.distortion) == pytest.approx(within["distortion"], rel=SAME, abs=SAME)
    assert problem.values(view.decode(view.native))["distortion"] <= within["distortion"] + SAME
    broken = [
        row.name
        for row in view.native.component_data_objects(pyo.Constraint)
        if not row.name.startswith("disclosure") and abs(min(row.slack(), 0)) > SAME
    ]
    assert not broken


@settings(max_examples=15)
@given(SEEDS)
def test_the_front_of_few_records_is_exact(seed: int) -> None:
    problem = tiny(seed)
    if problem.impossible():
        assert len(Generalise().pareto(problem)) == 0
        return
    front = pareto(problem, solver="generalise")
    assert front.details["complete"]
    assert [tuple(point.values.values()) for point in front] == [
        pytest.approx(point, rel=SAME, abs=SAME) for point in brute_force_front(problem)
    ]
    for point in front:
        check_solution(point)
        assert point.status == "optimal"


def larger(**parameters: object) -> Problem:
    return MajeedHwang(**({"k": 5, "levels": "least", "trees": 5} | parameters)).build(  # type: ignore[arg-type]
        small_table(600, seed=4, values=3, repeated=True)
    )


@pytest.mark.parametrize("bits", [0.0, 1.0, 1.5])
def test_larger_tables_keep_conditions_beat_the_construction_and_have_a_bound(bits: float) -> None:
    problem = larger(threshold=bits)
    solution = Generalise().solve(problem)
    check_solution(solution)
    published = solve(problem, solver="usefulness")
    assert solution.value is not None
    assert published.value is not None
    assert solution.value < published.value
    assert solution.bound is not None
    assert solution.bound <= solution.value


def test_few_strangers_call_back_records_that_can_be_spared() -> None:
    # One person of 31 in a crowd of 30: alone, he would have to go to the top, but k - 1 of the crowd come to him.
    frame = pd.DataFrame({"age": [30] * 40 + [31] + [70] * 10, "flag": [0, 1, 0] * 17})
    ages = Hierarchy.intervals([30, 31, 70], widths=[5, 10])
    table = Table(frame, quasi={"age": "numeric"}, sensitive="flag", hierarchies={"age": ages})
    solution = Generalise().solve(MajeedHwang(k=5, levels="least").build(table))
    assert sorted(class_sizes(solution.require()).tolist()) == [5, 10, 36]
    assert solution.value == pytest.approx(5 * 100 / 3)


def test_a_bound_on_disclosure_is_kept_with_higher_floors() -> None:
    free = Generalise().solve(larger())
    most = (free.values["disclosure"] + 1.02 * _least_disclosure(free.problem)) / 2
    bounded = Generalise().solve(larger(most_disclosure=most))
    check_solution(bounded)
    assert bounded.values["disclosure"] <= most
    assert bounded.values["distortion"] >= free.values["distortion"]


def _least_disclosure(problem: Problem) -> float:
    return problem.evaluate(np.zeros(problem.n, np.int64)).values["disclosure"]


def test_a_front_spans_from_least_distortion_to_least_disclosure(tmp_path: object) -> None:
    problem = larger()
    front = pareto(problem)
    assert front.details["chosen"] == "generalise"
    assert front[0].value == Generalise().solve(problem).value
    assert front[len(front) - 1].values["disclosure"] == _least_disclosure(problem)
    front.save(str(tmp_path))
    again = ParetoFront.load(str(tmp_path), problem)
    assert again.frame().equals(front.frame())
    assert again.knee().release().audit.k >= 5


def test_auto_chooses_levels_exactly_for_few_and_by_climbing_for_many() -> None:
    few = MajeedHwang(k=2, levels="least", trees=3).build(small_table(12))
    assert solve(few).status == "optimal"
    many = solve(larger())
    assert many.solver == "generalise"


def test_the_published_rule_can_be_climbed_too() -> None:
    solution = Generalise().solve(larger(levels="flexible", threshold=0.5))
    check_solution(solution)


def test_time_and_ctrl_c_leave_the_best_so_far() -> None:
    problem = larger()
    problem.level_costs()  # type: ignore[attr-defined]
    short = Generalise().solve(problem, time_limit=1e-6)
    check_solution(short)
    assert (short.stop, short.labels is not None) == (Stop.TIME, True)

    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    stopped = Generalise().solve(problem, on_progress=interrupt)
    check_solution(stopped)
    assert stopped.stop is Stop.INTERRUPTED


def test_other_models_are_refused() -> None:
    with pytest.raises(RefusedError, match="not released through hierarchies"):
        Generalise().solve(Microaggregation(k=2).build(small_table()))


@pytest.mark.parametrize("levels", ["least", "flexible"])
def test_any_number_of_combinations_of_levels_is_taken(levels: LevelRule) -> None:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({f"q{j}": draw.integers(0, 100, 60) for j in range(7)} | {"flag": [0, 1] * 30})
    table = Table(frame, quasi=dict.fromkeys(list(frame)[:-1], "numeric"), sensitive="flag")
    problem = MajeedHwang(k=2, levels=levels, weights=dict.fromkeys(table.quasi, 1.0)).build(table)
    found = Generalise().solve(problem)
    check_solution(found)
    everyone = problem.evaluate(np.zeros(60, np.int64)).values["distortion"]
    assert found.value is not None
    if levels == "least":
        assert found.bound is not None
        assert 0 < found.bound <= found.value < 0.8 * everyone
    else:
        assert found.value <= everyone


@settings(max_examples=20)
@given(SEEDS)
def test_prices_by_levels_and_their_bound_are_those_of_the_model(seed: int) -> None:
    problem = tiny(seed)
    levels = problem.require(Levels)
    price = by_levels(levels.leaves, levels.nodes, levels.costs())
    labels = canonical(np.random.default_rng(seed).integers(0, 3, problem.n))
    assert price.total(labels) == pytest.approx(problem.evaluate(labels).values["distortion"])
    k = levels.test.k
    nearest = with_nearest(price.codes, price.climbs, k, lowered())
    for rows in combinations(range(problem.n), k):
        assert price.of(np.array(rows)) / k >= nearest[list(rows)].max() - 1e-9


def test_more_sensitive_values_than_can_be_counted_in_every_class_are_refused() -> None:
    frame = pd.DataFrame({"age": np.arange(40_000) % 70, "pay": np.arange(40_000)})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="pay")
    model = {"k": 5, "levels": "least", "weights": {"age": 1.0}}
    assert Generalise().refuses(MajeedHwang(**model).build(table)) is None, "of size alone nothing is counted"  # type: ignore[arg-type]
    uncertain = MajeedHwang(**model, threshold=1.0)  # type: ignore[arg-type]
    assert "40,000 sensitive values in up to 8,001 classes" in str(Generalise().refuses(uncertain.build(table)))
    assert solve(uncertain.build(table)).solver == "usefulness"
    in_bins = Table(frame, quasi={"age": "numeric"}, sensitive="pay", bins={"pay": 20})
    assert Generalise().refuses(uncertain.build(in_bins)) is None


def test_misspelt_options_are_told() -> None:
    with pytest.raises(InputError, match="Did you mean 'floors'"):
        registry.configured(registry.solver("generalise"), {"floor": 3})
    with pytest.raises(InputError, match="a front has two ends"):
        Generalise(floors=1)


def test_infeasible_says_why() -> None:
    solution = Generalise().solve(larger(most_disclosure=0.1))
    assert solution.status is Status.INFEASIBLE
    assert "cannot hold" in solution.reason


@settings(max_examples=15)
@given(SEEDS)
def test_merging_counts_what_the_judge_counts(seed: int) -> None:
    draw = np.random.default_rng(seed)
    table = small_table(60, seed=seed, values=2 + seed % 2, sensitive=1 + seed % 2, repeated=bool(draw.integers(2)))
    problem = MajeedHwang(k=3, levels="least", weights=dict.fromkeys(table.quasi, 1.0)).build(table)
    merging = Merging(problem.require(Levels), draw.permutation(np.arange(60) // 3))
    before = merging.right
    for _ in merging.steps():
        assert merging.right < before, "every step hides something"
        before = merging.right
        labels = merging.labels()
        values = problem.values(labels)
        assert values["disclosure"] <= merging.right / 60 + SAME, "classes that look the same disclose less yet"
        cost = float(merging.sizes[merging.alive] @ merging.costs[merging.alive])
        assert values["distortion"] == pytest.approx(cost)
        assert not problem.violations(labels)["k"]


def test_auto_takes_it_however_many_levels_there_are_unless_another_target_comes_first() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{j}": draw.integers(0, 30, 200) for j in range(9)} | {"flag": [0, 1] * 100})
    table = Table(frame, quasi=dict.fromkeys(list(frame)[:-1], "numeric"), sensitive="flag")
    wide = MajeedHwang(k=5, levels="least", weights=dict.fromkeys(table.quasi, 1.0)).build(table)
    found, constructed = solve(wide), solve(wide, solver="usefulness")
    assert found.solver == "generalise"
    assert found.value is not None
    assert constructed.value is not None
    assert found.value < constructed.value
    assert choice(larger().with_objectives("linkage", "distortion")).name == "local_search"
