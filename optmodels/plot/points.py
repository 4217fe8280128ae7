"""The data of a picture of a front: its points with their numbers, what is proven of them, knee and extremes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from optmodels.front import ParetoFront
    from optmodels.objectives import Objective

KNEE = "knee"


def direction(objective: Objective) -> str:
    """Which way is better."""
    return "lower is better" if objective.sense == "min" else "higher is better"


def axis_title(objective: Objective) -> str:
    """What an axis says of an objective: its name and which way is better."""
    return f"{objective.name} ({direction(objective)})"


def front_points(front: ParetoFront) -> pd.DataFrame:
    """One row a point: its number, its values, status, bound, gap, solver, seconds and its marks.

    `marks` says what a point is known for: that it is the knee, and in which objectives no point is better.
    """
    frame = front.frame()
    marks: list[list[str]] = [[] for _ in range(len(front))]
    if len(front):
        marks[front.knee_index].append(KNEE)
        for j, objective in enumerate(front.problem.objectives):
            word = "least" if objective.sense == "min" else "most"
            marks[int(np.argmin(front.costs[:, j]))].append(f"{word} {objective.name}")
    found = frame.assign(
        solver=[point.solver for point in front],
        seconds=[point.seconds for point in front],
        marks=[", ".join(some) for some in marks],
    )
    found.insert(0, "number", range(len(found)))
    return found


def certified_region(points: pd.DataFrame, objectives: Sequence[Objective]) -> pd.DataFrame:
    """Where the true front of two objectives can still be: for levels of the second, bound and value of the first.

    Points without a bound, of which nothing is proven, are left out.
    """
    first, second = objectives[0].name, objectives[1].name
    proven = points.dropna(subset=["bound"]).sort_values(second)
    return pd.DataFrame({second: proven[second], "bound": proven["bound"], "value": proven[first]})
