"""Lines of several things in one small picture, each with its own colour and dash, and a key below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from optmodels.markup import Markup, named, tag
from optmodels.plot.bands import round_edges, said

_WIDTH, _HEIGHT = 440.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 16.0, 12.0, 44.0
_TICKS = 5
# Okabe and Ito's colours, which most people can tell apart, and dashes for those who see no colours, or print grey.
_TONES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#3d9bd1", "#8c6bb1", "#7f7f7f")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 2", "1 2", "12 4", "4 4 1 4")

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Axis:
    """From values to a coordinate, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float, log: bool) -> _Axis:
        low, high = min(values, default=1.0), max(values, default=1.0)
        if log:
            return cls(low, high if high > low else 2 * low, start, end, log)
        edges = round_edges(low, high, _TICKS)
        last = high if len(edges) > 2 and edges[-2] == high else float(edges[-1])
        return cls(float(edges[0]), last, start, end, log)

    def at(self, value: float) -> float:
        place, low, high = (log10(one) if self.log else one for one in (value, self.low, self.high))
        return self.start + (place - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        if not self.log:
            return [float(edge) for edge in round_edges(self.low, self.high, _TICKS) if edge <= self.high]
        first, last = floor(log10(self.low)), ceil(log10(self.high))
        leads = (1.0,) if last - first > 3 else (1.0, 2.0, 5.0)
        found = [float(f"{lead}e{power}") for power in range(first, last + 1) for lead in leads]
        within = [tick for tick in found if self.low * (1 - 1e-9) <= tick <= self.high * (1 + 1e-9)]
        return within if len(within) > 1 else [self.low, self.high]


def line_picture(
    series: Mapping[str, Points], across: str, up: str, *, log: bool = False, log_up: bool = False
) -> Markup:
    """Stepped lines by their names; either axis may be logarithmic.

    >>> picture = line_picture({"a<b": [(1.0, 0.5), (2.0, 1.0)]}, "ratio", "share")
    >>> "a&lt;b" in picture, picture.count("<path")
    (True, 1)
    """

    def usable(x: float, y: float) -> bool:
        return isfinite(x) and isfinite(y) and (x > 0 or not log) and (y > 0 or not log_up)

    drawn = {name: [(x, y) for x, y in points if usable(x, y)] for name, points in series.items()}
    xs = [x for points in drawn.values() for x, _ in points]
    ys = [y for points in drawn.values() for _, y in points]
    x_axis = _Axis.of(xs, _LEFT, _WIDTH - _RIGHT, log)
    y_axis = _Axis.of(ys, _HEIGHT - _BOTTOM, _TOP, log_up)
    at_x, at_y = x_axis.at, y_axis.at
    parts: list[Markup] = []
    for tick in x_axis.ticks():
        x = at_x(tick)
        parts.append(tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="grid"))
        text = said(float(f"{tick:.3g}"))
        parts.append(tag("text", text, x=f"{x:.1f}", y=_HEIGHT - _BOTTOM + 14, text_anchor="middle", class_="tick"))
    for tick in y_axis.ticks():
        y = at_y(tick)
        parts.append(tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid"))
        text = said(float(f"{tick:.3g}"))
        parts.append(tag("text", text, x=_LEFT - 6, y=f"{y + 3.5:.1f}", text_anchor="end", class_="tick"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(tag("text", across, x=middle, y=_HEIGHT - 8, text_anchor="middle"))
    half = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(tag("text", up, x=12, y=half, text_anchor="middle", transform=f"rotate(-90 12 {half:.1f})"))
    for place, points in enumerate(drawn.values()):
        if points:
            steps = [f"M{at_x(points[0][0]):.1f} {at_y(points[0][1]):.1f}"]
            steps += [f"H{at_x(x):.1f}V{at_y(y):.1f}" for x, y in points[1:]]
            parts.append(
                tag(
                    "path",
                    d="".join(steps) + f"H{_WIDTH - _RIGHT:.1f}",
                    fill="none",
                    stroke=_TONES[place % len(_TONES)],
                    stroke_width="1.8",
                    stroke_dasharray=_DASHES[place % len(_DASHES)],
                )
            )
    keys = [tag("span", _key(place), named(name), class_="line-key") for place, name in enumerate(series)]
    picture = tag(
        "svg",
        tag("title", f"{up} against {across}: {', '.join(series)}"),
        *parts,
        viewBox=f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}",
        class_="front",
        role="img",
    )
    return tag("div", picture, tag("p", *keys, class_="keys"), class_="lines")


def _key(place: int) -> Markup:
    line = tag(
        "line",
        x1=0,
        x2=26,
        y1=6,
        y2=6,
        stroke=_TONES[place % len(_TONES)],
        stroke_width="2.2",
        stroke_dasharray=_DASHES[place % len(_DASHES)],
    )
    return tag("svg", line, viewBox="0 0 26 12", width=26, height=12, aria_hidden="true")
