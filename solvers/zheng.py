"""Zheng et al. 2019: classes grown record by record until they have l sensitive values and k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, fewest_values
from optmodels.errors import unknown
from optmodels.kernels import kernel, part
from optmodels.partition import Labels
from optmodels.price import Price
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Assignment, Centroids, ClassCount, Structure
from solvers._construction.box_search import NOTHING, furthest, nearest
from solvers._construction.box_tree import (
    BoxTree,
    Floats,
    Marks,
    Rows,
    grown,
    left_in,
    marks_of,
    points_of,
    rows_left,
    take_away,
)
from solvers._construction.repair import offer_mended
from solvers._construction.rest import cut_rest

Seeds = Literal["random", "furthest"]

_STEPS = 100  # classes between looks at the clock


@dataclass(frozen=True)
class Zheng(Solver):
    """Clustering with at least k records and l distinct sensitive values in every class.

    A class starts from a seed, takes the nearest record that still adds a missing sensitive value until it has l of
    them, and then the nearest records until it has k; near is near to its centroid as it stands. What is left when no
    further class is possible joins the nearest classes. `seeds` are "random", or each the record "furthest" from the
    one before: the better choice while l is easily met. Classes that break other conditions are merged with their
    nearest. When time is over, what is left is cut at medians.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> people = pd.DataFrame({"age": [20, 61, 22, 60, 21, 70], "illness": list("abbaab")})
    >>> table = Table(people, quasi={"age": "numeric"}, sensitive="illness")
    >>> Zheng().solve(Microaggregation(k=3, distinct_l=2).build(table)).labels
    array([0, 1, 0, 1, 0, 1])
    """

    name: ClassVar[str] = "zheng"
    summary: ClassVar[str] = "classes grown to l sensitive values, then to k records; feasible, fast, heuristic"
    needs: ClassVar[tuple[type[Structure], ...]] = (Centroids,)
    rejects: ClassVar[tuple[type[Structure], ...]] = (ClassCount, Assignment)

    seeds: Seeds = "random"

    def __post_init__(self) -> None:
        if self.seeds not in get_args(Seeds):
            raise unknown("way to choose seeds", str(self.seeds), get_args(Seeds))

    def search(self, problem: Problem, run: Run) -> None:
        """Grow one partition and offer it."""
        price, test = problem.require(Centroids).price, problem.test
        # a class is grown to as many values as any condition asks for
        diverse = [fewest_values(test, j) for j in range(len(test.distinct_l))]
        growing = test._replace(distinct_l=np.array(diverse, np.int64))
        points, marks = points_of(price), marks_of(growing)
        labels, rest = np.full(price.n, -1, np.int64), np.arange(price.n)
        order = np.random.default_rng(run.seed).permutation(price.n)
        growth = Growth(order, np.array([0, 0, order[0] if self.seeds == "furthest" else -1]))
        possible = True
        try:
            while possible and not run.expired:
                tree = grown(points, marks, rest, price.code_weights)
                while possible and 2 * left_in(tree) >= len(rest) and not run.expired:
                    possible = grow_classes(tree, points, growth, growing, labels, _STEPS)
                    run.report("classes grown", done=price.n - left_in(tree), total=price.n)
                rest = rows_left(tree)
            if not possible:
                join_nearest(price, points, labels)
        finally:
            cut_rest(price, test, labels, run)
            offer_mended(run, price, test, labels)


class Growth(NamedTuple):
    """How far the growing of classes has come."""

    order: Rows  # in which records become seeds
    reached: NDArray[np.int64]  # the next label, the next place in the order, the last seed if seeds are to be far


@kernel
def grow_classes(tree: BoxTree, points: Floats, growth: Growth, test: ClassTest, labels: Labels, steps: int) -> bool:
    """Grow some classes out of the tree; returns whether there may be more."""
    members = np.empty(len(labels), np.int64)
    codes = 1 + int(np.max(tree.high[1, tree.n_numeric :])) if len(tree.weights) else 1
    while steps > 0 and 2 * left_in(tree) >= tree.bounds[-1]:
        steps -= 1
        if left_in(tree) < test.k:
            return False
        size = _grow(tree, points, _seed(tree, points, growth), test, codes, members)
        if size == 0:
            return False
        labels[members[:size]] = growth.reached[0]
        growth.reached[0] += 1
    return True


@part
def _seed(tree: BoxTree, points: Floats, growth: Growth) -> int:
    if growth.reached[2] >= 0:
        growth.reached[2] = furthest(tree, points[growth.reached[2]])
        return int(growth.reached[2])
    while tree.place_of[growth.order[growth.reached[1]]] < 0:
        growth.reached[1] += 1
    return int(growth.order[growth.reached[1]])


@part
def _grow(tree: BoxTree, points: Floats, seed: int, test: ClassTest, codes: int, members: Rows) -> int:
    """Take the members of one class away; returns how many, or 0 if the records left are not diverse enough."""
    d = tree.n_numeric
    counts, distinct = np.zeros(test.starts[-1], np.int64), np.zeros(test.codes.shape[1], np.int64)
    categories = np.zeros((points.shape[1] - d, codes), np.int64)
    centre = np.zeros(points.shape[1])
    row, distance = np.array([seed]), np.empty(1)
    size = 0
    while True:
        members[size] = row[0]
        size += 1
        take_away(tree, row[0])
        for j in range(test.codes.shape[1]):
            value = test.codes[row[0], j]
            distinct[j] += counts[value] == 0
            counts[value] += 1
        for j in range(d):
            centre[j] += (points[row[0], j] - centre[j]) / size
        for j in range(len(categories)):
            categories[j, np.int64(points[row[0], d + j])] += 1
            centre[d + j] = np.argmax(categories[j])
        wanted = _missing(test, counts, distinct, tree.marks.shape[1])
        if len(wanted) == 0 and size >= test.k:
            return size
        if nearest(tree, centre, wanted, row, distance) == 0:
            return 0


@part
def _missing(test: ClassTest, counts: NDArray[np.int64], distinct: NDArray[np.int64], words: int) -> Marks:
    """The sensitive values that would make the class more diverse where it still has to be; nothing where it is."""
    if (distinct >= test.distinct_l).all():
        return NOTHING
    wanted = np.zeros(words, np.uint64)
    for j in range(len(distinct)):
        if distinct[j] < test.distinct_l[j]:
            for v in range(test.starts[j], test.starts[j + 1]):
                if counts[v] == 0:
                    wanted[v // 64] |= np.uint64(1) << np.uint64(v % 64)
    return wanted


def join_nearest(price: Price, points: Floats, labels: Labels) -> None:
    """Put the records without a class into the class with the nearest centroid, in place."""
    rest, n_classes = np.flatnonzero(labels < 0), int(labels.max(initial=-1)) + 1
    if not len(rest) or not n_classes:
        return
    d = price.numeric.shape[1]
    inside = labels >= 0
    known, given = labels[inside], points[inside]
    sizes = np.bincount(known, minlength=n_classes)
    centres = np.empty((n_classes, points.shape[1]))
    for j in range(points.shape[1]):
        if j < d:
            centres[:, j] = np.bincount(known, weights=given[:, j], minlength=n_classes) / sizes
        else:
            codes = given[:, j].astype(np.int64)
            width = int(codes.max()) + 1
            counted = np.bincount(known * width + codes, minlength=n_classes * width)
            centres[:, j] = counted.reshape(n_classes, width).argmax(axis=1)
    no_marks = np.zeros((n_classes, 0), np.uint64)
    labels[rest] = nearest_each(grown(centres, no_marks, np.arange(n_classes), price.code_weights), points[rest])


@kernel
def nearest_each(tree: BoxTree, points: Floats) -> Rows:
    """The nearest record of the tree to each point."""
    found, row, distance = np.empty(len(points), np.int64), np.empty(1, np.int64), np.empty(1)
    for i in range(len(points)):
        nearest(tree, points[i], NOTHING, row, distance)
        found[i] = row[0]
    return found
