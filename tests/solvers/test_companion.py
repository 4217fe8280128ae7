"""Heuristics beside a proof: one judge, one Ctrl-C, and nothing of theirs is lost or hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from formulations import Microaggregation
from optmodels.matrix import mixed_table
from optmodels.problem import Problem
from optmodels.solution import Status
from optmodels.solver import Run, Solver
from solvers.columns import Columns
from solvers.columns.companion import Companion


def problem() -> Problem:
    return Microaggregation(k=3).build(mixed_table(30))


@dataclass(frozen=True)
class Finds(Solver):
    """Offers one partition, then waits until it is stopped."""

    name: ClassVar[str] = "finds"
    summary: ClassVar[str] = ""

    wrong: bool = False
    waits: bool = True

    def search(self, problem: Problem, run: Run) -> None:
        if self.wrong:
            raise ValueError("a mistake of its own")
        run.offer(np.arange(problem.n) // 2)  # too small
        run.offer(np.arange(problem.n) // 3)
        while self.waits and not run.expired:
            pass


def test_what_it_finds_is_judged_and_is_the_runs() -> None:
    run = Run(problem(), "columns")
    with Companion(run, [(Finds(waits=False), 60.0)]) as companion:
        companion.wait(60.0)
    assert run.labels is not None
    assert (run.labels == np.arange(30) // 3).all()
    assert [labels.tolist() for labels in companion.found] == [run.labels.tolist()]
    assert run.values == run.problem.evaluate(run.labels).values


def test_it_is_stopped_when_the_proof_is_done() -> None:
    run = Run(problem(), "columns")
    with Companion(run, [(Finds(), 1e9), (Finds(wrong=True), 1e9)]) as companion:
        companion.wait(1e9, lambda: run.value is not None)
        assert companion.searching
    assert not companion.searching


def test_its_mistakes_are_not_swallowed() -> None:
    run = Run(problem(), "columns")
    with pytest.raises(ValueError, match="its own"), Companion(run, [(Finds(wrong=True), 1.0)]):
        pass


def test_one_after_the_other_each_from_the_best_so_far() -> None:
    @dataclass(frozen=True)
    class Second(Finds):
        def search(self, problem: Problem, run: Run) -> None:
            assert run.start is not None
            run.offer(np.zeros(problem.n, np.int64))  # worse than the start, so not the run's

    run = Run(problem(), "columns")
    with Companion(run, [(Finds(waits=False), 1.0), (Second(), 1.0)]) as companion:
        companion.wait(60.0)
    assert run.labels is not None
    assert run.labels.max() == 9


def test_a_small_problem_has_the_same_proven_answer_whatever_they_find() -> None:
    small = Microaggregation(k=4).build(mixed_table(70))
    one, other = (Columns().solve(small, time_limit=60, seed=seed) for seed in (1, 2))
    assert one.status is other.status is Status.OPTIMAL
    assert one.value == pytest.approx(other.value, rel=1e-9)
