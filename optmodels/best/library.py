"""Records of the library: read, judged again, beaten and written."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optmodels.best.instances import MissingDataError, problem_of
from optmodels.best.partitions import Found, partitions_in
from optmodels.errors import InputError, RefusedError, unknown
from optmodels.files import write_whole
from optmodels.partition import Labels, canonical
from optmodels.problem import Problem, particulars
from optmodels.solution import relative_gap

FORMAT = "optmodels best 1"
USUAL = Path("benchmarks") / "best"
_SAME = 1e-9  # values this close, relatively, are the same

Verdict = Literal["holds", "open", "skipped", "wrong"]


@dataclass(frozen=True)
class Record:
    """One instance and the best partition known of it, by a method and not by a person; none yet where it is open.

    `data` is the SHA-256 of the records as the model sees them; `classes` the labels by row, as compressed text.
    """

    instance: Mapping[str, Any]
    formulation: str
    parameters: Mapping[str, Any]
    data: str | None = None
    value: float | None = None
    bound: float | None = None
    by: str = ""
    bound_by: str = ""
    date: str = ""
    classes: str = ""

    @property
    def gap(self) -> float | None:
        """How far from optimal the value can be, as a share of it."""
        return relative_gap(self.value, self.bound)

    def problem(self) -> Problem:
        """The problem, built anew.

        Raises:
            MissingDataError: its data are not on this machine.
            InputError: they are not those of the record.
        """
        found = problem_of(self.instance, self.formulation, self.parameters)
        if self.data is not None and self.data != particulars(found)["data"]:
            raise InputError("its data are not those that the record is of.")
        return found

    def labels(self, n: int) -> Labels:
        """The class of each of n records."""
        try:
            found = np.frombuffer(zlib.decompress(base64.b64decode(self.classes)), "<i4").astype(np.int64)
        except (ValueError, zlib.error) as problem:
            raise InputError("its classes are damaged.") from problem
        if len(found) != n:
            raise InputError(f"its classes are those of {len(found)} records, and the data have {n}.")
        return found


@dataclass(frozen=True)
class Judged:
    """What became of a record that was looked at again."""

    name: str
    verdict: Verdict
    why: str = ""
    value: float | None = None
    bound: float | None = None


def records(folder: Path) -> dict[str, Record]:
    """The records in a folder by name.

    Raises:
        InputError: there are none, or one of them is damaged.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise InputError(
            f"There is no library in '{folder}': name its folder with --library, or run the command in a clone of "
            "optmodels."
        )
    return {path.stem: _read(path) for path in paths}


def chosen(folder: Path, names: list[str]) -> dict[str, Record]:
    """Those of the records that are named, or all of them."""
    found = records(folder)
    for name in names:
        if name not in found:
            raise unknown("record", name, found)
    return {name: record for name, record in found.items() if not names or name in names}


def judged(found: Mapping[str, Record]) -> Iterator[Judged]:
    """Every record judged again from nothing but its recipe and its classes."""
    for name, record in found.items():
        try:
            problem = record.problem()
            if record.value is None:
                yield Judged(name, "open", "no partition is known yet")
                continue
            value = _value(problem, record.labels(problem.n))
        except MissingDataError as missing:
            yield Judged(name, "skipped", str(missing))
            continue
        except InputError as error:
            yield Judged(name, "wrong", str(error))
            continue
        yield _verdict(name, record, problem, value)


def _verdict(name: str, record: Record, problem: Problem, value: float) -> Judged:
    assert record.value is not None
    bound, worse = record.bound, problem.target.worse
    if abs(value - record.value) > _SAME * max(1.0, abs(value)):
        return Judged(name, "wrong", f"it is worth {value!r} and not {record.value!r}", value, bound)
    if bound is not None and worse(value, bound) < -_SAME * max(1.0, abs(value)):
        return Judged(name, "wrong", f"its bound {bound!r} is beyond its own value", value, bound)
    return Judged(name, "holds", "", value, bound)


def _value(problem: Problem, labels: Labels) -> float:
    found = problem.evaluate(labels)
    if not found.feasible:
        broken = ", ".join(name for name, count in found.violations.items() if count)
        raise InputError(f"its classes break what is asked for ({broken}).")
    return found.values[problem.target.name]


def submit(folder: Path, name: str, file: Path, *, by: str = "") -> tuple[Record, Record]:
    """The record as it was and as it is, now that a file has a better partition, or a better bound, than it had.

    Raises:
        RefusedError: nothing in the file is better.
        InputError: the file holds no partition of the instance.
    """
    record = chosen(folder, [name])[name]
    problem = record.problem()
    best = record
    today = datetime.now(UTC).date().isoformat()
    reached: list[float] = []
    for found in partitions_in(file, problem):
        judgement = problem.evaluate(found.labels)
        if not judgement.feasible:
            continue
        value = judgement.values[problem.target.name]
        reached.append(value)
        if best.value is None or problem.target.worse(best.value, value) > _SAME * max(abs(value), abs(best.value)):
            best = _with(best, problem, found, value, by or found.by, today)
    best = _with_bound(best, problem, partitions_in(file, problem), by)
    if best == record:
        said = f"the best in '{file}' is {min(reached)!r}" if reached else f"nothing in '{file}' keeps the conditions"
        raise RefusedError(f"'{name}' stays as it is: {said}, and the record is {record.value!r}.")
    write_whole(folder / f"{name}.json", lambda target: target.write_text(_text(best), encoding="utf-8"))
    return record, best


def _with(record: Record, problem: Problem, found: Found, value: float, by: str, date: str) -> Record:
    classes = base64.b64encode(zlib.compress(canonical(found.labels).astype("<i4").tobytes(), 9)).decode()
    return replace(record, data=particulars(problem)["data"], value=value, by=by, date=date, classes=classes)


def _with_bound(record: Record, problem: Problem, found: Iterator[Found], by: str) -> Record:
    """The record with the best bound that somebody has proven, unless its own value contradicts it."""
    for one in found:
        bound = one.bound
        if bound is None or record.value is None:
            continue
        if problem.target.worse(record.value, bound) < 0:
            if abs(record.value - bound) > _SAME * max(1.0, abs(bound)):
                raise InputError(f"The bound {bound!r} cannot be: the record of {record.value!r} is beyond it.")
            bound = record.value
        if record.bound is None or problem.target.worse(bound, record.bound) > _SAME * abs(bound):
            record = replace(record, bound=bound, bound_by=by or one.by)
    return record


def _read(path: Path) -> Record:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said.pop("format") != FORMAT:
            raise ValueError("format")
        return Record(**said)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise InputError(f"'{path}' is no record of the library, or damaged ({problem}).") from problem


def _text(record: Record) -> str:
    return json.dumps({"format": FORMAT, **asdict(record)}, indent=1) + "\n"
