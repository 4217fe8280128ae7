"""Local search on the loss that keeps what a partition has reached in other objectives.

Most objectives beyond the loss are kept by a condition on each class: entropy by least entropies, closeness by t,
no linkage by a larger k, no homogeneity by two distinct values. So one step of intensification takes a partition,
turns its levels, or somewhat lower ones, into conditions, and minimises the loss under them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, inf, log

import numpy as np

from optmodels.clock import now
from optmodels.conditions import ClassTest, count_values, distance_from_table
from optmodels.halting import lowered
from optmodels.objectives import least_entropies, quantity_of
from optmodels.partition import Labels, canonical, class_sizes, group_rows, members
from optmodels.price import Floats, Price
from optmodels.problem import Problem
from optmodels.structures import Centroids
from solvers.evolution.lenient import anneal, with_classes
from solvers.local_search.construct import CONSTRUCTIONS, make_feasible
from solvers.local_search.descent import NEIGHBOURS, Descent
from solvers.local_search.near import Near, neighbourhoods
from solvers.local_search.search import Schedule, follow

# Cool from the start: what a partition has is to be kept, not shaken up.
_HOTTEST, _COLDEST = 0.05, 0.002
# What a sweep costs, in evaluations per record, and a round of ruin and recreate per record of a class: as measured in
# seconds on German credit, and more than that on larger tables.
_SWEEP = 0.1
_ROUND = 1.0
_SWEEPS = 6  # that a descent usually takes
# Where the first partitions of a front are sought: shares of the whole table's entropy, and distances from it. One
# partition with most of the entropy dominates most of what there is, so it comes first, then those further away.
_SHARES_OF_ENTROPY = (0.97, 0.92, 0.985, 0.8, 0.95, 0.87, 0.7, 0.55, 0.4, 0.2)
_BEFORE_OWN = 3  # of these come before the problem's own conditions, which have the least loss
_CLOSE = (0.1, 0.2, 0.3, 0.4, 0.5)
_JUST = 1e-6  # by how much, in bits or as a distance, a level is missed at least
# Leaps are for few records: there a search that keeps all conditions is caught easily, and a leap takes no time.
_LEAPING_RECORDS = 5_000
_LEAP_STEPS = 60  # for each record at least, and up to ten times as many
_LEAST_STEPS = 3_000
_STEPS_A_SECOND = 1e6
_STEPS, _STEPS_PER_RECORD = 40, 0.3  # that take about as long as an evaluation


@dataclass(frozen=True)
class Improved:
    """A partition after local search, and what that cost in evaluations of partitions."""

    labels: Labels
    evaluations: int


class Intensifier:
    """Local search on the loss of one problem, under conditions that hold other objectives at a level."""

    def __init__(self, problem: Problem) -> None:
        centroids = problem.require(Centroids)
        self.problem = problem
        self.halted: Callable[[], bool] = lambda: False  # what ends a search before its time
        self.halt = lowered()  # and a flag that does, in compiled loops
        self.price: Price = centroids.price
        self.test: ClassTest = problem.test
        self.n_classes = centroids.n_classes
        # (quantity, threshold) of every objective but the loss that can be held by conditions on classes
        held = [quantity_of(each.quantity) for each in problem.objectives if each.quantity is not None]
        # closeness cannot be held by a t that is measured otherwise
        self._held = [one for one in held if one[0] != "closeness" or problem.conditions.usual_distance]

    @property
    def _counts_classes(self) -> bool:
        return self.n_classes is not None or self._holds("classes")

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
        bits = least_entropies(self.problem.table, labels) if self._holds("entropy") else np.zeros(0)
        bits = bits * np.random.default_rng(seed).uniform(share, 1.0, len(bits))
        t = self._furthest(labels) / max(share, 1e-9) if self._holds("closeness") else inf
        return self._holding(labels, bits, t)

    def beyond(self, labels: Labels, seed: int = 0) -> ClassTest:
        """Conditions that a partition misses in one level, just or by far, where that level can be better at all.

        An entropy that is to rise may be paid for by another attribute's, but their sum rises.
        """
        draw = np.random.default_rng(seed)
        bits, t = np.zeros(0), inf
        if self._holds("entropy"):
            bits = least_entropies(self.problem.table, labels)
            rising, paying = draw.integers(len(bits), size=2)
            room = max(_JUST, self._most_entropies[rising] - bits[rising])
            rise = _JUST * (room / _JUST) ** draw.random()  # steps of every magnitude
            bits[rising] += rise
            bits[paying] -= 0.0 if paying == rising else draw.uniform(0.0, rise)
        if self._holds("closeness"):
            t = self._furthest(labels) * (1.0 if len(bits) and draw.random() < 0.5 else draw.uniform(0.5, 1.0)) - _JUST
        return self._holding(labels, bits, t)

    def _holds(self, quantity: str) -> bool:
        return any(held == quantity for held, _ in self._held)

    def _holding(self, labels: Labels, bits: Floats, t: float) -> ClassTest:
        """Conditions that hold these levels, and no linkage and no homogeneity where the partition has none."""
        test, sizes = self.test, class_sizes(labels)
        for quantity, threshold in self._held:
            if quantity == "entropy":
                test = _entropic(test, bits)
            elif quantity == "closeness":
                test = _close(test, t)
            elif quantity == "homogeneity" and self._diverse(labels):
                test = _diverse(test)
            elif quantity == "linkage" and isinstance(threshold, float) and sizes.min() * threshold >= 1:
                test = _unlinkable(test, threshold)
        return test

    def ladder(self) -> list[ClassTest]:
        """Conditions under which a front begins: levels of each objective, the problem's own, the strictest of all.

        They come in the order in which they are worth most to a front that has nothing yet.
        """
        levels, strictest = [], self.test
        for quantity, threshold in self._held:
            if quantity == "entropy":
                levels += [_entropic(self.test, share * self._most_entropies) for share in _SHARES_OF_ENTROPY]
            elif quantity == "closeness":
                levels += [_close(self.test, t) for t in _CLOSE]
            elif quantity == "homogeneity":
                levels.append(_diverse(self.test))
                strictest = _diverse(strictest)
            elif quantity == "linkage" and isinstance(threshold, float) and threshold > 0:
                levels.append(_unlinkable(self.test, threshold))
                strictest = _unlinkable(strictest, threshold)
        tests = [*levels[:_BEFORE_OWN], self.test, *levels[_BEFORE_OWN:]]
        if len({_key(test) for test in (strictest, *tests)}) > len(tests):
            tests.append(strictest)
        return [test for test in tests if test.k <= self.price.n]

    def built(self) -> Iterator[tuple[ClassTest, Labels]]:
        """Partitions under the conditions of the ladder, where a construction finds any: the quick ones first."""
        for construct in CONSTRUCTIONS:
            for test in self.ladder():
                labels = construct(self.price, test, self.n_classes)
                if labels is not None:
                    yield test, labels

    def improve(
        self, labels: Labels, test: ClassTest, rounds: int, seed: int, seconds: float | None
    ) -> Improved | None:
        """The partition after sweeps and so many rounds of ruin and recreate; None if it cannot meet the conditions."""
        start = make_feasible(self.price, test, canonical(labels), self.n_classes)
        if start is None:
            return None
        descent = Descent(self.price, test, start, fixed=self._counts_classes, seed=seed, workers=1, near=self._near)
        schedule = Schedule(seconds=seconds, iterations=rounds, hottest=_HOTTEST, coldest=_COLDEST)
        follow(descent, schedule, lambda found: None, self.halted)
        swept, recreated = _SWEEP * descent.sweeps * self.price.n, _ROUND * rounds * self.price.n / descent.n_classes
        return Improved(self.joined(canonical(descent.best)), ceil(swept + recreated))

    @property
    def leaps(self) -> bool:
        """Whether leaps are possible."""
        return self.price.n <= _LEAPING_RECORDS

    def leap(
        self, labels: Labels, test: ClassTest, classes: int, seed: int, most: float = inf, seconds: float | None = None
    ) -> Improved:
        """The cheapest partition that meets the conditions on a walk that breaks them; the given one if none was met.

        It has about so many classes, unless their number is prescribed or counts, and costs at most so many evaluations
        and about so many seconds. Every other leap holds only the sum of entropies: attributes may trade them.
        """
        draw = np.random.default_rng(seed)
        wanted = int(labels.max()) + 1 if self._counts_classes else min(classes, self.price.n // test.k)
        start = with_classes(labels, max(1, wanted), self._near, draw)
        per_evaluation = _STEPS + _STEPS_PER_RECORD * self.price.n
        steps = max(_LEAST_STEPS, _LEAP_STEPS * self.price.n) * 10 ** draw.random()
        steps = int(min(steps, most * per_evaluation, inf if seconds is None else seconds * _STEPS_A_SECOND))
        floors = self.test.entropies if draw.random() < 0.5 else test.entropies
        deadline = inf if seconds is None else now() + seconds

        def halted() -> bool:
            return self.halted() or now() > deadline

        found = anneal(self.price, test, start, self._near, steps, draw, floors, halted)
        return Improved(canonical(labels) if found is None else self.joined(found), ceil(steps / per_evaluation))

    def joined(self, labels: Labels) -> Labels:
        """The partition with classes of equal records made one, which costs nothing and hides everyone better.

        Where the number of classes is prescribed or counts, it stays as it is.
        """
        if self._counts_classes:
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


def _key(test: ClassTest) -> tuple[float, ...]:
    return (test.k, *test.distinct_l.tolist(), *test.t.tolist(), *test.entropy.tolist())


def _entropic(test: ClassTest, bits: Floats) -> ClassTest:
    return test.with_entropies(np.maximum(test.entropies, bits * log(2)))


def _close(test: ClassTest, t: float) -> ClassTest:
    return test._replace(t=np.where(np.arange(len(test.t)) == test.people, np.inf, np.minimum(test.t, t)))


def _diverse(test: ClassTest) -> ClassTest:
    return test._replace(distinct_l=np.maximum(test.distinct_l, 2))


def _unlinkable(test: ClassTest, tau: float) -> ClassTest:
    return test.with_k(max(test.k, ceil(1 / tau - 1e-9)))
