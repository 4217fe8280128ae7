"""Moves of a partition that is kept as lists of records, and what each would cost, asked of a judge before it is made.

Nothing is known but where records lie, from which come the moves that are worth a trial: a record joins the class of
a near one, two near records change places, two near classes become one, a class is cut in two.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from optmodels.conditions import count_values, meets
from optmodels.partition import Labels, canonical, members
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.structures import Centroids, Priced
from solvers.local_search.near import embed

Rows = NDArray[np.int64]

_NEIGHBOURS = 12
_AT_ONCE = 4_096  # random numbers drawn together: one by one takes longer than most of a trial
_ANY_WAY = 0.2  # of the trials, whatever was found before
_MERGES, _CUTS = 0.05, 0.1  # of the trials, where the number of classes is free


class Move(NamedTuple):
    """Some classes and what would stand in their place: as many, fewer or more."""

    classes: tuple[int, ...]
    instead: tuple[Rows, ...]


class MoveJudge(Protocol):
    """The cost of a partition, now and after a move; infinite where a condition would break."""

    cost: float

    def after(self, move: Move) -> float:
        """The cost after a move that is not made."""

    def made(self, move: Move) -> None:
        """The move judged last was made."""


class ClassRows:
    """A partition as the records of each class."""

    def __init__(self, labels: Labels) -> None:
        self.fill(labels)

    def fill(self, labels: Labels) -> None:
        """Hold this partition."""
        self.label = canonical(labels)
        order, starts = members(self.label)
        self.groups: list[Rows] = [order[a:b] for a, b in pairwise(starts)]

    def make(self, move: Move) -> None:
        """Put the new classes in the place of the old ones; the last classes move into places left empty."""
        for c, rows in zip(move.classes, move.instead, strict=False):
            self.groups[c] = rows
            self.label[rows] = c
        for rows in move.instead[len(move.classes) :]:
            self.label[rows] = len(self.groups)
            self.groups.append(rows)
        for c in sorted(move.classes[len(move.instead) :], reverse=True):
            last = self.groups.pop()
            if c < len(self.groups):
                self.groups[c] = last
                self.label[last] = c


class WholeJudge:
    """The problem is asked about the whole partition."""

    def __init__(self, problem: Problem, classes: ClassRows) -> None:
        self.problem, self.classes = problem, classes
        self.cost = self._next = cost_of(problem, classes.label)

    def after(self, move: Move) -> float:
        """The target's value as a cost."""
        labels = self.classes.label.copy()
        names = (*move.classes, *range(len(self.classes.groups), len(self.classes.groups) + len(move.instead)))
        for name, rows in zip(names, move.instead, strict=False):
            labels[rows] = name
        self._next = cost_of(self.problem, labels)
        return self._next

    def made(self, move: Move) -> None:
        """The cost is that of the move judged last."""
        self.cost = self._next


class PriceJudge:
    """Only the classes that a move touches are priced and tested."""

    def __init__(self, priced: Priced, classes: ClassRows) -> None:
        self.priced, self.classes = priced, classes
        self.sized = priced.test.only_size
        self.cost = self._next = sum(self._of(rows) for rows in classes.groups) / priced.scale

    def after(self, move: Move) -> float:
        """The total price in the target's units."""
        groups = self.classes.groups
        change = -sum(self.priced.price.of(groups[c]) for c in move.classes)
        for rows in move.instead:
            change += self._of(rows)
            if change == inf:
                return inf
        self._next = self.cost + change / self.priced.scale
        return self._next

    def made(self, move: Move) -> None:
        """The cost is that of the move judged last."""
        self.cost = self._next

    def _of(self, rows: Rows) -> float:
        test = self.priced.test
        fine = len(rows) >= test.k and (self.sized or meets(test, count_values(test, rows), len(rows)))
        return self.priced.price.of(rows) if fine else inf


class Proposals:
    """Moves drawn at random between near records, near in the ways in which moves were made before.

    What a model counts need not be the table's distances. So records are near by all attributes, by numbers alone, in
    the order of one attribute, or not at all, and ways that lead to more moves are taken more often.
    """

    def __init__(self, centroids: Centroids, classes: ClassRows, seed: int) -> None:
        self.price, self.k, self.classes = centroids.price, centroids.test.k, classes
        self.free = centroids.n_classes is None  # whether classes may be merged and cut
        self._draw = np.random.default_rng([seed, 7])
        self._drawn: list[float] = []
        price = self.price
        self._near = [nearest_records(embed(price))]
        if price.numeric.shape[1] and price.codes.shape[1]:
            self._near.append(nearest_records(price.numeric))
        columns = [*price.numeric.T, *price.codes.T]
        self._orders = [np.argsort(column, kind="stable") for column in columns]
        self._places = [np.argsort(order) for order in self._orders]
        ways = len(self._near) + bool(self._orders) + 1
        self.tried, self.taken = [1.0] * ways, [1.0] * ways
        self.way = 0

    def luck(self) -> float:
        """A number between 0 and 1."""
        if not self._drawn:
            self._drawn = self._draw.random(_AT_ONCE).tolist()
        return self._drawn.pop()

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self.luck() * n)

    def made(self) -> None:
        """The move proposed last was made."""
        self.taken[self.way] += 1.0

    def one(self) -> Move | None:
        """A move, or None where what was drawn is none."""
        label, groups = self.classes.label, self.classes.groups
        i, kind = self.below(len(label)), self.luck()
        here = int(label[i])
        if self.free and kind < _CUTS:
            return self._cut(here)
        there = int(label[self._near_to(i)])
        if here == there:
            return None
        self.tried[self.way] += 1.0
        mine, others = groups[here], groups[there]
        if self.free and kind < _CUTS + _MERGES:
            return Move((here, there), (np.concatenate([mine, others]),))
        if len(mine) > self.k and self.luck() < 0.5:
            return Move((here, there), (mine[mine != i], np.append(others, i)))
        place = self.below(len(others))
        swapped, joined = mine.copy(), others.copy()
        swapped[mine == i], joined[place] = others[place], i
        return Move((here, there), (swapped, joined))

    def _near_to(self, i: int) -> int:
        """A record near another, in some way."""
        self.way = way = self._some_way()
        if way < len(self._near):
            near = self._near[way][i]
            return int(near[self.below(len(near))])
        if way == len(self.tried) - 1:
            return self.below(len(self.classes.label))
        j = self.below(len(self._orders))
        order, step = self._orders[j], 1 + self.below(_NEIGHBOURS)
        place = self._places[j][i] + (step if self.luck() < 0.5 else -step)
        return int(order[min(max(place, 0), len(order) - 1)])

    def _some_way(self) -> int:
        if self.luck() < _ANY_WAY:
            return self.below(len(self.tried))
        rates = [taken / tried for taken, tried in zip(self.taken, self.tried, strict=True)]
        at = self.luck() * sum(rates)
        for way, rate in enumerate(rates):
            at -= rate
            if at < 0:
                return way
        return len(rates) - 1

    def _cut(self, c: int) -> Move | None:
        """A class cut along one of its attributes, the wider the likelier."""
        rows = self.classes.groups[c]
        if len(rows) < 2 * self.k:
            return None
        columns = np.column_stack([self.price.numeric[rows], self.price.codes[rows]])
        spans = np.ptp(columns, axis=0)
        if not spans.any():
            return None
        axis = int(np.searchsorted(np.cumsum(spans), self.luck() * spans.sum(), side="right"))
        order = np.argsort(columns[:, min(axis, len(spans) - 1)], kind="stable")
        middle = self.k + int(self.luck() * (len(rows) - 2 * self.k + 1))
        return Move((c,), (rows[order[:middle]], rows[order[middle:]]))


def nearest_records(points: Floats) -> NDArray[np.int64]:
    """The nearest points of each."""
    if not points.shape[1]:
        points = np.zeros((len(points), 1))
    count = min(_NEIGHBOURS + 1, len(points))
    tree = cKDTree(points, compact_nodes=False, balanced_tree=False)  # the form that bears many equal points
    found = np.asarray(tree.query(points, k=count)[1]).reshape(len(points), count)
    return found.astype(np.int64)


def cost_of(problem: Problem, labels: Labels) -> float:
    """The target's value of a partition, negated where it is to be made large; infinite where it is not feasible."""
    found = problem.evaluate(labels)
    if not found.feasible:
        return inf
    value = found.values[problem.target.name]
    return value if problem.target.sense == "min" else -value
