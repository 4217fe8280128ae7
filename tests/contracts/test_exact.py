"""Exact solvers against brute force on random tables, models and conditions: the same value, or both find nothing.

Every formulation and every condition meets every exact solver that takes it, and its own Pyomo view:

    microaggregation (k, distinct l, entropy l, t)             columns, milp
    liang-samavi (k, weights)                                  columns, milp
    mo-obam (k, distinct l, least entropies, classes)          columns, milp, epsilon, and fronts by epsilon
    mo-obam as one score, 'lambda' and 'normalised'            milp, epsilon
    aminifar (sizes, metrics, hard and soft caps)              network, milp; several capped attributes milp alone
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, note, settings
from hypothesis import strategies as st

from formulations import Aminifar, LiangSamavi, Microaggregation, MoObam
from formulations.mo_obam import Scalarisation
from optmodels import Table, registry
from optmodels.objectives import least_entropies
from optmodels.problem import Formulation, Problem
from optmodels.structures import ClassCount
from optmodels.testing import brute_force, brute_force_front, check_pyomo_view, check_solution, small_table
from solvers.epsilon import Epsilon

SAME = 1e-7


SEEDS = st.integers(
    0, 2**32 - 1
)  # what is drawn from one is spread evenly, unlike what hypothesis draws piece by piece


def random_table(draw: np.random.Generator, most: int, sensitive: int | None = None) -> Table:
    return small_table(
        int(draw.integers(4, most + 1)),
        seed=int(draw.integers(10_000)),
        numeric=int(draw.integers(1, 3)),
        categorical=int(draw.integers(3)),
        sensitive=sensitive or int(draw.integers(1, 3)),
        values=int(draw.integers(2, 4)),
        repeated=bool(draw.integers(2)),
    )


def microaggregation(draw: np.random.Generator, table: Table) -> Formulation:
    return Microaggregation(
        k=int(draw.integers(2, 4)),
        distinct_l=draw.choice([None, 2]),
        entropy_l=draw.choice([None, 1.2, 1.5, 1.8]),
        t=draw.choice([None, 0.2, 0.35, 0.5]),
        t_distance=draw.choice(["emd", "variational"]),
    )


def mo_obam(draw: np.random.Generator, table: Table, objective: Scalarisation = "bi") -> Formulation:
    """Least entropies are those of a random partition, which few others meet, or a share of the whole table's."""
    n_clusters = draw.choice([None, 1, 2, 3])
    whole, mixed = np.zeros(table.n, np.int64), draw.permutation(table.n) % (n_clusters or 2)
    least = (
        None,
        tuple(least_entropies(table, mixed).tolist()),
        tuple((draw.uniform(0.3, 1.0) * least_entropies(table, whole)).tolist()),
    )[draw.integers(3)]
    return MoObam(
        k=int(draw.integers(2, 4)),
        n_clusters=n_clusters,
        objective=objective,
        lam=float(draw.choice([0.0, 0.1, 1.0])),
        least_entropy=least,
        distinct_l=draw.choice([None, 2]),
        gamma=draw.choice([None, 0.0, 0.3]),
        least_loss=float(draw.choice([0.02, 0.3])) if objective == "normalised" else None,
        scaling=draw.choice([None, "standard", "range"]),
    )


def aminifar(draw: np.random.Generator, table: Table) -> Formulation:
    return Aminifar(
        n_clusters=int(draw.integers(1, table.n // 2 + 1)),
        alpha=draw.choice([None, 0.9, 1.0, 1.3, 2.0]),
        soft=bool(draw.integers(2)),
        penalty=float(draw.choice([0.0, 0.5, 1000.0])),
        sizes=draw.choice(["exact", "at-least"]),
        metric=draw.choice(["manhattan", "euclidean", "sqeuclidean"]),
        scaling=draw.choice([None, "standard", "range"]),
        n_init=1,
    )


def liang_samavi(draw: np.random.Generator, table: Table) -> Formulation:
    weights = {name: float(draw.choice([0.0, 0.5, 1.0, 2.0])) for name in table.quasi}
    return LiangSamavi(k=int(draw.integers(2, 4)), weights=weights if draw.integers(2) else None)


def diverse_intervals(draw: np.random.Generator, table: Table) -> Formulation:
    """Liang and Samavi's price under the conditions of microaggregation."""
    asked = microaggregation(draw, table).to_dict()
    return LiangSamavi(**asked)  # type: ignore[arg-type]


MODELS = {
    "microaggregation": microaggregation,
    "liang-samavi": liang_samavi,
    "diverse-intervals": diverse_intervals,
    "aminifar": aminifar,
}


def problem_of(seed: int, models: str, most: int = 7, sensitive: int | None = None) -> Problem:
    """A problem of one of the models, not known beforehand to be infeasible."""
    problem = any_problem(seed, models, most, sensitive)
    assume(problem.impossible() is None)
    return problem


def any_problem(seed: int, models: str, most: int = 7, sensitive: int | None = None) -> Problem:
    draw = np.random.default_rng(seed)
    table = random_table(draw, most, sensitive)
    name = str(draw.choice(models.split()))
    model = MODELS[name](draw, table) if name in MODELS else mo_obam(draw, table, name)  # type: ignore[arg-type]
    return model.build(table)


def agrees(solver: str, problem: Problem) -> None:
    note(f"{problem.formulation} on\n{problem.table.frame}")
    best = brute_force(problem)
    assert best is None or problem.impossible() is None
    solution = registry.solver(solver)().solve(problem, time_limit=60)
    check_solution(solution)
    if best is None:
        assert solution.status == "infeasible"
        return
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(best[1].values[problem.target.name], rel=SAME, abs=SAME)


@settings(max_examples=60)
@given(SEEDS)
def test_what_is_called_impossible_is(seed: int) -> None:
    problem = any_problem(seed, "microaggregation bi aminifar")
    note(f"{problem.formulation} on\n{problem.table.frame}")
    assert problem.impossible() is None or brute_force(problem) is None


@settings(max_examples=40)
@given(SEEDS)
def test_columns(seed: int) -> None:
    agrees("columns", problem_of(seed, "microaggregation liang-samavi diverse-intervals"))


@settings(max_examples=30)
@given(SEEDS)
@example(208)  # no construction finds a partition here, and there are some
@example(307)
@example(1093)
def test_columns_with_entropies_and_a_number_of_classes(seed: int) -> None:
    agrees("columns", problem_of(seed, "bi"))


@settings(max_examples=12)
@given(SEEDS)
def test_columns_of_nine_records(seed: int) -> None:
    agrees("columns", problem_of(seed, "microaggregation liang-samavi", most=9))


@settings(max_examples=30)
@given(SEEDS)
def test_epsilon(seed: int) -> None:
    agrees("epsilon", problem_of(seed, "bi lambda normalised"))


@settings(max_examples=25)
@given(SEEDS)
def test_auto(seed: int) -> None:
    agrees("auto", problem_of(seed, "microaggregation liang-samavi bi lambda normalised aminifar"))


@settings(max_examples=20)
@given(SEEDS)
def test_milp(seed: int) -> None:
    agrees("milp", problem_of(seed, "microaggregation liang-samavi bi lambda normalised", most=6))


@pytest.mark.parametrize("sensitive", [1, 2, 3])
def test_milp_on_centres_with_caps_on_any_number_of_attributes(sensitive: int) -> None:
    @settings(max_examples=15)
    @given(SEEDS)
    def check(seed: int) -> None:
        agrees("milp", problem_of(seed, "aminifar", sensitive=sensitive))

    check()


@settings(max_examples=40)
@given(SEEDS)
def test_network(seed: int) -> None:
    """Caps on one sensitive attribute are what a network can hold."""
    agrees("network", problem_of(seed, "aminifar", most=8, sensitive=1))


@settings(max_examples=60)
@given(SEEDS)
def test_pyomo_views_agree_with_the_judge_on_random_decisions(seed: int) -> None:
    draw = np.random.default_rng(seed)
    problem = problem_of(seed, "microaggregation liang-samavi bi lambda normalised aminifar", most=8)
    wanted = problem.structure(ClassCount)
    n_classes = int(draw.integers(1, problem.n // 2 + 1)) if wanted is None else wanted.n
    note(f"{problem.formulation} on\n{problem.table.frame}")
    check_pyomo_view(problem, draw.permutation(np.arange(problem.n) % n_classes))
    check_pyomo_view(problem, draw.integers(0, n_classes, problem.n))


@pytest.mark.parametrize(("most_listed", "examples"), [(24, 20), (0, 8)], ids=["every class", "columns"])
def test_fronts(most_listed: int, examples: int) -> None:
    """With classes listed one by one, and with every step left to another exact solver."""

    @settings(max_examples=examples)
    @given(SEEDS)
    def check(seed: int) -> None:
        problem = problem_of(seed, "bi")
        with patch("solvers.epsilon.least_loss.MOST_RECORDS", most_listed):
            front = Epsilon().pareto(problem)
        expected = brute_force_front(problem)
        assert [tuple(point.values.values()) for point in front] == [pytest.approx(p, abs=SAME) for p in expected]
        for point in front:
            check_solution(point)
            assert point.status == "optimal"

    check()


@settings(max_examples=4)
@given(SEEDS)
def test_bounds_of_levels(seed: int) -> None:
    """As they are found for tables too large for every class: they hold for the points and for what was not found."""
    problem = problem_of(seed, "bi")
    with patch("solvers.epsilon.least_loss.MOST_RECORDS", 0):
        front = Epsilon(levels=3).pareto(problem, time_limit=0.5)
    expected = brute_force_front(problem)
    for point in front:
        check_solution(point)
        assert point.bound is not None
        least = min(loss for loss, entropy in expected if entropy >= point.values["entropy"] - SAME)
        assert point.bound <= least + SAME


def test_a_score_of_zero_is_proven_in_spite_of_rounding() -> None:
    frame = pd.DataFrame({"age": [1.4, 0.1, 1.3, 0.9, -0.6, -1.5], "illness": list("uuvvuv")})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="illness")
    solution = Epsilon().solve(MoObam(k=2, n_clusters=1, objective="lambda", lam=1.0).build(table))
    assert (solution.status, solution.value) == ("optimal", 0.0)
