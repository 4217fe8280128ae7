"""A study in the format of IOHprofiler, for IOHanalyzer and iohinspector: a folder for each solver.

In it IOHprofiler_fN_NAME.json describes the runs on one problem (dataset and model), and data_fN_NAME/ has their
anytime curves in one .dat file: a line for every improvement, a run beginning at its evaluation 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from optmodels.errors import InputError
from optmodels.files import write_whole
from optmodels.study.measures import INSTANCE, to_be_large
from optmodels.study.results import Results

Budget = Literal["evaluations", "milliseconds"]

IOHPROFILER = "iohprofiler"  # the name of the format
_FORMAT = "0.3.15"  # the version of IOHexperimenter whose layout this is
_HEADER = "evaluations raw_y"


def export_iohprofiler(results: Results, folder: str | Path, budget: Budget | None = None) -> int:
    """Write a study into a folder that does not exist yet; the number of runs.

    IOHprofiler counts evaluations. Where solvers count none, as exact ones, `budget` is milliseconds; by default it is
    evaluations if every run has them. A run's first line, at 1, has the worst value that any run began with on the
    problem: of what a solver had before its first solution nothing is known.
    """
    target = Path(folder)
    if target.exists():
        raise InputError(f"'{target}' exists already: name another folder, as a study's runs are never mixed.")
    runs, curves = results.runs(), results.curves()
    done = runs[(runs["outcome"] == "done") & runs["value"].notna()] if len(runs) else runs
    if not len(done):
        raise InputError(f"The study in '{results.path}' has no run with a solution yet.")
    moments = curves[curves["run"].isin(done["key"]) & curves["value"].notna()]
    uncounted = done.loc[~done["key"].isin(moments.loc[moments["evaluations"].notna(), "run"]), "solver"]
    chosen: Budget = budget or ("milliseconds" if len(uncounted) else "evaluations")
    if chosen == "evaluations" and len(uncounted):
        names = ", ".join(f"'{name}'" for name in dict.fromkeys(uncounted))
        raise InputError(f"Runs of {names} count no evaluations: use milliseconds, which every run has.")
    amounts = moments["evaluations"] if chosen == "evaluations" else 1000.0 * moments["seconds"]
    moments = moments.assign(at=amounts).dropna(subset=["at"])
    files = dict(_files(results.name, done.assign(large=to_be_large(done)), moments, chosen))
    for name, text in files.items():
        path = target / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"Cannot make the folder '{path.parent}': {problem.strerror}.") from problem
        write_whole(path, partial(Path.write_text, data=text, encoding="utf-8"))
    return len(done)


def _files(study: str, runs: pd.DataFrame, moments: pd.DataFrame, budget: Budget) -> Iterator[tuple[str, str]]:
    """The name and the text of every file."""
    by_run = {str(key): group for key, group in moments.groupby("run", sort=False)}
    folders: dict[str, str] = {}
    for number, ((dataset, model), problem) in enumerate(runs.groupby(INSTANCE, sort=False), start=1):
        large = bool(problem["large"].iat[0])
        first = np.array([by_run[str(key)]["value"].to_numpy(float)[0] for key in problem["key"]])
        worst = float(first.min() if large else first.max())
        title = f"{dataset}, {model}"
        stem = f"f{number}_{_plain(title)}"
        for solver, group in problem.groupby("solver", sort=False):
            folder = _folder(str(solver), folders)
            lines, described = [], []
            for row in group.to_dict("records"):
                curve = _improving(by_run[str(row["key"])], worst, large)
                lines += [_HEADER, *(f"{at} {value!r}" for at, value in curve)]
                at, value = curve[-1]
                described.append({"instance": 1, "evals": at, "best": {"evals": at, "y": value, "x": []}})
            data = f"data_{stem}/IOHprofiler_{stem}_DIM{_records(group)}.dat"
            record = {
                "version": _FORMAT,
                "suite": study,
                "function_id": number,
                "function_name": title,
                "maximization": large,
                "algorithm": {"name": str(solver), "info": f"optmodels {version('optmodels')}"},
                "experiment_attributes": [{"budget": budget}],
                "attributes": ["evaluations", "raw_y"],
                "scenarios": [{"dimension": _records(group), "path": data, "runs": described}],
            }
            yield f"{folder}/{data}", "\n".join([*lines, ""])
            yield f"{folder}/IOHprofiler_{stem}.json", json.dumps(record, indent=2, allow_nan=False) + "\n"


def _improving(curve: pd.DataFrame, worst: float, large: bool) -> list[tuple[int, float]]:
    """When a run was better than before: whole numbers from 1 on, one value for each."""
    found = {1: worst}
    best = worst
    for at, value in zip(curve["at"].astype(float), curve["value"].astype(float), strict=True):
        if value > best if large else value < best:
            best = value
            found[max(2, round(at))] = value
    found.setdefault(max(2, round(curve["at"].to_numpy(float)[-1])), best)  # how long it ran
    return sorted(found.items())


def _records(group: pd.DataFrame) -> int:
    """The dimension: how many records the table has."""
    return int(group["records"].fillna(0).to_numpy(int)[0])


def _folder(solver: str, known: dict[str, str]) -> str:
    """A folder's name for each solver, and none twice."""
    if solver not in known:
        name = _plain(solver)
        known[solver] = name if name not in known.values() else f"{name}-{len(known) + 1}"
    return known[solver]


def _plain(text: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", str(text)).strip("-.") or "unnamed"
