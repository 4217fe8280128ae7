"""Set partitioning over given classes as a HiGHS MIP, in a thread so that Ctrl-C gets through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter
from typing import Any

import highspy
import numpy as np

from solvers.columns.instance import Floats, Ints
from solvers.columns.master import Master

_POLL_SECONDS = 0.1
_PATIENCE_SECONDS = 0.7


@dataclass(frozen=True, eq=False)
class Combination:
    """The best partition made of given classes, and a bound on all such partitions."""

    classes: list[Ints] | None
    bound: float
    optimal: bool


def combine(
    master: Master, classes: Sequence[Ints], seconds: float, start: Sequence[Ints] | None = None
) -> Combination:
    """The cheapest partition made of these classes, under the master's cuts, within a time limit.

    `start` is a partition to begin from; classes of it that are not given are added.
    """
    known = {members.tobytes(): place for place, members in enumerate(classes)}
    pool = list(classes)
    for members in start or ():
        if members.tobytes() not in known:
            known[members.tobytes()] = len(pool)
            pool.append(members)
    mip = highspy.Highs()
    mip.setOptionValue("output_flag", False)
    mip.setOptionValue("threads", 1)
    mip.setOptionValue("mip_rel_gap", 0.0)
    mip.setOptionValue("mip_abs_gap", 1e-7)
    mip.setOptionValue("time_limit", max(seconds, 0.1))
    mip.passModel(_model(master, pool))
    if start is not None:
        solution = highspy.HighsSolution()
        value = np.zeros(len(pool))
        for members in start:
            value[known[members.tobytes()]] += 1.0
        solution.col_value = value.tolist()
        mip.setSolution(solution)
    best, ended = _run(mip, seconds)
    if not ended:
        return Combination(None if best is None else _chosen(pool, best), -np.inf, False)
    info, kinds = mip.getInfo(), highspy.HighsModelStatus
    status = mip.getModelStatus()
    if status == kinds.kInfeasible:
        return Combination(None, np.inf, True)
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        best = np.array(mip.getSolution().col_value)
    return Combination(
        None if best is None else _chosen(pool, best), float(info.mip_dual_bound), status == kinds.kOptimal
    )


def _chosen(classes: Sequence[Ints], value: Floats) -> list[Ints]:
    times = np.rint(value).astype(np.int64)
    return [classes[c] for c in np.flatnonzero(times).tolist() for _ in range(times[c])]


def _model(master: Master, classes: Sequence[Ints]) -> highspy.HighsLp:
    starts, rows, values, costs = [0], [], [], []
    for members in classes:
        column = master.column(members)
        rows += list(column.keys())
        values += list(column.values())
        starts.append(len(rows))
        costs.append(master.instance.price(members))
    lower, upper = master.row_bounds()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(classes), len(lower)
    lp.col_cost_ = np.array(costs)
    lp.col_lower_ = np.zeros(len(classes))
    lp.col_upper_ = np.full(len(classes), float(master.instance.types.copies.max()))
    lp.row_lower_, lp.row_upper_ = lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.array(starts, np.int32)
    lp.a_matrix_.index_ = np.array(rows, np.int32)
    lp.a_matrix_.value_ = np.array(values)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * len(classes)
    return lp


def _run(mip: highspy.Highs, seconds: float) -> tuple[Floats | None, bool]:
    """Run it; the best solution seen on the way, and whether it ended in time.

    HiGHS looks at its clock only now and then, so it is left to end by itself when it is too late.
    """
    stopped = Event()
    solutions: list[Floats] = []

    def watch(event: Any) -> None:
        if stopped.is_set():
            event.interrupt()

    mip.cbMipInterrupt += watch
    mip.cbMipImprovingSolution += lambda event: solutions.append(np.array(event.data_out.mip_solution))
    worker = Thread(target=mip.run, daemon=True)
    worker.start()
    deadline = perf_counter() + seconds + _PATIENCE_SECONDS
    try:
        while worker.is_alive() and perf_counter() < deadline:
            worker.join(_POLL_SECONDS)
    finally:
        stopped.set()
    return (solutions[-1] if solutions else None), not worker.is_alive()
