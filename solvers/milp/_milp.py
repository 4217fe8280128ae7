"""Any Pyomo view, solved as a mixed-integer linear program with incumbent, bound and gap."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from optmodels.errors import InputError, finite
from optmodels.problem import Problem
from optmodels.problem.patience import NoLongerWanted, as_long_as
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from optmodels.structures import Priced
from solvers.milp.call import Call, Outcome

# MILP solvers hold rows and integrality to tolerances: a bound this close to the incumbent's value is that value.
RELATIVE = 1e-7
ABSOLUTE = 1e-9
# Pyomo takes about this share of the time to build a model again to write it down for a solver, and cannot be stopped.
WRITING = 0.6


@dataclass(frozen=True)
class Milp(Solver):
    """Branch and bound on the model's Pyomo view: HiGHS, or any other MILP solver that Pyomo finds.

    `solver` is 'highs' or a name that Pyomo's SolverFactory knows ('gurobi', 'cbc', 'scip', ...); `log` is the
    file for that solver's own log; with `gap` it stops once the incumbent is proven that close to the optimum.

    >>> import pandas as pd
    >>> from formulations import LiangSamavi
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 60, 21, 61]}), quasi={"age": "numeric"})
    >>> Milp().solve(LiangSamavi(k=2).build(table)).labels
    array([0, 1, 0, 1])
    """

    name: ClassVar[str] = "milp"
    summary: ClassVar[str] = "the Pyomo view through HiGHS or another MILP solver; proves optimality on small tables"
    exact: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("pyomo", "highspy")
    only: ClassVar[str] = "with a Pyomo view, which few records have"

    solver: str = "highs"
    log: str | Path | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        finite("gap", self.gap)
        if self.gap >= 1:
            raise InputError(f"gap must be a fraction, at least 0 and less than 1, not {self.gap!r}.")
        if self.log is not None and (not Path(self.log).parent.is_dir() or Path(self.log).is_dir()):
            raise InputError(f"log must be a file in a folder that exists, not '{self.log}': make the folder first.")

    def cannot(self, problem: Problem) -> str | None:
        """It needs a Pyomo view, and the MILP solver that was named."""
        if self.solver != "highs":
            from solvers.milp.pyomo_run import unavailable

            if reason := unavailable(self.solver):
                return reason
        return problem.lacks_pyomo()

    def decides_suppression(self, problem: Problem) -> bool:
        """Where the view has a variable for every record that is left out."""
        return problem.pyomo_leaves_out()

    def search(self, problem: Problem, run: Run) -> None:
        """Solve, add the cuts that the solutions violate, and solve again until there are none.

        Every round's bound holds for the whole problem: a model that still lacks cuts only allows more.
        """
        if run.labels is None:
            run.offer(np.zeros(problem.n, np.int64))  # everyone in one class: the crudest release, often feasible
        priced = problem.structure(Priced)
        if priced is not None and priced.compiled is not None:
            run.prove(0.0)  # no compiled price is negative: something is known however large the model is
        began = run.seconds
        try:
            with _giving_up_quietly(), as_long_as(lambda: not run.expired):
                view = problem.to_pyomo()
        except NoLongerWanted:
            run.details["remark"] = "the time was too short to write the model down"
            return
        writing = WRITING * (run.seconds - began)
        rounds = cuts = nodes = 0

        def found() -> bool:
            nonlocal cuts
            run.offer(view.decode(view.native))
            added = view.cuts(view.native) if view.cuts else 0
            cuts += added
            return added > 0

        def bounded(bound: float) -> None:
            value = run.value
            close = value is not None and abs(value - bound) <= max(RELATIVE * abs(value), ABSOLUTE)
            run.prove(value if close and value is not None else bound)
            run.report(f"round {rounds}")

        while not run.expired:
            if run.remaining < writing:
                run.stop, run.details["remark"] = Stop.TIME, "the time was too short to hand the model to its solver"
                return
            rounds, known = rounds + 1, cuts
            warm = run.labels is not None and view.encode is not None and view.encode(run.labels)
            outcome = _solve(Call(view.native, self.solver, self.gap, self.log, warm, run, found, bounded))
            nodes += outcome.nodes
            run.details |= {"solver": self.solver, "rounds": rounds, "cuts": cuts, "nodes": nodes}
            if outcome.infeasible:
                run.infeasible(f"The MILP solver proved that no partition satisfies {problem.conditions.describe()}.")
            run.stop = outcome.stop
            if outcome.stop is not Stop.CONVERGED or outcome.infeasible or cuts == known:
                return


def _solve(call: Call) -> Outcome:
    if call.solver == "highs":
        from solvers.milp.highs_run import solve
    else:
        from solvers.milp.pyomo_run import solve
    return solve(call)


@contextmanager
def _giving_up_quietly() -> Iterator[None]:
    """Pyomo logs as an error that a model is not written to its end; given up for want of time it is none."""
    logger = logging.getLogger("pyomo.core")

    def is_an_error(record: logging.LogRecord) -> bool:
        return NoLongerWanted.__name__ not in record.getMessage()

    logger.addFilter(is_an_error)
    try:
        yield
    finally:
        logger.removeFilter(is_an_error)
