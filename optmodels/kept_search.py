"""A search that is kept in a file, so that another goes on from where it was.

The file holds the class of every record for each partition, what is proven of it, and of which problem. It holds no
value of any record; but whoever has it and a release knows which records share a class, so that it is to be kept as the
data are. What it says is judged again, and it is sealed: what was changed since is known for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from optmodels import jsonable
from optmodels.errors import InputError
from optmodels.evidence import Evidence
from optmodels.files import write_whole
from optmodels.front import ParetoFront
from optmodels.partition import Labels
from optmodels.problem import Problem, differing, particulars
from optmodels.solution import Solution, Status, Stop

FORMAT = "optmodels search 1"
_META, _DUALS = b"optmodels", "duals"
_SAME = 1e-7  # values of one partition on one table differ by no more than this, relatively
_DETAILS = ("levels", "complete")  # of a front, that are true of whatever else is found


@dataclass(frozen=True, eq=False)
class Earlier:
    """What was found before: judged points, how often and for how many seconds somebody has searched, and the record.

    Of a search for one answer there is one point, or none.
    """

    points: tuple[Solution, ...]
    runs: int = 1
    seconds: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, start: Solution | ParetoFront) -> Earlier:
        """What an answer or a front of the same problem has to begin from.

        Raises:
            InputError: it is of another problem, so that what is proven of it proves nothing here.
        """
        front = isinstance(start, ParetoFront)
        points = start.points if isinstance(start, ParetoFront) else () if start.labels is None else (start,)
        if start.problem is not problem:
            what = "a front" if front else "an answer"
            other = differing(particulars(start.problem), particulars(problem))
            if other:
                alone = "" if front else " Its labels alone can be begun from: start=solution.labels."
                raise InputError(f"start is {what} of another problem, which differs in {other}.{alone}")
            points = tuple(_judged(problem, point, f"start is {what}") for point in points)
        return cls(
            points,
            *_whole(start),
            {name: start.details[name] for name in _DETAILS if name in start.details} if front else {},
        )

    @property
    def resumed(self) -> dict[str, float]:
        """How often and for how long somebody has searched before, for the record of who goes on."""
        return {"runs": self.runs, "seconds": self.seconds}


@dataclass(frozen=True, eq=False)
class SoFar:
    """What a search has found so far, `held` being partitions that nobody has judged yet."""

    points: Sequence[Solution]
    held: Sequence[NDArray[np.integer[Any]]] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    runs: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, solution: Solution) -> SoFar:
        """What an answer leaves to go on from."""
        runs, seconds = _whole(solution)
        return cls((solution,), runs=runs, seconds=seconds)


def save(path: str | Path, problem: Problem, standing: SoFar, *, front: bool) -> None:
    """Write what a search has found so far."""
    labels: list[NDArray[np.integer[Any]]] = []
    rows: list[dict[str, Any]] = []
    for point in standing.points:
        if point.labels is not None:
            rows.append(
                {
                    "values": dict(point.values),
                    "bound": point.bound,
                    "solver": point.solver,
                    "stop": str(point.stop),
                    "seconds": point.seconds,
                    "seed": point.seed,
                }
            )
            labels.append(point.labels)
    labels += standing.held
    duals = _duals(standing.points, problem.n)
    columns = {str(i): np.asarray(one, np.int32) for i, one in enumerate(labels)}
    arrays: dict[str, NDArray[Any]] = columns | ({} if duals is None else {_DUALS: duals})
    said = {
        "format": FORMAT,
        "of": "a front" if front else "one answer",
        "problem": particulars(problem),
        "points": rows,
        "runs": standing.runs,
        "seconds": standing.seconds,
        "details": {name: standing.details[name] for name in _DETAILS if name in standing.details},
    }
    text = json.dumps(jsonable.plain(said), allow_nan=False)
    sealed = json.dumps({"said": text, "seal": _seal(text, arrays)})
    table = pa.table({name: pa.array(values) for name, values in arrays.items()})
    table = table.replace_schema_metadata({_META: sealed.encode()})
    write_whole(path, lambda file: pq.write_table(table, file, compression="zstd"))


def load(path: str | Path, problem: Problem, *, front: bool) -> Earlier | None:
    """What is kept in a file, judged again; None where there is no such file yet.

    Raises:
        InputError: it is no such file, was changed, or is of another problem.
    """
    if not Path(path).exists():
        return None
    said, arrays = _read(path)
    asked = "a front" if front else "one answer"
    if said["of"] != asked:
        raise InputError(f"'{path}' keeps a search for {said['of']}, and {asked} is asked for: name another file.")
    if other := differing(said["problem"], particulars(problem)):
        raise InputError(
            f"The search kept in '{path}' is of another problem, which differs in {other}. Ask for what was asked for "
            "then, or name another file."
        )
    points: list[Solution] = []
    whose = f"'{path}' keeps a search"
    for place, row in enumerate(said["points"]):
        values = {name: float(value) for name, value in row["values"].items()}
        bound = None if row["bound"] is None else float(row["bound"])
        found = Solution(problem, row["solver"], Status.FEASIBLE, Stop(row["stop"]), arrays[str(place)], values, bound)
        points.append(_judged(problem, replace(found, seconds=float(row["seconds"]), seed=int(row["seed"])), whose))
    if points and _DUALS in arrays and not front:
        points[0] = replace(points[0], evidence=Evidence("classes", arrays[_DUALS]))
    held = [arrays[name] for name in arrays if name != _DUALS and int(name) >= len(points)]
    points += [point for labels in held if (point := _first_judged(problem, labels)) is not None]
    return Earlier(tuple(points), int(said["runs"]), float(said["seconds"]), said["details"])


def _whole(found: Solution | ParetoFront) -> tuple[int, float]:
    """How often and for how many seconds somebody has searched for this, whoever went on included."""
    before = found.details.get("resumed")
    earlier = before if isinstance(before, Mapping) else {}
    took = found.details.get("seconds", 0.0) if isinstance(found, ParetoFront) else found.seconds
    seconds = float(took) if isinstance(took, (int, float)) else 0.0
    return int(earlier.get("runs", 0)) + 1, float(earlier.get("seconds", 0.0)) + seconds


def _read(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        table = pq.read_table(path)
        sealed = json.loads((table.schema.metadata or {})[_META])
        said: dict[str, Any] = json.loads(sealed["said"])
        if said["format"] != FORMAT:
            raise ValueError(said["format"])
        arrays: dict[str, NDArray[Any]] = {name: table.column(name).to_numpy() for name in table.column_names}
        intact = sealed["seal"] == _seal(sealed["said"], arrays)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as problem:
        raise InputError(
            f"'{path}' is no search that 'optmodels' kept, or damaged ({problem}): name another file, or delete it to "
            "begin anew."
        ) from problem
    if not intact:
        raise InputError(
            f"'{path}' was changed since the search was kept in it, so that nothing it says is proven: delete it to "
            "begin anew."
        )
    return said, {name: values if name == _DUALS else values.astype(np.int64) for name, values in arrays.items()}


def _seal(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(text.encode())
    for name, values in arrays.items():
        digest.update(f"{name} {values.dtype.str} {values.shape} ".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _duals(points: Sequence[Solution], n: int) -> NDArray[np.float64] | None:
    """What is known to prove the bound of a single answer, a dual for each record."""
    evidence = points[0].evidence if len(points) == 1 else None
    fits = evidence is not None and evidence.kind == "classes" and evidence.numbers.shape == (n,)
    return np.asarray(evidence.numbers, np.float64) if fits and evidence is not None else None


def _judged(problem: Problem, point: Solution, whose: str) -> Solution:
    """The point with the problem's own values.

    Raises:
        InputError: it breaks a condition, or its values are not those that it had.
    """
    assert point.labels is not None
    found = problem.evaluate(point.labels)
    if not found.feasible:
        broken = ", ".join(name for name, count in found.violations.items() if count)
        raise InputError(f"{whose} whose partition breaks what this problem asks for ({broken}).")
    for name, value in found.values.items():
        before = point.values.get(name, value)
        if not isclose(value, before, rel_tol=_SAME, abs_tol=_SAME):
            raise InputError(
                f"{whose} whose partition had a {name} of {before:.6g} and has {value:.6g} in this problem: it was "
                "built with another seed, or from other data."
            )
    return replace(point, problem=problem, values=found.values)


def _first_judged(problem: Problem, labels: Labels) -> Solution | None:
    """A partition that nobody had judged yet; None if it breaks a condition."""
    found = problem.evaluate(labels)
    if not found.feasible:
        return None
    return Solution(problem, "", Status.FEASIBLE, Stop.INTERRUPTED, problem.check(labels), found.values)
