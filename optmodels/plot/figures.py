"""Figures: pure data first (a frame), drawing second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from optmodels.objectives import Objective


def front_figure(points: pd.DataFrame, objectives: Sequence[Objective]) -> Figure:
    """A Pareto front's first two objectives, one marker a point, and below it what is proven.

    With three objectives or more there is no line through the points, and the third is their colour.
    """
    import plotly.graph_objects as go

    first, second = objectives[0].name, objectives[1].name
    ordered = points.sort_values(second)
    # Between two points the best there is has the value of the one that is good enough in the second objective.
    step = "vh" if objectives[1].sense == "max" else "hv"
    figure = go.Figure()
    if len(objectives) > 2:
        third = objectives[2].name
        marker = {"color": ordered[third], "colorbar": {"title": third}, "showscale": True}
        figure.add_scatter(x=ordered[second], y=ordered[first], mode="markers", marker=marker, name="found")
    else:
        figure.add_scatter(x=ordered[second], y=ordered[first], mode="lines+markers", line_shape=step, name="found")
    proven = ordered.dropna(subset=["bound"])
    if len(proven):
        figure.add_scatter(
            x=proven[second], y=proven["bound"], mode="lines", line={"shape": step, "dash": "dot"}, name="proven bound"
        )
    figure.update_layout(xaxis_title=second, yaxis_title=first, template="plotly_white")
    return figure


def scaling_figure(runs: pd.DataFrame) -> Figure:
    """Seconds against records for each solver, log-log; `runs` has the columns solver, n, seconds."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for solver, rows in runs.sort_values("n").groupby("solver"):
        figure.add_scatter(x=rows["n"], y=rows["seconds"], mode="lines+markers", name=str(solver))
    figure.update_layout(
        xaxis={"type": "log", "title": "records"}, yaxis={"type": "log", "title": "seconds"}, template="plotly_white"
    )
    return figure
