"""A front as a small picture of lines and circles, for pages that need nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from optmodels.markup import Markup, escaped, tag
from optmodels.objective import Objective
from optmodels.plot.bands import round_edges, said
from optmodels.plot.points import KNEE, axis_title, direction

_WIDTH, _HEIGHT = 440.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 16.0, 16.0, 46.0
_TICKS = 5
_NUMBERED = 12  # points that are numbered all; of more only those with a mark
_MOST = 1500  # points that are drawn one by one; of more evenly spaced ones

Scale = Callable[[float], float]


def front_picture(
    points: pd.DataFrame, first: Objective, second: Objective, *, chosen: int | None = None, steps: bool = True
) -> Markup:
    """The second objective to the right, the first upwards: points, and of two objectives steps and proven bounds."""
    shown = _some(points, chosen).sort_values(second.name)
    values = [*shown[first.name], *(shown["bound"].dropna() if steps else ())]
    across, x_ticks = _scale(shown[second.name].tolist(), _LEFT, _WIDTH - _RIGHT)
    upward, y_ticks = _scale(values, _HEIGHT - _BOTTOM, _TOP)
    parts: list[Markup | None] = [
        *(_tick_x(tick, across(tick)) for tick in x_ticks),
        *(_tick_y(tick, upward(tick)) for tick in y_ticks),
        *_axes(first, second),
    ]
    rising = second.sense == "max"
    if steps:
        proven = shown.dropna(subset=["bound"])
        parts.append(_steps(proven[second.name], proven["bound"], across, upward, rising, "bound"))
        parts.append(_steps(shown[second.name], shown[first.name], across, upward, rising, "steps"))
    drawn = sorted(shown.to_dict("records"), key=lambda row: _is_marked(row, chosen))  # those marked lie on top
    for row in drawn:
        parts += _point(row, first, second, across, upward, chosen, len(shown) <= _NUMBERED)
    label = f"Front of {len(points):,} points: {axis_title(first)} against {axis_title(second)}"
    return tag(
        "svg", tag("title", label), *parts, viewBox=f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}", class_="front", role="img"
    )


def _some(points: pd.DataFrame, chosen: int | None) -> pd.DataFrame:
    if len(points) <= _MOST:
        return points
    spaced = np.linspace(0, len(points) - 1, _MOST).astype(int)
    marked = points.index[points["marks"] != ""].tolist()
    return points.loc[sorted({*points.index[spaced], *marked, *([] if chosen is None else [chosen])})]


def _scale(values: Sequence[float], start: float, end: float) -> tuple[Scale, list[float]]:
    finite = np.array([value for value in values if np.isfinite(value)])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    reach = high - low if high > low else abs(high) or 1.0
    low, high = low - 0.06 * reach, high + 0.06 * reach
    ticks = [edge for edge in round_edges(low, high, _TICKS) if low <= edge <= high]
    return lambda value: start + (value - low) / (high - low) * (end - start), ticks


def _axes(first: Objective, second: Objective) -> list[Markup]:
    base = _HEIGHT - _BOTTOM
    return [
        _line(_LEFT, base, _WIDTH - _RIGHT, base, "axis"),
        _line(_LEFT, _TOP, _LEFT, base, "axis"),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, f"{_short(second.name)} ({direction(second)})", "middle"),
        tag(
            "text",
            f"{_short(first.name)} ({direction(first)})",
            transform=f"translate(14 {(_TOP + base) / 2:.1f}) rotate(-90)",
            text_anchor="middle",
        ),
    ]


def _tick_x(tick: float, x: float) -> Markup:
    base = _HEIGHT - _BOTTOM
    return Markup(_line(x, _TOP, x, base, "grid") + _text(x, base + 16, said(tick), "middle", "tick"))


def _tick_y(tick: float, y: float) -> Markup:
    return Markup(_line(_LEFT, y, _WIDTH - _RIGHT, y, "grid") + _text(_LEFT - 6, y + 4, said(tick), "end", "tick"))


def _steps(x: pd.Series, y: pd.Series, across: Scale, upward: Scale, rising: bool, kind: str) -> Markup | None:
    """The best value of the first objective for each level of the second."""
    if len(x) < 2:
        return None
    places = [(across(a), upward(b)) for a, b in zip(x, y, strict=True)]
    drawn = f"M{places[0][0]:.1f} {places[0][1]:.1f}"
    for a, b in places[1:]:
        drawn += f"V{b:.1f}H{a:.1f}" if rising else f"H{a:.1f}V{b:.1f}"
    return tag("path", d=drawn, class_=kind)


def _is_marked(row: dict[Hashable, Any], chosen: int | None) -> int:
    return 2 if row["number"] == chosen else int(row["marks"] != "")


def _point(
    row: dict[Hashable, Any],
    first: Objective,
    second: Objective,
    across: Scale,
    upward: Scale,
    chosen: int | None,
    numbered: bool,
) -> list[Markup]:
    x, y = across(float(row[second.name])), upward(float(row[first.name]))
    number, marks = str(row["number"]), str(row["marks"])
    is_chosen = row["number"] == chosen
    kind = "chosen" if is_chosen else "knee" if KNEE in marks.split(", ") else "point"
    told = f"point {number}: {first.name} {row[first.name]:.6g}, {second.name} {row[second.name]:.6g}"
    circle = tag(
        "circle",
        tag("title", told + (f" ({marks})" if marks else "")),
        cx=f"{x:.1f}",
        cy=f"{y:.1f}",
        r="3" if kind == "point" else "6",
        class_=kind,
    )
    if not (numbered or is_chosen or marks):
        return [circle]
    words = {"chosen": f"{number} chosen", "knee": f"{number} knee"}.get(kind, number)
    left = x > _WIDTH * 0.7
    return [circle, _text(x - 9 if left else x + 9, max(y - 7, 12), words, "end" if left else "start", "number")]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=kind)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> Markup:
    return tag("text", escaped(text), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)


def _short(text: str) -> str:
    return text if len(text) <= 30 else text[:29] + "…"
