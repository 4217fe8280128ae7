"""Ctrl-C and time limits in the middle of a construction: what it has made so far is kept, the rest cut at medians."""

from typing import Any

import numpy as np
import pytest

from formulations import LiangSamavi, Microaggregation
from optmodels import registry
from optmodels.problem import Problem
from optmodels.solver import Progress
from optmodels.testing import small_table


def problem_for(solver: str) -> Problem:
    if solver.startswith("liang"):
        return LiangSamavi(k=3).build(small_table(90, seed=2))
    if solver == "univariate":
        return Microaggregation(k=3).build(small_table(90, seed=2, numeric=1, categorical=0))
    return Microaggregation(k=3, distinct_l=2).build(small_table(90, seed=2))


def in_small_steps(monkeypatch: pytest.MonkeyPatch, solver: str) -> None:
    module = registry.solver(solver).__module__
    for name in ("_STEPS", "_WORK"):
        monkeypatch.setattr(f"{module}.{name}", 1, raising=False)


@pytest.mark.parametrize("solver", ["mdav", "zheng", "mondrian", "univariate", "liang-greedy", "liang-split"])
def test_ctrl_c_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch, solver: str) -> None:
    in_small_steps(monkeypatch, solver)
    problem = problem_for(solver)
    seen: list[Progress] = []

    def press(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            raise KeyboardInterrupt

    solution = registry.solver(solver)().solve(problem, on_progress=press)
    assert len(seen) == 3
    assert solution.stop == "interrupted"
    assert solution.labels is not None
    assert problem.evaluate(solution.labels).feasible
    assert solution.labels.max() > 3
    assert solution.bound is None


@pytest.mark.parametrize("solver", ["mdav", "zheng", "liang-greedy"])
def test_classes_made_before_are_those_of_the_whole_run(monkeypatch: pytest.MonkeyPatch, solver: str) -> None:
    in_small_steps(monkeypatch, solver)
    problem = problem_for(solver)
    whole = registry.solver(solver)().solve(problem).labels
    seen: list[Any] = []

    def press(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 2:
            raise KeyboardInterrupt

    part = registry.solver(solver)().solve(problem, on_progress=press).labels
    assert whole is not None
    assert part is not None
    classes = {tuple(np.flatnonzero(whole == c)) for c in range(whole.max() + 1)}
    kept = {tuple(np.flatnonzero(part == c)) for c in range(part.max() + 1)}
    assert len(classes & kept) >= 2
    assert kept != classes
