"""Annealed single moves for any problem: each is judged by the problem itself, or by a plain price of its classes.

It knows nothing but where records lie, from which come the moves that are worth a trial: a record joins the class of
a near one, two near records change places, two near classes become one, a class is cut in two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import exp, inf, isfinite
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from optmodels.centroids.balanced import BalancedSpace
from optmodels.conditions import count_values, meets
from optmodels.partition import Labels, canonical, members
from optmodels.price import Price
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run
from optmodels.structures import Assignment, Centroids, Construction, Priced
from solvers._construction.repair import offer_coarser
from solvers.local_search.construct import first_partition, make_feasible

Rows = NDArray[np.int64]

_NEIGHBOURS = 12
_TRIALS_PER_RECORD, _LEAST_TRIALS = 20, 1_000  # of the first cooling, where no iterations are given
_FRUITLESS = 2  # coolings in a row that end the search
_OFTEN = 64  # trials between two reports
_HOTTEST, _COLDEST = 0.02, 1e-5  # shares of the first value
_MERGES, _CUTS = 0.05, 0.1  # of the trials, where the number of classes is free


class Move(NamedTuple):
    """Some classes and what would stand in their place: as many, fewer or more."""

    classes: tuple[int, ...]
    instead: tuple[Rows, ...]


class Judge(Protocol):
    """What a move would make of a partition's cost; infinite where a condition would break."""

    def after(self, groups: list[Rows], move: Move) -> float:
        """The cost after a move that is not made."""

    def made(self, move: Move) -> None:
        """Take note of a move that was."""


class WholeJudge:
    """The problem is asked about the whole partition."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def after(self, groups: list[Rows], move: Move) -> float:
        """The target's value as a cost."""
        labels = np.empty(self.problem.n, np.int64)
        others = (rows for c, rows in enumerate(groups) if c not in move.classes)
        for label, rows in enumerate((*others, *move.instead)):
            labels[rows] = label
        return _cost(self.problem, labels)

    def made(self, move: Move) -> None:
        """Nothing is remembered."""


class PriceJudge:
    """Only the classes that a move touches are priced and tested."""

    def __init__(self, priced: Priced, groups: list[Rows]) -> None:
        self.priced = priced
        self.total = sum(self._of(rows) for rows in groups)

    def after(self, groups: list[Rows], move: Move) -> float:
        """The total price in the target's units."""
        return self._total_after(groups, move) / self.priced.scale

    def made(self, move: Move) -> None:
        """The total is that of the move judged last."""
        self.total = self._next

    def _total_after(self, groups: list[Rows], move: Move) -> float:
        gone = sum(self._of(groups[c]) for c in move.classes)
        self._next = self.total - gone + sum(self._of(rows) for rows in move.instead)
        return self._next

    def _of(self, rows: Rows) -> float:
        test = self.priced.test
        fine = len(rows) >= test.k if test.only_size else meets(test, count_values(test, rows), len(rows))
        return self.priced.price.of(rows) if fine else inf


def by_judge(problem: Problem, run: Run, iterations: int | None = None) -> None:
    """Anneal single moves until trials or time run out, or longer and longer coolings no longer help."""
    if not _start(problem, run):
        run.details["start"] = "no partition that meets the conditions was found to start from"
        return
    search = _Annealing(problem, run)
    cooling = iterations or max(_LEAST_TRIALS, _TRIALS_PER_RECORD * problem.n)
    trials, fruitless = 0, 0
    while fruitless < _FRUITLESS and not run.expired:
        before = search.best
        trials += search.cool(cooling)
        if iterations is not None:
            break
        fruitless = 0 if search.best < before else fruitless + 1
        cooling *= 2
    run.details.update(trials=trials, judged="by the problem" if search.whole else "by a plain price of classes")
    if iterations is not None and not run.expired:
        run.stop = Stop.ITERATIONS


def _start(problem: Problem, run: Run) -> bool:
    """Offer a partition to begin with, unless there is one; whether there is one now."""
    for labels in _starts(problem, run):
        if run.labels is not None:
            return True
        offer_coarser(run, labels)
    return run.labels is not None


def _starts(problem: Problem, run: Run) -> Iterator[Labels]:
    centroids, assignment = problem.require(Centroids), problem.structure(Assignment)
    construction = problem.structure(Construction)
    if construction is not None:
        for candidate in construction.candidates(None, lambda: run.interrupt.pressed or run.remaining <= 0):
            yield candidate.labels
    if assignment is not None:
        space = BalancedSpace.of(centroids, assignment)
        if assignment.centres is not None:
            yield space.labels(assignment.centres.ravel())
            return
        rows = np.random.default_rng(run.seed).permutation(problem.n)[: space.n_centroids]
        *_, settled = space.settling(centroids.price.numeric[rows].ravel())
        yield settled
        return
    price, test, wanted = centroids.price, centroids.test, centroids.n_classes
    if run.start is not None and (mended := make_feasible(price, test, run.start, wanted)) is not None:
        yield mended
    if (first := first_partition(price, test, wanted)) is not None:
        yield first
    yield np.zeros(problem.n, np.int64)


class _Annealing:
    """A partition as lists of records, moved from trial to trial."""

    def __init__(self, problem: Problem, run: Run) -> None:
        assert run.labels is not None
        self.problem, self.run = problem, run
        centroids = problem.require(Centroids)
        self.price, self.k = centroids.price, centroids.test.k
        self.free = centroids.n_classes is None  # whether classes may be merged and cut
        self.draw = np.random.default_rng([run.seed, 7])
        self.near = _near(self.price)
        self.label = canonical(run.labels)
        order, starts = members(self.label)
        self.groups: list[Rows] = [order[a:b] for a, b in pairwise(starts)]
        priced = problem.structure(Priced)
        self.whole = priced is None
        self.judge: Judge = WholeJudge(problem) if priced is None else PriceJudge(priced, self.groups)
        self.value = _cost(problem, self.label)
        self.best, self.best_label = self.value, self.label.copy()
        self.heat = abs(self.value) or 1.0

    def cool(self, trials: int) -> int:
        """Try so many moves, or what time is left for, and offer the best partition met; how many it were."""
        done = 0
        try:
            while done < trials and not self.run.expired:
                self._try(done / trials)
                done += 1
                if done % _OFTEN == 0:
                    self.run.report("moves tried", done=done, total=trials)
        finally:
            self.run.offer(self.best_label)
        return done

    def _try(self, spent: float) -> None:
        """Try one move; worse ones are made now and then, ever less often."""
        move = self._proposed()
        if move is None:
            return
        after = self.judge.after(self.groups, move)
        temperature = self.heat * _HOTTEST * (_COLDEST / _HOTTEST) ** spent / max(1, len(self.groups)) ** 0.5
        worse = after - self.value
        if not isfinite(after) or (worse > 0 and self.draw.random() >= exp(-worse / temperature)):
            return
        self.judge.made(move)
        self._make(move)
        self.value = after
        if after < self.best - 1e-12 * abs(self.best):
            self.best, self.best_label = after, self.label.copy()
            if self.whole:
                self.run.offer(self.best_label)

    def _make(self, move: Move) -> None:
        for c in sorted(move.classes, reverse=True):
            last = self.groups.pop()
            if c < len(self.groups):
                self.groups[c] = last
                self.label[last] = c
        for rows in move.instead:
            self.label[rows] = len(self.groups)
            self.groups.append(rows)

    def _proposed(self) -> Move | None:
        i = int(self.draw.integers(len(self.label)))
        here = int(self.label[i])
        luck = self.draw.random()
        if self.free and luck < _CUTS:
            return self._cut(here)
        there = int(self.label[int(self.draw.choice(self.near[i]))])
        if here == there:
            return None
        mine, others = self.groups[here], self.groups[there]
        if self.free and luck < _CUTS + _MERGES:
            return Move((here, there), (np.concatenate([mine, others]),))
        if len(mine) > self.k and self.draw.random() < 0.5:
            return Move((here, there), (mine[mine != i], np.append(others, i)))
        j = int(self.draw.choice(others))
        return Move((here, there), (np.append(mine[mine != i], j), np.append(others[others != j], i)))

    def _cut(self, c: int) -> Move | None:
        """A class cut at the median of one of its attributes, the wider the likelier."""
        rows = self.groups[c]
        if len(rows) < 2 * self.k:
            return None
        columns = np.column_stack([self.price.numeric[rows], self.price.codes[rows]])
        spans = np.ptp(columns, axis=0)
        if not spans.any():
            return None
        axis = int(self.draw.choice(len(spans), p=spans / spans.sum()))
        order = np.argsort(columns[:, axis], kind="stable")
        middle = int(self.draw.integers(self.k, len(rows) - self.k + 1))
        return Move((c,), (rows[order[:middle]], rows[order[middle:]]))


def _near(price: Price) -> NDArray[np.int64]:
    """The nearest records of each, categories counting by their mismatch weights."""
    indicators = [
        np.eye(int(codes.max(initial=0)) + 1)[codes] * np.sqrt(weight / 2)
        for codes, weight in zip(price.codes.T, price.code_weights, strict=True)
    ]
    points = np.hstack([price.numeric, *indicators])
    if not points.shape[1]:
        points = np.zeros((price.n, 1))
    count = min(_NEIGHBOURS + 1, price.n)
    tree = cKDTree(points, compact_nodes=False, balanced_tree=False)  # the form that bears many equal points
    found = np.asarray(tree.query(points, k=count)[1]).reshape(price.n, count)
    return found.astype(np.int64)


def _cost(problem: Problem, labels: Labels) -> float:
    """The target's value of a partition, negated where it is to be made large; infinite where it is not feasible."""
    found = problem.evaluate(labels)
    if not found.feasible:
        return inf
    value = found.values[problem.target.name]
    return value if problem.target.sense == "min" else -value
