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
from optmodels.problem import Problem
from optmodels.solution import Solution
from optmodels.solver import OnProgress, Solver

__all__ = ["solve"]


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
    chosen = registry.configured(registry.solver(solver), options or {}) if isinstance(solver, str) else solver
    return chosen.solve(problem, time_limit=time_limit, seed=seed, on_progress=on_progress, start=start)
