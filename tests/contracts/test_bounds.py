"""What anyone proves holds for what anyone finds: no bound is beyond the best value of all solvers."""

from collections.abc import Iterator

import pytest

from formulations import Aminifar, Generalisation, LiangSamavi, Microaggregation, MoObam
from optmodels import registry
from optmodels.problem import Problem
from optmodels.solution import Solution
from optmodels.solver import FrontSolver
from optmodels.structures import Priced
from optmodels.testing import small_table
from optmodels.testing.solvers import quick
from solvers import bounded

SECONDS = 0.25  # for each solver


def posed(seed: int) -> Iterator[Problem]:
    table = small_table(18 + seed, seed=seed, sensitive=1 + seed % 2)
    yield Microaggregation(k=2 + seed).build(table)
    yield LiangSamavi(k=3, distinct_l=2).build(table)
    yield Generalisation(k=2, t=0.6).build(table)
    yield MoObam(k=3, n_clusters=4).build(table)
    yield MoObam(k=2, objective="lambda", lam=0.2).build(table)
    yield Aminifar(n_clusters=3).build(table)


@pytest.mark.parametrize("place", range(6))
def test_no_bound_is_beyond_what_anyone_finds(place: int) -> None:
    seed = place % 2
    problem = list(posed(seed))[place]
    answers = []
    for name in registry.solver_names():
        solver = quick(name)
        if type(solver).missing() is None and solver.refuses(problem) is None:
            answers.append(solver.solve(problem, time_limit=SECONDS, seed=seed))
    found = [answer for answer in answers if answer.value is not None]
    if problem.structure(Priced) is not None:
        answers.append(bounded(min(found, key=lambda answer: answer.value or 0.0), time_limit=SECONDS))
    bounds = {answer.solver: answer.bound for answer in answers if answer.bound is not None}
    assert len(found) > 3
    assert bounds
    least = min(answer.value for answer in found if answer.value is not None)
    assert max(bounds.values()) <= least + 1e-9 * max(1.0, abs(least)), bounds


def everyones(problem: Problem, seconds: float, seed: int) -> Iterator[Solution]:
    """The points of all front solvers, each with so many seconds."""
    for name in registry.solver_names():
        solver = quick(name)
        if isinstance(solver, FrontSolver) and type(solver).missing() is None and solver.refuses_front(problem) is None:
            yield from solver.pareto(problem, time_limit=seconds, seed=seed)


@pytest.mark.parametrize("seed", range(2))
def test_no_bound_of_a_front_is_beyond_what_anyone_finds(seed: int) -> None:
    problem = MoObam(k=3).build(small_table(30, seed=seed, sensitive=1 + seed))
    for seconds in (3 * SECONDS, 15 * SECONDS, 75 * SECONDS):  # a busy machine proves nothing in the first
        points = list(everyones(problem, seconds, seed))
        proven = [point for point in points if point.bound is not None]
        if len(proven) > 2:
            break
    assert len(proven) > 2
    for point in proven:
        better = [one.values["loss"] for one in points if one.values["entropy"] >= point.values["entropy"] - 1e-9]
        assert (point.bound or 0.0) <= min(better) + 1e-9
