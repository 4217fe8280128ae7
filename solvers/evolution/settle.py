"""Intensification where classes have bounds on their sizes and caps: centres are shaken and settle again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import inf

import numpy as np

from optmodels.centroids.balanced import BalancedSpace
from optmodels.clock import now
from optmodels.conditions import ClassTest, broken_classes
from optmodels.partition import Labels, canonical, members
from optmodels.problem import Problem
from optmodels.structures import Assignment, Centroids
from solvers.evolution.intensify import Improved, Intensifier

_ASSIGNMENTS = 4  # that centres usually take to settle after a shake
_ROUNDS = 10  # of ruin and recreate that one shake stands for
_KICKS = 2  # exchanges at random for a level, where none helps, before it counts as out of reach
_TRIALS = 50_000  # of exchanges for a level, about a tenth of a second
_TRIALS_AS_ONE = 10_000  # that take about as long as an assignment


def intensifier_of(problem: Problem) -> Intensifier:
    """The intensifier that keeps the conditions of the problem."""
    return Intensifier(problem) if problem.structure(Assignment) is None else Settler(problem)


class Settler(Intensifier):
    """A record becomes the centre of some class, then classes and means follow each other until nothing is gained.

    Moving single records would break sizes and caps, which a new assignment keeps. Levels of other objectives are
    reached, and kept, by exchanges of records between classes.
    """

    @cached_property
    def _space(self) -> BalancedSpace:
        space = BalancedSpace.of(self.problem.require(Centroids), self.problem.require(Assignment))
        return replace(space, halt=self.halt)

    def built(self) -> Iterator[tuple[ClassTest, Labels]]:
        """The partition around the given centres, or what drawn records settle to, and what exchanges make of it.

        Levels are climbed from lax to strict, each from the one before.
        """
        labels = self._first
        for test in sorted(self.ladder(), key=lambda test: int(broken_classes(test, *members(self._first)).sum())):
            reached = self._reached(labels, test)
            if reached is not None:
                labels = reached
                yield test, labels

    def _reached(self, labels: Labels, test: ClassTest) -> Labels | None:
        """The partition itself if it meets the conditions, or what exchanges make of it, or None."""
        return labels if _meets(test, labels) else self._space.exchanged(labels, test, _KICKS, _TRIALS)

    @cached_property
    def _first(self) -> Labels:
        if self._space.assignment.centres is not None:  # then no assignment is nearer to them
            return self._space.labels(self._space.assignment.centres.ravel())
        rows = np.random.default_rng(0).permutation(self.price.n)[: self._space.n_centroids]
        *_, settled = self._space.settling(self.price.numeric[rows].ravel())
        return settled

    def improve(
        self, labels: Labels, test: ClassTest, rounds: int, seed: int, seconds: float | None
    ) -> Improved | None:
        """The best partition met while settling and shaking."""
        draw, began = np.random.default_rng(seed), now()
        start, assigned = self._reached(canonical(labels), test), 0
        if start is None:
            return None
        best = start
        value = self._space.assignment.distance(best)
        for shake in range(2 + rounds // _ROUNDS):
            centres = self._space.decision(best)
            if shake > 0:
                row = self.price.numeric[draw.integers(self.price.n)]
                centres.reshape(-1, self._space.width)[draw.integers(self._space.n_centroids)] = row
            for found in self._space.settling(centres):
                assigned += 1
                if self.halt[0] or (seconds is not None and now() - began > seconds):
                    return Improved(best, assigned)
                kept = self._reached(found, test)
                if kept is not None and (price := self._space.assignment.distance(kept)) < value:
                    best, value = kept, price
        return Improved(best, assigned)

    @property
    def leaps(self) -> bool:
        """Exchanges keep sizes, so that there are always some to be made."""
        return True

    def leap(
        self, labels: Labels, test: ClassTest, classes: int, seed: int, most: float = inf, seconds: float | None = None
    ) -> Improved:
        """The partition that exchanges for a level it does not have lead to; the given one if they lead nowhere."""
        trials = int(min(_TRIALS, most * _TRIALS_AS_ONE))
        found = self._space.exchanged(canonical(labels), test, _KICKS, trials)
        return Improved(canonical(labels) if found is None else found, 1 + trials // _TRIALS_AS_ONE)

    def expected(self, labels: Labels, rounds: int) -> float:
        """About how many evaluations `improve` will cost."""
        return float(_ASSIGNMENTS * (2 + rounds // _ROUNDS))


def _meets(test: ClassTest, labels: Labels) -> bool:
    return not any(broken_classes(test, *members(labels)))
