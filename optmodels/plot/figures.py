"""Figures, drawn from frames with Plotly; for print, drawn again with matplotlib.

Names and values from data are shown as text: Plotly would take what looks like HTML for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

from optmodels.errors import InputError, unknown
from optmodels.objective import Objective
from optmodels.plot.points import KNEE, axis_title, certified_region

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Backend = Literal["plotly", "matplotlib"]

BEFORE, AFTER, WARNING = "#8d98a8", "#1f6fb2", "#a32018"
_SHADE = "rgba(31, 111, 178, 0.12)"
_NUMBERED = 15  # points that are numbered all; of more only those that are known for something
_SHOWN = 40  # characters of a name on an axis
_LINE = 30  # characters of a line beside a lying bar
_BAR = 52  # pixels of height for a lying bar and its name
_PANEL = 260  # pixels of height for a row of panels


def in_backend(figure: Figure, backend: Backend) -> Any:
    """The figure as it is, or drawn again with matplotlib.

    Raises:
        MissingDependencyError: matplotlib is asked for and not installed.
    """
    if backend not in get_args(Backend):
        raise unknown("backend", str(backend), get_args(Backend))
    if backend == "plotly":
        return figure
    from optmodels.plot.for_print import matplotlib_figure

    return matplotlib_figure(figure)


def shown(value: object) -> str:
    """A name or value from data as Plotly shows it: text, and not longer than there is room for.

    >>> shown("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    text = str(value)
    return escape(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…", quote=False)


def wrapped(value: object) -> str:
    """The same in lines that fit beside a lying bar.

    >>> wrapped("largest chance to pick the record of somebody")
    'largest chance to pick the<br>record of somebody'
    """
    text = str(value)
    lines = wrap(text if len(text) <= 3 * _LINE else text[: 3 * _LINE - 1] + "…", _LINE) or [""]
    return "<br>".join(escape(line, quote=False) for line in lines)


def front_figure(
    points: pd.DataFrame,
    objectives: Sequence[Objective],
    *,
    x: str | None = None,
    y: str | None = None,
    title: str = "",
) -> Figure:
    """A front, one numbered marker a point: knee and extremes marked, and what is proven shaded.

    `points` are those of `front_points`. The second objective is to the right and the first upwards unless others are
    named; with three objectives or more there is no line through the points, and another one is their colour.
    """
    import plotly.graph_objects as go

    upward, across = _named(objectives, y, 0), _named(objectives, x, 1)
    if upward.name == across.name:
        raise InputError(f"Both axes show '{upward.name}': name two objectives.")
    ordered = points.sort_values([across.name, "number"])
    # Between two points the best there is has the value of the one that is good enough in the other objective.
    step = "vh" if across.sense == "max" else "hv"
    figure = go.Figure()
    hover = [_hover_text(row, objectives) for row in ordered.to_dict("records")]
    numbers = [
        str(number) if len(ordered) <= _NUMBERED or marks else ""
        for number, marks in zip(ordered["number"], ordered["marks"], strict=True)
    ]
    common: dict[str, Any] = {
        "x": ordered[across.name],
        "y": ordered[upward.name],
        "text": numbers,
        "textposition": "top center",
        "hovertext": hover,
        "hoverinfo": "text",
        "customdata": ordered["number"],
        "name": "found",
    }
    if len(objectives) > 2:
        third = next(one for one in objectives if one.name not in (upward.name, across.name))
        bar = {"title": {"text": shown(axis_title(third)), "side": "right"}}
        marker = {"color": ordered[third.name], "colorbar": bar, "showscale": True, "colorscale": "Viridis"}
        figure.add_scatter(mode="markers+text", marker=marker, **common)
    else:
        figure.add_scatter(
            mode="lines+markers+text", line={"shape": step, "color": AFTER}, marker={"color": AFTER}, **common
        )
        if upward.name == objectives[0].name:
            _add_proven(figure, ordered, objectives, step)
    _add_marked(figure, ordered, across, upward, hover)
    figure.update_layout(
        title=title or f"Pareto front, {len(points):,} points",
        xaxis_title=shown(axis_title(across)),
        yaxis_title=shown(axis_title(upward)),
        template="plotly_white",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 1, "xanchor": "right"},
    )
    return figure


def _named(objectives: Sequence[Objective], name: str | None, usual: int) -> Objective:
    if name is None:
        return objectives[usual]
    for objective in objectives:
        if objective.name == name:
            return objective
    raise unknown("objective", name, [objective.name for objective in objectives])


def _hover_text(row: Mapping[Any, Any], objectives: Sequence[Objective]) -> str:
    lines = [f"point {row['number']}" + (f" ({row['marks']})" if row["marks"] else "")]
    lines += [f"{shown(axis_title(one))}: {row[one.name]:.6g}" for one in objectives]
    if pd.notna(row["gap"]):
        lines.append(f"at most {row['gap']:.2%} from optimal")
    lines.append(f"{row['status']} by {shown(row['solver'])}")
    return "<br>".join(lines)


def _add_proven(figure: Figure, ordered: pd.DataFrame, objectives: Sequence[Objective], step: str) -> None:
    """The bound, and the region between it and what was found, in which the true front lies."""
    region = certified_region(ordered, objectives)
    if region.empty:
        return
    second = objectives[1].name
    line = {"shape": step, "color": BEFORE, "dash": "dot"}
    hidden = {"shape": step, "width": 0}
    figure.add_scatter(
        x=region[second], y=region["value"], mode="lines", line=hidden, showlegend=False, hoverinfo="skip"
    )
    figure.add_scatter(
        x=region[second],
        y=region["bound"],
        mode="lines",
        line=line,
        fill="tonexty",
        fillcolor=_SHADE,
        name="proven bound",
        hoverinfo="skip",
    )


def _add_marked(
    figure: Figure, ordered: pd.DataFrame, across: Objective, upward: Objective, hover: Sequence[str]
) -> None:
    told = pd.Series(hover, index=ordered.index)
    for name, symbol, chosen in (
        (KNEE, "star", [KNEE in marks.split(", ") for marks in ordered["marks"]]),
        ("extremes", "diamond-open", [bool(marks) and KNEE not in marks.split(", ") for marks in ordered["marks"]]),
    ):
        some = ordered[chosen]
        if len(some):
            figure.add_scatter(
                x=some[across.name],
                y=some[upward.name],
                mode="markers",
                marker={"symbol": symbol, "size": 14, "color": WARNING if name == KNEE else AFTER},
                hovertext=told[some.index],
                hoverinfo="text",
                name=f"{name} (point {some['number'].iloc[0]})" if name == KNEE else name,
            )


def bars_figure(
    panels: Mapping[str, pd.DataFrame],
    *,
    title: str = "",
    value: str = "",
    percent: bool = False,
    warned: Sequence[str] = (),
    horizontal: bool = False,
) -> Figure:
    """Bars, a panel for each frame: its first column has the names of the bars, every other column a bar for each name.

    Bars whose names are `warned` about are red. The name of a panel stands above it, of a single one below its bars.
    """
    from plotly.subplots import make_subplots

    columns = 1 if len(panels) == 1 else 2
    rows = max(1, -(-len(panels) // columns))
    titles = [shown(name) for name in panels] if len(panels) > 1 else None
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=titles, vertical_spacing=min(0.3, 0.5 / rows))
    named: set[str] = set()
    for place, (panel, frame) in enumerate(panels.items()):
        row, column = place // columns + 1, place % columns + 1
        label, *series = frame.columns
        names = [wrapped(one) if horizontal else shown(one) for one in frame[label]]
        for at, one in enumerate(series):
            usual = AFTER if at == len(series) - 1 else BEFORE
            along, lengths = list(range(len(frame))), frame[one].tolist()
            figure.add_bar(
                **({"x": lengths, "y": along, "orientation": "h"} if horizontal else {"x": along, "y": lengths}),
                marker_color=[WARNING if name in warned else usual for name in frame[label]],
                hovertext=[f"{name}: {length:.4g}" for name, length in zip(names, lengths, strict=True)],
                hoverinfo="text",
                name=shown(one),
                legendgroup=one,
                showlegend=len(series) > 1 and one not in named,
                row=row,
                col=column,
            )
            named.add(one)
        ticks: dict[str, Any] = {"tickvals": list(range(len(names))), "ticktext": names}
        if titles is None and not horizontal:
            ticks["title"] = shown(panel)
        numbers: dict[str, Any] = {"title": value, **({"tickformat": ".0%", "rangemode": "tozero"} if percent else {})}
        sides = {"xaxis": numbers, "yaxis": {**ticks, "autorange": "reversed"}}
        sides = sides if horizontal else {"xaxis": ticks, "yaxis": numbers}
        figure.update_xaxes(row=row, col=column, **sides["xaxis"])
        figure.update_yaxes(row=row, col=column, automargin=True, **sides["yaxis"])
    longest = max((len(frame) for frame in panels.values()), default=0)
    height = rows * max(_PANEL, _BAR * longest if horizontal else 0)
    figure.update_layout(title=title, template="plotly_white", barmode="group", height=max(400, 140 + height))
    return figure


def scaling_figure(runs: pd.DataFrame) -> Figure:
    """Seconds against records for each solver, log-log; `runs` has the columns solver, n, seconds."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for solver, rows in runs.sort_values("n").groupby("solver"):
        figure.add_scatter(x=rows["n"], y=rows["seconds"], mode="lines+markers", name=str(solver))
    figure.update_layout(
        xaxis={"type": "log", "title": "records"},
        yaxis={"type": "log", "title": "seconds (lower is better)"},
        template="plotly_white",
    )
    return figure
