"""The matrix of formulations, tasks, conditions and solvers: every cell keeps what it says.

A cell that claims to work ends in a release whose audit holds, and one that refuses says why and names those that can.
`make test` walks a sample in which every two of formulation, task, condition and solver that work together meet, and
so do every two that refuse; `make matrix` walks all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import solvers
from optmodels import matrix, registry
from optmodels.conditions import CONDITIONS, HOW, Conditions
from optmodels.conditions.asked import BetaKind, TDistance
from optmodels.errors import OptmodelsError, RefusedError
from optmodels.matrix import Cell
from optmodels.problem import Problem
from optmodels.solution import Solution
from optmodels.solver import Solver
from optmodels.testing import SAME, brute_force, brute_force_front, check_solution

SECONDS = 2.0  # that a cell may search
LATE = 20.0  # seconds after that: kernels are compiled, machines are busy
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
    elif cell.task == "solve":
        solution = quick(cell.solver).solve(problem, time_limit=SECONDS, seed=1)
        assert solution.seconds < SECONDS + LATE, f"took {solution.seconds:.1f} s"
        assert solution.labels is not None, f"found nothing: {solution.status}, {solution.stop}, {solution.details}"
        assert cell.claims != "proven" or solution.bound is not None, "proves nothing"
        released(solution, cell)
    else:
        front = solvers.pareto(problem, solver=quick(cell.solver), time_limit=SECONDS, seed=1)
        assert front.details["seconds"] < SECONDS + LATE, f"took {front.details['seconds']:.1f} s"
        assert len(front), f"found nothing: {front.details}"
        assert cell.claims != "proven" or all(point.bound is not None for point in front), "proves nothing"
        for point in front:
            released(point, cell)


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


def walk(cells: Iterable[Cell]) -> None:
    """Walk all of them, and then say which did not keep their promise."""
    broken = []
    for cell in cells:
        try:
            walked(cell)
        except Exception as error:
            broken.append(f"{cell}: {type(error).__name__}: {error}")
    assert not broken, "\n".join(broken)


def covering(cells: Iterable[Cell]) -> list[Cell]:
    """Few cells in which every two properties meet that meet in any, the same ones every time."""
    known = list(cells)
    pairs = [
        set(combinations((("f", one.formulation), ("t", one.task), ("c", one.condition), ("s", one.solver)), 2))
        for one in known
    ]
    order = np.random.default_rng(0).permutation(len(known)).tolist()
    missing, chosen = set().union(*pairs), set()
    for least in range(6, 0, -1):
        for place in order:
            if len(pairs[place] & missing) >= least:
                missing -= pairs[place]
                chosen.add(place)
    return [known[place] for place in sorted(chosen)]


@cache
def sample() -> tuple[Cell, ...]:
    works = covering(cell for cell in whole_matrix() if cell.works)
    refuses = covering(cell for cell in whole_matrix() if not cell.works)
    return (*works, *refuses)
