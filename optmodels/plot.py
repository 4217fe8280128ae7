"""Figures: pure data first (a frame), drawing second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def front_figure(points: pd.DataFrame, names: Sequence[str]) -> Figure:
    """A Pareto front's first two objectives, one marker a point, and below it what is proven."""
    import plotly.graph_objects as go

    first, second = names[0], names[1]
    ordered = points.sort_values(second)
    figure = go.Figure()
    figure.add_scatter(x=ordered[second], y=ordered[first], mode="lines+markers", line_shape="vh", name="found")
    proven = ordered.dropna(subset=["bound"])
    if len(proven):
        figure.add_scatter(
            x=proven[second], y=proven["bound"], mode="lines", line={"shape": "vh", "dash": "dot"}, name="proven bound"
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
