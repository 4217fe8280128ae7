"""MASS's way through its own model: the partition it makes for a k, or for every k that is worth trying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from optmodels.front import ParetoFront
from optmodels.problem import Candidate, Problem, SelfTuned
from optmodels.solution import Solution, Status, Stop
from optmodels.solver import FrontSolver, Run


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

    def refuses(self, problem: Problem) -> str | None:
        """It drives models that make partitions themselves."""
        if not isinstance(problem, SelfTuned):
            return "it is the construction of one model only: use the formulation 'mass'."
        return None

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the partition of the k that is asked for, or the best of all k."""
        assert isinstance(problem, SelfTuned)
        total = 1 if problem.fixed_k is not None else len(problem.levels)
        for done, candidate in enumerate(problem.candidates(halted=_halted(run)), start=1):
            if candidate.share < 1 and run.labels is not None and run.expired:
                break
            if run.offer(candidate.labels):
                run.details |= {"k": candidate.k, **_cut_short(candidate)}
            run.report(f"k={candidate.k}", done=done, total=total)
            if run.expired:
                break
        run.details |= problem.remarks()
        if run.labels is None:
            run.details["remark"] = (
                f"MASS keeps k; no partition of those it made also keeps {problem.conditions.describe()}."
            )
        elif "k" in run.details:  # else a partition to begin from was better than all of these
            told = (f"k={run.details['k']}.", _what_is_recalled(run).strip(), run.details.get("cut_short"))
            run.details["remark"] = " ".join(str(one) for one in told if one)

    def explore(self, problem: Problem, run: Run, found: list[Solution]) -> None:
        """A point for each k, and which of them is the model's own choice."""
        assert isinstance(problem, SelfTuned)
        tried: list[dict[str, object]] = []
        run.details["candidates"] = tried
        levels = problem.levels
        for done, candidate in enumerate(problem.candidates(levels, _halted(run)), start=1):
            if candidate.share < 1 and found and run.expired:
                break
            began = run.seconds
            evaluation = problem.evaluate(candidate.labels)
            tried.append({"k": candidate.k, **evaluation.values, "feasible": evaluation.feasible})
            if evaluation.feasible:
                found.append(
                    Solution(
                        problem=problem,
                        solver=self.name,
                        status=Status.FEASIBLE,
                        stop=Stop.CONVERGED,
                        labels=problem.check(candidate.labels),
                        values=evaluation.values,
                        seconds=run.seconds - began,
                        seed=run.seed,
                        details={"k": candidate.k, **_cut_short(candidate)},
                    )
                )
                _mark_optimum(problem, run, found)
            run.report(f"k={candidate.k}", done=done, total=len(levels))
            if run.expired:
                break
        run.details |= problem.remarks()
        if "optimum" in run.details:
            run.details["remark"] = f"{run.details['remark']}{_what_is_recalled(run)}"


def _what_is_recalled(run: Run) -> str:
    """What recall is about and how much of it the original table gives, where classifiers were asked."""
    told = run.details
    if told.get("predicted") is None:
        return ""
    what = "" if told.get("positive") is None else f" = {told['positive']}"
    return (
        f" Recall is about {told['predicted']}{what}, the mean of {_listed(told['classifiers'])}; "
        f"of the original table it is {told['recall_original']:.4g}."
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
        "dealt: the others are neighbours in the order of records, of at least k, and do not mirror the table."
    }


def _mark_optimum(problem: Problem, run: Run, found: list[Solution]) -> None:
    """Note which point of the front so far the model itself would choose."""
    target = problem.target.name
    points = list(ParetoFront.of(problem, found))
    best = min(range(len(points)), key=lambda i: points[i].values[target])
    k = points[best].details["k"]
    run.details["optimum"] = {"k": k, "point": best, **points[best].values}
    run.details["remark"] = f"Least {target}: k={k}, point {best}."
