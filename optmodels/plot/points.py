"""The data of a picture of a front: its points with their numbers, what is proven of them, knee and extremes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pandas as pd

from optmodels.objective import Objective

KNEE = "knee"


class Pictured(Protocol):
    """A front, as far as pictures and pages show it."""

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What its points are good in."""

    @property
    def knee_index(self) -> int:
        """The number of the point at its knee."""

    def frame(self, *, runs: bool = False) -> pd.DataFrame:
        """One row a point: values, status, bound, gap, and with `runs` solver and seconds."""


def direction(objective: Objective) -> str:
    """Which way is better."""
    return "lower is better" if objective.sense == "min" else "higher is better"


def axis_title(objective: Objective) -> str:
    """What an axis says of an objective: its name and which way is better."""
    return f"{objective.name} ({direction(objective)})"


def front_points(front: Pictured) -> pd.DataFrame:
    """One row a point: its number, its values, status, bound, gap, solver, seconds and its marks.

    `marks` says what a point is known for: that it is the knee, and in which objectives no point is better.
    """
    frame = front.frame(runs=True)
    marks: list[list[str]] = [[] for _ in range(len(frame))]
    if len(frame):
        marks[front.knee_index].append(KNEE)
        for objective in front.objectives:
            values = frame[objective.name].to_numpy()
            best, word = (values.argmin(), "least") if objective.sense == "min" else (values.argmax(), "most")
            marks[int(best)].append(f"{word} {objective.name}")
    found = frame.assign(marks=[", ".join(some) for some in marks])
    found.insert(0, "number", range(len(found)))
    return found


def certified_region(points: pd.DataFrame, objectives: Sequence[Objective]) -> pd.DataFrame:
    """Where the true front of two objectives can still be: for levels of the second, bound and value of the first.

    Points without a bound, of which nothing is proven, are left out.
    """
    first, second = objectives[0].name, objectives[1].name
    proven = points.dropna(subset=["bound"]).sort_values(second)
    return pd.DataFrame({second: proven[second], "bound": proven["bound"], "value": proven[first]})
