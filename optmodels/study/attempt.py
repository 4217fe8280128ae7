"""One run, from data to record, in a process of its own: only the solve is timed."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psutil

from optmodels import registry
from optmodels.clock import now
from optmodels.errors import MissingDependencyError, OptmodelsError, RefusedError
from optmodels.front import ParetoFront
from optmodels.jsonable import plain, with_tuples
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solution import Solution
from optmodels.solver import FrontSolver, Solver
from optmodels.study.building import first_records, problem_of, table_of
from optmodels.study.trials import Trial
from optmodels.table import Table

Tell = Callable[[str], None]

_WARM_RECORDS = (200, 30)  # some code is for many records only, and some solvers take but few
_WARM_SECONDS = 1.0
# What a solver notes of a front that a record has places of its own for.
_ELSEWHERE = ("curve", "seconds", "seed", "solver", "stop")


def attempt(trial: Trial, tell: Tell) -> dict[str, Any]:
    """The record of a run; `tell` hears of its phases: setup, warm-up, solve."""
    record: dict[str, Any] = {}
    try:
        _carry_out(trial, tell, record)
    except (RefusedError, MissingDependencyError) as refusal:
        record.update(outcome="refused", reason=str(refusal))
    except MemoryError as error:
        record.update(outcome="memory", reason=f"MemoryError: {error}".rstrip(": "))
    except OptmodelsError as error:
        record.update(outcome="error", reason=str(error))
    except Exception as error:  # whatever a solver raises is a result of the study
        record.update(outcome="error", reason=f"{type(error).__name__}: {error}", trace=traceback.format_exc())
    return record


def _carry_out(trial: Trial, tell: Tell, record: dict[str, Any]) -> None:
    tell("setup")
    began = now()
    table = table_of(trial.source)
    solver = registry.configured(registry.solver(trial.method), with_tuples(trial.options))
    problem = problem_of(trial, table)
    record.update(records=table.n, build_seconds=now() - began)
    if reason := solver.refuses(problem):
        raise RefusedError(reason)
    if trial.warm_up:
        tell("warm-up")
        began = perf_counter()
        _warm_up(trial, solver, table)
        record["warm_up_seconds"] = perf_counter() - began
    record["base_memory"] = _forget_peak()
    tell("solve")
    began = now()
    try:
        found = _answer(trial, solver, problem, trial.limits["time"], trial.seed)
    finally:
        record.update(seconds=now() - began, peak_memory=_peak())
    record.update(_front_record(found) if isinstance(found, ParetoFront) else _solution_record(problem, found))


def _answer(
    trial: Trial, solver: Solver, problem: Problem, time_limit: float | None, seed: int
) -> Solution | ParetoFront:
    if trial.answer == "solution":
        return solver.solve(problem, time_limit=time_limit, seed=seed)
    assert isinstance(solver, FrontSolver)
    return solver.pareto(problem, time_limit=time_limit, seed=seed)


def _warm_up(trial: Trial, solver: Solver, table: Table) -> None:
    """Load or compile what the solver needs, on a few records; what goes wrong there says nothing about the run."""
    for many in _WARM_RECORDS:
        with suppress(Exception):
            few = problem_of(trial, first_records(table, many))
            if solver.refuses(few) is None:
                _answer(trial, solver, few, _WARM_SECONDS, 0)
                return


def _solution_record(problem: Problem, found: Solution) -> dict[str, Any]:
    target = problem.target
    record = {
        "outcome": "done",
        "reason": found.reason or str(found.details.get("remark", "")),
        "status": str(found.status),
        "stop": str(found.stop),
        "bound": found.bound,
        "target": target.name,
        "senses": {target.name: target.sense},
        "details": _details(found.details),
        "evaluations": _count(found.details),
        "curve": [
            {"seconds": moment.seconds, "value": moment.value, "bound": moment.bound} for moment in found.history
        ],
    }
    if found.labels is None:
        return record
    judged = problem.evaluate(found.labels)  # the solver may be anyone's: it is not taken at its word
    if not judged.feasible:
        broken = ", ".join(f"{name} {count} times" for name, count in judged.violations.items() if count)
        return {**record, "outcome": "error", "reason": f"The solver returned a partition that breaks {broken}."}
    return {
        **record,
        "value": judged.values[target.name],
        "values": dict(judged.values),
        "gap": found.gap,
        "classes": int(found.labels.max()) + 1,
        "partition": _fingerprint([problem.check(found.labels)]),
    }


def _front_record(found: ParetoFront) -> dict[str, Any]:
    problem = found.problem
    reference = problem.reference()
    volume = found.hypervolume(reference)
    details = found.details
    curve: Iterable[Any] = details.get("curve", ())  # type: ignore[assignment]
    return {
        "outcome": "done",
        "reason": str(details.get("infeasible", "") or details.get("remark", "")),
        "status": "feasible" if len(found) else "infeasible" if "infeasible" in details else "none",
        "stop": details.get("stop"),
        "target": "hypervolume",
        "senses": {objective.name: objective.sense for objective in problem.objectives},
        "value": volume if len(found) else None,
        "values": {"hypervolume": volume, "points": len(found)},
        "reference": reference,
        "details": _details(details),
        "evaluations": _count(details),
        "points": [
            {"values": dict(point.values), "status": str(point.status), "bound": point.bound} for point in found
        ],
        "partition": _fingerprint([point.labels for point in found if point.labels is not None]),
        "curve": [
            *({"evaluations": e, "seconds": seconds, "value": volume} for e, seconds, volume in curve),
            {"evaluations": _count(details), "seconds": details["seconds"], "value": volume},
        ],
    }


def _details(details: Mapping[str, object]) -> Any:
    return plain({name: value for name, value in details.items() if name not in _ELSEWHERE})


def _count(details: Mapping[str, object]) -> int | None:
    count = details.get("evaluations")
    return int(count) if isinstance(count, (int, np.integer)) else None


def _fingerprint(partitions: Iterable[Labels]) -> str:
    """The same for the same partitions, in the same order, on every machine."""
    digest = hashlib.sha256()
    for labels in partitions:
        digest.update(np.ascontiguousarray(labels, dtype="<i8").tobytes())
    return digest.hexdigest()[:16]


def _forget_peak() -> int:
    """Bytes held now; on Linux the peak is counted from here."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return int(psutil.Process().memory_info().rss)


def _peak() -> int:
    """The most bytes held since the peak was forgotten, or, where that cannot be done, ever."""
    status = Path("/proc/self/status")
    if status.is_file():
        kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kilobytes) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak)  # macOS counts bytes
