"""A problem's own target against how far the worst class is from the whole table: one exact step for each level of t.

What is closer than a level is a condition of every class. So after the optimum comes the optimum among partitions whose
worst class is closer than that one's, and so on until there is none. Cut short, what a metaheuristic has found stays
on the front, each point with the best bound of the levels that it meets.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from optmodels import registry
from optmodels.conditions import TOLERANCE, TDistance
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import Run, Solver
from optmodels.structures import ClassCount, Priced
from solvers.epsilon.first_front import first_front

# The objectives, and the t that bounds each.
_DISTANCES: dict[str, TDistance] = {"closeness": "emd", "variational": "variational"}
_CLOSER = 3 * TOLERANCE  # than this a partition must be to count as closer: conditions are kept up to their tolerance
_FEW_RECORDS = 17  # of fewer the steps are a matter of seconds, without a heuristic before them
_FIRST_SHARE = 0.25  # of the time, for that heuristic
_STEP_SHARE = 0.3  # of the time left, for one step


def applies(problem: Problem) -> bool:
    """Whether the front asked for is of a model's own target and of a distance that its t bounds."""
    if len(problem.objectives) != 2 or problem.structure(Priced) is None:
        return False
    distance = _DISTANCES.get(problem.objectives[1].name)
    own = problem.formulation.to_dict()
    asked = own.get("t") is not None
    return distance is not None and "t" in own and (not asked or own.get("t_distance") == distance)


def refuses(problem: Problem, solver: str) -> str | None:
    """Why there is no such front by this solver, or None."""
    if problem.structure(ClassCount) is not None and problem.suppression.most:
        return "with a prescribed number of classes nobody may be left out."
    closest = _closer(problem, 0.5)
    reason = registry.solver(solver)().refuses(closest)
    return f"its steps go to '{solver}', and {reason}" if reason else None


def explore(problem: Problem, solver: str, run: Run) -> None:
    """Level after level from the least target to the closest classes; then whatever else was found."""
    run.details["complete"] = False
    second = problem.objectives[1].name
    proven: list[tuple[float, float]] = []  # at most so far apart, at least so much of the target
    known = first_front(problem, run, _FIRST_SHARE, most_seconds=inf) if _worth_it(problem, run) else []
    try:
        run.details["complete"] = _sweep(problem, registry.solver(solver)(), known, proven, run)
    finally:
        for labels in known:
            value = problem.evaluate(labels).values[second]
            bounds = [bound for apart, bound in proven if value <= apart + TOLERANCE]
            run.keep(labels, max(bounds, default=None), stop=Stop.TIME)
        run.details["levels"] = [
            {f"{second}_at_most": None if apart == inf else apart, f"{problem.target.name}_at_least": bound}
            for apart, bound in proven
        ]


def _worth_it(problem: Problem, run: Run) -> bool:
    return run.time_limit is not None and problem.n >= _FEW_RECORDS


def _sweep(problem: Problem, step: Solver, known: list[Labels], proven: list[tuple[float, float]], run: Run) -> bool:
    """Solve level after level; whether all of them are proven."""
    apart, every = inf, True
    while not run.expired:
        seconds = None if run.time_limit is None else max(_STEP_SHARE * run.remaining, 0.1)
        current = _closer(problem, apart)
        answer = step.solve(current, time_limit=seconds, seed=run.seed, start=_start(current, known))
        if answer.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if answer.bound is not None:
            proven.append((apart, answer.bound))
        if answer.labels is None:
            if answer.status is not Status.INFEASIBLE:
                run.stop = Stop.TIME
            elif not run.front and apart == inf:
                run.details["infeasible"] = answer.reason
            return every and answer.status is Status.INFEASIBLE
        every &= answer.status is Status.OPTIMAL
        run.keep(answer.labels, answer.bound, stop=answer.stop)
        found = problem.evaluate(answer.labels).values[problem.objectives[1].name]
        run.report(f"{problem.objectives[1].name} {found:.4f}: {len(run.front)} points")
        if found <= _CLOSER:  # nothing is closer than equal
            return every
        apart = min(apart, found) - _CLOSER
    return False


def _closer(problem: Problem, apart: float) -> Problem:
    """The same problem, for its target alone, in which no class is further from the whole table than so much."""
    model = problem.formulation
    if apart < inf:
        own = model.to_dict().get("t")
        t = min(apart, own) if isinstance(own, float) else apart
        model = replace(model, t=t, t_distance=_DISTANCES[problem.objectives[1].name])
    return model.build(problem.table).with_objectives(problem.target.name)


def _start(current: Problem, known: list[Labels]) -> Labels | None:
    """The best of what is known that meets the level."""
    target = current.target
    judged = [(current.evaluate(labels), labels) for labels in known]
    able = [(found.values[target.name], labels) for found, labels in judged if found.feasible]
    return min(able, key=lambda one: target.worse(one[0], 0.0))[1] if able else None
