"""The data of attainment: what fronts of several runs attain, how surely, and where one solver does more surely.

A point is attained by a run whose front has one at least as good in both objectives. The surface of a share is the edge
of what that share of the runs attain (Fonseca, Grunert da Fonseca and Hall's empirical attainment function).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import moocore
import numpy as np
import pandas as pd
from numpy.typing import NDArray

SHARES = (25.0, 50.0, 75.0)  # of the runs, in percent

Floats = NDArray[np.float64]


def attainment_surfaces(
    points: Floats, runs: Sequence[object], senses: Sequence[str], shares: Sequence[float] = SHARES
) -> pd.DataFrame:
    """The corners of each surface, a row each: `share` in percent, `x` and `y`, in the order of x.

    `points` has two columns and a row for each point of any front, `runs` says which run it is of, and `senses` whether
    each objective is to be small ('min') or large ('max').

    >>> fronts = np.array([[1.0, 3.0], [3.0, 1.0], [2.0, 2.0]])
    >>> attainment_surfaces(fronts, ["a", "a", "b"], ["min", "min"], [50, 100]).values.tolist()
    [[50.0, 1.0, 3.0], [50.0, 2.0, 2.0], [50.0, 3.0, 1.0], [100.0, 2.0, 3.0], [100.0, 3.0, 2.0]]
    """
    signs = _signs(senses)
    numbers = pd.factorize(pd.Series(list(runs), dtype=object))[0] + 1
    found = moocore.eaf(signs * np.asarray(points, float), sets=numbers, percentiles=list(shares))
    frame = pd.DataFrame({"share": found[:, 2], "x": signs[0] * found[:, 0], "y": signs[1] * found[:, 1]})
    return frame.sort_values(["share", "x"], ignore_index=True)


def attainment_difference(
    first: Floats, first_runs: Sequence[object], second: Floats, second_runs: Sequence[object], senses: Sequence[str]
) -> pd.DataFrame:
    """Where the share of runs that attain a point differs: rectangles x0, y0 to x1, y1 and the `difference`.

    That is the share of the first's runs less that of the second's, from -1 to 1; where there is none, no rectangle.
    What is open to one side ends a little beyond the worst point.

    >>> better, worse = np.array([[1.0, 1.0]]), np.array([[2.0, 2.0]])
    >>> found = attainment_difference(better, ["a"], worse, ["b"], ["min", "min"])
    >>> found["difference"].unique().tolist()
    [1.0]
    """
    signs = _signs(senses)
    sets = []
    counts = []
    for points, runs in ((first, first_runs), (second, second_runs)):
        numbers = pd.factorize(pd.Series(list(runs), dtype=object))[0] + 1
        counts.append(int(numbers.max()))
        sets.append((signs * np.asarray(points, float), numbers))
    # moocore subtracts numbers of sets: repeated as often as the other has sets, both have as many
    common = lcm(*counts)
    repeated = [
        np.vstack([np.column_stack([costs, numbers + again * many]) for again in range(common // many)])
        for (costs, numbers), many in zip(sets, counts, strict=True)
    ]
    found = moocore.eafdiff(*repeated, rectangles=True)
    everything = np.vstack([costs for costs, _ in sets])
    span = np.ptp(everything, axis=0)
    edge = everything.max(axis=0) + 0.05 * np.where(span > 0, span, 1.0)
    corners = np.minimum(found[:, :4], np.tile(edge, 2)) * np.tile(signs, 2)
    frame = pd.DataFrame(corners, columns=["x0", "y0", "x1", "y1"]).assign(difference=found[:, 4] / common)
    flat = (frame["x0"] == frame["x1"]) | (frame["y0"] == frame["y1"])
    return frame[(frame["difference"] != 0) & ~flat].reset_index(drop=True)


def staircase(x: Sequence[float], y: Sequence[float], senses: Sequence[str], edge: Sequence[float]) -> Floats:
    """The vertices of a surface through its corners, out to the worst value of each objective at both ends.

    >>> staircase([1, 2], [5, 3], ["min", "min"], (9, 9)).tolist()
    [[1.0, 9.0], [1.0, 5.0], [2.0, 5.0], [2.0, 3.0], [9.0, 3.0]]
    """
    signs = _signs(senses)
    costs = signs * np.column_stack([x, y]).astype(float)
    costs = costs[np.argsort(costs[:, 0], kind="stable")]
    worst = signs * np.array(edge, float)
    vertices = [(costs[0, 0], worst[1])]
    for place, (across, upward) in enumerate(costs):
        vertices.append((across, upward))
        vertices.append((costs[place + 1, 0] if place + 1 < len(costs) else worst[0], upward))
    return np.asarray(signs * np.array(vertices), float)


def _signs(senses: Sequence[str]) -> Floats:
    return np.array([1.0 if sense == "min" else -1.0 for sense in senses])
