"""What is proven of one point of a front, said of all others that it holds for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from optmodels.problem import Problem
from optmodels.solution import Solution
from optmodels.solver.run import CONTRADICTED, status_of


def with_shared_bounds(
    problem: Problem, points: Sequence[Solution], details: dict[str, object]
) -> tuple[Solution, ...]:
    """The points, each with the best bound of those that hold for it.

    The bound of a point is what no partition at least as good in all other objectives is better than in the target: it
    holds for every point that is itself at least as good in them. One that such a point contradicts is wrong, as one in
    a front that somebody saved may be: it is withdrawn, and the record says so.
    """
    if all(point.bound is None for point in points):
        return tuple(points)
    target = problem.target
    others = [objective for objective in problem.objectives if objective.name != target.name]
    signs = np.array([1.0 if objective.sense == "min" else -1.0 for objective in others])
    costs = np.array([[point.values[objective.name] for objective in others] for point in points]) * signs
    sign = 1.0 if target.sense == "min" else -1.0
    values = sign * np.array([point.values[target.name] for point in points])
    bounds = sign * np.array([np.nan if point.bound is None else point.bound for point in points])
    best = np.full(len(points), -np.inf)
    for place in np.flatnonzero(~np.isnan(bounds)):
        holds = (costs <= costs[place]).all(axis=1)
        slack = CONTRADICTED * np.maximum(np.abs(values), CONTRADICTED)
        if (values + slack < bounds[place])[holds].any():
            details["contradicted_bound"] = sign * float(bounds[place])
            continue
        best[holds] = np.maximum(best[holds], bounds[place])
    shared: list[Solution] = []
    for point, value, bound in zip(points, values, best, strict=True):
        said = None if bound == -np.inf else point.value if bound >= value else sign * float(bound)
        shared.append(replace(point, bound=said, status=status_of(point.values[target.name], said)))
    return tuple(shared)
