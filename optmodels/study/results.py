"""What came of a study, as frames: the runs, their anytime curves, the points of their fronts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from optmodels.errors import InputError
from optmodels.study.machine import differing
from optmodels.study.store import MEASURED, Store, reading

# What differs between two runs of one study on one machine, whatever they found.
_NEVER_THE_SAME = (*MEASURED, "finished", "environment", "trace")


class Results:
    """A study file, read again at every call, so that a study can be watched while it runs."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = next(map(str, self._read("SELECT name FROM study")["name"]), self.path.stem)

    def runs(self, *, everything: bool = False) -> pd.DataFrame:
        """A row for every run that something came of, in the order of the study.

        `everything` adds the runs of earlier versions of the study. Parameters, options, values and details are JSON;
        the parameters of formulations have a column each as well, named as in 'k'.
        """
        which = "outcome IS NOT NULL" + ("" if everything else " AND planned = 1")
        found = self._read(f"SELECT * FROM run WHERE {which} ORDER BY place IS NULL, place, key")
        parameters = pd.DataFrame([json.loads(text) for text in found["parameters"]], index=found.index)
        own = [name for name in parameters.columns if name not in found.columns]
        return pd.concat([found.drop(columns=["planned", "place"]), parameters[own]], axis=1)

    def curves(self) -> pd.DataFrame:
        """A row for every moment of every run's anytime curve: seconds, evaluations, value, bound."""
        return self._read("SELECT curve.* FROM curve JOIN run ON run.key = run WHERE planned = 1 ORDER BY place, step")

    def points(self) -> pd.DataFrame:
        """A row for every point of every front, a column for every objective."""
        found = self._read(
            "SELECT point.* FROM point JOIN run ON run.key = run WHERE planned = 1 ORDER BY place, point"
        )
        values = pd.DataFrame([json.loads(text) for text in found["values"]], index=found.index)
        return pd.concat([found.drop(columns="values"), values], axis=1)

    def environments(self) -> dict[str, dict[str, Any]]:
        """The machines and versions that the study's runs were made with, by the id that runs refer to."""
        found = self._read("SELECT * FROM environment WHERE id IN (SELECT environment FROM run WHERE planned = 1)")
        return {row["id"]: json.loads(row["description"]) for row in found.to_dict("records")}

    def status(self) -> dict[str, Any]:
        """How far the study is: runs planned, done and left, by outcome, who is running it, what it was made with."""
        counts = self._read(
            "SELECT coalesce(outcome, 'waiting') AS outcome, count(*) AS n FROM run WHERE planned = 1 GROUP BY 1"
        )
        by_outcome = {str(row["outcome"]): int(row["n"]) for row in counts.to_dict("records")}
        others = len(self._read("SELECT key FROM run WHERE planned = 0"))
        with reading(self.path) as store:
            owner = store.owner
        environments = list(self.environments().values())
        waiting = by_outcome.pop("waiting", 0)
        return {
            "study": self.name,
            "planned": waiting + sum(by_outcome.values()),
            "waiting": waiting,
            "outcomes": by_outcome,
            "of_earlier_versions": others,
            "running": owner,
            "environments": environments,
            "differing": differing([one for one in environments if one]),  # a run whose machine was lost has none
        }

    def failures(self) -> pd.DataFrame:
        """The runs that did not end by themselves, with their reasons, alike ones together."""
        runs = self.runs()
        failed = runs[runs["outcome"] != "done"]
        grouped = failed.groupby(["solver", "outcome", "reason"], sort=False, dropna=False)
        return grouped.agg(
            runs=("key", "size"), datasets=("dataset", lambda names: ", ".join(dict.fromkeys(names)))
        ).reset_index()

    def reproducible(self) -> pd.DataFrame:
        """What does not depend on the clock, a row for each run: the same however often the study was killed.

        Times and memory are left out. `points` has those of the run's front, `details` the solver's notes but for
        seconds, and `curve` the end of the anytime curve: which moments before it are recorded is a matter of time.
        """
        runs = self.runs().set_index("key").sort_index()
        ends = self.curves().groupby("run")[["evaluations", "value", "bound"]].last()
        return runs.drop(columns=[*_NEVER_THE_SAME]).assign(
            details=runs["details"].map(_without_seconds),
            curve=_by_run(ends.reset_index()).reindex(runs.index),
            points=_by_run(self.points()).reindex(runs.index),
        )

    def _read(self, query: str) -> pd.DataFrame:
        with reading(self.path) as store:
            return _frame(store, query)


def _frame(store: Store, query: str) -> pd.DataFrame:
    columns, rows = store.read(query)
    found = pd.DataFrame(rows, columns=columns)
    # A column of numbers in which a run has none is one of numbers still.
    for name in found.columns:
        if (
            found[name].isna().any()
            and found[name].map(lambda value: value is None or isinstance(value, int | float)).all()
        ):
            found[name] = found[name].astype("float64")
    return found


def open_study(path: str | Path) -> Results:
    """The results of a study so far."""
    return Results(path)


def differences(one: Results, other: Results) -> pd.DataFrame:
    """What two files of the same study differ in, a row for each difference; see `Results.reproducible`."""
    mine, theirs = one.reproducible(), other.reproducible()
    if set(mine.columns) != set(theirs.columns):
        raise InputError(f"'{one.path}' and '{other.path}' hold different studies.")
    rows: list[dict[str, Any]] = []
    for key in sorted({*mine.index, *theirs.index}):
        if key not in mine.index or key not in theirs.index:
            rows.append({"key": key, "what": "run", "one": key in mine.index, "other": key in theirs.index})
            continue
        for name in mine.columns:
            a, b = mine[name][key], theirs[name][key]
            if a != b and not (pd.isna(a) and pd.isna(b)):
                rows.append({"key": key, "what": name, "one": a, "other": b})
    return pd.DataFrame(rows, columns=["key", "what", "one", "other"])


def _by_run(rows: pd.DataFrame) -> pd.Series:
    """All that is known of each run's points, or of its curve, as one text."""
    texts = {key: repr(group.drop(columns="run").to_dict("list")) for key, group in rows.groupby("run")}
    return pd.Series(texts, dtype=object)


def _without_seconds(details: object) -> object:
    """A solver's notes, in JSON, without those that say how long something took."""
    if not isinstance(details, str):
        return details

    def untimed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if "seconds" not in name}

    return json.dumps(json.loads(details, object_pairs_hook=untimed))
