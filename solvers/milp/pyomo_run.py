"""Any other MILP solver, through Pyomo's own interface to it."""

from __future__ import annotations

from math import inf, isfinite

import pyomo.environ as pyo
from pyomo.common.log import LoggingIntercept
from pyomo.opt import TerminationCondition

from optmodels.solution import Stop
from solvers.milp.call import Call, Outcome

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


def solve(call: Call) -> Outcome:
    """Solve the model; there is one solution and one bound, at the end."""
    optimiser = pyo.SolverFactory(call.solver)
    if call.solver in GAP_OPTIONS:
        optimiser.options[GAP_OPTIONS[call.solver]] = call.gap
    arguments: dict[str, object] = {"load_solutions": False}
    if call.run.remaining < inf:
        arguments["timelimit"] = max(call.run.remaining, 0.0)
    if call.log is not None:
        arguments["logfile"] = str(call.log)
    if call.warm and optimiser.warm_start_capable():
        arguments["warmstart"] = True
    results = optimiser.solve(call.model, **arguments)
    condition = results.solver.termination_condition
    if condition in (TerminationCondition.infeasible, TerminationCondition.infeasibleOrUnbounded):
        return Outcome(infeasible=True)
    if len(results.solution):
        call.model.solutions.load_from(results)
        call.found()
    minimised = next(call.model.component_data_objects(pyo.Objective, active=True)).sense == pyo.minimize
    bound = results.problem.lower_bound if minimised else results.problem.upper_bound
    if isinstance(bound, (int, float)) and isfinite(bound):
        call.bounded(float(bound))
    stops = {TerminationCondition.optimal: Stop.CONVERGED, TerminationCondition.maxTimeLimit: Stop.TIME}
    return Outcome(stops.get(condition, Stop.ERROR))
