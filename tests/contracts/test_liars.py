"""Solvers that claim what is not so: what leaves them is judged all the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from formulations import MoObam
from optmodels.front import ParetoFront
from optmodels.problem import Problem
from optmodels.solution import Solution, Status, Stop
from optmodels.solver import FrontSolver, Run
from optmodels.testing import check_front, check_solver, small_table

BITS = 99.0


def alone(problem: Problem) -> np.ndarray:
    """Everyone in a class of their own, which breaks k in all of them."""
    return np.arange(problem.n)


def together(problem: Problem) -> np.ndarray:
    return np.zeros(problem.n, int)


@dataclass(frozen=True)
class BoldRun(FrontSolver):
    """Hands partitions that break k, and bounds that are better than anything, to its run."""

    name: ClassVar[str] = "bold-run"
    summary: ClassVar[str] = ""

    def search(self, problem: Problem, run: Run) -> None:
        run.offer(alone(problem))
        run.offer(together(problem))
        run.prove(BITS)

    def explore(self, problem: Problem, run: Run) -> None:
        run.keep(alone(problem), BITS)
        run.keep(together(problem), BITS)


@dataclass(frozen=True)
class OwnFront(BoldRun):
    """Goes around the run: a front of its own making, with "proven" points and values of its own."""

    name: ClassVar[str] = "own-front"

    def pareto(self, problem: Problem, **options: Any) -> ParetoFront:  # type: ignore[override]
        forged = []
        for bits, make in ((BITS, alone), (BITS + 1, together)):
            values = {objective.name: bits for objective in problem.objectives}
            given = {"labels": make(problem), "values": values, "bound": bits}
            forged.append(Solution(problem, self.name, Status.OPTIMAL, Stop.CONVERGED, **given))  # type: ignore[arg-type]
        return ParetoFront.of(problem, forged, {"complete": True})


@pytest.mark.parametrize("liar", [BoldRun(), OwnFront()], ids=lambda liar: liar.name)
def test_only_what_keeps_the_promise_leaves_with_the_judges_values(liar: FrontSolver) -> None:
    problem = MoObam(k=3).build(small_table(12))
    front = liar.pareto(problem)
    (point,) = front
    assert point.labels is not None
    assert not point.labels.any()
    assert dict(point.values) == dict(problem.evaluate(together(problem)).values)
    assert point.bound is None
    assert point.status is Status.FEASIBLE
    check_front(ParetoFront.of(problem, [replace(point, details={})], {}))
    assert not point.release().audit.check(problem.conditions)


def test_and_so_of_one_answer() -> None:
    solution = BoldRun().solve(MoObam(k=3).build(small_table(12)))
    assert solution.status is Status.FEASIBLE
    assert solution.bound is None
    assert solution.labels is not None
    assert not solution.labels.any()


@pytest.mark.parametrize("liar", [BoldRun(), OwnFront()], ids=lambda liar: liar.name)
def test_the_contract_finds_them_out(liar: FrontSolver) -> None:
    with pytest.raises(AssertionError, match="contradicts"):
        check_solver(liar)
