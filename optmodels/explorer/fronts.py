"""A saved front as the page draws it: all points column by column, without the data that it was found on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels import front_folder, registry
from optmodels.errors import InputError, OptmodelsError
from optmodels.explorer.published import published_points
from optmodels.front import ParetoFront, knee_of
from optmodels.jsonable import with_tuples
from optmodels.objectives import QUANTITIES, objective_named
from optmodels.table.roles import Roles

SIZES = {
    "number of classes": "how many classes the records are put into",
    "smallest class": "records in the smallest class",
    "largest class": "records in the largest class",
}
_AT_ONCE = 1_000  # points whose classes are counted before the front is shown; those of more are when asked for


class SavedFront:
    """A front in a folder; its data is read only when a point is looked at."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.record = ParetoFront.record(folder)
        self._lock = Lock()
        self._front: ParetoFront | None = None
        self._measured: dict[str, list[float]] = {}

    @property
    def objectives(self) -> dict[str, str]:
        """The objectives and their senses."""
        return dict(self.record["objectives"])

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row a point, as it was saved."""
        try:
            frame = pd.read_parquet(self.folder / "front.parquet")
            return frame.astype(dict.fromkeys([*self.objectives, "bound", "gap"], "float64"))
        except (OSError, ValueError, KeyError) as problem:
            raise InputError(
                f"'{self.folder}' has no front.parquet, or it is damaged: save the front again."
            ) from problem

    @cached_property
    def source(self) -> dict[str, Any] | None:
        """What is known of the data, if the folder was written by 'optmodels pareto' or by the explorer."""
        try:
            return front_folder.source_in(self.folder)
        except InputError:
            return None

    def front(self) -> ParetoFront:
        """The front on its data, read when first asked for."""
        with self._lock:
            if self._front is None:
                self._front = front_folder.reopened(self.folder, None)
            return self._front

    def measure(self, name: str) -> list[float]:
        """A quantity of every point, measured on the data; sizes of classes on the saved classes alone."""
        if name in SIZES:
            self._measured |= self._class_sizes()
        if name not in self._measured:
            front = self.front()
            measure = objective_named(name, front.problem.table).measure
            assert measure is not None
            labels = [point.require() for point in front]
            self._measured[name] = [measure(front.problem.check(one)) for one in labels]
        return self._measured[name]

    def metrics(self) -> dict[str, str]:
        """What can be measured beyond the objectives, by name, with its meaning."""
        sizes = SIZES if len(self.frame) > _AT_ONCE else {}
        roles = self.folder / front_folder.ROLES
        if self.source is None or not roles.is_file():
            return dict(sizes)
        sensitive = bool(self.front().problem.table.sensitive) if self._front is not None else True
        return dict(sizes) | {
            name: quantity.meaning
            for name, quantity in QUANTITIES.items()
            if name not in self.objectives
            and name not in ("utility", "classes")
            and (sensitive or not quantity.sensitive)
        }

    def document(self) -> dict[str, Any]:
        """Everything that the page needs to draw the front and to recommend a point."""
        frame, details = self.frame, self.record["details"]
        names = list(self.objectives)
        costs = _costs(frame[names].to_numpy(float), list(self.objectives.values()))
        values = {name: _numbers(frame[name]) for name in names}
        sizes = self._class_sizes() if len(frame) <= _AT_ONCE else {}
        return {
            "name": self.name,
            "folder": str(self.folder),
            "formulation": self.record["formulation"],
            "parameters": self.record["parameters"],
            "promise": self._promise(),
            "records": self.record["records"],
            "axes": [
                *({"name": name, "better": _better(self.objectives[name]), **_meant(name)} for name in names),
                *({"name": name, "better": None, "meaning": SIZES[name], "objective": False} for name in sizes),
            ],
            "metrics": [
                {
                    "name": name,
                    "better": _better(QUANTITIES[name].sense) if name in QUANTITIES else None,
                    "meaning": meaning,
                }
                for name, meaning in self.metrics().items()
            ],
            "target": names[0],
            "count": len(frame),
            "values": {**values, **sizes},
            "bound": _numbers(frame["bound"]),
            "gap": _numbers(frame["gap"]),
            "status": frame["status"].tolist(),
            "solver": frame["solver"].tolist(),
            "seed": frame["seed"].tolist(),
            "knee": knee_of(costs) if len(frame) else None,
            "extremes": {name: int(np.argmin(costs[:, j])) for j, name in enumerate(names)} if len(frame) else {},
            "levels": details.get("levels", []),
            "run": {key: details.get(key) for key in ("solver", "stop", "seconds", "seed", "complete", "because")},
            "data": None if self.source is None else Path(str(self.source["data"])).name,
            "releasable": self.source is not None,
            "published": published_points(
                (self.source or {}).get("data"),
                self.record["formulation"],
                names,
                k=self.record["parameters"].get("k"),
                scaling=self._scaling(),
            ),
        }

    def _scaling(self) -> str | None:
        """How attributes were measured, which published losses have to agree with."""
        try:
            return Roles.load(self.folder / front_folder.ROLES).scaling
        except (OSError, OptmodelsError):
            return None

    def _promise(self) -> str:
        try:
            kind = registry.formulation(self.record["formulation"])
            model = registry.configured(kind, with_tuples(self.record["parameters"]))
            return model.conditions(int(self.record["parameters"].get("k") or 2)).describe()
        except (
            Exception
        ):  # a model of another machine's, or one without conditions: its parameters are shown as they are
            return ""

    def _class_sizes(self) -> dict[str, list[float]]:
        """How many classes each point has, and how large they are."""
        try:
            labels = pd.read_parquet(self.folder / "labels.parquet").to_numpy()
        except (OSError, ValueError):
            return {}
        counts = [np.bincount(column[column >= 0]) for column in labels.T]
        counts = [found[found > 0] for found in counts]
        if len(counts) != len(self.frame) or not all(len(found) for found in counts):
            return {}
        measured = [[len(c), c.min(), c.max()] for c in counts]
        return dict(zip(SIZES, np.array(measured, float).T.tolist(), strict=True))


def _numbers(column: pd.Series) -> list[float | None]:
    """A column with None where JSON has no number: what is found here is not looked for value by value later."""
    found: list[float | None] = column.astype(object).where(np.isfinite(column), None).tolist()
    return found


def _better(sense: str) -> str:
    return "low" if sense == "min" else "high"


def _meant(name: str) -> Mapping[str, object]:
    known = QUANTITIES.get(name.partition("@")[0])
    return {"meaning": known.meaning if known else "what the formulation itself makes small", "objective": True}


def _costs(values: NDArray[np.float64], senses: Sequence[str]) -> NDArray[np.float64]:
    costs: NDArray[np.float64] = values * np.array([1.0 if sense == "min" else -1.0 for sense in senses])
    return costs
