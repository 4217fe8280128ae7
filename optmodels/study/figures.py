"""Plots of studies: each takes the frame that holds its data and draws it; colours stay with solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from optmodels.plot.attainment import staircase
from optmodels.plot.figures import shown
from optmodels.study.statistics import Friedman

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C564B", "#7F7F7F", "#6A3D9A"),
    *("#B2DF8A", "#FB9A99"),
)
_DASHES = ("solid", "dash", "dot", "dashdot")
_SHADE = 0.12
_LEAST_EXCESS = 1e-4  # anytime curves have a logarithmic axis, which has no place for 0
_HIGHER = ("hypervolume",)  # indicators of which more is better
_MEDIAN = 50.0  # percent of the runs
_BAR, _LINE = 0.25, 0.5  # heights in a diagram of ranks


def colours(solvers: Sequence[str]) -> dict[str, str]:
    """A colour for every solver, the same in all plots of a study."""
    return {solver: _COLOURS[i % len(_COLOURS)] for i, solver in enumerate(solvers)}


def profile_figure(shares: pd.DataFrame, amount: str, title: str, axis: str, palette: Mapping[str, str]) -> Figure:
    """Step curves of the shares of problems: performance profiles (`amount` is ratio) and data profiles (budget)."""
    figure = _empty(title)
    finite = shares[amount][np.isfinite(shares[amount])]
    end = float(finite.max()) * 1.1 if len(finite) else 1.0
    for solver, rows in shares.groupby("solver", sort=False):
        x, y = [*rows[amount], end], [*rows["share"], rows["share"].iat[-1]]
        figure.add_scatter(x=x, y=y, mode="lines", line=_line(str(solver), palette, "hv"), name=str(solver))
    figure.update_layout(
        xaxis={"title": axis, "type": "log"},
        yaxis={"title": "share of problems (higher is better)", "range": [0, 1.02], "tickformat": ".0%"},
    )
    return figure


def anytime_figure(curves: pd.DataFrame, palette: Mapping[str, str]) -> Figure:
    """The median excess over the best known value against time, the quartiles shaded."""
    figure = _empty("Anytime curves: excess over the best known value")
    for solver, rows in curves.groupby("solver", sort=False):
        line = _line(str(solver), palette, "hv")
        median = rows["median"].where(np.isfinite(rows["median"])).clip(lower=_LEAST_EXCESS)
        figure.add_scatter(
            x=rows["seconds"], y=median, mode="lines", line=line, name=str(solver), legendgroup=str(solver)
        )
        shaded = rows[np.isfinite(rows["high"])]
        figure.add_scatter(
            x=[*shaded["seconds"], *shaded["seconds"][::-1]],
            y=np.maximum([*shaded["low"], *shaded["high"][::-1]], _LEAST_EXCESS),
            fill="toself",
            fillcolor=_faint(line["color"]),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            legendgroup=str(solver),
        )
    figure.update_layout(
        xaxis={"title": "seconds", "type": "log"},
        yaxis={
            "title": f"median excess ({_LEAST_EXCESS:.2%} stands for less; lower is better)",
            "type": "log",
            "tickformat": ".2~%",
        },
    )
    return figure


def scaling_figure(points: pd.DataFrame, fits: pd.DataFrame, measure: str, palette: Mapping[str, str]) -> Figure:
    """A measure against the number of records, log-log, each solver with its fitted exponent."""
    figure = _empty(f"Scaling of {measure} with records")
    for solver, rows in points.groupby("solver", sort=False):
        name, colour = str(solver), palette[str(solver)]
        fitted = fits[fits["solver"] == name].to_dict("records")
        figure.add_scatter(
            x=rows["records"],
            y=rows[measure],
            mode="markers",
            marker={"color": colour},
            name=name,
            legendgroup=name,
            showlegend=not fitted,
        )
        for fit in fitted:
            ends = np.array([rows["records"].min(), rows["records"].max()], dtype=float)
            figure.add_scatter(
                x=ends,
                y=fit["coefficient"] * ends ** fit["exponent"],
                mode="lines",
                line=_line(name, palette, "linear"),
                name=f"{name}: n^{fit['exponent']:.2f} ({fit['low']:.2f} to {fit['high']:.2f})",
                legendgroup=name,
            )
    figure.update_layout(
        xaxis={"title": "records", "type": "log"}, yaxis={"title": f"{measure} (lower is better)", "type": "log"}
    )
    return figure


def box_figure(indicators: pd.DataFrame, column: str, title: str, palette: Mapping[str, str]) -> Figure:
    """A box for every solver on every dataset and model."""
    figure = _empty(title)
    labels = indicators["dataset"] + ", " + indicators["model"]
    for solver, rows in indicators.groupby("solver", sort=False):
        colour = palette[str(solver)]
        figure.add_box(x=labels[rows.index], y=rows[column], name=str(solver), marker_color=colour, boxpoints="all")
    better = "higher" if column in _HIGHER else "lower"
    figure.update_layout(boxmode="group", yaxis={"title": f"{column} ({better} is better)"})
    return figure


def attainment_figure(
    surfaces: pd.DataFrame, senses: Mapping[str, str], where: str, palette: Mapping[str, str]
) -> Figure:
    """What a quarter, half and three quarters of each solver's runs attain: the median drawn through, others dashed."""
    figure = _empty(f"Attained by 25%, 50% and 75% of the runs: {where}")
    across, upward = senses
    edge = [_edge(surfaces[name], sense) for name, sense in senses.items()]
    for solver, rows in surfaces.groupby("solver", sort=False):
        for share in sorted(set(rows["share"].astype(float))):
            surface = rows[rows["share"] == share]
            x, y = staircase(surface[across].tolist(), surface[upward].tolist(), list(senses.values()), edge).T
            is_median = share == _MEDIAN
            figure.add_scatter(
                x=x,
                y=y,
                mode="lines",
                line={
                    "color": palette[str(solver)],
                    "dash": "solid" if is_median else "dot",
                    "width": 3 if is_median else 1.5,
                },
                name=str(solver) if is_median else f"{solver}, {share:g}%",
                legendgroup=str(solver),
                showlegend=is_median,
                hovertext=f"{solver}: attained by {share:g}% of the runs",
                hoverinfo="text",
            )
    _name_axes(figure, senses)
    return figure


def attainment_difference_figure(
    rectangles: pd.DataFrame, one: str, other: str, senses: Mapping[str, str], title: str, palette: Mapping[str, str]
) -> Figure:
    """Where one of two solvers attains more often than the other: in its colour, the stronger the more often."""
    figure = _empty(title)
    for solver, sign in ((one, 1.0), (other, -1.0)):
        mine = rectangles[sign * rectangles["difference"] > 0]
        figure.add_scatter(  # for the legend
            x=[None], y=[None], mode="markers", marker={"color": palette[solver], "symbol": "square"}, name=solver
        )
        for difference, level in mine.groupby(mine["difference"].abs()):
            for row in level.itertuples():
                figure.add_scatter(
                    x=[row.x0, row.x1, row.x1, row.x0],
                    y=[row.y0, row.y0, row.y1, row.y1],
                    mode="lines",
                    line={"width": 0},
                    fill="toself",
                    fillcolor=_faint(palette[solver], float(difference)),
                    hovertext=f"{solver}: {float(difference):.0%} more of the runs",
                    hoverinfo="text",
                    showlegend=False,
                )
    _name_axes(figure, senses)
    return figure


def _edge(values: pd.Series, sense: str) -> float:
    """A little beyond the worst of the values."""
    beyond = 0.05 * (float(np.ptp(values)) or 1.0)
    return float(values.max()) + beyond if sense == "min" else float(values.min()) - beyond


def _name_axes(figure: Figure, senses: Mapping[str, str]) -> None:
    across, upward = (
        f"{shown(name)} ({'lower' if sense == 'min' else 'higher'} is better)" for name, sense in senses.items()
    )
    figure.update_layout(xaxis_title=across, yaxis_title=upward)


def critical_difference_figure(test: Friedman) -> Figure:
    """Mean ranks on a line, best at the left; a bar joins solvers that do not differ significantly (Demšar 2006)."""
    figure = _empty(
        f"Mean ranks over {test.problems} problems; Friedman p = {test.p:.2g}; critical difference "
        f"{test.critical_difference:.2f} (Nemenyi, {test.alpha:g})"
    )
    names, ranks = [str(name) for name in test.ranks.index], test.ranks.to_numpy()
    for i, group in enumerate(test.groups):
        ends = [test.ranks[group[0]], test.ranks[group[-1]]]
        height = -_BAR * (i + 1)
        figure.add_scatter(x=ends, y=[height, height], mode="lines", line={"color": "#D55E00", "width": 6})
    top, last = -_BAR * (len(test.groups) + 1), len(names) - 1
    edges = 1.0, max(float(len(names)), 1.0 + test.critical_difference)
    figure.add_scatter(x=edges, y=[0, 0], mode="lines", line={"color": "black", "width": 1}, hoverinfo="skip")
    for i, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        # The better half is named at the left and the others at the right, those near an edge above those far from it:
        # so no line crosses another, nor a name.
        is_left = i <= last // 2
        edge = edges[0] if is_left else edges[1]
        height = top - _LINE * (i if is_left else last - i)
        figure.add_scatter(
            x=[rank, rank, edge],
            y=[0, height, height],
            mode="lines",
            line={"color": "grey", "width": 1},
            hovertext=f"{name}: {rank:.2f}",
            hoverinfo="text",
        )
        figure.add_annotation(
            x=edge,
            y=height,
            text=f"{name} ({rank:.2f}) " if is_left else f" {name} ({rank:.2f})",
            xanchor="right" if is_left else "left",
            showarrow=False,
        )
    figure.add_scatter(
        x=[1, 1 + test.critical_difference], y=[0.5, 0.5], mode="lines", line={"color": "black", "width": 3}
    )
    figure.add_annotation(x=1 + test.critical_difference / 2, y=0.8, text="critical difference", showarrow=False)
    beside = 30 + 7 * max(map(len, names)) + 50  # pixels for names and ranks
    figure.update_layout(
        showlegend=False,
        margin={"l": beside, "r": beside},
        xaxis={
            "title": "mean rank (lower is better)",
            "range": list(edges),
            "dtick": 1,
            "side": "top",
            "zeroline": False,
        },
        yaxis={"visible": False},
    )
    return figure


def _empty(title: str) -> Figure:
    import plotly.graph_objects as go

    return go.Figure(layout={"title": title, "template": "plotly_white"})


def _line(solver: str, palette: Mapping[str, str], shape: str) -> dict[str, str]:
    place = list(palette).index(solver)
    return {"color": palette[solver], "shape": shape, "dash": _DASHES[place // len(_COLOURS) % len(_DASHES)]}


def _faint(colour: str, shade: float = _SHADE) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{shade})"
