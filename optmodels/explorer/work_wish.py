"""The best point for a wish: the target optimised while the other objectives keep what was wished of them.

Where a limit on an objective is a condition of every class, it is put into the model, and what is proven of the model
is proven of the wish. A wish of loss and entropy is solved as `solve(problem, wish=...)` does, with its bound. Any
other limit is left to a heuristic search of the front, of which nothing is proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np

from optmodels import front_folder, registry
from optmodels.explorer.telling import Teller
from optmodels.explorer.work_front import watched
from optmodels.front import ParetoFront
from optmodels.objectives import quantity_of
from optmodels.partition import Labels
from optmodels.problem import Formulation, Problem, Wish, WishedProblem, wished
from optmodels.solution import Solution, Status
from optmodels.solver import FrontSolver
from optmodels.structures import Score

_HAIR = 1e-9


def conditions_for(problem: Problem, limits: Mapping[str, float]) -> tuple[dict[str, Any], list[str]]:
    """The limits that are conditions of every class, as parameters of a formulation, and the names of all others."""
    found: dict[str, Any] = {}
    left: list[str] = []
    attributes = len(problem.table.sensitive)
    for name, limit in limits.items():
        try:
            quantity, setting = quantity_of(name)
        except ValueError:
            left.append(name)
            continue
        match quantity:
            case "entropy" if attributes == 1:
                found["entropy_l"] = 2.0 ** max(limit - _HAIR, 0.0)
            case "closeness" if 0 <= limit <= 1:
                found |= {"t": limit, "t_distance": "emd"}
            case "variational" if 0 <= limit <= 2 and "t" not in found:
                found |= {"t": limit, "t_distance": "variational"}
            case "homogeneity" if limit < 1:
                found["distinct_l"] = 2
            case "skewness" if limit < 1 and isinstance(setting, float):
                found["beta"] = min(setting - 1.0, found.get("beta", inf))
            case "linkage" if limit < 1 and isinstance(setting, float) and setting > 0:
                found["k"] = ceil(1 / setting - _HAIR)
            case _:
                left.append(name)
    return found, left


def stricter(model: Formulation, conditions: Mapping[str, Any]) -> Formulation | None:
    """The model with these conditions beside its own, the stricter counting; None where they cannot be put together."""
    present, asked = model.to_dict(), dict(conditions)
    for name, value in conditions.items():
        own = present.get(name)
        if name not in present:
            return None
        if name == "t_distance" or own is None:
            continue
        if not isinstance(own, (int, float)) or (name == "t" and present["t_distance"] != conditions["t_distance"]):
            return None
        asked[name] = min(own, value) if name in ("t", "beta") else max(own, value)
    return replace(model, **asked)


def run(request: Mapping[str, Any], tell: Teller) -> dict[str, Any]:
    """Solve for a wish, and keep the front with what was found as a folder of its own."""
    tell({"note": "reading the data"}, always=True)
    folder, seconds = Path(request["folder"]), float(request["seconds"])
    saved = front_folder.reopened(folder, None)
    problem = saved.problem
    names = [objective.name for objective in problem.objectives]
    wish = Wish.of({str(name): float(value) for name, value in request["limits"].items()}, names)
    target = problem.target.name
    others = {name: value for name, value in wish.values.items() if name != target}
    conditions, left = conditions_for(problem, others)
    model = stricter(problem.formulation, conditions) if conditions and not left else None
    seed = int(request["seed"])
    axes = [{"name": o.name, "better": "low" if o.sense == "min" else "high"} for o in problem.objectives]
    tell({"note": "searching", "axes": axes, "target": target}, always=True)
    if model is not None:
        found = _constrained(saved, model, seconds, seed, wish, tell)
    elif (asked := wished(problem, wish.values)).structure(Score) is not None:
        found = _achieved(saved, asked, seconds, seed, tell)
    else:
        found = _searched(saved, seconds, seed, wish, left, tell)
    front, point, said = found
    source = {**front_folder.source_in(folder), "wish": {"limits": dict(wish.values), "of": str(folder), "said": said}}
    place = Path(request["out"])
    front_folder.save(front, source, problem.table.roles, place)
    return {
        "folder": str(place),
        "said": said,
        "point": point,
        "points": len(front),
        "values": None if point is None else dict(front[point].values),
        "bound": None if point is None else front[point].bound,
        "gap": None if point is None else front[point].gap,
        "kept": point is not None and wish.kept_by(problem.objectives, front[point].values),
    }


Found = tuple[ParetoFront, int | None, str]


def _constrained(saved: ParetoFront, model: Formulation, seconds: float, seed: int, wish: Wish, tell: Teller) -> Found:
    """The target under the wish's conditions, by whichever solver is best for that."""
    problem, target = saved.problem, saved.problem.target.name
    asked = model.build(problem.table, seed)
    if asked.target.name != target:
        asked = asked.with_objectives(target)
    answer = registry.solver("auto")().solve(
        asked, time_limit=seconds, seed=seed, on_progress=watched(asked, tell), start=_start(saved, asked)
    )
    if answer.labels is None:
        proven = answer.status is Status.INFEASIBLE
        proof = "It is proven that nothing keeps this wish" if proven else "Nothing was found in the time"
        return (
            saved,
            _nearest(saved, wish),
            f"{proof}. {answer.reason} The nearest point is shown.",
        )
    values = problem.evaluate(answer.labels).values
    found = (answer.status, answer.stop, answer.labels, values, answer.bound, answer.seconds, seed)
    point = Solution(problem, answer.solver, *found)
    front = ParetoFront.of(problem, (point, *saved.points), saved.details)
    place = _place(front, values)
    if place is None:
        return front, _nearest(front, wish), f"The front had something at least as good already; {_proof(answer)}."
    kept = (
        "It keeps the wish"
        if wish.kept_by(problem.objectives, values)
        else f"The {target} that was wished is not reached"
    )
    how = f"solved by '{answer.solver}' under {asked.conditions.describe()}"
    return front, place, f"{kept}; {_proof(answer)} ({how})."


def _achieved(saved: ParetoFront, asked: WishedProblem, seconds: float, seed: int, tell: Teller) -> Found:
    """What comes nearest to the wish, by whichever solver is best for that, with its bound."""
    problem, wish = saved.problem, asked.wish
    answer = registry.solver("auto")().solve(
        asked, time_limit=seconds, seed=seed, on_progress=watched(asked, tell), start=_start(saved, asked)
    )
    if answer.labels is None:
        return saved, _nearest(saved, wish), "Nothing was found in the time. The nearest point is shown."
    values = problem.evaluate(answer.labels).values
    found = (Status.FEASIBLE, answer.stop, answer.labels, values, None, answer.seconds, seed)
    front = ParetoFront.of(problem, (Solution(problem, answer.solver, *found), *saved.points), saved.details)
    kept = "It keeps the wish" if wish.kept_by(problem.objectives, values) else "The wish is not reached"
    if answer.status is Status.OPTIMAL:
        proof = "no partition comes nearer to it: proven"
    elif answer.bound is not None and answer.value is not None:
        proof = f"it misses the wish by {answer.value:.2%} of it, and nothing by less than {answer.bound:.2%}: proven"
    else:
        proof = "a heuristic found it, and nothing is proven"
    place = _place(front, values)
    return front, _nearest(front, wish) if place is None else place, f"{kept}; {proof} (solved by '{answer.solver}')."


def _start(saved: ParetoFront, asked: Problem) -> Labels | None:
    """The best point of the front that keeps the wish's conditions."""
    target = asked.target
    known = [(asked.evaluate(point.require()), point.require()) for point in saved]
    able = [(found.values[target.name], labels) for found, labels in known if found.feasible]
    return min(able, key=lambda one: target.worse(one[0], 0.0))[1] if able else None


def _proof(answer: Solution) -> str:
    target = answer.problem.target.name
    if answer.status is Status.OPTIMAL:
        return f"within these limits no partition has a better {target}: proven"
    if answer.bound is not None and answer.gap is not None:
        return f"within these limits no {target} is better than {answer.bound:.6g}: proven, a gap of {answer.gap:.2%}"
    return "a heuristic found it, and nothing is proven"


def _searched(saved: ParetoFront, seconds: float, seed: int, wish: Wish, left: list[str], tell: Teller) -> Found:
    """A front sought anew, its points put beside those that were known; of the wish nothing is proven."""
    problem, solver = saved.problem, registry.solver("auto")()
    assert isinstance(solver, FrontSolver)
    more = solver.pareto(problem, time_limit=seconds, seed=seed, on_progress=watched(problem, tell))
    front = ParetoFront.of(problem, (*saved.points, *more.points), saved.details)
    point = _nearest(front, wish)
    why = f"a limit on {', '.join(left)} is no condition of single classes" if left else "only the target has a wish"
    reached = point is not None and wish.kept_by(problem.objectives, front[point].values)
    result = "A point keeps the wish" if reached else "No point that keeps the wish was found: the nearest is shown"
    by = more.details.get("solver")
    return front, point, f"{result}. The front was searched by '{by}', as {why}: nothing is proven of the wish."


def _nearest(front: ParetoFront, wish: Wish) -> int | None:
    """The point that falls least short of the wish, and among those that keep it the best in all."""
    if not len(front):
        return None
    reach = np.ptp(front.costs, axis=0)
    sums = ((front.costs - front.costs.min(axis=0)) / np.where(reach > 0, reach, 1.0)).sum(axis=1).tolist()
    short = [wish.shortfall(front.problem.objectives, point.values) for point in front]
    return min(range(len(front)), key=lambda i: (short[i] if short[i] > _HAIR else 0.0, sums[i]))


def _place(front: ParetoFront, values: Mapping[str, float]) -> int | None:
    """Where a point with these values is on the front, if nothing there is better."""

    def same(point: Solution) -> bool:
        return all(abs(point.values[name] - value) <= _HAIR * max(1.0, abs(value)) for name, value in values.items())

    return next((i for i, point in enumerate(front) if same(point)), None)
