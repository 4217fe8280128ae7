"""A problem's own target against how many records are left out: a front from the most that may be to none.

By an exact solver it is exact; by any other every point is the best that it finds with at most so many left out.
"""

from __future__ import annotations

from optmodels import registry
from optmodels.objectives import SUPPRESSED
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import Run
from optmodels.suppression import left_out


def applies(problem: Problem) -> bool:
    """Whether the front asked for is of a target and of how many are left out."""
    return len(problem.objectives) == 2 and problem.objectives[1].name == SUPPRESSED


def refuses(problem: Problem, solver: str) -> str | None:
    """Why there is no such front by this solver, or None."""
    step = registry.solver(solver)()
    if reason := step.refuses(problem):
        return f"its steps go to '{solver}', and {reason}"
    if not step.decides_suppression(problem):
        return f"its steps go to '{solver}', which leaves out nobody by itself in this problem."
    return None


def explore(problem: Problem, solver: str, run: Run, points: int | None = None) -> None:
    """The best with at most so many left out, then the best with fewer than that one has, until nobody is.

    Every step's bound holds for all partitions with as few left out: what is certified is the point itself. With
    `points` there are about so many steps, whatever the number that may be left out.
    """
    step, most = registry.solver(solver)(), problem.suppression.most
    stride = 1 if points is None else max(1, most // points)
    run.details["complete"] = False
    while most >= 0 and not run.expired:
        seconds = None if run.time_limit is None else run.remaining / (1 + min(most, 3))
        answer = step.solve(problem.allowing(most), time_limit=seconds, seed=run.seed)
        if answer.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if answer.labels is None:
            if answer.status is not Status.INFEASIBLE:
                run.stop = Stop.TIME
            elif not run.front:
                run.details["infeasible"] = answer.reason
            break
        run.keep(answer.labels, answer.bound, stop=answer.stop)
        missing = left_out(answer.labels)
        most = max(missing - stride, 0) if missing else -1
        run.report(f"{left_out(answer.labels)} left out: {len(run.front)} points")
    proven = all(point.status is Status.OPTIMAL for point in run.front)
    run.details["complete"] = run.stop is Stop.CONVERGED and proven and stride == 1
