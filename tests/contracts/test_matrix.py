"""The matrix of formulations, tasks, conditions and solvers: every cell keeps what it says.

A cell that claims to work ends in a release whose audit holds, and one that refuses says why and names those that can.
`make test` walks a sample in which every two of formulation, task, condition and solver that work together meet, and
so do every two that refuse; `make matrix` walks all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, get_args

import numpy as np
import pytest

import solvers
from optmodels import matrix, registry
from optmodels.conditions import CONDITIONS, HOW, Conditions
from optmodels.conditions.asked import BetaKind, TDistance
from optmodels.errors import RefusedError
from optmodels.matrix import Cell
from optmodels.problem import Problem
from optmodels.solution import Solution, Status
from optmodels.solver import Solver
from optmodels.testing import SAME, brute_force, brute_force_front, check_solution

SECONDS = (0.3, 2.0, 10.0)  # that a cell may search; the more only where the fewer were not enough for what it claims
PROPERTIES = ("formulation", "task", "condition", "solver")
# Options that make any solver quick which has them, and parameters that make models quick to build and to judge.
QUICK_OPTIONS = {"evaluations": 60, "population": 12, "particles": 6, "iterations": 20, "block_size": 12, "floors": 4}
QUICK_PARAMETERS: dict[str, dict[str, Any]] = {
    "aminifar": {"n_init": 1},
    "majeed-hwang": {"trees": 3},
    "mass": {"classifiers": ()},
}


@cache
def whole_matrix() -> tuple[Cell, ...]:
    return tuple(matrix.cells())


@cache
def table(n: int) -> Any:
    return matrix.mixed_table(n)


@cache
def problem_of(formulation: str, condition: str, task: matrix.Task, n: int = matrix.RECORDS, k: int = 4) -> Problem:
    return matrix.posed(formulation, condition, task, table(n), k=k, parameters=QUICK_PARAMETERS.get(formulation))


def quick(name: str) -> Solver:
    kind = registry.solver(name)
    return registry.configured(kind, {key: value for key, value in QUICK_OPTIONS.items() if key in kind.options()})


def walked(cell: Cell) -> None:
    """Do what the cell says; an AssertionError is a promise not kept, any other error a crash."""
    problem = problem_of(cell.formulation, cell.condition, cell.task)
    if not cell.works:
        refused(cell, problem)
        return
    for seconds in SECONDS:
        points, details = answered(cell, problem, seconds)
        unproven = [point for point in points if cell.claims == "proven" and claims_proof(point, cell, problem)]
        if points and not unproven:
            break
    assert points, f"found nothing: {details}"
    assert not unproven, "proves nothing"
    for point in points:
        released(point, cell)


def claims_proof(point: Solution, cell: Cell, problem: Problem) -> bool:
    """Whether it has no bound, though whoever found it proves; what 'auto' takes for a short time need not."""
    return point.bound is None and quick(point.solver).proves(problem, front=cell.task == "pareto")


FREE = ("k", "suppress")  # what classes of k records keep by themselves


def answered(cell: Cell, problem: Problem, seconds: float) -> tuple[list[Solution], object]:
    if cell.task == "solve":
        solution = solvers.solve(problem, solver=quick(cell.solver), time_limit=seconds, seed=1)
        return [solution] if solution.labels is not None else [], solution
    front = solvers.pareto(problem, solver=quick(cell.solver), time_limit=seconds, seed=1)
    return list(front), front.details


def released(solution: Solution, cell: Cell) -> None:
    """The judge agrees with the values, and the audit of the release with the promise, which is the cell's."""
    check_solution(solution)
    promise = Conditions(k=matrix.K, **matrix.CONDITIONS[cell.condition])
    audit = solution.release().audit
    assert not audit.check(promise), f"the release breaks {promise.describe()}"
    assert audit.promise.items() >= promise.to_dict().items(), "something was not promised"


def refused(cell: Cell, problem: Problem) -> None:
    assert cell.reason
    with pytest.raises(RefusedError) as refusal:
        (solvers.solve if cell.task == "solve" else solvers.pareto)(problem, solver=cell.solver)
    able = [other.solver for other in whole_matrix() if same_row(cell, other) and other.works]
    assert all(f"'{name}'" in str(refusal.value) for name in able), "does not name those that can"
    assert able, "no solver can"


def same_row(one: Cell, other: Cell) -> bool:
    return (one.formulation, one.task, one.condition) == (other.formulation, other.task, other.condition)


def walk(cells: Iterable[Cell], keeps: Callable[[Cell], None] = walked) -> None:
    """Walk all of them, and then say which did not keep their promise."""
    broken = []
    for cell in cells:
        try:
            keeps(cell)
        except Exception as error:
            broken.append(f"{cell}: {type(error).__name__}: {error}")
    assert not broken, "\n".join(broken)


@cache
def sample() -> tuple[Cell, ...]:
    works = matrix.covering((cell for cell in whole_matrix() if cell.works), PROPERTIES)
    refuses = matrix.covering((cell for cell in whole_matrix() if not cell.works), PROPERTIES)
    return (*works, *refuses)


def of(cells: Iterable[Cell], formulation: str, task: str) -> list[Cell]:
    return [cell for cell in cells if (cell.formulation, cell.task) == (formulation, task)]


@pytest.mark.parametrize("task", matrix.TASKS)
@pytest.mark.parametrize("formulation", registry.formulation_names())
def test_a_sample_keeps_what_it_says(formulation: str, task: str) -> None:
    walk(of(sample(), formulation, task))


@pytest.mark.matrix
@pytest.mark.parametrize("condition", matrix.CONDITIONS)
@pytest.mark.parametrize("task", matrix.TASKS)
@pytest.mark.parametrize("formulation", registry.formulation_names())
def test_every_cell_keeps_what_it_says(formulation: str, task: str, condition: str) -> None:
    walk(cell for cell in of(whole_matrix(), formulation, task) if cell.condition == condition)


def test_every_pair_that_works_is_in_the_sample() -> None:
    def pairs(cells: Iterable[Cell]) -> set[tuple[str, ...]]:
        names = ((one.formulation, one.task, one.condition, one.solver) for one in cells if one.works)
        return {pair for four in names for pair in combinations(four, 2)}

    assert pairs(sample()) == pairs(whole_matrix())
    assert len(sample()) < len(whole_matrix()) / 4


def test_nothing_is_missing() -> None:
    cells = whole_matrix()
    wanted = product(registry.formulation_names(), matrix.TASKS, matrix.CONDITIONS, registry.solver_names())
    assert [(one.formulation, one.task, one.condition, one.solver) for one in cells] == list(wanted)
    for cell in cells:
        assert (cell.works, cell.reason is None) in ((True, True), (False, False))
        assert cell.claims in (("proven", "feasible") if cell.works else (None,))
    asked = [name for parameters in matrix.CONDITIONS.values() for name in parameters]
    assert {*asked} == {*CONDITIONS, *HOW.values(), "suppress"}
    ways = {*get_args(TDistance), *get_args(BetaKind)} - {"emd", "basic"}  # those two need not be said
    assert ways <= {str(way) for parameters in matrix.CONDITIONS.values() for way in parameters.values()}


def test_conditions_matter() -> None:
    """None of them holds by itself: some classes of k records break it; that some may be left out asks for nothing."""
    table, draw = matrix.mixed_table(), np.random.default_rng(0)
    some = [draw.permutation(table.n) // matrix.K for _ in range(200)]
    for condition in matrix.CONDITIONS:
        problem = matrix.posed("microaggregation", condition, "solve", table)
        assert any(not problem.evaluate(labels).feasible for labels in some) == (condition not in FREE), condition


# What is proven, against brute force.


def proven(cell: Cell) -> None:
    problem = problem_of(cell.formulation, cell.condition, cell.task, n=7, k=2)
    solver = registry.solver(cell.solver)()
    assert solver.proves(problem, front=cell.task == "pareto")
    if cell.task == "pareto":
        front = solvers.pareto(problem, solver=solver, time_limit=60)
        points = sorted(tuple(point.values[o.name] for o in problem.objectives) for point in front)
        assert points == [pytest.approx(one, abs=SAME) for one in brute_force_front(problem)]
        assert all(point.status is Status.OPTIMAL for point in front)
        return
    best, solution = brute_force(problem), solver.solve(problem, time_limit=60)
    check_solution(solution)
    if best is None:
        assert solution.status is Status.INFEASIBLE
    else:
        assert solution.status is Status.OPTIMAL
        assert solution.value == pytest.approx(best[1].values[problem.target.name], rel=SAME, abs=SAME)


@pytest.mark.parametrize("formulation", registry.formulation_names())
def test_a_sample_of_proofs_agrees_with_brute_force(formulation: str) -> None:
    cells = matrix.covering((cell for cell in whole_matrix() if cell.claims == "proven"), PROPERTIES)
    walk((cell for cell in cells if cell.formulation == formulation), proven)


@pytest.mark.matrix
@pytest.mark.parametrize("formulation", registry.formulation_names())
def test_every_proof_agrees_with_brute_force(formulation: str) -> None:
    walk((cell for cell in whole_matrix() if cell.claims == "proven" and cell.formulation == formulation), proven)


# Fronts of any two objectives.


def ordered_pairs(formulation: str) -> list[tuple[str, str]]:
    """Any two of the model's objectives and target and of the quantities of any table, in either order."""
    problem = problem_of(formulation, "k", "solve", n=12, k=3)
    own = dict.fromkeys([problem.target.name, *(objective.name for objective in problem.objectives)])
    return list(permutations([*dict.fromkeys([*own, "entropy", "linkage", "homogeneity", "closeness", "classes"])], 2))


def has_front(formulation: str, condition: str, pair: tuple[str, str]) -> None:
    problem = problem_of(formulation, condition, "solve", n=12, k=3).with_objectives(*pair)
    front = solvers.pareto(problem, options={"evaluations": 20}, time_limit=1, seed=1)
    assert [objective.name for objective in front.problem.objectives] == list(pair)
    assert len(front), f"{pair}: {front.details}"
    for point in front:
        check_solution(point)


@pytest.mark.parametrize("formulation", registry.formulation_names())
def test_any_two_objectives_have_a_front(formulation: str) -> None:
    """Every two of them in one order, the target first and last among them."""
    pairs = ordered_pairs(formulation)
    target = pairs[0][0]
    for place, pair in enumerate(combinations(dict.fromkeys(name for name, _ in pairs), 2)):
        has_front(formulation, "k", pair if place % 2 else pair[::-1])
    has_front(formulation, "distinct-l", (target, "linkage"))
    has_front(formulation, "distinct-l", ("linkage", target))


@pytest.mark.matrix
@pytest.mark.parametrize("condition", ["k", "most-share", "t-ordered"])
@pytest.mark.parametrize("formulation", registry.formulation_names())
def test_any_two_objectives_have_a_front_in_any_order(formulation: str, condition: str) -> None:
    for pair in ordered_pairs(formulation):
        has_front(formulation, condition, pair)
