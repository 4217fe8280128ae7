"""Plotly's figures drawn again with matplotlib, for papers: lines, markers, bars and boxes, their axes and names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from optmodels.errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Printed
    from plotly.graph_objects import Figure

_INCHES = 100  # pixels of an inch
_WIDTH = 7.0
_RIGHT, _TOP = 0.97, 0.88
_CROWDED = 45  # characters of names below an axis from which on they are slanted
_DASHES = {"dash": "--", "dot": ":", "dashdot": "-."}
_MARKERS = {"star": "*", "diamond-open": "D"}
_RGBA = re.compile(r"rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)")


def matplotlib_figure(figure: Figure) -> Printed:
    """The figure with matplotlib: save it with `savefig`, as PDF or SVG.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure as Printed
    except ImportError as missing:
        raise MissingDependencyError(
            "Figures for print need matplotlib, which is not installed: pip install 'optmodels[print]'."
        ) from missing
    layout = figure.layout
    printed = Printed(figsize=(_WIDTH, (layout.height or 450) / _INCHES))
    frame = _Frame.around(layout)
    axes: dict[tuple[str, str], Axes] = {}
    for trace in figure.data:
        key = getattr(trace, "xaxis", None) or "x", getattr(trace, "yaxis", None) or "y"
        if key not in axes:
            axes[key] = printed.add_axes(frame.place(layout, *key))
    if not axes:
        axes["x", "y"] = printed.add_axes(frame.place(layout, "x", "y"))
    for key, panel in axes.items():
        own = [
            trace
            for trace in figure.data
            if (getattr(trace, "xaxis", None) or "x", getattr(trace, "yaxis", None) or "y") == key
        ]
        _draw(panel, own)
        _axis(panel, "x", layout[_axis_name(key[0])])
        _axis(panel, "y", layout[_axis_name(key[1])])
        if panel.get_legend_handles_labels()[1]:
            if any(trace.type == "bar" for trace in own):
                printed.legend(*panel.get_legend_handles_labels(), fontsize=8, frameon=False, loc="upper right")
            else:
                panel.legend(fontsize=8, frameon=False)
    for note in layout.annotations:
        _annotate(printed, axes, frame, note)
    if layout.title.text:
        printed.suptitle(_plain(layout.title.text), fontsize=11)
    return printed


def _axis_name(name: str) -> str:
    """x2 is the axis that the layout calls xaxis2."""
    return f"{name[0]}axis{name[1:]}"


@dataclass(frozen=True)
class _Frame:
    """Where the panels are on the page, with room for the names at their sides."""

    left: float
    bottom: float

    @classmethod
    def around(cls, layout: Any) -> _Frame:
        beside = below = 0
        for key in layout.to_plotly_json():
            names = [_plain(text) for text in layout[key].ticktext or ()] if key[1:5] == "axis" else []
            longest = max((len(line) for text in names for line in text.split("\n")), default=0)
            beside = max(beside, longest) if key[0] == "y" else beside
            below = max(below, longest) if key[0] == "x" and _is_crowded(names) else below
        return cls(min(0.45, 0.1 + 0.0085 * beside), min(0.3, 0.13 + 0.007 * below))

    def place(self, layout: Any, x: str, y: str) -> tuple[float, float, float, float]:
        """Left, bottom, width and height of a panel."""
        (left, right), (low, high) = (layout[_axis_name(name)].domain or (0.0, 1.0) for name in (x, y))
        start, base = self.at(left, low)
        end, top = self.at(right, high)
        return start, base, end - start, top - base

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the panels' area on the page."""
        return self.left + x * (_RIGHT - self.left), self.bottom + y * (_TOP - self.bottom)


def _is_crowded(names: Sequence[str]) -> bool:
    return sum(map(len, names)) > _CROWDED


def _draw(panel: Axes, traces: Sequence[Any]) -> None:
    bars = [trace for trace in traces if trace.type == "bar"]
    boxes = [trace for trace in traces if trace.type == "box"]
    before: Any = None
    for trace in traces:
        if trace.type == "scatter":
            _draw_scatter(panel, trace, before)
            before = trace
    for place, trace in enumerate(bars):
        _draw_bars(panel, trace, place, len(bars))
    if boxes:
        _draw_boxes(panel, boxes)


def _draw_scatter(panel: Axes, trace: Any, before: Any) -> None:
    mode = trace.mode or "lines"
    x, y = _stepped(trace)
    colour = _colour(trace.line.color or (trace.marker.color if isinstance(trace.marker.color, str) else None))
    label = _plain(trace.name) if trace.name and trace.showlegend is not False else None
    if trace.fill == "toself":
        panel.fill(x, y, color=_colour(trace.fillcolor), linewidth=0)
        return
    if trace.fill == "tonexty" and before is not None:
        outer, inner = _stepped(before)
        panel.fill([*outer, *x[::-1]], [*inner, *y[::-1]], color=_colour(trace.fillcolor), linewidth=0)
    if "lines" in mode and trace.line.width != 0:
        width = 1.2 if trace.line.width is None else trace.line.width / 2
        dash = _DASHES.get(trace.line.dash, "-")
        panel.plot(x, y, dash, color=colour, linewidth=width, label=None if "markers" in mode else label)
    if "markers" in mode:
        values = trace.marker.color
        numbers = None if values is None or isinstance(values, str) else np.asarray(values, np.float64)
        is_open = str(trace.marker.symbol).endswith("-open")
        filled = colour if numbers is None else numbers
        size = (trace.marker.size if isinstance(trace.marker.size, (int, float)) else 7.0) ** 2 / 2
        drawn = panel.scatter(
            trace.x,
            trace.y,
            s=size,
            **({"facecolors": "none", "edgecolors": colour} if is_open else {"c": filled}),
            marker=_MARKERS.get(trace.marker.symbol, "o"),
            label=label,
            zorder=3,
        )
        if numbers is not None:
            bar = panel.figure.colorbar(drawn, ax=panel)
            bar.set_label(_plain(trace.marker.colorbar.title.text or ""), fontsize=8)
    if "text" in mode and trace.text is not None:
        for a, b, text in zip(trace.x, trace.y, trace.text, strict=True):
            panel.annotate(_plain(text), (a, b), xytext=(0, 6), textcoords="offset points", fontsize=7, ha="center")


def _stepped(trace: Any) -> tuple[list[float], list[float]]:
    """The vertices of a line, with those of its steps where it has any."""
    x, y = list(trace.x), list(trace.y)
    shape = trace.line.shape
    if shape not in ("hv", "vh") or len(x) < 2:
        return x, y
    across, upward = [x[0]], [y[0]]
    for (a, b), (c, d) in pairwise(zip(x, y, strict=True)):
        across += [c, c] if shape == "hv" else [a, c]
        upward += [b, d] if shape == "hv" else [d, d]
    return across, upward


def _draw_bars(panel: Axes, trace: Any, place: int, count: int) -> None:
    thick = 0.8 / count
    lying = trace.orientation == "h"
    along, lengths = (trace.y, trace.x) if lying else (trace.x, trace.y)
    at = np.asarray(along, np.float64) + (place - (count - 1) / 2) * thick
    colours = trace.marker.color
    colour = [_colour(one) for one in colours] if isinstance(colours, (list, tuple, np.ndarray)) else _colour(colours)
    label = _plain(trace.name) if trace.showlegend else None
    (panel.barh if lying else panel.bar)(at, lengths, thick, color=colour, label=label)


def _draw_boxes(panel: Axes, traces: Sequence[Any]) -> None:
    places = list(dict.fromkeys(str(one) for trace in traces for one in trace.x))
    thick = 0.8 / len(traces)
    for number, trace in enumerate(traces):
        groups = {place: [b for a, b in zip(trace.x, trace.y, strict=True) if str(a) == place] for place in places}
        at = [places.index(place) + (number - (len(traces) - 1) / 2) * thick for place in groups]
        colour = _colour(trace.marker.color)
        panel.boxplot(
            [np.asarray(some, np.float64) for some in groups.values()],
            positions=at,
            widths=thick * 0.9,
            manage_ticks=False,
            boxprops={"color": colour},
            medianprops={"color": colour},
        )
        panel.plot([], [], color=colour, label=_plain(trace.name))
    panel.set_xticks(range(len(places)), [_plain(place) for place in places], fontsize=8)


def _axis(panel: Axes, which: str, axis: Any) -> None:
    if axis.title.text:
        getattr(panel, f"set_{which}label")(_plain(axis.title.text), fontsize=9)
    if axis.type == "log":
        getattr(panel, f"set_{which}scale")("log")
    if axis.range is not None:
        limits = [10.0**end for end in axis.range] if axis.type == "log" else axis.range
        getattr(panel, f"set_{which}lim")(*limits)
    if axis.tickvals is not None and axis.ticktext is not None:
        crowded = which == "x" and _is_crowded(axis.ticktext)
        getattr(panel, f"set_{which}ticks")(
            list(axis.tickvals),
            [_plain(text) for text in axis.ticktext],
            fontsize=8,
            **({"rotation": 45, "ha": "right"} if crowded else {}),
        )
    if str(axis.tickformat).endswith("%"):
        from matplotlib.ticker import PercentFormatter

        getattr(panel, f"{which}axis").set_major_formatter(PercentFormatter(1.0))
    if axis.autorange == "reversed":
        getattr(panel, f"invert_{which}axis")()
    if axis.visible is False:
        getattr(panel, f"{which}axis").set_visible(False)
    panel.grid(visible=True, color="#e3e6ec", linewidth=0.6)
    panel.set_axisbelow(True)


def _annotate(printed: Printed, axes: dict[tuple[str, str], Axes], frame: _Frame, note: Any) -> None:
    text, anchor = _plain(note.text), note.xanchor or "center"
    if note.xref == "paper":
        across, up = frame.at(note.x, note.y)
        printed.text(across, up + 0.01, text, ha="center", fontsize=9)
        return
    panel = axes.get((note.xref or "x", note.yref or "y"))
    if panel is not None:
        panel.annotate(text, (note.x, note.y), ha=anchor, va="center", fontsize=8, annotation_clip=False)


def _colour(colour: str | None) -> Any:
    found = _RGBA.fullmatch(colour or "")
    if found is None:
        return colour
    red, green, blue = (int(found[i]) / 255 for i in (1, 2, 3))
    return red, green, blue, float(found[4])


def _plain(text: str) -> str:
    """Text as it is meant: matplotlib takes dollars for mathematics, Plotly entities and breaks for HTML."""
    return unescape(str(text).replace("<br>", "\n")).replace("$", r"\$")
