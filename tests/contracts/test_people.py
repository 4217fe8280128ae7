"""People, not records: k counts people in every formulation, solver and audit; exact solvers agree with brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note, settings

from formulations import Aminifar, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels import Table, registry
from optmodels.problem import Formulation, Problem
from optmodels.testing import brute_force_front, check_pyomo_view, check_solution, small_table
from tests.contracts.test_exact import SEEDS, agrees, random_table


def of_people(table: Table, whose: np.ndarray) -> Table:
    """The same records, of these people."""
    return Table.with_roles(table.frame.assign(whose=whose), table.roles.revised(person="whose"))


def drawn_people(draw: np.random.Generator, n: int) -> np.ndarray:
    """Fewer people than records, some with several."""
    return draw.integers(0, max(2, int(draw.integers(n // 2, n + 1))), n)


def model(name: str, draw: np.random.Generator, table: Table) -> Formulation:
    k = int(draw.integers(2, 4))
    models: dict[str, Formulation] = {
        "microaggregation": Microaggregation(k=k),
        "diverse": Microaggregation(k=k, distinct_l=2),
        "liang-samavi": LiangSamavi(k=k),
        "mo-obam": MoObam(k=k, n_clusters=draw.choice([None, 2])),
        "score": MoObam(k=2, objective="lambda", lam=0.2),
        "aminifar": Aminifar(n_clusters=int(draw.integers(1, table.n // 2 + 1)), n_init=1),
        "majeed-hwang": MajeedHwang(k=2, levels="least", weights=dict.fromkeys(table.quasi, 1.0)),
    }
    return models[name]


def problem_of(seed: int, name: str, most: int = 7) -> Problem:
    draw = np.random.default_rng(seed)
    plain = random_table(draw, most)
    whose = drawn_people(draw, plain.n)
    problem = model(name, draw, plain).build(of_people(plain, whose))
    note(f"{problem.formulation} on\n{problem.table.frame.assign(whose=whose)}")
    return problem


def fewest_people(table: Table, labels: np.ndarray) -> int:
    """Counted the slow way."""
    whose = np.asarray(table.people)
    return min(len(set(whose[labels == c].tolist())) for c in np.unique(labels))


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_the_judge_counts_people(seed: int) -> None:
    problem, draw = problem_of(seed, "diverse"), np.random.default_rng(seed)
    labels = draw.integers(0, 3, problem.n)
    kept = problem.evaluate(labels).violations["k"] == 0
    assert kept == (fewest_people(problem.table, labels) >= problem.conditions.k)


@pytest.mark.parametrize(
    ("solver", "name", "examples"),
    [
        ("columns", "microaggregation", 15),
        ("columns", "diverse", 10),
        ("columns", "liang-samavi", 10),
        ("columns", "mo-obam", 8),
        ("epsilon", "score", 4),
        ("milp", "microaggregation", 5),
        ("milp", "aminifar", 8),
        ("milp", "majeed-hwang", 5),
        ("auto", "aminifar", 3),
    ],
)
def test_exact_solvers(solver: str, name: str, examples: int) -> None:
    @settings(max_examples=examples, deadline=None)
    @given(SEEDS)
    def check(seed: int) -> None:
        agrees(solver, problem_of(seed, name, most=6 if solver == "milp" else 7))

    check()


@pytest.mark.parametrize("name", ["microaggregation", "score", "aminifar"])
def test_pyomo_views(name: str) -> None:
    @settings(max_examples=10, deadline=None)
    @given(SEEDS)
    def check(seed: int) -> None:
        problem, draw = problem_of(seed, name), np.random.default_rng(seed)
        assume(problem.impossible() is None and problem.lacks_pyomo() is None)
        for n_classes in (1, int(draw.integers(1, problem.n // 2 + 1)), len(getattr(problem, "least", [0, 0]))):
            check_pyomo_view(problem, draw.permutation(np.arange(problem.n) % n_classes))

    check()


@settings(max_examples=5, deadline=None)
@given(SEEDS)
def test_fronts(seed: int) -> None:
    problem = problem_of(seed, "mo-obam")
    assume(problem.impossible() is None)
    front = registry.solver("epsilon")().pareto(problem)  # type: ignore[attr-defined]
    expected = brute_force_front(problem)
    assert [tuple(point.values.values()) for point in front] == [pytest.approx(p, abs=1e-7) for p in expected]


SOLVERS: dict[str, dict[str, Any]] = {
    "auto": {},
    "columns": {},
    "milp": {},
    "local_search": {"iterations": 30},
    "blocks": {"block_size": 12},
    "network": {},
    "generalise": {},
    "nsga2": {"evaluations": 60, "population": 12},
    "pso": {"particles": 8, "iterations": 5},
    "mass": {},
    "mdav": {},
    "mondrian": {},
    "univariate": {},
    "usefulness": {},
    "zheng": {},
    "liang-greedy": {},
    "liang-split": {},
}
FORMULATIONS = {
    "microaggregation": Microaggregation(k=3),
    "liang-samavi": LiangSamavi(k=3),
    "mo-obam": MoObam(k=3),
    "aminifar": Aminifar(n_clusters=3, n_init=1),
    "majeed-hwang": MajeedHwang(k=3, weights={"number_0": 1.0, "number_1": 1.0, "group_0": 1.0}),
    "mass": Mass(classifiers=()),
}


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_solver_counts_people_or_refuses(name: str) -> None:
    table = small_table(24, seed=5, sensitive=1, repeated=True)
    whose = np.random.default_rng(1).permutation(table.n) % 12  # twice each, so that equal classes are possible
    posed = FORMULATIONS[name]
    if name == "majeed-hwang":
        posed = MajeedHwang(k=3, weights=dict.fromkeys(table.quasi, 1.0))
    problem = posed.build(of_people(table, whose))
    answered = []
    for solver, options in SOLVERS.items():
        made = registry.configured(registry.solver(solver), options)
        if made.refuses(problem):
            continue
        solution = made.solve(problem, time_limit=2)
        check_solution(solution)
        assert solution.labels is not None, solver
        assert fewest_people(problem.table, solution.labels) >= problem.conditions.k, solver
        released = solution.release()
        assert released.audit.k >= problem.conditions.k
        assert "whose" not in released.frame.columns
        answered.append(solver)
    assert {"auto", "local_search", "blocks", "nsga2"} <= set(answered)
