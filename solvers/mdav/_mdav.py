"""MDAV (Domingo-Ferrer and Torra 2005): classes cut around the records furthest from the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import kernel, part
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Assignment, Centroids, ClassCount, Structure
from solvers._construction.box_search import NOTHING, by_distance, furthest, nearest
from solvers._construction.box_tree import BoxTree, Floats, Rows, grown, left_in, points_of, rows_left, take_away
from solvers._construction.repair import offer_mended
from solvers._construction.rest import cut_rest
from solvers.mdav.drifting import Drifting, following, furthest_now

_STEPS = 100  # classes between looks at the clock
_SEARCHED = 256  # a class that needs more records than this has all distances sorted instead


@dataclass(frozen=True)
class Mdav(Solver):
    """Maximum distance to average vector, for numeric and mixed data, with class-wise conditions.

    The record furthest from the remaining records' centroid, and the record furthest from that one, each
    take their nearest neighbours: k of them, and more while the class does not yet meet the conditions.
    What cannot meet them at the end is merged with its nearest classes. Records are found in a tree of boxes, with the
    same result as by looking at all of them. When time is over, what is left is cut at medians.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> Mdav().solve(Microaggregation(k=3).build(table)).labels
    array([0, 1, 0, 1, 0, 1])
    """

    name: ClassVar[str] = "mdav"
    summary: ClassVar[str] = "classes cut around the furthest records; fast, deterministic, heuristic"
    needs: ClassVar[tuple[type[Structure], ...]] = (Centroids,)
    rejects: ClassVar[tuple[type[Structure], ...]] = (ClassCount, Assignment)

    def search(self, problem: Problem, run: Run) -> None:
        """Construct one partition and offer it."""
        price, test = problem.require(Centroids).price, problem.test
        points, no_marks = points_of(price), np.zeros((price.n, 0), np.uint64)
        centre = _centre_of_all(points, price.codes.shape[1])
        labels, label = np.full(price.n, -1, np.int64), 0
        rest = np.arange(price.n)
        try:
            while len(rest) >= 2 * test.k and not run.expired:
                tree = grown(points, no_marks, rest, price.code_weights)
                drifting = following(tree, _centroid(centre, len(rest)))
                enough = max(2 * test.k, len(rest) // 2)  # with fewer left a new tree is worth its while
                while left_in(tree) >= enough and not run.expired:
                    label = cut_classes(tree, drifting, points, centre, test, labels, label, enough, _STEPS)
                    run.report("classes cut", done=price.n - left_in(tree), total=price.n)
                rest = rows_left(tree)
        finally:
            cut_rest(price, test, labels, run)
            offer_mended(run, price, test, labels)


class Centre(NamedTuple):
    """Sums and counts of the records that are left, from which their centroid follows.

    Sums carry their rounding errors along, so that taking records away leaves what adding up the others gives.
    """

    sums: Floats
    errors: Floats
    counts: NDArray[np.int64]  # (categorical, codes)


def _centre_of_all(points: Floats, categorical: int) -> Centre:
    d = points.shape[1] - categorical
    codes = int(points[:, d:].max(initial=0)) + 1
    centre = Centre(np.zeros(d), np.zeros(d), np.zeros((categorical, codes), np.int64))
    _add(centre, points, np.arange(len(points)), 1)
    return centre


@kernel
def _add(centre: Centre, points: Floats, rows: Rows, sign: int) -> None:
    d = len(centre.sums)
    for i in rows:
        for j in range(d):
            given = sign * points[i, j]
            total = centre.sums[j] + given
            part = total - centre.sums[j]
            centre.errors[j] += (centre.sums[j] - (total - part)) + (given - part)
            centre.sums[j] = total
        for j in range(len(centre.counts)):
            centre.counts[j, np.int64(points[i, d + j])] += sign


@kernel
def _centroid(centre: Centre, left: int) -> Floats:
    d = len(centre.sums)
    point = np.empty(d + len(centre.counts))
    for j in range(d):
        point[j] = (centre.sums[j] + centre.errors[j]) / left
    for j in range(len(centre.counts)):
        point[d + j] = np.argmax(centre.counts[j])
    return point


@kernel
def cut_classes(
    tree: BoxTree,
    drifting: Drifting,
    points: Floats,
    centre: Centre,
    test: ClassTest,
    labels: Labels,
    label: int,
    enough: int,
    steps: int,
) -> int:
    """Cut classes out of the tree, two a step, while it has enough records; returns the next label."""
    while steps > 0 and left_in(tree) >= enough:
        steps -= 1
        first = furthest_now(drifting, tree, _centroid(centre, left_in(tree)))
        second = furthest(tree, points[first])
        pair = left_in(tree) >= 3 * test.k
        _cut(tree, points, centre, points[first], test, labels, label)
        label += 1
        if pair and left_in(tree) >= 2 * test.k:
            if labels[second] >= 0:  # it went into the first class on its way to the conditions
                second = tree.first[1]
            _cut(tree, points, centre, points[second], test, labels, label)
            label += 1
    return label


@part
def _cut(
    tree: BoxTree, points: Floats, centre: Centre, point: Floats, test: ClassTest, labels: Labels, label: int
) -> None:
    """Label the nearest records as one class and take them away; ties go to earlier records."""
    counts = np.zeros(test.starts[-1], np.int64)
    size, asked = 0, test.k
    while True:
        if asked <= _SEARCHED or asked == test.k:
            rows = np.empty(min(asked, left_in(tree)), np.int64)
            nearest(tree, point, NOTHING, rows, np.empty(len(rows)))
        else:
            rows = by_distance(tree, point)
        for i in rows[size:]:
            for j in range(test.codes.shape[1]):
                counts[test.codes[i, j]] += 1
            size += 1
            if meets(test, counts, size):
                break
        if size < len(rows) or len(rows) == left_in(tree) or meets(test, counts, size):
            break
        asked *= 4
    _add(centre, points, rows[:size], -1)
    for i in rows[:size]:
        labels[i] = label
        take_away(tree, i)
