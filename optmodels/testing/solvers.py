"""A solver's contract: consistent, deterministic, punctual, and where it proves something, right."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any

from optmodels import registry
from optmodels.clock import now
from optmodels.errors import InputError, RefusedError
from optmodels.problem import Problem
from optmodels.solution import Solution, Status, Stop
from optmodels.solver import FrontSolver, Solver
from optmodels.testing.answers import check_against, check_front, check_solution
from optmodels.testing.partitions import brute_force, brute_force_front
from optmodels.testing.tables import CONDITION_LEVELS, small_table

# Options by which solvers that have them end soon.
_FEW: dict[str, Any] = {"evaluations": 60, "population": 10, "particles": 6, "iterations": 20}
_RECORDS = 7  # of the problems that brute force solves too
_MANY_RECORDS = 300  # of those on which clocks are looked at
_LIMIT, _PRESSED = 0.5, 0.3  # seconds: the time limit, and when Ctrl-C is pressed
_LATE = 2.0  # seconds that a solver may take to come to its end
_DEAF = 20.0  # seconds after which one that does not listen is broken off
_OTHER_OBJECTIVE = "classes"  # which any table has


def quick(name: str) -> Solver:
    """A solver by its name, with options by which it ends soon."""
    kind = registry.solver(name)
    return registry.configured(kind, {option: few for option, few in _FEW.items() if option in kind.options()})


def check_solver(
    solver: Solver,
    problems: Callable[[int], Problem] | None = None,
    *,
    seeds: range | None = None,
    time_limit: float = 120.0,
) -> None:
    """A solver's contract on tiny problems: consistent, deterministic, and, where exact, optimal; fronts too.

    `problems` makes a problem from a seed. Without it they are those of all formulations on this machine that the
    solver does not refuse, and it must end in time and heed Ctrl-C on larger ones as well.
    """
    if problems is not None:
        for seed in range(5) if seeds is None else seeds:
            _check(solver, problems(seed), seed, time_limit)
        return
    taken = 0
    for seed in range(1) if seeds is None else seeds:
        for problem in _posed(_RECORDS, seed):
            if solver.refuses(problem) is None:
                taken += 1
                try:
                    _check(solver, problem, seed, time_limit)
                except AssertionError as error:
                    raise AssertionError(f"on '{problem.formulation.name}': {error}") from error
    assert taken, "it refuses the problems of all formulations there are"
    larger = next(problem for problem in _posed(_MANY_RECORDS, 0) if solver.refuses(problem) is None)
    _check_clock(solver, larger)
    _check_ctrl_c(solver, larger)


def _posed(n: int, seed: int) -> Iterator[Problem]:
    """The problem of every formulation there is, with and without diversity, on a mixed table and on one of numbers."""
    for name in registry.formulation_names():
        kind = registry.formulation(name)
        least = {"k": 2} if "k" in kind.parameters() else {}
        for table in (
            small_table(n, seed=seed),
            small_table(n, seed=seed, categorical=0, values=2),
        ):
            for conditions in ({}, CONDITION_LEVELS["distinct_l"]):
                try:
                    yield registry.configured(kind, {**least, **conditions}).build(table, seed=seed)
                except (InputError, RefusedError):
                    continue


def _check(solver: Solver, problem: Problem, seed: int, time_limit: float) -> None:
    """One answer against brute force, and the front where there is one."""
    solved = brute_force(problem)
    best = None if solved is None else solved[1].values[problem.target.name]
    solution = solver.solve(problem, seed=seed, time_limit=time_limit)
    check_solution(solution)
    check_against(solution, best)
    if best is not None:
        if solver.proves(problem):
            assert solution.status is Status.OPTIMAL, f"an exact solver did not finish: {solution!r}"
        again = solver.solve(problem, seed=seed, time_limit=time_limit)
        assert again.value == solution.value, "two runs with one seed disagree"
    if not isinstance(solver, FrontSolver):
        return
    several = problem if len(problem.objectives) > 1 else problem.with_objectives(problem.target.name, _OTHER_OBJECTIVE)
    if solver.refuses_front(several) is None:
        front = solver.pareto(several, seed=seed, time_limit=time_limit)
        check_front(front, brute_force_front(several))


def _check_clock(solver: Solver, problem: Problem) -> None:
    for attempt in range(2):  # the first may have to compile something
        began = now()
        with _pressing(_LIMIT + _DEAF, times=2):
            solution = solver.solve(problem, time_limit=_LIMIT)
        late = now() - began - _LIMIT
        check_solution(solution)
        if late <= _LATE:
            return
        assert attempt == 0, f"it ends {late:.1f} s after its time limit of {_LIMIT} s: look at run.expired more often"


def _check_ctrl_c(solver: Solver, problem: Problem) -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # where nobody can press it
    began = now()
    with _pressing(_PRESSED):
        solution: Solution = solver.solve(problem, time_limit=_PRESSED + _DEAF)
    late = now() - began - _PRESSED
    check_solution(solution)
    assert late <= _LATE or solution.stop is not Stop.TIME, "Ctrl-C does not end it: look at run.expired more often"


@contextmanager
def _pressing(seconds: float, *, times: int = 1) -> Iterator[None]:
    """Press Ctrl-C after some seconds; where nobody listens any more, nothing happens."""

    def press() -> None:
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            sleep(0.1)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    timer = threading.Timer(seconds, press)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)
