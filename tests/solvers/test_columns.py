"""Column generation against brute force, its kernels against enumeration, and its bounds at any moment."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.liang_samavi import LiangSamavi
from formulations.microaggregation import Microaggregation
from optmodels.conditions import Conditions
from optmodels.price import Price, extent, spread
from optmodels.problem import PricedProblem
from optmodels.solution import Status, Stop
from optmodels.table import Table
from optmodels.testing import brute_force, check_solution, small_table
from solvers.columns import Columns
from solvers.columns.cuts import violated
from solvers.columns.duals import reduced_cost
from solvers.columns.generation import first_duals
from solvers.columns.instance import Instance, make_instance
from solvers.columns.master import CutSet, Master
from solvers.columns.pricing import Pricer
from solvers.columns.search import Limit
from solvers.columns.sweeps import search_many

FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))

CONDITIONS = [
    Conditions(k=2),
    Conditions(k=3),
    Conditions(k=2, distinct_l=2),
    Conditions(k=2, entropy_l=1.7),
    Conditions(k=2, t=0.35),
    Conditions(k=3, distinct_l=2, t=0.5),
]


def problem_of(
    table: Table, conditions: Conditions, kind: str = "spread", n_classes: int | None = None
) -> PricedProblem:
    price = spread(table) if kind == "spread" else extent(table)
    formulation = Microaggregation(k=conditions.k) if kind == "spread" else LiangSamavi(k=conditions.k)
    return PricedProblem(table, formulation, conditions, price, n_classes=n_classes)


def agree(problem: PricedProblem) -> None:
    best = brute_force(problem)
    solution = Columns().solve(problem)
    check_solution(solution)
    if best is None:
        assert solution.labels is None
        return
    optimum = best[1].values["loss"]
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(optimum, rel=1e-7, abs=1e-9)
    assert solution.bound <= optimum * (1 + 1e-9) + 1e-12


def problems(
    least: int, most: int, *, categorical: int = 2, sensitive: int = 1, conditions: list[Conditions] = CONDITIONS
) -> st.SearchStrategy[PricedProblem]:
    """Problems on tables of so many records, with up to so many attributes of each kind."""
    tables = st.builds(
        small_table,
        st.integers(least, most),
        seed=st.integers(0, 10**6),
        categorical=st.integers(0, categorical),
        sensitive=st.integers(1, sensitive),
        repeated=st.booleans(),
    )
    return st.builds(problem_of, tables, st.sampled_from(conditions), st.sampled_from(["spread", "extent"]))


@FEW
@given(problems(5, 8, sensitive=2))
def test_agrees_with_brute_force(problem: PricedProblem) -> None:
    agree(problem)


@pytest.mark.parametrize("conditions", CONDITIONS)
@pytest.mark.parametrize("kind", ["spread", "extent"])
def test_every_condition_agrees_with_brute_force(kind: str, conditions: Conditions) -> None:
    agree(problem_of(small_table(9, seed=4, sensitive=2), conditions, kind))


@FEW
@given(seed=st.integers(0, 10**6), n_classes=st.integers(1, 3), kind=st.sampled_from(["spread", "extent"]))
def test_a_fixed_number_of_classes_agrees_with_brute_force(seed: int, n_classes: int, kind: str) -> None:
    table = small_table(8, seed=seed, categorical=1, repeated=bool(seed % 2))
    agree(problem_of(table, Conditions(k=2), kind, n_classes))


def test_a_fixed_number_of_classes_that_conditions_forbid_is_infeasible() -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "s": list("aaaaab")})
    table = Table(frame, quasi={"x": "numeric"}, sensitive="s")
    solution = Columns().solve(problem_of(table, Conditions(k=2, distinct_l=2), n_classes=2))
    assert solution.status is Status.INFEASIBLE
    assert "No partition" in solution.reason


def instance_of(problem: PricedProblem) -> Instance:
    return make_instance(problem.price, problem.test, largest=problem.largest, n_classes=None, unit=1.0)


def all_classes(instance: Instance) -> list[np.ndarray]:
    """Every class that is allowed, as sorted types, by plain enumeration."""
    found = []
    for size in range(instance.smallest, instance.largest + 1):
        for members in combinations_with_replacement(range(instance.n_types), size):
            array = np.array(members, np.int64)
            fits = (np.bincount(array, minlength=instance.n_types) <= instance.types.copies).all()
            if fits and instance.allows(array):
                found.append(array)
    return found


@FEW
@given(problems(9, 9, categorical=1, conditions=CONDITIONS[:3]), st.integers(0, 10**6), st.floats(0.2, 1.5))
def test_pricing_finds_what_enumeration_finds(problem: PricedProblem, seed: int, height: float) -> None:
    instance = instance_of(problem)
    draw = np.random.default_rng(seed)
    cuts = CutSet(instance.types.copies)
    for _ in range(4 if instance.n_types > 2 else 0):
        a, b, c = sorted(draw.choice(instance.n_types, 3, replace=False).tolist())
        cuts.add((a, b, c))
    rows = height * draw.random(instance.n_types) * instance.distance.mean()
    duals = cuts.duals(rows, 0.1, instance.distance.mean() * draw.random(len(cuts)))
    classes = all_classes(instance)
    costs = np.array([reduced_cost(instance.types, duals, members) for members in classes])
    ceiling = float(np.quantile(costs, 0.3)) + 1e-9
    listed = Pricer(instance, 10**9).below(duals, ceiling, 10**6, lambda: False)
    expected = {classes[c].tobytes() for c in np.flatnonzero(costs < ceiling - 1e-9)}
    assert listed is not None
    assert expected <= {members.tobytes() for members in listed}

    for node_limit in (1, 3, 10**9):  # cut short, the floors are weaker and still true
        priced = Pricer(instance, node_limit).price(duals, 1e-9, lambda: False)
        assert priced is not None
        floor = float(priced.floors.min())
        assert floor <= costs.min(initial=0.0) + 1e-9
        if node_limit == 10**9:
            assert floor == pytest.approx(min(costs.min(), -1e-9), abs=1e-9)


@FEW
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["spread", "extent"]), size=st.integers(2, 6))
def test_the_pairwise_bound_is_below_every_price(seed: int, kind: str, size: int) -> None:
    instance = instance_of(problem_of(small_table(10, seed=seed, categorical=2), Conditions(k=2), kind))
    bound = instance.pair_bound(size)
    members = np.random.default_rng(seed).integers(0, instance.n_types, size)
    pairs = sum(bound.distance[a, b] for i, a in enumerate(members) for b in members[:i])
    price = instance.price(members)
    assert pairs <= price * (1 + 1e-9) + 1e-12
    star = min(instance.distance[a, members].sum() for a in members)
    assert instance.star_factor * star <= price * (1 + 1e-9) + 1e-12
    if kind == "extent" and size <= 3:
        numeric = instance.types.numeric
        plain = Price("extent", numeric, np.zeros((instance.n_types, 0), np.int32), np.zeros(0))
        sides = sum(np.abs(numeric[a] - numeric[b]).sum() for i, a in enumerate(members) for b in members[:i])
        assert plain.of(members) == pytest.approx(size / (size * size // 4) * sides)


@pytest.mark.parametrize("time_limit", [0.001, 0.05, 0.3, 1.0])
def test_the_bound_is_true_whenever_the_time_runs_out(time_limit: float) -> None:
    problem = problem_of(small_table(9, seed=11, sensitive=1), Conditions(k=3))
    best = brute_force(problem)
    assert best is not None
    solution = Columns().solve(problem, time_limit=time_limit)
    check_solution(solution)
    assert solution.bound is not None
    assert solution.bound <= best[1].values["loss"] * (1 + 1e-9)


def test_cut_short_pricing_still_bounds_the_optimum() -> None:
    problem = problem_of(small_table(9, seed=2), Conditions(k=3), "extent")
    best = brute_force(problem)
    assert best is not None
    solution = Columns(node_limit=1).solve(problem, time_limit=20)
    check_solution(solution)
    assert 0 < solution.bound <= best[1].values["loss"] * (1 + 1e-9)


def random_problem(n: int, k: int, seed: int) -> PricedProblem:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(draw.normal(size=(n, 2)), columns=["x", "y"])
    return Microaggregation(k=k).build(Table(frame, quasi={"x": "numeric", "y": "numeric"}))


def test_cuts_raise_the_linear_bound_without_cutting_off_the_optimum() -> None:
    problem = random_problem(40, 3, seed=5)
    solution = Columns().solve(problem, time_limit=60)
    values = solution.details["linear_values"]
    assert solution.status is Status.OPTIMAL
    assert solution.details["cuts"] > 0
    assert values[0] < values[-1] <= solution.value * (1 + 1e-9)
    without = Columns(cuts_a_round=0).solve(problem, time_limit=60)
    assert without.details["cuts"] == 0
    assert without.value == pytest.approx(solution.value)


def test_the_odd_triangle_is_cut_off() -> None:
    frame = pd.DataFrame({"x": [0.0, 1, 2, 3, 4, 5]})
    problem = Microaggregation(k=2).build(Table(frame, quasi={"x": "numeric"}))
    master = Master(instance_of(problem), big=1e3)
    master.add([np.array(pair) for pair in ([0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5])])
    relaxed = master.solve(10)
    assert relaxed is not None
    assert np.allclose(relaxed.weights, 0.5)
    assert sorted(violated(master, relaxed, 10, 4)) == [(0, 1, 2), (3, 4, 5)]


def test_equal_records_share_a_row_and_cost_nothing_together() -> None:
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0, 5.0], 7), "y": np.repeat([0.0, 2.0, 2.0], 7)})
    problem = LiangSamavi(k=3).build(Table(frame, quasi={"x": "numeric", "y": "numeric"}))
    solution = Columns().solve(problem, time_limit=20)
    assert (solution.status, solution.value) == (Status.OPTIMAL, 0.0)
    lonely = pd.concat([frame, pd.DataFrame({"x": [6.0], "y": [2.0]})], ignore_index=True)
    problem = LiangSamavi(k=3).build(Table(lonely, quasi={"x": "numeric", "y": "numeric"}))
    solution = Columns().solve(problem, time_limit=20)
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(3 * 1 / 6)
    assert solution.details["types"] == 4


def test_first_duals_add_up_to_the_price() -> None:
    problem = random_problem(12, 3, seed=1)
    instance = instance_of(problem)
    labels = np.arange(12) // 4
    rows = first_duals(instance, instance.classes(labels))
    assert rows @ instance.types.copies == pytest.approx(problem.price.total(labels))


def test_labels_and_classes_are_inverse_with_copies() -> None:
    frame = pd.DataFrame({"x": [1.0, 1, 1, 2, 2, 3, 3, 3]})
    problem = Microaggregation(k=2).build(Table(frame, quasi={"x": "numeric"}))
    instance = instance_of(problem)
    labels = np.array([0, 1, 0, 1, 2, 2, 0, 1])
    again = instance.labels(instance.classes(labels))
    assert problem.price.total(again) == pytest.approx(problem.price.total(labels))
    assert sorted(c.tolist() for c in instance.classes(again)) == sorted(c.tolist() for c in instance.classes(labels))


def test_a_start_is_used_and_the_time_limit_noted() -> None:
    problem = random_problem(150, 4, seed=3)
    start = np.arange(150) // 5
    solution = Columns().solve(problem, time_limit=0.01, start=start)
    assert solution.stop is Stop.TIME
    assert solution.value <= problem.evaluate(start).values["loss"]


def test_a_seed_gives_one_answer() -> None:
    problem = random_problem(30, 3, seed=8)
    one, two = (Columns().solve(problem, seed=4) for _ in range(2))
    assert one.status is Status.OPTIMAL
    assert (one.labels == two.labels).all()


def test_a_halted_search_is_cut_short_and_says_so() -> None:
    instance = instance_of(random_problem(40, 4, seed=2))
    duals = CutSet(instance.types.copies).duals(np.full(40, 2 * instance.distance.mean()), 0.0, np.zeros(0))
    seeds, ceilings = np.arange(40), np.full(40, -1e-7)
    bound = instance.pair_bound(4)
    for halted in (False, True):
        limit = Limit(10**9, np.array([halted]))
        completed = search_many(instance.types, bound, duals, seeds, ceilings, limit)[2]
        assert completed.all() != halted


def test_trying_whether_pricing_is_within_reach_ends_with_the_time() -> None:
    instance = instance_of(random_problem(70, 25, seed=2))
    duals = CutSet(instance.types.copies).duals(np.full(70, 2 * instance.distance.mean()), 0.0, np.zeros(0))
    assert Pricer(instance, node_limit=10**15).out_of_reach(duals, 1e-7, lambda: True)  # else it takes years


def test_too_few_records_for_two_classes_are_one() -> None:
    solution = Columns().solve(random_problem(60, 31, seed=1), time_limit=60)
    assert solution.status is Status.OPTIMAL
    assert solution.labels.max() == 0
    assert "columns" not in solution.details  # none had to be generated


def test_pricing_that_is_out_of_reach_leaves_a_bound_and_a_polished_partition() -> None:
    problem = random_problem(70, 6, seed=6)
    for seconds in (3, 12, 48):  # the more only where the machine has much else to do
        solution = Columns(node_limit=1).solve(problem, time_limit=seconds)
        if solution.bound:
            break
    check_solution(solution)
    assert solution.stop is Stop.TIME
    assert 0.5 < solution.bound / solution.value < 1
