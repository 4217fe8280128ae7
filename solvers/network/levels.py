"""The front of the distance against what the worst class sets: closeness, or entropy, one level after the other.

What is better than a level of these is a condition on every class, and of a sensitive attribute with two values each
condition is a floor and a cap. So after the optimum comes the optimum among assignments whose worst class is better
than that one's, and so on until there are none: every point with its certificate, and none is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from optmodels.problem import Problem
from optmodels.solution import Solution, Status, Stop
from optmodels.solver import Run, Solver
from optmodels.structures import Assignment


@dataclass(frozen=True)
class QuantityLevel:
    """The best assignment that is better in a quantity than `beyond`, if there is one; the first has no such level."""

    beyond: float | None
    answer: Solution


def no_levels(problem: Problem) -> str | None:
    """Why there is no such front of a problem whose records are assigned to centres, or None."""
    held = problem.require(Assignment).held
    asked = [objective.quantity for objective in problem.objectives[1:]]
    if len(asked) != 1 or asked[0] not in held:
        able = " or ".join(f"'{name}'" for name in held) or "which needs a sensitive attribute"
        return f"its fronts are of the distance and one quantity that the worst class sets: {able}."
    return None


def first_level(problem: Problem) -> Problem:
    """The problem with a bound on the second objective: all other levels differ from it in that bound alone."""
    return _better_than(problem, 1.0) or problem


def levels(problem: Problem, solver: Solver, run: Run) -> Iterator[QuantityLevel]:
    """Level after level, each solved; the last is the first one without a solution, or without a proof."""
    current: Problem | None = problem
    beyond: float | None = None
    while current is not None and not run.expired:
        limit = None if run.time_limit is None else max(run.remaining, 1e-3)
        answer = solver.solve(current, time_limit=limit, seed=run.seed)
        yield QuantityLevel(beyond, answer)
        if answer.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if answer.labels is None or answer.status is not Status.OPTIMAL:
            return
        beyond = problem.evaluate(answer.labels).values[problem.objectives[1].name]
        current = _better_than(problem, beyond)


def _better_than(problem: Problem, value: float) -> Problem | None:
    quantity = problem.objectives[1].quantity
    return None if quantity is None else problem.better_than(quantity, value)
