"""What the solver layer does once for all solvers: judging, clocks, Ctrl-C, claims."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from formulations import Microaggregation
from optmodels.errors import InfeasibleError, InputError, NoSolutionError, RefusedError
from optmodels.problem import Problem
from optmodels.solution import Status, Stop, relative_gap
from optmodels.solver import Run, Solver
from optmodels.testing import check_solution, small_table

GOOD = np.array([0, 0, 0, 0, 1, 1, 1, 1])
BAD = np.array([0, 0, 0, 0, 0, 0, 0, 1])


@dataclass(frozen=True)
class Scripted(Solver):
    """Does what the test says."""

    name: ClassVar[str] = "scripted"
    summary: ClassVar[str] = ""
    script: str = ""

    def refuses(self, problem: Problem) -> str | None:
        return "it does not want to." if self.script == "refuse" else None

    def search(self, problem: Problem, run: Run) -> None:
        if self.script == "bad":
            assert not run.offer(BAD)
        if self.script in ("good", "interrupt", "prove", "lie"):
            assert run.offer(GOOD)
            assert not run.offer(GOOD)
        if self.script == "interrupt":
            raise KeyboardInterrupt
        if self.script == "prove":
            run.prove(0.0)
            run.prove(run.value or 0.0)
            run.prove(0.0)  # a worse bound is no news
        if self.script == "lie":
            run.prove(2.0 * (run.value or 0.0))
        if self.script == "wait":
            while not run.expired:
                pass


def solve(script: str, **limits: float) -> object:
    return Scripted(script).solve(Microaggregation(k=2).build(small_table(8)), **limits)  # type: ignore[arg-type]


def test_infeasible_offers_are_not_taken() -> None:
    solution = Scripted("bad").solve(Microaggregation(k=2).build(small_table(8)))
    assert (solution.status, solution.labels) == (Status.NONE, None)
    with pytest.raises(NoSolutionError, match="stopped"):
        solution.release()


def test_only_a_bound_makes_an_optimum() -> None:
    problem = Microaggregation(k=2).build(small_table(8))
    feasible, optimal = Scripted("good").solve(problem), Scripted("prove").solve(problem)
    assert (feasible.status, feasible.bound, feasible.gap) == (Status.FEASIBLE, None, None)
    assert (optimal.status, optimal.gap) == (Status.OPTIMAL, 0.0)
    check_solution(optimal)


def test_a_bound_that_contradicts_the_incumbent_is_withdrawn_and_said_so() -> None:
    solution = Scripted("lie").solve(Microaggregation(k=2).build(small_table(8)))
    assert (solution.status, solution.bound, solution.gap) == (Status.FEASIBLE, None, None)
    assert all(moment.bound is None for moment in solution.history)
    assert "withdrawn" in str(solution.details["remark"])
    with pytest.raises(AssertionError, match="contradicts"):
        check_solution(solution)


def test_ctrl_c_returns_the_best_so_far() -> None:
    solution = Scripted("interrupt").solve(Microaggregation(k=2).build(small_table(8)))
    assert (solution.status, solution.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)


def test_the_time_limit_is_recorded() -> None:
    solution = Scripted("wait").solve(Microaggregation(k=2).build(small_table(8)), time_limit=0.01)
    assert (solution.status, solution.stop) == (Status.NONE, Stop.TIME)


def test_refusals_and_wrong_limits() -> None:
    with pytest.raises(RefusedError, match="it does not want to"):
        solve("refuse")
    for limit in (0.0, -1.0, float("nan"), "5", True):
        with pytest.raises(InputError, match="time_limit"):
            solve("good", time_limit=limit)
    for seed in (-1, 1.5, "1", None):
        with pytest.raises(InputError, match="seed must be a whole number of at least 0"):
            solve("good", seed=seed)


def test_infeasible_is_a_status_with_a_reason() -> None:
    problem = Microaggregation(k=2, distinct_l=5).build(small_table(8, values=3))
    solution = Scripted("good").solve(problem)
    assert solution.status is Status.INFEASIBLE
    with pytest.raises(InfeasibleError, match="only 3 distinct values"):
        solution.require()


def test_a_start_that_is_no_partition_is_named() -> None:
    problem = Microaggregation(k=2).build(small_table(8))
    with pytest.raises(InputError, match="8 whole numbers"):
        Scripted("good").solve(problem, start=np.zeros(3, np.int64))


@pytest.mark.parametrize(
    ("value", "bound", "gap"), [(10.0, 9.0, 0.1), (0.0, 0.0, 0.0), (None, 1.0, None), (1.0, None, None)]
)
def test_gap(value: float | None, bound: float | None, gap: float | None) -> None:
    assert relative_gap(value, bound) == gap
