"""Methods that answer a problem: how it is solved.

>>> import optmodels as om
>>> from formulations import Microaggregation
>>> problem = Microaggregation(k=5).build(om.dataset("german"))
>>> best = solve(problem, solver="mdav")
>>> best.status, best.release().audit.k >= 5
(<Status.FEASIBLE: 'feasible'>, True)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels import registry
from optmodels.errors import RefusedError
from optmodels.front import ParetoFront
from optmodels.problem import Problem
from optmodels.solution import Solution
from optmodels.solver import FrontSolver, OnProgress, Solver

__all__ = ["pareto", "solve"]


def solve(
    problem: Problem,
    *,
    solver: str | Solver = "auto",
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    start: NDArray[np.integer[Any]] | None = None,
) -> Solution:
    """The best partition that a solver, given by name with `options` or as an object, finds for a problem."""
    chosen = _chosen(solver, options)
    return chosen.solve(problem, time_limit=time_limit, seed=seed, on_progress=on_progress, start=start)


def pareto(
    problem: Problem,
    *,
    solver: str | Solver = "auto",
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> ParetoFront:
    """The Pareto front that a solver, given by name with `options` or as an object, finds for a problem."""
    chosen = _chosen(solver, options)
    if not isinstance(chosen, FrontSolver):
        able = ", ".join(f"'{name}'" for name in registry.solvers_for(problem, front=True))
        raise RefusedError(
            f"The solver '{chosen.name}' answers with one solution, not with a front. Use one of {able}."
        )
    return chosen.pareto(problem, time_limit=time_limit, seed=seed, on_progress=on_progress)


def _chosen(solver: str | Solver, options: Mapping[str, Any] | None) -> Solver:
    return registry.configured(registry.solver(solver), options or {}) if isinstance(solver, str) else solver
