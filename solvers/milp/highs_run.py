"""HiGHS on a Pyomo model, in a thread: solutions and bounds while it runs, and a Ctrl-C that stops it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from optmodels.solution import Stop
from solvers._awaited import begun
from solvers.milp.call import Call, Outcome

POLL_SECONDS = 0.05
# How long HiGHS may take to its next look at the clock, or at an interrupt, before it is left to end by itself.
PATIENCE_SECONDS = 1.0
# Tighter than HiGHS's own: through a big M, a binary that is nearly 1 buys a little of everything.
FEASIBILITY = 1e-9


def solve(call: Call) -> Outcome:
    """Solve the model; HiGHS stops as soon as a solution has changed it."""
    run, found, bounded = call.run, call.found, call.bounded
    try:
        form = LinearStandardFormCompiler().write(call.model, mixed_form=True)
    except InfeasibleConstraintException:
        return Outcome(infeasible=True)
    sign = 1.0 if form.objectives[0].sense == pyo.minimize else -1.0
    lp, scale = _linear_program(form)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", call.log is not None)
    highs.setOptionValue("log_to_console", False)
    if call.log is not None:
        highs.setOptionValue("log_file", str(call.log))
    highs.setOptionValue("mip_rel_gap", call.gap)
    highs.setOptionValue("mip_abs_gap", 0.0)
    for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance"):
        highs.setOptionValue(name, FEASIBILITY)
    if run.remaining < inf:
        highs.setOptionValue("time_limit", max(run.remaining, 0.0))
    highs.passModel(lp)
    if call.warm:
        start = highspy.HighsSolution()
        start.col_value = [pyo.value(variable) for variable in form.columns]
        highs.setSolution(start)

    def collect() -> None:
        for values in _drained(solutions):
            _load(form.columns, values)
            if found():
                interrupted.set()
        for bound in _drained(bounds)[-1:]:
            bounded(sign * bound / scale)

    solutions: SimpleQueue[NDArray[np.float64]] = SimpleQueue()
    bounds: SimpleQueue[float] = SimpleQueue()
    interrupted = Event()

    def watch(event: Any) -> None:
        if abs(event.data_out.mip_dual_bound) < inf:
            bounds.put(event.data_out.mip_dual_bound)
        if interrupted.is_set():
            event.interrupt()

    def improved(event: Any) -> None:
        values = event.data_out.mip_solution  # in older versions a bare pointer, which does not know its length
        solutions.put(np.array([values[place] for place in range(len(form.columns))]))

    def stop_within_relaxations(event: Any) -> None:
        if interrupted.is_set():
            event.interrupt()

    highs.cbMipInterrupt += watch
    highs.cbSimplexInterrupt += stop_within_relaxations
    highs.cbIpmInterrupt += stop_within_relaxations
    highs.cbMipImprovingSolution += improved
    worker = begun(highs.run)
    try:
        while worker.is_alive():
            worker.join(POLL_SECONDS)
            collect()
            run.interrupt.heed()
            if run.remaining < -PATIENCE_SECONDS:
                interrupted.set()
                return Outcome(Stop.TIME)
    except KeyboardInterrupt:
        interrupted.set()
        worker.join(PATIENCE_SECONDS)
        raise
    collect()
    return _finish(highs, form.columns, found, lambda bound: bounded(sign * bound / scale))


def _finish(
    highs: highspy.Highs, columns: list[Any], found: Callable[[], bool], bounded: Callable[[float], None]
) -> Outcome:
    status, info = highs.getModelStatus(), highs.getInfo()
    kinds = highspy.HighsModelStatus
    if status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible):
        return Outcome(infeasible=True)
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        # A model without integers, or one that presolve finished, never calls back.
        _load(columns, np.array(highs.getSolution().col_value))
        found()
    is_mip = info.mip_node_count >= 0
    bound = info.mip_dual_bound if is_mip else info.objective_function_value
    if abs(bound) < inf and (is_mip or status == kinds.kOptimal):
        bounded(bound)
    # Ctrl-C does not come this far, so an interrupt here is ours, for a model that has changed.
    stops = {kinds.kOptimal: Stop.CONVERGED, kinds.kInterrupt: Stop.CONVERGED, kinds.kTimeLimit: Stop.TIME}
    return Outcome(stops.get(status, Stop.ERROR), nodes=max(int(info.mip_node_count), 0))


def _linear_program(form: Any) -> tuple[highspy.HighsLp, float]:
    """The model as HiGHS's own arrays, its costs multiplied by a power of two that makes the largest about 1000.

    Losses are often tiny fractions, which HiGHS's absolute tolerances would take for zero.
    """
    costs = form.c.toarray().ravel()
    largest = np.abs(costs).max(initial=0.0)
    scale = 2.0 ** round(np.log2(1000.0 / largest)) if largest > 0 else 1.0
    kind = np.array([row.bound_type for row in form.rows])
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(form.columns), len(form.rows)
    lp.col_cost_ = costs * scale
    lp.offset_ = float(form.c_offset[0]) * scale
    lp.col_lower_ = np.array([-inf if v.lb is None else v.lb for v in form.columns], np.float64)
    lp.col_upper_ = np.array([inf if v.ub is None else v.ub for v in form.columns], np.float64)
    lp.row_lower_ = np.where(kind <= 0, form.rhs, -inf)
    lp.row_upper_ = np.where(kind >= 0, form.rhs, inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = form.A.indptr
    lp.a_matrix_.index_ = form.A.indices
    lp.a_matrix_.value_ = form.A.data
    types = highspy.HighsVarType
    lp.integrality_ = [types.kContinuous if v.is_continuous() else types.kInteger for v in form.columns]
    return lp, scale


def _drained(queue: SimpleQueue[Any]) -> list[Any]:
    items = []
    while True:
        try:
            items.append(queue.get_nowait())
        except Empty:
            return items


def _load(columns: list[Any], values: NDArray[np.float64]) -> None:
    for variable, value in zip(columns, values.tolist(), strict=True):
        variable.set_value(value, skip_validation=True)
