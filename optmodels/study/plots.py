"""All plots of a study into a folder: for each an HTML page or a PDF, and its data as CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import pandas as pd

from optmodels.errors import InputError, unknown
from optmodels.files import write_whole
from optmodels.plot.figures import Backend, in_backend
from optmodels.study import figures, measures, profiles, statistics
from optmodels.study.attainment import fronts_of
from optmodels.study.results import Results

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Kind = Literal["performance", "data", "anytime", "scaling", "boxes", "attainment", "ranks"]
Plot = tuple[str, pd.DataFrame, "Figure"]  # or a figure of matplotlib


def plots(
    results: Results,
    kinds: Sequence[Kind] = get_args(Kind),
    *,
    measure: measures.Measure = "value",
    tolerance: float = measures.TOLERANCE,
    backend: Backend = "plotly",
) -> list[Plot]:
    """The name, the data and the figure of every plot that the study has data for.

    Figures are Plotly's, or with the backend "matplotlib" for print.

    `measure` is what the performance profile of costs and the ranks compare; there is a performance profile of times to
    targets, within `tolerance` of the best known value, as well.
    """
    for kind in kinds:
        if kind not in get_args(Kind):
            raise unknown("kind of plot", kind, get_args(Kind))
    runs, curves = results.runs(), results.curves()
    if not len(runs):
        raise InputError(f"The study in '{results.path}' has no finished run yet.")
    palette = figures.colours(list(dict.fromkeys(map(str, runs["solver"]))))
    drawn: dict[Kind, Callable[[], list[Plot]]] = {
        "performance": lambda: _performance(runs, curves, measure, tolerance, palette),
        "data": lambda: _data(runs, curves, palette),
        "anytime": lambda: _anytime(runs, curves, palette),
        "scaling": lambda: _scaling(runs, palette),
        "boxes": lambda: _boxes(runs, results.points(), palette),
        "attainment": lambda: _attainment(runs, results.points(), palette),
        "ranks": lambda: _ranks(runs, curves, measure, tolerance),
    }
    found = [plot for kind in kinds for plot in drawn[kind]()]
    return [(name, data, in_backend(figure, backend)) for name, data, figure in found]


def write_plots(plotted: Sequence[Plot], folder: str | Path) -> list[Path]:
    """Write every plot as an HTML page that needs no network, or as PDF if it is for print, and its data as CSV."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"Cannot make the folder '{target}': {problem.strerror}.") from problem
    written = []
    for name, data, figure in plotted:
        if hasattr(figure, "savefig"):
            written += [write_whole(target / f"{name}.pdf", partial(figure.savefig, format="pdf"))]
        else:
            page = partial(figure.write_html, include_plotlyjs="directory")
            written += [write_whole(target / f"{name}.html", page)]
        written += [write_whole(target / f"{name}.csv", partial(data.to_csv, index=False))]
    if any(path.suffix == ".html" for path in written):
        from plotly.offline import get_plotlyjs

        script = get_plotlyjs()
        write_whole(target / "plotly.min.js", lambda file: file.write_text(script, encoding="utf-8"))
    return written


def _performance(
    runs: pd.DataFrame, curves: pd.DataFrame, measure: measures.Measure, tolerance: float, palette: dict[str, str]
) -> list[Plot]:
    found: list[Plot] = []
    chosen: dict[str, measures.Measure] = {
        f"performance-{measure}": measure,
        "performance-time-to-target": "time-to-target",
    }
    for name, what in chosen.items():
        shares = profiles.performance_profile(measures.costs(runs, curves, what, tolerance))
        title = f"Performance profile of {what}"
        if what == "time-to-target":
            title += f" (within {tolerance:.1%} of the best known)"
        found.append(
            (name, shares, figures.profile_figure(shares, "ratio", title, "ratio to the best solver", palette))
        )
    return found


def _data(runs: pd.DataFrame, curves: pd.DataFrame, palette: dict[str, str]) -> list[Plot]:
    shares = profiles.data_profile(runs, curves)
    title = "Data profile: 95% of the known progress made"
    return [("data-profile", shares, figures.profile_figure(shares, "budget", title, "seconds", palette))]


def _anytime(runs: pd.DataFrame, curves: pd.DataFrame, palette: dict[str, str]) -> list[Plot]:
    found = profiles.anytime(runs, curves)
    return [("anytime", found, figures.anytime_figure(found, palette))] if len(found) else []


def _scaling(runs: pd.DataFrame, palette: dict[str, str]) -> list[Plot]:
    points, fits = profiles.scaling_points(runs), profiles.scaling(runs)
    if points.empty:
        return []
    drawn = figures.scaling_figure(points, fits, "seconds", palette)
    return [("scaling", fits, drawn)]


def _boxes(runs: pd.DataFrame, points: pd.DataFrame, palette: dict[str, str]) -> list[Plot]:
    indicators = measures.indicators(runs, points)
    if not len(indicators):
        return []
    titles = {"hypervolume": "Hypervolume, as a share of the best known", "igd+": "IGD+ to all fronts together"}
    return [
        (name.replace("+", "-plus"), indicators, figures.box_figure(indicators, name, title, palette))
        for name, title in titles.items()
    ]


def _attainment(runs: pd.DataFrame, points: pd.DataFrame, palette: dict[str, str]) -> list[Plot]:
    found: list[Plot] = []
    for number, fronts in enumerate(fronts_of(runs, points)):
        where, place = f"{fronts.dataset}, {fronts.model}", "" if number == 0 else f"-{number + 1}"
        surfaces = fronts.surfaces()
        found.append(
            (f"attainment{place}", surfaces, figures.attainment_figure(surfaces, fronts.senses, where, palette))
        )
        for one, other, differing in fronts.differences():
            if len(differing):
                name = f"attainment{place}-{_in_a_name(one)}-against-{_in_a_name(other)}"
                title = f"Attained more often by {one} or by {other}: {where}"
                drawn = figures.attainment_difference_figure(differing, one, other, fronts.senses, title, palette)
                found.append((name, differing, drawn))
    return found


def _in_a_name(solver: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.=-]+", "-", solver).strip("-.") or "solver"


def _ranks(runs: pd.DataFrame, curves: pd.DataFrame, measure: measures.Measure, tolerance: float) -> list[Plot]:
    costs = statistics.by_problem(measures.costs(runs, curves, measure, tolerance)).dropna()
    if min(costs.shape) < 2:
        return []
    test = statistics.friedman(costs)
    ranks = test.ranks.rename("mean_rank").rename_axis("solver").reset_index()
    return [("ranks", ranks, figures.critical_difference_figure(test))]
