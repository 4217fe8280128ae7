"""A search that takes no notice of its clock is broken off soon after its limit, with the best so far."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass
from time import sleep
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from formulations import Aminifar, Microaggregation
from optmodels import Table, registry
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import Run, Solver
from optmodels.solver import run as run_module
from optmodels.testing import check_solution, small_table
from optmodels.testing.solvers import quick


@dataclass(frozen=True)
class Deaf(Solver):
    name: ClassVar[str] = "deaf"
    summary: ClassVar[str] = "sleeps"
    finds: bool = True

    def search(self, problem: Problem, run: Run) -> None:
        if self.finds:
            run.offer(np.zeros(problem.n, np.int64))
        sleep(600)


@pytest.mark.parametrize(("finds", "slack"), [(True, "_SLACK"), (False, "_SLACK_WITHOUT")])
def test_it_is_broken_off_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch, finds: bool, slack: str) -> None:
    monkeypatch.setattr(run_module, slack, 0.1)
    before = signal.getsignal(signal.SIGINT)
    solution = Deaf(finds=finds).solve(Microaggregation(k=2).build(small_table(7)), time_limit=0.1)
    assert solution.stop is Stop.TIME
    assert (solution.labels is not None) == finds
    assert solution.status in (Status.FEASIBLE, Status.NONE)
    check_solution(solution)
    assert signal.getsignal(signal.SIGINT) is before
    assert not [thread for thread in threading.enumerate() if thread.name == "breaking off"]


def test_one_that_ends_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_SLACK", 0.1)
    problem = Microaggregation(k=2).build(small_table(7))
    for _ in range(20):
        assert registry.solver("mdav")().solve(problem, time_limit=30.0).stop is Stop.CONVERGED


def test_those_who_stay_may_be_unable_to_keep_what_all_together_can() -> None:
    """Whoever is left out to see whether the rest does better must not be the only one with a value that all need."""
    frame = pd.DataFrame({"y": [1.0, 1.0, 0.0], "c": ["c d", "t", "x,y"], "s": ["flu", "flu", "cold"]})
    table = Table(frame, quasi={"y": "numeric", "c": "categorical"}, sensitive="s", scaling="none")
    problem = Aminifar(k=2, delta=1.2, suppress=0.34).build(table)
    for solver in registry.solvers_for(problem):
        if solver in ("spea2", "nsga2", "pso", "local_search"):
            found = quick(solver).solve(problem, time_limit=5.0)
            assert found.labels is not None
            check_solution(found)
