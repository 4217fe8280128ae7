"""Intensification where classes have bounds on their sizes and caps: centres are shaken and settle again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

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


def intensifier_of(problem: Problem) -> Intensifier:
    """The intensifier that keeps the conditions of the problem."""
    return Intensifier(problem) if problem.structure(Assignment) is None else Settler(problem)


class Settler(Intensifier):
    """A record becomes the centre of some class, then classes and means follow each other until nothing is gained.

    Moving single records would break sizes and caps, which a new assignment keeps. Levels of other objectives are kept
    by accepting only what meets the conditions.
    """

    @cached_property
    def _space(self) -> BalancedSpace:
        return BalancedSpace.of(self.problem.require(Centroids), self.problem.require(Assignment))

    def built(self) -> Iterator[tuple[ClassTest, Labels]]:
        """The partition around the given centres, or what drawn records settle to, under conditions that it meets."""
        for test in self.ladder():
            if _meets(test, self._first):
                yield test, self._first

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
        best, assigned = canonical(labels), 0
        if not _meets(test, best):
            return None
        value = self._space.assignment.distance(best)
        for shake in range(2 + rounds // _ROUNDS):
            centres = self._space.decision(best)
            if shake > 0:
                row = self.price.numeric[draw.integers(self.price.n)]
                centres.reshape(-1, self._space.width)[draw.integers(self._space.n_centroids)] = row
            for found in self._space.settling(centres):
                assigned += 1
                if seconds is not None and now() - began > seconds:
                    return Improved(best, assigned)
                if (price := self._space.assignment.distance(found)) < value and _meets(test, found):
                    best, value = found, price
        return Improved(best, assigned)

    @property
    def leaps(self) -> bool:
        """Sizes and caps leave no room for them."""
        return False

    def expected(self, labels: Labels, rounds: int) -> float:
        """About how many evaluations `improve` will cost."""
        return float(_ASSIGNMENTS * (2 + rounds // _ROUNDS))


def _meets(test: ClassTest, labels: Labels) -> bool:
    return not any(broken_classes(test, *members(labels)))
