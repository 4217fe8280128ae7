"""Set partitioning over given classes as a HiGHS MIP, in a thread so that Ctrl-C gets through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event
from time import perf_counter
from typing import Any

import highspy
import numpy as np

from optmodels.suppression import NOBODY, Suppression
from solvers._awaited import begun
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
    pool, places = _pooled(classes, start or ())
    return solve_program(_model(master, pool), pool, seconds, places if start is not None else None)


def cheapest_partition(
    n: int,
    classes: Sequence[Ints],
    price: Callable[[Ints], float],
    seconds: float,
    *,
    n_classes: int | None = None,
    start: Sequence[Ints] | None = None,
    suppression: Suppression = NOBODY,
) -> Combination:
    """The cheapest partition of n records made of these classes, given by their records, within a time limit.

    Records that are left out are classes of one, at their price.
    """
    alone = [np.array([record]) for record in range(n)] if suppression.most else []
    pool, places = _pooled([*classes, *alone], start or ())
    prices = np.array([price(members) if len(members) > 1 else suppression.price for members in pool])
    unit = float(np.abs(prices).mean()) or 1.0  # HiGHS knows absolute tolerances
    most = [float(n if n_classes is None else n_classes), float(suppression.most)]
    columns = [np.append(members, n if len(members) > 1 else n + 1) for members in pool]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(pool), n + 2
    lp.col_cost_ = prices / unit
    lp.col_lower_, lp.col_upper_ = np.zeros(len(pool)), np.ones(len(pool))
    lp.row_lower_ = np.array([1.0] * n + [0.0 if n_classes is None else most[0], 0.0])
    lp.row_upper_ = np.array([1.0] * n + most)
    _fill(lp, np.cumsum([0, *map(len, columns)]), np.concatenate(columns))
    found = solve_program(lp, pool, seconds, places if start is not None else None)
    return replace(found, bound=found.bound * unit)


def _pooled(classes: Sequence[Ints], start: Sequence[Ints]) -> tuple[list[Ints], list[int]]:
    """The classes and those of a start that are not among them, and the places of the start's."""
    known = {members.tobytes(): place for place, members in enumerate(classes)}
    pool = list(classes)
    for members in start:
        if members.tobytes() not in known:
            known[members.tobytes()] = len(pool)
            pool.append(members)
    return pool, [known[members.tobytes()] for members in start]


def solve_program(
    lp: highspy.HighsLp, pool: Sequence[Ints], seconds: float, start: Sequence[int] | None
) -> Combination:
    """The best choice of classes by an integer program that has a column for each of them."""
    lp.integrality_ = [highspy.HighsVarType.kInteger] * len(pool)
    mip = highspy.Highs()
    mip.setOptionValue("output_flag", False)
    mip.setOptionValue("threads", 1)
    mip.setOptionValue("mip_rel_gap", 0.0)
    mip.setOptionValue("mip_abs_gap", 1e-7)
    mip.setOptionValue("time_limit", max(seconds, 0.1))
    mip.passModel(lp)
    if start is not None:
        solution = highspy.HighsSolution()
        value = np.zeros(len(pool))
        np.add.at(value, start, 1.0)
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
    _fill(lp, np.array(starts), np.array(rows), np.array(values))
    return lp


def _fill(lp: highspy.HighsLp, starts: Ints, rows: Ints, values: Floats | None = None) -> None:
    """The columns of a program, one after the other."""
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = starts.astype(np.int32)
    lp.a_matrix_.index_ = rows.astype(np.int32)
    lp.a_matrix_.value_ = np.ones(len(rows)) if values is None else values


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
    worker = begun(mip.run)
    deadline = perf_counter() + seconds + _PATIENCE_SECONDS
    try:
        while worker.is_alive() and perf_counter() < deadline:
            worker.join(_POLL_SECONDS)
    finally:
        stopped.set()
    return (solutions[-1] if solutions else None), not worker.is_alive()
