"""Partitions as people have them: labels in a text file, a kept search, a front's folder, or a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from optmodels.errors import InputError
from optmodels.kept_search import load
from optmodels.partition import Labels, group_rows
from optmodels.problem import Problem


@dataclass(frozen=True, eq=False)
class Found:
    """A partition, who found it, and what is proven of any."""

    labels: Labels
    by: str = ""
    bound: float | None = None


def partitions_in(file: Path, problem: Problem) -> Iterator[Found]:
    """The partitions of this problem's records in a file or a folder, by row.

    Raises:
        InputError: there are none.
    """
    if file.is_dir():
        frame = _parquet(file / "labels.parquet")
        labels = frame.loc[problem.table.rows] if len(frame) == problem.n else frame
        yield from (_of(problem, labels[name].to_numpy(), file, f"a front in {file.name}") for name in labels)
    elif file.suffix == ".txt":
        yield _of(problem, _numbers(file), file, "")
    elif file.suffix == ".csv":
        yield _of(problem, _released(file, problem), file, "")
    else:
        earlier = load(file, problem, front=False)
        if earlier is None:
            raise InputError(f"There is no file '{file}'.")
        yield from (Found(one.labels, one.solver, one.bound) for one in earlier.points if one.labels is not None)


def _of(problem: Problem, labels: np.ndarray[tuple[int], np.dtype[np.int64]], file: Path, by: str) -> Found:
    if len(labels) != problem.n:
        raise InputError(f"'{file}' has {len(labels)} rows, and the instance has {problem.n} records.")
    return Found(problem.check(labels), by)


def _parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as problem:
        raise InputError(f"'{path}' cannot be read: a folder must be one that 'pareto' left.") from problem


def _numbers(file: Path) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    try:
        return np.array([int(line) for line in file.read_text(encoding="utf-8").split()], np.int64)
    except (OSError, ValueError) as problem:
        raise InputError(f"'{file}' must have the number of its class for every record, a line each.") from problem


def _released(file: Path, problem: Problem) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The classes of a release whose rows are those of the data: records that look the same."""
    try:
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        return group_rows([pd.factorize(frame[name])[0] for name in problem.table.quasi])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"'{file}' is no release of this instance: {error}.") from error
