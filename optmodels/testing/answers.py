"""What every answer must satisfy, one solution or a front, whoever gives it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from optmodels.front import ParetoFront
from optmodels.problem import Problem
from optmodels.solution import Solution, Status

# Objective values closer than this, relatively, are the same number computed in two orders.
SAME = 1e-7


def check_solution(solution: Solution) -> None:
    """What every answer must satisfy: the problem agrees with its values, and its claims are consistent."""
    problem = solution.problem
    if solution.labels is None:
        assert solution.status in (Status.INFEASIBLE, Status.NONE), "a status that claims a partition without one"
        assert solution.status is Status.NONE or solution.reason, "infeasible without a reason"
        return
    found = problem.evaluate(solution.labels)
    assert found.feasible, f"the partition breaks conditions: {dict(found.violations)}"
    assert dict(found.values) == dict(solution.values), (
        f"the values are not the problem's own: {dict(solution.values)} instead of {dict(found.values)}"
    )
    assert "contradicted_bound" not in solution.details, "a bound that the partition contradicts"
    if solution.bound is not None and solution.value is not None:
        assert problem.target.worse(solution.value, solution.bound) >= -SAME, "the bound is beyond the value"
    if solution.status is Status.OPTIMAL:
        assert solution.gap is not None, "optimal without a bound"
        assert solution.gap <= SAME, "optimal with a gap"
    release = solution.release()
    assert release.audit.k >= problem.conditions.k, "the release breaks k"
    assert not release.audit.check(problem.conditions), "the release breaks a condition"


def check_front(front: ParetoFront, exact: Sequence[Sequence[float]] | None = None) -> None:
    """What every front must satisfy: judged points, none of them dominated, and claims that are true.

    `exact` is the whole front by `brute_force_front`. With it bounds are checked, and a front whose record says that it
    is `complete` must be it.
    """
    problem = front.problem
    for point in front:
        assert point.labels is not None, "a point of a front without a partition"
        check_solution(point)
    costs = [_costs(problem, [point.values[o.name] for o in problem.objectives]) for point in front]
    for i, one in enumerate(costs):
        for j, other in enumerate(costs):
            beaten = i != j and all(a <= b for a, b in zip(other, one, strict=True))  # by a hair counts, too
            assert not beaten, f"the points {j} and {i} of the front: the second is dominated"
    if exact is None:
        return
    whole = [_costs(problem, point) for point in exact]
    for point, cost in zip(front, costs, strict=True):
        assert any(_covers(best, cost) for best in whole), f"{dict(point.values)} is better than brute force"
        if point.bound is not None:
            sign = 1.0 if problem.target.sense == "min" else -1.0
            least = min(best[0] for best in whole if _covers(best[1:], cost[1:]))
            assert sign * point.bound <= least + SAME * max(1.0, abs(least)), (
                f"a bound beyond the optimum: {point.bound!r} is claimed of {dict(point.values)}, and brute force has "
                f"{problem.target.name} {sign * least!r} with all else as good"
            )
    if front.details.get("complete"):
        assert len(front) == len(whole), f"complete with {len(front)} points, and brute force has {len(whole)}"
        for best in whole:
            assert any(_covers(cost, best) for cost in costs), f"complete without a point that is as good as {best}"


def check_against(solution: Solution, optimum: float | None) -> None:
    """That an answer agrees with the best value that brute force finds, None where nothing is feasible."""
    problem = solution.problem
    if optimum is None:
        assert solution.labels is None, "a solution where brute force finds none"
        return
    assert solution.status is not Status.INFEASIBLE, f"called infeasible and is not: {solution.reason}"
    scale = SAME * max(1.0, abs(optimum))
    if solution.value is not None:
        assert problem.target.worse(solution.value, optimum) >= -scale, "better than brute force"
    if solution.bound is not None:
        assert problem.target.worse(solution.bound, optimum) <= scale, (
            f"a bound beyond the optimum: {solution.bound!r} is claimed, and brute force finds {optimum!r}"
        )
    if solution.status is Status.OPTIMAL:
        assert solution.value is not None, "optimal without a value"
        assert math.isclose(solution.value, optimum, rel_tol=SAME, abs_tol=scale), "called optimal and is not"


def check_proven(solution: Solution, optimum: float | None) -> None:
    """That an exact solver, given all the time that it needs, proves what brute force finds: the optimum, or none."""
    check_solution(solution)
    check_against(solution, optimum)
    proven = Status.INFEASIBLE if optimum is None else Status.OPTIMAL
    assert solution.status is proven, f"{solution.status} where brute force finds {optimum!r}"


def _costs(problem: Problem, values: Sequence[float]) -> list[float]:
    """Values with every objective to be made small."""
    return [value if o.sense == "min" else -value for value, o in zip(values, problem.objectives, strict=True)]


def _covers(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether one is at least as good in everything."""
    return all(a <= b + SAME * max(1.0, abs(b)) for a, b in zip(one, other, strict=True))
