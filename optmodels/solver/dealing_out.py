"""A way out for any solver that has found no partition into as many classes as are prescribed."""

from __future__ import annotations

from optmodels.conditions.dealing import DEAL_SECONDS, deal
from optmodels.problem import Problem
from optmodels.solver.run import Run
from optmodels.structures import ClassCount

_AT_LEAST = 1.0  # seconds: a search that has used up its time has nothing to show for it yet


def deal_out(problem: Problem, run: Run, *, front: bool = False) -> None:
    """Where a prescribed number of classes was not found, find them by counts of sensitive values, or that none are."""
    prescribed = problem.structure(ClassCount)
    nothing = not run.front if front else run.labels is None and not run.proven_infeasible
    if prescribed is None or not nothing or run.interrupt.pressed:
        return
    seconds = DEAL_SECONDS if run.time_limit is None else max(_AT_LEAST, run.remaining)
    dealt = deal(problem.test, prescribed.n, seconds=seconds)
    if dealt.labels is not None:
        (run.keep if front else run.offer)(dealt.labels)
        run.details["dealt"] = "found by counts of sensitive values, after the search had found nothing"
    elif dealt.decided and not problem.suppression.most:
        reason = f"No {prescribed.n} classes of these records satisfy {problem.conditions.describe()}."
        run.infeasible(reason)
        run.details |= {"infeasible": reason} if front else {}
    elif not dealt.decided:
        asked = problem.conditions.describe()
        unknown = f"Whether {prescribed.n} classes can satisfy {asked} is not known; fewer classes are easier to find."
        run.details.setdefault("remark", unknown)
