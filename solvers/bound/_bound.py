"""How far from optimal an answer can be, whoever found it and however large the table is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from optmodels.evidence import Evidence
from optmodels.partition import Labels
from optmodels.price import HIERARCHY
from optmodels.problem import Problem
from optmodels.solution import Solution, Stop
from optmodels.solver import OnProgress, Run, Solver
from optmodels.structures import Priced, Structure, compiled_price
from solvers.bound.any_size import DualBound
from solvers.bound.box_bound import BoxBound


@dataclass(frozen=True)
class Bound(Solver):
    """A lower bound for the partition that it starts from; it looks for no better one."""

    name: ClassVar[str] = "bound"
    summary: ClassVar[str] = "a lower bound at any size, from duals that no class of near records exceeds"
    needs: ClassVar[tuple[type[Structure], ...]] = (Priced,)
    leaves_out: ClassVar[bool] = True

    def cannot(self, problem: Problem) -> str | None:
        """Of a plain function nothing is known."""
        compiled = problem.require(Priced).compiled
        return "its price is a plain function, of which nothing is known." if compiled is None else None

    def search(self, problem: Problem, run: Run) -> None:
        """Prove better and better bounds, beginning with one that takes seconds for a million records."""
        priced = problem.require(Priced)
        run.prove(0.0)  # no compiled price is negative
        if run.value is None or run.value == 0.0 or priced.test.k < 2:
            return
        bound = _for_price(priced, unit=run.value * priced.scale / priced.n, labels=run.labels)
        number = 0
        with run.halting(bound.halted):
            for number, value in enumerate(bound.steps(lambda: run.expired), start=1):
                run.prove(value / priced.scale)
                run.evidence = Evidence("classes", bound.of_records)
                run.report("bound", done=number, total=bound.n_steps)
        if number < bound.n_steps:
            run.stop = Stop.TIME


def _for_price(priced: Priced, unit: float, labels: Labels | None) -> DualBound:
    if labels is not None and compiled_price(priced).kind == HIERARCHY:
        return BoxBound(priced, unit, labels)
    return DualBound(priced, unit)


def bounded(solution: Solution, *, time_limit: float | None = None, on_progress: OnProgress | None = None) -> Solution:
    """The same answer, with a lower bound on what any partition could reach.

    The target must be a sum of prices of classes (`solvers.bound.Bound` refuses others). It takes about a millisecond
    for each different record; a bound that the answer has already is kept if it is better.

    Raises:
        RefusedError: nothing can be proven for such a problem.

    >>> import optmodels as om
    >>> from formulations import Microaggregation
    >>> from solvers import bounded, solve
    >>> found = solve(Microaggregation(k=5).build(om.dataset("german")), solver="mdav")
    >>> found.bound is None
    True
    >>> proven = bounded(found)
    >>> 0.0 < proven.bound <= proven.value
    True
    """
    labels = solution.require()
    proven = Bound().solve(solution.problem, time_limit=time_limit, on_progress=on_progress, start=labels)
    if solution.gap is not None and (proven.gap is None or proven.gap >= solution.gap):
        return solution
    return replace(
        solution,
        status=proven.status,
        bound=proven.bound,
        evidence=proven.evidence,
        seconds=solution.seconds + proven.seconds,
        details={**solution.details, "bound": {"by": proven.solver, "seconds": proven.seconds}},
    )
