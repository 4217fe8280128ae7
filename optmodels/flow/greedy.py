"""A first assignment that respects every bound: each record takes its cheapest arc to where there is room."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.flow.paths import Arcs, Bounds, Indices, Ints
from optmodels.flow.pricing import ArcCosts, cheapest_arcs, with_arcs

_COUNT = 8


def place_greedily(arc_costs: ArcCosts, value: Indices, bounds: Bounds, arcs: Arcs) -> tuple[Ints, Arcs]:
    """A centre for every record (-1 where the greedy choice found no room), and the arcs with those it used.

    Values with the tightest caps choose first, and of each value the records with the cheapest arcs.
    """
    n, m = len(value), len(bounds.least)
    counts = np.zeros(bounds.cap.shape, np.int64)
    sizes = np.zeros(m, np.int64)
    left = np.array([n - bounds.least.sum()])  # how many may still be put beyond the least sizes
    home = np.full(n, -1, np.int64)
    tightness = np.bincount(value, minlength=bounds.cap.shape[1]) / np.maximum(bounds.cap.sum(axis=0), 1)
    nearest = arcs.costs[arcs.starts[:-1]]
    for v in np.argsort(-tightness):
        rows = np.flatnonzero(value == v)
        rows = rows[np.argsort(nearest[rows], kind="stable")]
        _place(rows, value, arcs, bounds, counts, sizes, left, home)
        rows = rows[home[rows] < 0]
        while len(rows):
            open_centres = (counts < bounds.cap) & _has_room(bounds, sizes, left)[:, None]
            found = list(cheapest_arcs(arc_costs, np.sort(rows), value, np.where(open_centres.T, 0.0, np.inf), _COUNT))
            arcs = with_arcs(arcs, found)
            _place(rows, value, arcs, bounds, counts, sizes, left, home)
            if (home[rows] < 0).all():
                break
            rows = rows[home[rows] < 0]
    return home, arcs


def _has_room(bounds: Bounds, sizes: Ints, left: Ints) -> NDArray[np.bool_]:
    return (sizes < bounds.least) | ((sizes < bounds.most) & (left[0] > 0))


@njit(cache=True)
def _place(
    rows: Ints, value: Indices, arcs: Arcs, bounds: Bounds, counts: Ints, sizes: Ints, left: Ints, home: Ints
) -> None:
    for record in rows:
        v = value[record]
        best, chosen = np.inf, -1
        for arc in range(arcs.starts[record], arcs.starts[record + 1]):
            centre = arcs.targets[arc]
            beyond = sizes[centre] >= bounds.least[centre]
            if counts[centre, v] >= bounds.cap[centre, v] or sizes[centre] >= bounds.most[centre]:
                continue
            if arcs.costs[arc] < best and not (beyond and left[0] <= 0):
                best, chosen = arcs.costs[arc], centre
        if chosen >= 0:
            home[record] = chosen
            counts[chosen, v] += 1
            left[0] -= sizes[chosen] >= bounds.least[chosen]
            sizes[chosen] += 1
