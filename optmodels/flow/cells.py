"""Centres in cells of near ones: the cheapest centres of a class, found without looking at most of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.flow.paths import Floats, Indices, Ints
from optmodels.kernels import kernel, part

_OF_A_CELL = 32  # centres, at most


class CentreCells(NamedTuple):
    """Centres sorted so that those of a cell stand together, and the box around each cell."""

    order: Ints  # (m) which centre stands where
    columns: Floats  # (d, m), in that order
    starts: Ints  # (cells + 1)
    low: Floats  # (cells, d)
    high: Floats  # (cells, d)


class ClassPoints(NamedTuple):
    """Classes of records. As distances are convex, a class costs at least its size times the distance of its mean."""

    points: Floats  # (n, d)
    order: Ints  # (n) the records of the classes, one class after the other
    starts: Ints  # (classes + 1)
    means: Floats  # (classes, d)
    within: Floats  # (classes) what squared distances add up to beyond those from the mean


def in_cells(centres: Floats) -> CentreCells:
    """The centres in cells, cut at the median of the widest side.

    >>> in_cells(np.arange(100.0)[:, None]).low.ravel()
    array([ 0., 25., 50., 75.])
    """
    done: list[NDArray[np.int64]] = []
    waiting = [np.arange(len(centres))]
    while waiting:
        some = waiting.pop()
        if len(some) <= _OF_A_CELL:
            done.append(some)
            continue
        side = int(np.ptp(centres[some], axis=0).argmax())
        half = len(some) // 2
        parted = some[np.argpartition(centres[some, side], half)]
        waiting += [parted[half:], parted[:half]]
    order = np.concatenate(done)
    starts = np.cumsum([0, *map(len, done)])
    placed = centres[order]
    low, high = np.minimum.reduceat(placed, starts[:-1]), np.maximum.reduceat(placed, starts[:-1])
    return CentreCells(order, np.ascontiguousarray(placed.T), starts, low, high)


def classes_of(points: Floats, order: Ints, starts: Ints) -> ClassPoints:
    """The classes with their means and spreads."""
    members, sizes = points[order], np.diff(starts)
    means = np.add.reduceat(members, starts[:-1], axis=0) / sizes[:, None]
    squares = ((members - np.repeat(means, sizes, axis=0)) ** 2).sum(axis=1)
    return ClassPoints(points, order, starts, means, np.add.reduceat(squares, starts[:-1]))


@kernel(nogil=True)
def cheapest_centres(
    classes: ClassPoints,
    cells: CentreCells,
    metric: int,
    prices: Floats,
    rows: Ints,
    below: Floats,
    targets: Indices,
    costs: Floats,
    reduced: Floats,
) -> None:
    """For each class the centres of least cost + price, cheapest first, of those below a threshold; else -1.

    `prices` are in the order of the centres. Cells whose box is too far away at their least price are passed over, and
    so are centres that are too far from the mean.
    """
    n_axes, m = cells.columns.shape
    count, n_cells = targets.shape[1], len(cells.low)
    placed, least = np.empty(m), np.full(n_cells, np.inf)
    for cell in range(n_cells):
        for place in range(cells.starts[cell], cells.starts[cell + 1]):
            placed[place] = prices[cells.order[place]]
            least[cell] = min(least[cell], placed[place])
    bound, apart = np.empty(n_cells), np.empty(m)
    for row in range(len(rows)):
        c = rows[row]
        size, mean = classes.starts[c + 1] - classes.starts[c], classes.means[c]
        extra = classes.within[c] if metric == 2 else 0.0
        targets[row, :] = -1
        costs[row, :] = np.inf
        reduced[row, :] = np.inf
        nearest = 0
        for cell in range(n_cells):
            bound[cell] = size * _to_box(mean, cells.low[cell], cells.high[cell], metric) + extra + least[cell]
            if bound[cell] < bound[nearest]:
                nearest = cell
        for step in range(n_cells):
            cell = nearest if step == 0 else step if step > nearest else step - 1
            if bound[cell] >= min(below[row], reduced[row, count - 1]):
                continue
            first, last = cells.starts[cell], cells.starts[cell + 1]
            for place in range(first, last):
                apart[place] = 0.0
            for axis in range(n_axes):
                x, column = mean[axis], cells.columns[axis]
                if metric == 0:
                    for place in range(first, last):
                        apart[place] += abs(x - column[place])
                else:
                    for place in range(first, last):
                        apart[place] += (x - column[place]) * (x - column[place])
            for place in range(first, last):
                worst = min(below[row], reduced[row, count - 1])
                distance = np.sqrt(apart[place]) if metric == 1 else apart[place]
                if size * distance + extra + placed[place] >= worst:
                    continue
                cost = _cost(classes, cells.columns, metric, c, place)
                key = cost + placed[place]
                if key >= worst:
                    continue
                at = count - 1
                while at > 0 and reduced[row, at - 1] > key:
                    reduced[row, at] = reduced[row, at - 1]
                    costs[row, at] = costs[row, at - 1]
                    targets[row, at] = targets[row, at - 1]
                    at -= 1
                reduced[row, at], costs[row, at], targets[row, at] = key, cost, cells.order[place]


@kernel(nogil=True)
def pair_costs(classes: ClassPoints, columns: Floats, metric: int, rows: Ints, centres: Ints) -> Floats:
    """What each of some classes costs with a centre; `columns` holds these in their own order."""
    found = np.empty(len(rows))
    for index in range(len(rows)):
        found[index] = _cost(classes, columns, metric, rows[index], centres[index])
    return found


@part
def _cost(classes: ClassPoints, columns: Floats, metric: int, c: int, place: int) -> float:
    cost = 0.0
    for member in range(classes.starts[c], classes.starts[c + 1]):
        distance = 0.0
        for axis in range(len(columns)):
            step = classes.points[classes.order[member], axis] - columns[axis, place]
            distance += abs(step) if metric == 0 else step * step
        cost += np.sqrt(distance) if metric == 1 else distance
    return cost


@part
def _to_box(point: Floats, low: Floats, high: Floats, metric: int) -> float:
    total = 0.0
    for axis in range(len(point)):
        step = max(0.0, low[axis] - point[axis], point[axis] - high[axis])
        total += step if metric == 0 else step * step
    return np.sqrt(total) if metric == 1 else total
