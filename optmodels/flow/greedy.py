"""A first assignment that respects every bound: each record takes its cheapest arc to where there is room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.flow.paths import Arcs, Bounds, Indices, Ints
from optmodels.flow.pricing import ArcCosts, cheapest_arcs, with_arcs
from optmodels.halting import Flag
from optmodels.kernels import kernel

_COUNT = 8


def place_greedily(
    arc_costs: ArcCosts, value: Indices, bounds: Bounds, arcs: Arcs, halt: Flag | None = None
) -> tuple[Ints, Arcs]:
    """A centre for every record (-1 where no room was found), and the arcs with those it used."""
    home, arcs = _place_all(arc_costs, value, bounds, arcs, halt)
    if (home < 0).any() and (quotas := _dealt(value, bounds)) is not None:
        home, arcs = _place_all(arc_costs, value, quotas, arcs, halt)
    return home, arcs


def _dealt(value: Indices, bounds: Bounds) -> Bounds | None:
    """Quotas for every centre and value that can all be filled: the records dealt out like cards, value by value."""
    m, n_values = bounds.cap.shape
    centre = np.empty(len(value), np.int64)
    centre[np.argsort(value, kind="stable")] = np.arange(len(value)) % m
    quota = np.bincount(centre * n_values + value, minlength=m * n_values).reshape(m, n_values)
    sizes = quota.sum(axis=1)
    outside = (quota < bounds.floor) | (quota > bounds.cap)
    if outside.any() or (sizes < bounds.least).any() or (sizes > bounds.most).any():
        return None
    return Bounds(sizes, sizes, quota, quota, bounds.threshold, bounds.slope)


def _place_all(arc_costs: ArcCosts, value: Indices, bounds: Bounds, arcs: Arcs, halt: Flag | None) -> tuple[Ints, Arcs]:
    """Values with the tightest caps choose first, and of each value the records with the cheapest arcs.

    Places that a floor asks for are taken from the beginning, by records to come: `sizes` counts them.
    """
    n = len(value)
    occurring = np.bincount(value, minlength=bounds.cap.shape[1])
    counts = np.zeros(bounds.cap.shape, np.int64)
    sizes = bounds.floor.sum(axis=1)
    left = np.array([n - np.maximum(bounds.least, sizes).sum()])  # how many may still be put beyond the least sizes
    surplus = occurring - bounds.floor.sum(axis=0)  # and how many of each value beyond the floors
    home = np.full(n, -1, np.int64)
    tightness = occurring / np.maximum(bounds.cap.sum(axis=0), 1)
    tightness[(bounds.cap >= bounds.most[:, None]).all(axis=0)] = 0.0  # no cap but the size
    nearest = arcs.costs[arcs.starts[:-1]]
    for v in np.argsort(-tightness):
        rows = np.flatnonzero(value == v)
        rows = rows[np.argsort(nearest[rows], kind="stable")]
        _place(rows, value, arcs, bounds, counts, sizes, left, surplus, home)
        rows = rows[home[rows] < 0]
        while len(rows):
            beyond = (counts < bounds.cap) & _has_room(bounds, sizes, left)[:, None] & (surplus > 0)
            open_centres = beyond | (counts < bounds.floor)
            found = cheapest_arcs(arc_costs, np.sort(rows), value, np.where(open_centres.T, 0.0, np.inf), _COUNT, halt)
            arcs = with_arcs(arcs, found)
            _place(rows, value, arcs, bounds, counts, sizes, left, surplus, home)
            if (home[rows] < 0).all():
                break
            rows = rows[home[rows] < 0]
    return home, arcs


def _has_room(bounds: Bounds, sizes: Ints, left: Ints) -> NDArray[np.bool_]:
    return np.asarray((sizes < bounds.least) | ((sizes < bounds.most) & (left[0] > 0)))


@kernel
def _place(
    rows: Ints,
    value: Indices,
    arcs: Arcs,
    bounds: Bounds,
    counts: Ints,
    sizes: Ints,
    left: Ints,
    surplus: Ints,
    home: Ints,
) -> None:
    for record in rows:
        v = value[record]
        best, chosen = np.inf, -1
        for arc in range(arcs.starts[record], arcs.starts[record + 1]):
            if arcs.costs[arc] >= best:
                continue
            centre = arcs.targets[arc]
            if counts[centre, v] >= bounds.floor[centre, v]:
                if surplus[v] <= 0 or counts[centre, v] >= bounds.cap[centre, v]:
                    continue
                if sizes[centre] >= bounds.most[centre] or (sizes[centre] >= bounds.least[centre] and left[0] <= 0):
                    continue
            best, chosen = arcs.costs[arc], centre
        if chosen >= 0:
            home[record] = chosen
            if counts[chosen, v] >= bounds.floor[chosen, v]:
                surplus[v] -= 1
                left[0] -= sizes[chosen] >= bounds.least[chosen]
                sizes[chosen] += 1
            counts[chosen, v] += 1


@kernel
def mean_cost(arcs: Arcs, home: Ints) -> float:
    """The mean cost of the arcs to given centres, over the records that have one."""
    total, count = 0.0, 0
    for record in range(len(home)):
        for arc in range(arcs.starts[record], arcs.starts[record + 1]):
            if arcs.targets[arc] == home[record]:
                total += abs(arcs.costs[arc])
                count += 1
                break
    return total / max(1, count)
