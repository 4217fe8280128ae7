"""Any other MILP solver, through Pyomo's own interface to it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import TYPE_CHECKING

import pyomo.environ as pyo
from pyomo.common.log import LoggingIntercept
from pyomo.opt import TerminationCondition

from optmodels.solution import Stop
from optmodels.solver import Run

if TYPE_CHECKING:
    from solvers.milp._milp import Milp, Outcome

# Solvers agree on no name for the relative gap, and their defaults stop short of a proof.
GAP_OPTIONS = {
    "appsi_highs": "mip_rel_gap",
    "cbc": "ratioGap",
    "cplex": "mip_tolerances_mipgap",
    "glpk": "mipgap",
    "gurobi": "MIPGap",
    "scip": "limits/gap",
    "xpress": "miprelstop",
}


def unavailable(name: str) -> str | None:
    """Why Pyomo cannot run this solver here, or None."""
    with LoggingIntercept(module="pyomo"):  # which would print a traceback for a name it does not know
        if pyo.SolverFactory(name).available(exception_flag=False):
            return None
    return f"Pyomo finds no solver '{name}' on this machine; 'highs' comes with the package."


def solve(
    options: Milp,
    model: pyo.ConcreteModel,
    *,
    warm: bool,
    run: Run,
    found: Callable[[], bool],
    bounded: Callable[[float], None],
) -> Outcome:
    """Solve the model; `found` is called with the solution in the model's variables, `bounded` with the bound."""
    from solvers.milp._milp import Outcome

    optimiser = pyo.SolverFactory(options.solver)
    if options.solver in GAP_OPTIONS:
        optimiser.options[GAP_OPTIONS[options.solver]] = options.gap
    arguments: dict[str, object] = {"load_solutions": False}
    if run.remaining < inf:
        arguments["timelimit"] = max(run.remaining, 0.0)
    if options.log is not None:
        arguments["logfile"] = str(options.log)
    if warm and optimiser.warm_start_capable():
        arguments["warmstart"] = True
    results = optimiser.solve(model, **arguments)
    condition = results.solver.termination_condition
    if condition in (TerminationCondition.infeasible, TerminationCondition.infeasibleOrUnbounded):
        return Outcome(infeasible=True)
    if len(results.solution):
        model.solutions.load_from(results)
        found()
    minimised = next(model.component_data_objects(pyo.Objective, active=True)).sense == pyo.minimize
    bound = results.problem.lower_bound if minimised else results.problem.upper_bound
    if isinstance(bound, (int, float)) and isfinite(bound):
        bounded(float(bound))
    stops = {TerminationCondition.optimal: Stop.CONVERGED, TerminationCondition.maxTimeLimit: Stop.TIME}
    return Outcome(stops.get(condition, Stop.ERROR))
