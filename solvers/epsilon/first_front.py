"""The first front of two engines: what a metaheuristic finds, as incumbents for everything that is then proven."""

from __future__ import annotations

from collections.abc import Sequence

from optmodels import registry
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solver import FrontSolver, Run

HEURISTIC = "nsga2"


def first_front(
    problem: Problem, run: Run, share: float, *, most_seconds: float, known: Sequence[Labels] = ()
) -> list[Labels]:
    """Partitions of a heuristic front of the problem, found in a share of what is left of the time from those known.

    They are none where the heuristic is not installed, or refuses.
    """
    kind = registry.solver(HEURISTIC)
    solver = kind()
    if kind.missing() is not None or not isinstance(solver, FrontSolver) or solver.refuses_front(problem):
        return []
    part = run.part(problem, HEURISTIC, min(share * run.remaining, most_seconds))
    part.known = [*run.known, *known]
    solver.explore(problem, part)
    return [point.labels for point in part.front if point.labels is not None]
