"""Records to fixed centres as a network flow: the proven optimum without ever holding all arcs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import RefusedError, whole
from optmodels.evidence import Evidence
from optmodels.flow import Bounds, Flow, dense_transport
from optmodels.flow.dense import MOST_ARCS
from optmodels.flow.pricing import ArcCosts
from optmodels.partition import LEFT_OUT
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.solution import Solution, Stop
from optmodels.solver import PROVEN, FrontSolver, OnProgress, Run
from optmodels.structures import Assignment, Structure
from optmodels.suppression import Suppression
from solvers.network.levels import first_level, levels, no_levels
from solvers.network.sizes import CANNOT_MEET, search_sizes

# Seconds beyond the limit in which a first assignment may still be found: something is better than nothing.
GRACE = 1.0


@dataclass(frozen=True)
class Network(FrontSolver):
    """Least-cost flow: cost scaling and augmenting paths over each record's cheapest arcs, then pricing of all arcs.

    A small plain transport (at most 100,000 arcs) goes to POT's dense network simplex, which is faster there, where the
    extra `transport` is installed.

    Floors and caps on any number of values of one attribute are a network, caps hard or soft; bounds on two attributes
    are not. Conditions on an attribute with two values are such bounds. Where they depend on sizes that are left open,
    it branches over these. Fronts are of the distance and of closeness or entropy, and exact.

    With `recentre` the answer's classes become the new centres and the problem is solved again, as long as its
    value falls and at most `rounds` times; the solution's problem is then the last of these, with centres of its
    own, and `details` lists the value of every round.

    >>> import pandas as pd
    >>> from formulations import Aminifar
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 60, 21, 61, 22, 66]}), quasi={"age": "numeric"})
    >>> Network().solve(Aminifar(k=3, centres=((21,), (61,))).build(table))
    Solution(optimal by network, distance=8, gap=0.000%, ... s)
    """

    name: ClassVar[str] = "network"
    summary: ClassVar[str] = "least-cost flow to fixed centres, one answer or a front, proven on 100,000s of records"
    exact: ClassVar[bool] = True
    needs: ClassVar[tuple[type[Structure], ...]] = (Assignment,)
    only: ClassVar[str] = "fixed centres, bounds on one attribute at most"

    recentre: bool = False
    rounds: int = 100

    def __post_init__(self) -> None:
        whole("rounds", self.rounds, 1)

    def cannot(self, problem: Problem) -> str | None:
        """Centres must be fixed, the distance to them asked for, and bounds on one attribute at most."""
        assignment = problem.require(Assignment)
        if assignment.centres is None:
            return "its centres are chosen as well, so that no flow to them can be priced beforehand."
        if not assignment.is_target:
            return f"it minimises the distance to centres, and '{problem.target.name}' is asked for."
        return assignment.no_network

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """Every point of a front is the optimum of its level, unless records may be left out of it."""
        return not (front and problem.suppression.most)

    def decides_suppression(self, problem: Problem) -> bool:
        """Those left out go to a centre of their own, at their price, where bounds do not depend on sizes."""
        return problem.require(Assignment).bounds_at is None

    def search(self, problem: Problem, run: Run) -> None:
        """Solve over few arcs, price all of them, and repeat until none is missing."""
        assignment = problem.require(Assignment)
        run.report("cheapest arcs of every record")
        if assignment.bounds_at is not None:
            search_sizes(assignment, _fixed(assignment), run)
            return
        value, bounds = assignment.network()
        costs = assignment.arc_costs(_fixed(assignment))
        if problem.suppression.most:
            costs, bounds = _with_sink(costs, bounds, problem.suppression)
        if problem.n * len(bounds.least) <= MOST_ARCS and self._densely(costs, run, value, bounds):
            return
        with run.halting(grace=GRACE) as halt:
            self._by_flow(Flow(costs, value, bounds, halt), run)

    def _by_flow(self, flow: Flow, run: Run) -> None:
        try:
            for doing in flow.steps():
                if np.isfinite(flow.bound):
                    run.prove(flow.bound)
                run.report(doing)
                if run.expired:
                    break
            _ = run.expired  # a flow that was halted says nothing more
        finally:
            # Judging is as much work as a pricing, so only the last and best assignment is offered.
            if flow.feasible and (flow.placed >= 0).all():
                run.offer(_without_sink(flow.placed, run.problem))
            run.details |= {"arcs": flow.n_arcs, "paths": flow.paths, "pricings": flow.pricings}
        if not flow.feasible:
            run.infeasible(CANNOT_MEET)
        elif np.isfinite(flow.bound):
            run.prove(flow.bound)
        if flow.tolls is not None:
            run.evidence = Evidence("centres", flow.tolls)

    def _densely(self, arc_costs: ArcCosts, run: Run, value: NDArray[np.int32], bounds: Bounds) -> bool:
        """Solve it as a small dense transport if it is one; whether that was enough."""
        n, m = len(value), len(bounds.least)
        found = dense_transport(arc_costs(np.arange(n), np.arange(m)), value, bounds)
        if found is None:
            return False
        run.offer(_without_sink(found[0], run.problem))
        run.prove(found[1])
        run.details |= {"arcs": n * m, "method": "dense network simplex (POT)"}
        return run.gap is not None and run.gap <= PROVEN

    def refuses_front(self, problem: Problem) -> str | None:
        """It needs the distance and a quantity of the worst class that bounds on counts can hold."""
        return super().refuses_front(problem) or no_levels(problem) or self.refuses(first_level(problem))

    def explore(self, problem: Problem, run: Run) -> None:
        """Level after level of the second objective, from the optimum on."""
        proven: list[dict[str, float | None]] = []
        run.details.update(levels=proven, complete=False)
        own, other = problem.target.name, problem.objectives[1].name
        for level in levels(problem, replace(self, recentre=False), run):
            answer = level.answer
            if answer.labels is not None:
                run.keep(answer.labels, answer.bound, stop=answer.stop)
            proven.append({f"{other}_better_than": level.beyond, f"{own}_at_least": answer.bound})
            if answer.stop is Stop.TIME:
                run.stop = Stop.TIME
            run.report(f"{len(run.front)} points")
        # a level whose bounds depend on sizes leaves out nobody by itself, and so may be reached at less
        run.details["complete"] = run.stop is Stop.CONVERGED and not problem.suppression.most

    def solve(
        self,
        problem: Problem,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        on_progress: OnProgress | None = None,
        start: NDArray[np.integer[Any]] | Solution | None = None,
        resume: str | Path | None = None,
    ) -> Solution:
        """The best partition and what is proven about it; see the class about `recentre`.

        What is kept for those who go on is the answer around the problem's own centres.
        """

        def solved(current: Problem, seconds: float | None) -> Solution:
            return super(Network, self).solve(current, time_limit=seconds, seed=seed, on_progress=on_progress)

        best = super().solve(
            problem, time_limit=time_limit, seed=seed, on_progress=on_progress, start=start, resume=resume
        )
        return self._descend(best, solved, time_limit) if self.recentre else best

    def _descend(
        self,
        best: Solution,
        solved: Callable[[Problem, float | None], Solution],
        time_limit: float | None,
    ) -> Solution:
        """Re-centre on the classes and solve again while the value falls."""
        values, seconds = [best.value], best.seconds
        for _ in range(self.rounds):
            left = None if time_limit is None else time_limit - seconds
            if best.labels is None or best.stop is Stop.INTERRUPTED or (left is not None and left <= 0):
                break
            recentred = best.problem.recentred(best.labels)
            if recentred is None:
                break
            found = solved(recentred, left)
            seconds += found.seconds
            if found.stop is Stop.INTERRUPTED:
                best = replace(best, stop=Stop.INTERRUPTED)
                break
            if found.value is None or best.value is None or found.value >= best.value * (1 - 1e-12):
                break
            values.append(found.value)
            best = found
        explained = "every round's value is the optimum around the class means of the round before"
        details = {**best.details, "recentred": len(values) - 1, "values": values, "recentring": explained}
        return replace(best, seconds=seconds, details=details)


def _with_sink(costs: ArcCosts, bounds: Bounds, suppression: Suppression) -> tuple[ArcCosts, Bounds]:
    """The network with one more centre, the last, that takes those who are left out, whoever they are."""
    m, kinds = bounds.cap.shape
    nothing, everything = np.zeros((1, kinds), np.int64), np.full((1, kinds), suppression.most)

    def with_price(rows: NDArray[np.int64], chosen: NDArray[np.int64]) -> Floats:
        found = np.full((len(rows), len(chosen)), suppression.price)
        inside = np.flatnonzero(chosen < m)
        found[:, inside] = costs(rows, chosen[inside])
        return found

    return with_price, Bounds(
        np.append(bounds.least, 0),
        np.append(bounds.most, suppression.most),
        np.vstack([bounds.floor, nothing]),
        np.vstack([bounds.cap, everything]),
        np.vstack([bounds.threshold, nothing.astype(np.float64)]),
        np.vstack([bounds.slope, nothing.astype(np.float64)]),
    )


def _without_sink(placed: NDArray[np.int64], problem: Problem) -> NDArray[np.int64]:
    """The labels of records at their centres, those at the sink left out."""
    if not problem.suppression.most:
        return placed
    return np.where(placed == len(problem.require(Assignment).least), LEFT_OUT, placed)


def _fixed(assignment: Assignment) -> Floats:
    """The centres, which `cannot` has made sure of."""
    if assignment.centres is None:
        raise RefusedError("There are no fixed centres to assign records to.")
    return assignment.centres
