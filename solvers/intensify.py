"""Local search on the loss that keeps what a partition has reached in other objectives.

Most objectives beyond the loss are kept by a condition on each class: entropy by least entropies, closeness by t,
no linkage by a larger k, no homogeneity by two distinct values. So one step of intensification takes a partition,
turns its levels, or somewhat lower ones, into conditions, and minimises the loss under them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, log

import numpy as np

from optmodels.conditions import ClassTest, count_values, distance_from_table
from optmodels.objectives import QUANTITIES, least_entropies, quantity_of
from optmodels.partition import Labels, canonical, class_sizes, group_rows, members
from optmodels.price import Floats, Price
from optmodels.problem import Centroids, Problem
from solvers.local_search.construct import first_partition, make_feasible
from solvers.local_search.near import Near, neighbourhoods
from solvers.local_search.search import NEIGHBOURS, Descent, Schedule, follow

# Cool from the start: what a partition has is to be kept, not shaken up.
_HOTTEST, _COLDEST = 0.05, 0.002
# What a sweep costs, in evaluations per record, and a round of ruin and recreate per record of a class: as measured in
# seconds on German credit, and more than that on larger tables.
_SWEEP = 0.1
_ROUND = 1.0
_SWEEPS = 6  # that a descent usually takes
# Where the first partitions of a front are sought: shares of the whole table's entropy, and distances from it.
_SHARES_OF_ENTROPY = (0.2, 0.4, 0.55, 0.7, 0.8, 0.87, 0.92, 0.95, 0.97, 0.985)
_CLOSE = (0.5, 0.4, 0.3, 0.2, 0.1)


@dataclass(frozen=True)
class Improved:
    """A partition after local search, and what that cost in evaluations of partitions."""

    labels: Labels
    evaluations: int


class Intensifier:
    """Local search on the loss of one problem, under conditions that hold other objectives at a level."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem, Centroids)
        self.problem = problem
        self.halted: Callable[[], bool] = lambda: False  # what ends a search before its time
        self.price: Price = problem.price
        self.test: ClassTest = problem.test
        self.n_classes = problem.n_classes
        # (quantity, threshold) of every objective but the loss that can be held by conditions on classes
        names = [objective.name for objective in problem.objectives]
        self._held = [quantity_of(name) for name in names if name.partition("@")[0] in QUANTITIES]

    @cached_property
    def _near(self) -> Near:
        return neighbourhoods(self.price, NEIGHBOURS)

    @cached_property
    def _most_entropies(self) -> Floats:
        return least_entropies(self.problem.table, np.zeros(self.price.n, np.int64))

    def conditions(self, labels: Labels, share: float = 1.0, seed: int = 0) -> ClassTest:
        """Conditions that keep the levels of a partition in the other objectives, or at least this share of them.

        How much of its entropy each attribute keeps, between the share and all, is drawn.
        """
        test, sizes = self.test, class_sizes(labels)
        for quantity, threshold in self._held:
            if quantity == "entropy":
                bits = least_entropies(self.problem.table, labels)
                test = _entropic(test, bits * np.random.default_rng(seed).uniform(share, 1.0, len(bits)))
            elif quantity == "closeness":
                test = _close(test, self._furthest(labels) / max(share, 1e-9))
            elif quantity == "homogeneity" and self._diverse(labels):
                test = _diverse(test)
            elif quantity == "linkage" and isinstance(threshold, float) and sizes.min() * threshold >= 1:
                test = _unlinkable(test, threshold)
        return test

    def ladder(self) -> list[ClassTest]:
        """Conditions from the problem's own up to strict ones in each objective and in all: the ends of a front."""
        tests, strictest = [self.test], self.test
        for quantity, threshold in self._held:
            if quantity == "entropy":
                tests += [_entropic(self.test, share * self._most_entropies) for share in _SHARES_OF_ENTROPY]
            elif quantity == "closeness":
                tests += [_close(self.test, t) for t in _CLOSE]
            elif quantity == "homogeneity":
                tests.append(_diverse(self.test))
                strictest = _diverse(strictest)
            elif quantity == "linkage" and isinstance(threshold, float) and threshold:
                tests.append(_unlinkable(self.test, threshold))
                strictest = _unlinkable(strictest, threshold)
        return [test for test in [*tests, strictest] if test.k <= self.price.n]

    def built(self, test: ClassTest) -> Labels | None:
        """Some partition that meets the conditions, or None if the construction finds none."""
        return first_partition(self.price, test, self.n_classes)

    def improve(
        self, labels: Labels, test: ClassTest, rounds: int, seed: int, seconds: float | None
    ) -> Improved | None:
        """The partition after sweeps and so many rounds of ruin and recreate; None if it cannot meet the conditions."""
        start = make_feasible(self.price, test, canonical(labels), self.n_classes)
        if start is None:
            return None
        fixed = self.n_classes is not None or ("classes", None) in self._held
        descent = Descent(self.price, test, start, fixed=fixed, seed=seed, workers=1, near=self._near)
        schedule = Schedule(seconds=seconds, iterations=rounds, hottest=_HOTTEST, coldest=_COLDEST)
        follow(descent, schedule, lambda found: None, self.halted)
        swept, recreated = _SWEEP * descent.sweeps * self.price.n, _ROUND * rounds * self.price.n / descent.n_classes
        return Improved(self.joined(canonical(descent.best)), ceil(swept + recreated))

    def joined(self, labels: Labels) -> Labels:
        """The partition with classes of equal records made one, which costs nothing and hides everyone better.

        Where the number of classes is prescribed or counts, it stays as it is.
        """
        if self.n_classes is not None or ("classes", None) in self._held:
            return labels
        order, starts = members(labels)
        kinds = self._kinds[order]
        first, last = np.minimum.reduceat(kinds, starts[:-1]), np.maximum.reduceat(kinds, starts[:-1])
        # A class of one kind is known by that kind, any other by itself.
        joint = np.where(first == last, first, len(labels) + np.arange(len(first)))
        return canonical(joint[labels])

    @cached_property
    def _kinds(self) -> Labels:
        return group_rows([*self.price.numeric.T, *self.price.codes.T])

    def expected(self, labels: Labels, rounds: int) -> float:
        """About how many evaluations `improve` will cost."""
        return self.price.n * (_SWEEP * _SWEEPS + _ROUND * rounds / (int(labels.max()) + 1))

    def _diverse(self, labels: Labels) -> bool:
        return bool((least_entropies(self.problem.table, labels) > 0).all())

    def _furthest(self, labels: Labels) -> float:
        order, starts = members(labels)
        return max(
            float(distance_from_table(self.test, count_values(self.test, order[low:high]), high - low, j))
            for low, high in pairwise(starts)
            for j in range(len(self.test.starts) - 1)
        )


def _entropic(test: ClassTest, bits: Floats) -> ClassTest:
    return test._replace(entropy=np.maximum(test.entropy, bits * log(2)))


def _close(test: ClassTest, t: float) -> ClassTest:
    return test._replace(t=min(test.t, t))


def _diverse(test: ClassTest) -> ClassTest:
    return test._replace(distinct_l=max(test.distinct_l, 2))


def _unlinkable(test: ClassTest, tau: float) -> ClassTest:
    return test._replace(k=max(test.k, ceil(1 / tau - 1e-9)))
