"""MASS's way through its own model: the partition it makes for a k, or for every k that is worth trying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from optmodels.front import ParetoFront
from optmodels.problem import Problem
from optmodels.solver import FrontSolver, Run
from optmodels.structures import Candidate, Construction, Structure


@dataclass(frozen=True)
class Mass(FrontSolver):
    """Deals strata to classes, for one k or for all; what the partitions are worth is the problem's to say.

    >>> from formulations import Mass as Model
    >>> from optmodels.datasets.synthetic import health_like
    >>> problem = Model(classifiers=()).build(health_like(1000, l_v=7))
    >>> front = Mass().pareto(problem)
    >>> best = Mass().solve(problem)
    >>> front.details["optimum"]["k"] == best.details["k"], 2 < best.details["k"] < 28
    (True, True)
    """

    name: ClassVar[str] = "mass"
    summary: ClassVar[str] = (
        "strata dealt to classes in proportion, for one k or every k; feasible, for millions of rows"
    )
    needs: ClassVar[tuple[type[Structure], ...]] = (Construction,)

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the partition of the k that is asked for, or the best of all k."""
        model = problem.require(Construction)
        total = 1 if model.fixed_k is not None else len(model.levels)
        for done, candidate in enumerate(model.candidates(None, _halted(run)), start=1):
            if candidate.share < 1 and run.labels is not None and run.expired:
                break
            if run.offer(candidate.labels):
                run.details |= {"k": candidate.k, **_cut_short(candidate)}
            run.report(f"k={candidate.k}", done=done, total=total)
            if run.expired:
                break
        run.details |= model.remarks()
        if run.labels is None:
            run.details["remark"] = (
                f"Not even all records in one class keep {problem.conditions.describe()}: ask for less."
            )
        elif "k" in run.details:  # else a partition to begin from was better than all of these
            remarks = (f"k={run.details['k']}.", _what_is_recalled(run).strip(), run.details.get("cut_short"))
            run.details["remark"] = " ".join(str(one) for one in remarks if one)

    def explore(self, problem: Problem, run: Run) -> None:
        """A point for each k, and which of them is the model's own choice."""
        model = problem.require(Construction)
        tried: list[dict[str, object]] = []
        run.details["candidates"] = tried
        levels = model.levels
        for done, candidate in enumerate(model.candidates(levels, _halted(run)), start=1):
            if candidate.share < 1 and run.front and run.expired:
                break
            point = run.keep(candidate.labels, details={"k": candidate.k, **_cut_short(candidate)})
            values = problem.values(problem.check(candidate.labels)) if point is None else point.values
            tried.append({"k": candidate.k, **values, "feasible": point is not None})
            if point is not None:
                _mark_optimum(problem, run)
            run.report(f"k={candidate.k}", done=done, total=len(levels))
            if run.expired:
                break
        run.details |= model.remarks()
        if "optimum" in run.details:
            run.details["remark"] = f"{run.details['remark']}{_what_is_recalled(run)}"


def _what_is_recalled(run: Run) -> str:
    """What recall is about and how much of it the original table gives, where classifiers were asked."""
    details = run.details
    if details.get("predicted") is None:
        return ""
    what = "" if details.get("positive") is None else f" = {details['positive']}"
    return (
        f" Recall is about {details['predicted']}{what}, the mean of {_listed(details['classifiers'])}; "
        f"of the original table it is {details['recall_original']:.4g}."
    )


def _listed(names: object) -> str:
    return ", ".join(names) if isinstance(names, list) else str(names)


def _halted(run: Run) -> Callable[[], bool]:
    return lambda: run.interrupt.pressed or run.remaining <= 0


def _cut_short(candidate: Candidate) -> dict[str, str]:
    """What has to be said of a partition that was made in a hurry, if it was."""
    if candidate.share == 1:
        return {}
    return {
        "cut_short": f"Time was over, or Ctrl-C pressed, with {candidate.share:.0%} of the classes of k={candidate.k} "
        "dealt: the others are neighbours in the order of records, of at least k, and need not mirror the table."
    }


def _mark_optimum(problem: Problem, run: Run) -> None:
    """Note which point of the front so far the model itself would choose."""
    target = problem.target.name
    points = list(ParetoFront.of(problem, run.front))
    best = min(range(len(points)), key=lambda i: points[i].values[target])
    k = points[best].details["k"]
    run.details["optimum"] = {"k": k, "point": best, **points[best].values}
    run.details["remark"] = f"Least {target}: k={k}, point {best}."
