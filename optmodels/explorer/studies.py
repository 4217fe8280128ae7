"""A study's file as the page shows it: profiles, anytime curves, ranks, fronts of one problem, tables of runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from optmodels.errors import InputError, OptmodelsError
from optmodels.explorer.points import records_of
from optmodels.study import measures, profiles, statistics
from optmodels.study.attainment import fronts_of
from optmodels.study.results import Results

_SHOWN = (
    *("key", "dataset", "model", "solver", "repetition", "outcome", "status", "value", "bound", "gap", "seconds"),
    *("records", "classes", "reason"),
)
_MOST_RUNS = 2000
_ATTAINED = (0, 50, 100)  # percent of the runs, of which surfaces are shown: the best of them, half, all


class SavedStudy:
    """A study that was run, or that is being run: it is read again whenever it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results = Results(path)
        self.name = self.results.name

    def document(self) -> dict[str, Any]:
        """The study: how far it is, its runs and all that can be drawn of them."""
        runs, curves = self.results.runs(), self.results.curves()
        shown = [name for name in _SHOWN if name in runs.columns]
        status = self.results.status()
        return {
            "name": self.name,
            "path": str(self.path),
            "status": {key: status[key] for key in ("planned", "waiting", "outcomes", "running")},
            "solvers": list(dict.fromkeys(map(str, runs["solver"]))) if len(runs) else [],
            "runs": records_of(runs[shown].head(_MOST_RUNS)),
            "failures": records_of(self.results.failures()) if len(runs) else [],
            "profiles": [
                {
                    "title": "Performance profile of values",
                    "across": "ratio to the best solver",
                    "rows": _tried(
                        lambda: profiles.performance_profile(measures.costs(runs, curves, "value")), "ratio"
                    ),
                },
                {
                    "title": "Performance profile of time to target",
                    "across": "ratio to the best solver",
                    "rows": _tried(
                        lambda: profiles.performance_profile(measures.costs(runs, curves, "time-to-target")), "ratio"
                    ),
                },
                {
                    "title": "Data profile: 95% of the known progress",
                    "across": "seconds",
                    "rows": _tried(lambda: profiles.data_profile(runs, curves), "budget"),
                },
            ],
            "anytime": _tried(lambda: profiles.anytime(runs, curves)),
            "ranks": _ranks(runs, curves),
            "fronts": self._fronts(runs),
        }

    def run(self, key: str) -> dict[str, Any]:
        """One run: its record, its anytime curve and the points of its front."""
        runs = self.results.runs().set_index("key")
        if key not in runs.index:
            raise InputError("The study has no such run any more: load the page again.")
        row = runs.loc[key]
        curves, points = self.results.curves(), self.results.points()
        senses = json.loads(str(row["senses"])) if isinstance(row.get("senses"), str) else {}
        own = points[points["run"] == key].drop(columns="run").dropna(axis=1, how="all") if len(points) else points
        return {
            "record": {str(name): _plain(value) for name, value in row.items() if name not in ("partition",)},
            "curve": records_of(curves[curves["run"] == key].drop(columns="run")),
            "points": records_of(own),
            "senses": senses,
        }

    def attainment(self, dataset: str, model: str) -> dict[str, Any]:
        """What the runs of each solver attain on one problem: the best of them, half of them, all of them."""
        found = next(
            (
                one
                for one in fronts_of(self.results.runs(), self.results.points())
                if (one.dataset, one.model) == (dataset, model)
            ),
            None,
        )
        if found is None:
            return {"axes": [], "solvers": []}
        surfaces = found.surfaces(_ATTAINED)
        return {
            "axes": [
                {"name": name, "better": "low" if sense == "min" else "high"} for name, sense in found.senses.items()
            ],
            "solvers": [
                {
                    "solver": solver,
                    "runs": len(set(found.runs(solver))),
                    "surfaces": [
                        {"share": share, "points": mine[found.names].to_numpy(float).tolist()}
                        for share, mine in surfaces[surfaces["solver"] == solver].groupby("share")
                    ],
                    "points": found.points(solver).tolist(),
                }
                for solver in found.of
            ],
        }

    def _fronts(self, runs: pd.DataFrame) -> list[dict[str, str]]:
        """The problems of which there are fronts of two objectives."""
        if not len(runs):
            return []
        several = runs["senses"].map(lambda text: isinstance(text, str) and len(json.loads(text)) == 2)
        fronts = runs[(runs["outcome"] == "done") & several & (runs["answer"] == "front")]
        pairs = fronts[["dataset", "model"]].drop_duplicates()
        return [{"dataset": str(row.dataset), "model": str(row.model)} for row in pairs.itertuples()]


def _plain(value: Any) -> Any:
    return None if value is None or value != value else value


def _tried(make: Callable[[], pd.DataFrame], amount: str | None = None) -> list[dict[str, Any]]:
    """Rows of a frame; none where a study has too little for it."""
    try:
        frame = make()
    except (OptmodelsError, ValueError, KeyError, IndexError, TypeError):
        return []
    if amount is not None:
        frame = frame.rename(columns={amount: "amount"})
    return records_of(frame.replace([np.inf, -np.inf], np.nan))


def _ranks(runs: pd.DataFrame, curves: pd.DataFrame) -> dict[str, Any] | None:
    try:
        costs = statistics.by_problem(measures.costs(runs, curves, "value")).dropna()
        if min(costs.shape) < 2:
            return None
        test = statistics.friedman(costs)
    except (OptmodelsError, ValueError, KeyError):
        return None
    return {
        "problems": int(test.problems),
        "p": float(test.p),
        "critical_difference": float(test.critical_difference),
        "ranks": [{"solver": str(name), "rank": float(rank)} for name, rank in test.ranks.items()],
        "alike": [list(map(str, group)) for group in test.groups],
    }
