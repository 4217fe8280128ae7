"""The files that a front is saved in: what they say of it, and its points."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from optmodels.errors import InputError
from optmodels.problem import Formulation, Problem
from optmodels.solution import Solution, Status, Stop

_RECORD = ("formulation", "parameters", "objectives", "records", "points", "details")
_MAPPINGS = ("parameters", "objectives", "details")
ROW = "row"  # of the file that a front is of, in the saved labels


def record_in(folder: Path) -> dict[str, Any]:
    """What a saved front says of itself: formulation, parameters, objectives, records, points and details."""
    path = folder / "front.json"
    if not path.is_file():
        raise InputError(f"There is no saved front in '{folder}': front.json is missing.")
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        mappings = {key: dict(record[key].items()) for key in _MAPPINGS}
        return {key: record[key] for key in _RECORD} | mappings
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"'{path}' is not the record of a front, or damaged: save the front again.") from error


def frame_in(path: Path) -> pd.DataFrame:
    """One of the two tables of a saved front."""
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"The saved front lacks '{path}', or it is damaged: save the front again.") from error


def points_in(problem: Problem, frame: pd.DataFrame, labels: pd.DataFrame) -> list[Solution]:
    """The points of two saved frames; whatever they lack or have of another kind is a KeyError, TypeError or so."""
    if labels.shape != (problem.n if len(frame) else 0, len(frame)):
        raise ValueError("every point needs the class of every record")
    if not all(is_integer_dtype(kind) for kind in labels.dtypes):
        raise TypeError("classes are whole numbers")
    if labels.index.name == ROW and len(frame):  # fronts of earlier versions are in the order of their records
        labels = labels.loc[problem.table.rows]
    return [
        Solution(
            problem=problem,
            solver=row["solver"],
            status=Status(row["status"]),
            stop=Stop(row["stop"]),
            labels=labels[str(i)].to_numpy(np.int64),
            values={objective.name: float(row[objective.name]) for objective in problem.objectives},
            bound=None if pd.isna(row["bound"]) else float(row["bound"]),
            seconds=float(row["seconds"]),
            seed=int(row["seed"]),
        )
        for i, row in enumerate(frame.to_dict("records"))
    ]


def objectives_of(problem: Problem) -> dict[str, str]:
    """The sense of each objective, by name."""
    return {objective.name: objective.sense for objective in problem.objectives}


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as they are in a record."""
    plain: dict[str, Any] = json.loads(json.dumps(parameters, default=str))
    return plain


def difference(name: str, parameters: Mapping[str, Any], formulation: Formulation) -> str:
    """What model and parameters of a front differ in from a problem's, or nothing."""
    if name != formulation.name:
        return f"its formulation is '{name}' and the problem's is '{formulation.name}'"
    present = plain(formulation.to_dict())
    # A parameter that the model did not have when the front was saved had no effect, and by default has none now.
    defaults = {field.name: field.default for field in fields(formulation) if field.default is not MISSING}
    saved = {**plain(defaults), **parameters}
    differing = [key for key in {**present, **saved} if saved.get(key) != present.get(key)]
    return ", ".join(f"it has {key}={saved.get(key)!r} and the problem {present.get(key)!r}" for key in differing)


def check_objectives(whose: str, objectives: Mapping[str, str], problem: Problem) -> None:
    """Raise an error where a front and a problem have other objectives."""
    present = objectives_of(problem)
    if list(objectives.items()) != list(present.items()):
        names = ", ".join(f"'{name}'" for name in objectives)
        raise InputError(
            f"{whose} has the objectives {_listed(objectives)} and the problem has {_listed(present)}: use "
            f"problem.with_objectives({names})."
        )


def _listed(objectives: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({sense})" for name, sense in objectives.items())
