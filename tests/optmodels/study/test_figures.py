"""What the plots of studies show: axes, names and the data themselves, from frames small enough to check by eye."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from optmodels.study import figures

PALETTE = figures.colours(["a", "b"])


def axes(figure: Any) -> tuple[str, str, str, str]:
    x, y = figure.layout.xaxis, figure.layout.yaxis
    return x.title.text, x.type, y.title.text, y.type


def test_profiles_are_steps_that_go_on_to_the_end() -> None:
    shares = pd.DataFrame({"solver": ["a", "a", "b"], "ratio": [1.0, 4.0, 1.0], "share": [0.25, 1.0, 0.75]})
    figure = figures.profile_figure(shares, "ratio", "a title", "ratio to the best", PALETTE)
    assert axes(figure) == ("ratio to the best", "log", "share of problems (higher is better)", None)
    assert figure.layout.title.text == "a title"
    assert list(figure.layout.yaxis.range) == [0, 1.02]
    one, other = figure.data
    assert (one.name, list(one.x), list(one.y)) == ("a", [1.0, 4.0, pytest.approx(4.4)], [0.25, 1.0, 1.0])
    assert (other.name, list(other.x), list(other.y)) == ("b", [1.0, pytest.approx(4.4)], [0.75, 0.75])
    assert {one.line.shape, other.line.shape} == {"hv"}  # a share holds until it changes
    assert (one.line.color, other.line.color) == (PALETTE["a"], PALETTE["b"])


def test_anytime_curves_have_their_quartiles_around_them_and_none_where_there_is_no_solution() -> None:
    curves = pd.DataFrame(
        {
            "solver": "a",
            "seconds": [0.1, 1.0, 10.0],
            "median": [np.inf, 0.5, 0.0],
            "low": [0.9, 0.25, 0.0],
            "high": [np.inf, 0.75, 0.125],
        }
    )
    figure = figures.anytime_figure(curves, PALETTE)
    assert axes(figure) == ("seconds", "log", "median excess (0.01% stands for less; lower is better)", "log")
    line, shade = figure.data
    assert list(line.x) == [0.1, 1.0, 10.0]
    assert np.isnan(line.y[0])
    assert list(line.y[1:]) == [0.5, 1e-4]
    assert (line.line.shape, line.mode, line.name) == ("hv", "lines", "a")
    assert list(shade.x) == [1.0, 10.0, 10.0, 1.0]  # there along the lower quartile, and back along the upper
    assert list(shade.y) == [0.25, 1e-4, 0.125, 0.75]
    assert (shade.fill, shade.legendgroup, shade.showlegend) == ("toself", "a", False)


def test_scaling_has_the_runs_and_the_line_fitted_to_them() -> None:
    points = pd.DataFrame(
        {
            "solver": ["a", "a", "a", "b", "b"],
            "records": [10, 100, 1000, 10, 100],
            "seconds": [1.0, 9.0, 99.0, 5.0, 5.0],
        }
    )
    fits = pd.DataFrame([{"solver": "a", "exponent": 1.0, "low": 0.9, "high": 1.1, "coefficient": 0.1, "runs": 3}])
    figure = figures.scaling_figure(points, fits, "seconds", PALETTE)
    assert axes(figure) == ("records", "log", "seconds (lower is better)", "log")
    runs, line, others = figure.data
    assert (list(runs.x), list(runs.y), runs.mode) == ([10, 100, 1000], [1.0, 9.0, 99.0], "markers")
    assert (list(line.x), list(line.y), line.mode) == ([10.0, 1000.0], [1.0, 100.0], "lines")
    assert line.name == "a: n^1.00 (0.90 to 1.10)"
    assert (runs.showlegend, others.showlegend) == (False, True)  # who has no line is named by the runs
    assert (others.name, list(others.x), list(others.y)) == ("b", [10, 100], [5.0, 5.0])


def test_boxes_stand_by_problem_a_colour_for_each_solver() -> None:
    measured = pd.DataFrame(
        {
            "dataset": ["x", "x", "y", "y"],
            "model": "m",
            "solver": ["a", "b", "a", "b"],
            "hypervolume": [1.0, 0.5, 0.75, 0.25],
            "igd+": [0.0, 0.1, 0.2, 0.3],
        }
    )
    figure = figures.box_figure(measured, "igd+", "a title", PALETTE)
    assert (figure.layout.yaxis.title.text, figure.layout.boxmode, figure.layout.title.text) == (
        "igd+ (lower is better)",
        "group",
        "a title",
    )
    one, other = figure.data
    assert {one.type, other.type} == {"box"}
    assert (one.name, list(one.x), list(one.y)) == ("a", ["x, m", "y, m"], [0.0, 0.2])
    assert (other.name, list(other.x), list(other.y)) == ("b", ["x, m", "y, m"], [0.1, 0.3])
    assert (one.marker.color, other.marker.color) == (PALETTE["a"], PALETTE["b"])
