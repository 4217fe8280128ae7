"""Every condition with every formulation: exact solvers and Pyomo views agree with brute force, others keep it.

The conditions are drawn so that some partitions of the table satisfy them and others do not.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note, settings

from formulations import Aminifar, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels import Table, registry
from optmodels.conditions import CONDITIONS, SensitiveConditions
from optmodels.problem import Formulation, Problem
from optmodels.testing import brute_force_front, check_pyomo_view, check_solution, small_table
from tests.contracts.test_exact import SEEDS, agrees, random_table

LEVELS: dict[str, tuple[dict[str, Any], ...]] = {
    "distinct_l": ({"distinct_l": 2}, {"distinct_l": 3}),
    "entropy_l": ({"entropy_l": 1.3}, {"entropy_l": 1.8}),
    "recursive": ({"recursive": (1.5, 1)}, {"recursive": (2.0, 2)}, {"recursive": (3, 2)}, {"recursive": (1.1, 2)}),
    "most_share": ({"most_share": 0.5}, {"most_share": 2 / 3}, {"most_share": 0.75}),
    "beta": (
        {"beta": 0.3},
        {"beta": 1.0},
        {"beta": 0.6, "beta_kind": "enhanced"},
        {"beta": 3.0, "beta_kind": "enhanced"},
    ),
    "delta": ({"delta": 0.7}, {"delta": 1.2}, {"delta": float(np.log(2))}),
    "t": (
        {"t": 0.3},
        {"t": 0.2, "t_distance": "equal"},
        {"t": 0.4, "t_distance": "variational"},
    ),
}


def test_every_condition_is_here() -> None:
    assert set(LEVELS) == set(CONDITIONS)


def asked(draw: np.random.Generator, table: Table, condition: str) -> dict[str, Any]:
    """A condition at some level, for all attributes or for the first alone."""
    chosen = dict(LEVELS[condition][draw.integers(len(LEVELS[condition]))])
    if draw.integers(3) == 0:
        chosen = {name: {table.sensitive[0]: value} for name, value in chosen.items()}
    return chosen


def formulation(name: str, draw: np.random.Generator, table: Table, conditions: dict[str, Any]) -> Formulation:
    k = int(draw.integers(2, 4))
    models: dict[str, Formulation] = {
        "microaggregation": Microaggregation(k=k, **conditions),
        "liang-samavi": LiangSamavi(k=k, **conditions),
        "mo-obam": MoObam(k=2, n_clusters=draw.choice([None, 2]), **conditions),
        "score": MoObam(k=2, objective="lambda", lam=0.2, **conditions),
        "aminifar": Aminifar(n_clusters=int(draw.integers(1, table.n // 2 + 1)), n_init=1, **conditions),
        "majeed-hwang": MajeedHwang(k=2, levels="least", weights=dict.fromkeys(table.quasi, 1.0), **conditions),
    }
    return models[name]


def problem_of(seed: int, model: str, condition: str, most: int = 7) -> Problem:
    draw = np.random.default_rng(seed)
    table = random_table(draw, most)
    problem = formulation(model, draw, table, asked(draw, table, condition)).build(table)
    note(f"{problem.formulation} on\n{table.frame}")
    return problem


@pytest.mark.parametrize("condition", LEVELS)
@pytest.mark.parametrize(
    ("solver", "model", "examples"),
    [
        ("columns", "microaggregation", 12),
        ("columns", "liang-samavi", 8),
        ("columns", "mo-obam", 8),
        ("epsilon", "score", 4),
        ("milp", "microaggregation", 6),
        ("milp", "score", 2),
        ("milp", "aminifar", 8),
        ("milp", "majeed-hwang", 6),
        ("auto", "aminifar", 3),
    ],
)
def test_exact_solvers(solver: str, model: str, examples: int, condition: str) -> None:
    @settings(max_examples=examples, deadline=None)
    @given(SEEDS)
    def check(seed: int) -> None:
        agrees(solver, problem_of(seed, model, condition, most=6 if solver == "milp" else 7))

    check()


@pytest.mark.parametrize("condition", LEVELS)
@pytest.mark.parametrize("model", ["microaggregation", "score", "aminifar", "majeed-hwang"])
def test_pyomo_views(model: str, condition: str) -> None:
    @settings(max_examples=15, deadline=None)
    @given(SEEDS)
    def check(seed: int) -> None:
        problem, draw = problem_of(seed, model, condition, most=8), np.random.default_rng(seed)
        assume(problem.impossible() is None and problem.lacks_pyomo() is None)
        for n_classes in (1, int(draw.integers(1, problem.n // 2 + 1)), len(getattr(problem, "least", [0, 0]))):
            labels = draw.permutation(np.arange(problem.n) % n_classes)
            if model != "majeed-hwang" or _one_class_for_each_look(problem, labels):
                check_pyomo_view(problem, labels)

    check()


def _one_class_for_each_look(problem: Problem, labels: np.ndarray) -> bool:
    """The model of generalisation merges classes that look alike, which may mend them."""
    view = problem.to_pyomo()
    assert view.encode is not None
    view.encode(problem.check(labels))
    return problem.evaluate(view.decode(view.native)) == problem.evaluate(labels)


@pytest.mark.parametrize("condition", LEVELS)
def test_fronts(condition: str) -> None:
    @settings(max_examples=4, deadline=None)
    @given(SEEDS)
    def check(seed: int) -> None:
        problem = problem_of(seed, "mo-obam", condition)
        front = registry.solver("epsilon")().pareto(problem)  # type: ignore[attr-defined]
        expected = brute_force_front(problem)
        assert [tuple(point.values.values()) for point in front] == [pytest.approx(p, abs=1e-7) for p in expected]

    check()


HEURISTICS: dict[str, dict[str, Any]] = {
    "local_search": {"iterations": 30},
    "blocks": {"block_size": 8, "inner_options": {"iterations": 20}},
    "nsga2": {"evaluations": 60, "population": 12},
    "pso": {"particles": 8, "iterations": 5},
    "mdav": {},
    "zheng": {},
    "mondrian": {},
    "usefulness": {},
}
CONDITIONED = [one for levels in LEVELS.values() for one in levels]


@pytest.mark.parametrize("conditions", CONDITIONED, ids=str)
@pytest.mark.parametrize("solver", HEURISTICS)
def test_heuristics_find_a_release_where_there_is_one(solver: str, conditions: dict[str, Any]) -> None:
    """The whole table as one class is always a way out, so none of them ends without a release."""
    for seed in range(2):
        problem = Microaggregation(k=2, **conditions).build(small_table(20, seed=seed, sensitive=2, repeated=True))
        solution = registry.configured(registry.solver(solver), HEURISTICS[solver]).solve(problem, time_limit=20)
        check_solution(solution)
        assert (solution.labels is None) == (problem.impossible() is not None)


@pytest.mark.parametrize("conditions", CONDITIONED, ids=str)
@pytest.mark.parametrize("model", ["liang-samavi", "majeed-hwang", "mass", "mo-obam", "score"])
def test_every_model_has_a_solver_for_every_condition(model: str, conditions: dict[str, Any]) -> None:
    # the exact front that a score is found on takes seconds for 16 records
    table = small_table(10 if model == "score" else 16, seed=3, sensitive=2, repeated=True)
    draw = np.random.default_rng(0)
    posed = Mass(classifiers=(), **conditions) if model == "mass" else formulation(model, draw, table, conditions)
    problem = posed.build(table)
    solution = registry.solver("auto")().solve(problem, time_limit=20)
    check_solution(solution)
    assert (solution.labels is None) == (problem.impossible() is not None)


def test_every_formulation_takes_every_condition() -> None:
    names = {field.name for field in fields(SensitiveConditions)}
    for name in registry.formulation_names():
        assert names <= set(registry.formulation(name).parameters())
