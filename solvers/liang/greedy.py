"""The greedy algorithm of Liang and Samavi (2020): walk the sorted records, grow each class by what widens it least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from optmodels.partition import Labels
from optmodels.price import extent
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Assignment, ClassCount, Priced, Structure
from optmodels.table import Table
from solvers._construction.box_search import DEPTH, wait_for_halves
from solvers._construction.box_tree import BoxTree, Floats, Rows, grown, left_in, points_of, rows_left, take_away
from solvers._construction.repair import offer_mended
from solvers._construction.rest import cut_rest

_STEPS = 100  # classes between looks at the clock
_GRAIN = 1e-9  # widths that differ by less are equal: the same shares of a range differ in their last bits


@dataclass(frozen=True)
class LiangGreedy(Solver):
    """Classes of k records, each started by the first record left and grown by the record that widens it least.

    Records are sorted by attributes in increasing order of their variance; of equally good records the first in that
    order is taken. The last records, fewer than k, join the classes that they leave narrowest. Records are found in a
    tree of boxes, with the same result as by looking at all of them. When time is over, what is left is cut at medians.

    >>> import pandas as pd
    >>> from formulations import LiangSamavi
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> LiangGreedy().solve(LiangSamavi(k=3).build(table)).labels
    array([0, 1, 0, 1, 0, 1])
    """

    name: ClassVar[str] = "liang-greedy"
    summary: ClassVar[str] = "classes grown along sorted records by what widens them least; feasible, fast, heuristic"
    rejects: ClassVar[tuple[type[Structure], ...]] = (ClassCount, Assignment)

    def search(self, problem: Problem, run: Run) -> None:
        """Grow one partition and offer it."""
        priced, test = problem.structure(Priced), problem.test
        own = None if priced is None else priced.compiled
        price = own if own is not None and own.name == "extent" else extent(problem.table)
        order = by_increasing_variance(problem.table)
        points, weights = points_of(price)[order], price.code_weights
        no_marks = np.zeros((price.n, 0), np.uint64)
        found = np.full(price.n, -1, np.int64)  # labels in sorted order
        label, rest = 0, np.arange(price.n)
        labels = np.full(price.n, -1, np.int64)
        try:
            while len(rest) >= test.k and not run.expired:
                tree = grown(points, no_marks, rest, weights)
                enough = max(test.k, len(rest) // 2)  # with fewer left a new tree is worth its while
                while left_in(tree) >= enough and not run.expired:
                    label = grow_classes(tree, points, test.k, found, label, enough, _STEPS)
                    run.report("classes grown", done=price.n - left_in(tree), total=price.n)
                rest = rows_left(tree)
            if len(rest) < test.k:
                _join_narrowest(points, weights, found, order)
        finally:
            labels[order] = found
            cut_rest(price, test, labels, run)
            offer_mended(run, price, test, labels)


def by_increasing_variance(table: Table) -> Rows:
    """The records sorted by their attributes, the one with the least variance first; codes count as numbers.

    Numbers are scaled as the table is, so that other units leave the order as it is.
    """
    columns = [*table.scaled.T, *table.codes.T]
    variances = [float(np.var(column)) for column in columns]
    keys = [columns[j] for j in np.argsort(variances, kind="stable")]
    return np.lexsort(keys[::-1]).astype(np.int64) if keys else np.arange(table.n)


@kernel
def grow_classes(tree: BoxTree, points: Floats, k: int, labels: Labels, label: int, enough: int, steps: int) -> int:
    """Grow classes of k records out of the tree while it has enough of them; returns the next label."""
    d = tree.n_numeric
    members = np.empty(k, np.int64)
    while steps > 0 and left_in(tree) >= enough:
        steps -= 1
        members[0] = tree.first[1]
        low, high = points[members[0], :d].copy(), points[members[0], :d].copy()
        take_away(tree, members[0])
        for size in range(1, k):
            row = _least_wide(tree, points, low, high, members[:size])
            for j in range(d):
                low[j], high[j] = min(low[j], points[row, j]), max(high[j], points[row, j])
            members[size] = row
            take_away(tree, row)
        labels[members] = label
        label += 1
    return label


@part
def _least_wide(tree: BoxTree, points: Floats, low: Floats, high: Floats, members: Rows) -> int:
    """The row that leaves the class narrowest when it joins, the first of several."""
    nodes, limits, waiting = np.empty(DEPTH, np.int64), np.empty(DEPTH), 1
    nodes[0], limits[0] = 1, 0.0
    best, least = -1, np.inf
    leaves = len(tree.bounds) - 1
    while waiting > 0:
        waiting -= 1
        node, limit = nodes[waiting], limits[waiting]
        if tree.alive[node] == 0 or limit > least or (limit == least and tree.first[node] > best):
            continue
        if node >= leaves:
            start = tree.bounds[node - leaves]
            for i in range(start, start + tree.alive[node]):
                width = _width(tree, points, low, high, members, tree.points[i], tree.points[i])
                if width < least or (width == least and tree.rows[i] < best):
                    best, least = tree.rows[i], width
            continue
        one, other = 2 * node, 2 * node + 1
        limit_one = _width(tree, points, low, high, members, tree.low[one], tree.high[one])
        limit_other = _width(tree, points, low, high, members, tree.low[other], tree.high[other])
        waiting = wait_for_halves(tree, nodes, limits, waiting, node, limit_one, limit_other)
    return best


@part
def _width(
    tree: BoxTree, points: Floats, low: Floats, high: Floats, members: Rows, least: Floats, most: Floats
) -> float:
    """How wide the class is, at least, with a record between two corners: they are the same for a record itself.

    Categories the class has already are left out: they cost the same whoever joins.
    """
    width = 0.0
    for j in range(len(low)):
        width += max(high[j], least[j]) - min(low[j], most[j])
    for j in range(len(low), points.shape[1]):
        new = True
        for i in members:
            new &= points[i, j] < least[j] or points[i, j] > most[j]
        width += new * tree.weights[j - len(low)]
    grains: float = np.rint(width / _GRAIN)
    return grains


def _join_narrowest(points: Floats, weights: Floats, labels: Labels, order: Rows) -> None:
    """Put the records without a class, one after the other, into the class that they leave narrowest, in place.

    Of equally narrow classes it is the one whose first record comes first in the table.
    """
    d, n_classes = points.shape[1] - len(weights), int(labels.max()) + 1
    inside = np.flatnonzero(labels >= 0)
    inside = inside[np.argsort(labels[inside], kind="stable")]
    starts = np.searchsorted(labels[inside], np.arange(n_classes))
    low, high = np.minimum.reduceat(points[inside, :d], starts), np.maximum.reduceat(points[inside, :d], starts)
    has: list[NDArray[np.bool_]] = []
    for j in range(len(weights)):
        held = np.zeros((n_classes, int(points[:, d + j].max()) + 1), np.bool_)
        held[labels[inside], points[inside, d + j].astype(np.int64)] = True
        has.append(held)
    preference = np.argsort(order[inside[starts]], kind="stable")
    for row in np.flatnonzero(labels < 0):
        width = (np.maximum(high, points[row, :d]) - np.minimum(low, points[row, :d])).sum(axis=1)
        for held, weight, code in zip(has, weights, points[row, d:].astype(np.int64), strict=True):
            width += weight * (held.sum(axis=1) - 1 + ~held[:, code])
        chosen = preference[np.argmin(np.rint(width / _GRAIN)[preference])]
        labels[row] = chosen
        low[chosen], high[chosen] = np.minimum(low[chosen], points[row, :d]), np.maximum(high[chosen], points[row, :d])
        for held, code in zip(has, points[row, d:].astype(np.int64), strict=True):
            held[chosen, code] = True
