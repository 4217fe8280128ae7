"""Exact partitions of very few records: every class is priced once, then any entropy bounds are solved fast.

Up to 24 records there are at most 2**24 classes, one bit a record. Their prices and entropies are computed once;
a master problem over a small pool of them is solved by pricing passes over all. Reduced costs are then never
negative and add up to a partition's distance from the linear optimum, so a depth-first search over the classes
cheaper than some distance finds the best partition within it, or proves that there is none and looks further.

Where a partition is known, classes that are too dear for a better one are left aside, by the same argument: duals of
a lower level of entropy hold at a higher one, so that most passes go over a short list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.partition import Labels
from optmodels.price import Floats
from optmodels.structures import Priced, compiled_price
from solvers.epsilon.class_cover import cover_some, new_cover
from solvers.epsilon.class_listing import LeastEntropies, ListedClasses, cheaper_than, cheapest, every, how_many

MOST_RECORDS = 24
_POOLED = 300  # classes that join the pool after a pass
_FIRST_DISTANCE = 0.02  # of the price of one class: how far from the linear optimum the search looks first
_MOST_LISTED = 3_000_000  # classes at once in memory for the search for a cover
_FEW = 1 << 17  # classes that a pass goes over at once: a shorter list is not worth making
_AHEAD = (4.0, 1.0)  # times as far as is useful now a list may reach, to be of use at higher levels too
_LISTED_SHARE = 0.2  # of all classes, at most, on a list
_NODES_AT_ONCE = 20_000_000  # of that search between two looks at the clock
_POOL_SECONDS = 5.0  # for the best partition made of the pool's classes
_MASTER_TOLERANCE = 1e-10  # the least that HiGHS takes
_ZERO = 1e-9  # relative: reduced costs and gaps below this are rounding


@dataclass(frozen=True)
class Best:
    """A bound on the total price of a partition, and the best partition found; it is proven if the two are equal."""

    bound: float
    price: float = np.inf
    labels: Labels | None = None


@dataclass(frozen=True)
class _Linear:
    """The linear master solved over some classes: what its duals prove, and whether it could be solved in time."""

    value: float
    duals: Floats
    solved: bool


@dataclass(frozen=True)
class _List:
    """Classes that every partition of at least this entropy and of a price below `reach` is made of."""

    classes: ListedClasses
    total: float = 0.0
    reach: float = np.inf


def _never() -> bool:
    return False


class EveryClass:
    """All classes of a problem's records that meet its conditions, ready for any least entropies (in nats)."""

    def __init__(self, priced: Priced) -> None:
        price, test = compiled_price(priced), priced.test
        self.n = price.n
        if self.n > MOST_RECORDS:
            raise ValueError(f"{self.n} records have too many classes to price them all")
        found = every(price.kind, price.numeric, price.codes, price.code_weights, _without_entropy(test))
        self._all = _List(found._replace(entropies=found.entropies[: len(test.entropies)]))
        self._short: _List | None = None
        self._scale = float(price.of(np.arange(self.n))) or 1.0
        self._k, self._n_classes = test.k, priced.n_classes
        self._pool: list[int] = []
        self._pooled: set[int] = set()
        self._highs = _master(self.n, priced.n_classes, 10 * self._scale)
        self._join(np.array([(1 << self.n) - 1]))

    def best(
        self, least: Floats, useful: float = np.inf, over: Callable[[], bool] = _never, *, total: float = 0.0
    ) -> Best | None:
        """The cheapest partition whose classes all have these entropies, proven; None where there is none.

        `total` is what the entropies of a class sum to at least. Where nothing is cheaper than `useful`, that is the
        bound, without a partition; where time is over, or there are too many equally good classes to list, it is what
        is known so far.
        """
        needs = LeastEntropies(least, total)
        near = self._near(total, useful, over)
        linear = self._linear(near.classes, needs, over)
        if not linear.solved:
            return Best(min(linear.value, near.reach))
        if linear.value > 5 * self._scale:  # only the costly stand-ins can be that expensive
            return None if near.reach == np.inf else Best(near.reach)
        if linear.value >= useful or over():
            return Best(min(linear.value, near.reach))
        return self._integer(near.classes, needs, linear, useful, over)

    def _near(self, total: float, useful: float, over: Callable[[], bool]) -> _List:
        """The classes that matter to a partition cheaper than `useful`: the list that there is, or a new one."""
        if len(self._all.classes.masks) <= _FEW or useful == np.inf:
            return self._all
        if self._short is not None and self._short.total <= total and useful <= self._short.reach:
            return self._short
        needs = LeastEntropies(np.zeros(len(self._all.classes.entropies)), total)
        linear = self._linear(self._all.classes, needs, over)
        self._short = None
        if linear.solved and linear.value >= useful:  # no partition is that cheap
            self._short = _List(_take(self._all.classes, np.zeros(0, np.int64)), total, linear.value)
        elif linear.solved:
            for ahead in _AHEAD:
                distance = ahead * (useful - linear.value)
                found = how_many(self._all.classes, needs, linear.duals[:-1], linear.duals[-1], distance)
                if found.sum() <= _LISTED_SHARE * len(self._all.classes.masks):
                    places, _ = self._cheaper(self._all.classes, needs, linear, distance, found)
                    places = places[self._rest_is_diverse(places, total)]
                    self._short = _List(_take(self._all.classes, places), total, linear.value + distance)
                    break
        return self._short or self._all

    def _rest_is_diverse(self, places: NDArray[np.int64], total: float) -> NDArray[np.bool_]:
        """Whether everyone else has the entropy as well: together they have at least what each of their classes has."""
        everyone = (1 << self.n) - 1
        rest = everyone - places
        return np.asarray((self._all.classes.entropies[:, rest].sum(axis=0) >= total - _ZERO) | (rest == 0))

    @staticmethod
    def _cheaper(
        classes: ListedClasses, needs: LeastEntropies, linear: _Linear, distance: float, found: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Floats]:
        places, costs = cheaper_than(classes, needs, linear.duals[:-1], linear.duals[-1], distance, found)
        return places, costs

    def _linear(self, classes: ListedClasses, needs: LeastEntropies, over: Callable[[], bool]) -> _Linear:
        """The linear master over these classes: passes over them until none of them improves it."""
        self._restrict(needs)
        proven = 0.0
        while True:
            self._highs.run()
            value = float(self._highs.getInfo().objective_function_value)
            duals = np.array(self._highs.getSolution().row_dual)
            costs, masks = cheapest(classes, needs, duals[:-1], duals[-1])
            # No partition has more than n // k classes, each at least as dear as the duals pay less this.
            short = min(0.0, float(costs.min(initial=0.0)))
            proven = max(proven, value + self.n // self._k * short)
            wanted = np.flatnonzero(costs < -_ZERO * self._scale)
            order = wanted[np.argsort(costs[wanted])][:_POOLED]
            if not self._join(masks[order]):
                break  # the master knows them all: what is left below zero is its own tolerance
            if over():
                return _Linear(proven, duals, solved=False)
            self._restrict(needs)
        # Classes have at least k records, so with duals lower by this no reduced cost is negative, and what they are
        # worth together is a bound, however precisely the master was solved.
        duals[:-1] += short / self._k
        return _Linear(value + self.n / self._k * short, duals, solved=True)

    def _integer(
        self, classes: ListedClasses, needs: LeastEntropies, linear: _Linear, useful: float, over: Callable[[], bool]
    ) -> Best | None:
        """The integer optimum, looked for further and further from the linear one, as far as is useful."""
        value, furthest = linear.value, useful - linear.value
        distance = min(_FIRST_DISTANCE * self._scale, furthest)
        from_pool: Best | None = None
        while True:
            found = how_many(classes, needs, linear.duals[:-1], linear.duals[-1], distance)
            if found.sum() > _MOST_LISTED:
                from_pool = from_pool or self._of_pool(value)
                closer = min(0.999 * (from_pool.price - value), furthest)
                if closer <= _ZERO * self._scale:
                    return from_pool
                if distance <= closer:  # a cover may be nearer than what cannot be listed
                    return from_pool
                distance = closer
                continue
            places, costs = self._cheaper(classes, needs, linear, distance, found)
            order = np.argsort(costs, kind="stable")
            masks = classes.masks[places[order]].astype(np.int64)
            cover = self._cover(masks, costs[order], distance, over)
            if cover is None:
                return from_pool or self._of_pool(value)
            if len(cover):
                price = float(self._all.classes.prices[cover].sum())
                return Best(price, price, self._labels(cover))
            if from_pool is not None:  # nothing is nearer than the pool's best, or than is useful
                return Best(min(from_pool.price, useful), from_pool.price, from_pool.labels)
            if distance >= furthest:
                return Best(useful)
            if distance > 2 * self._scale:  # further than any partition can be
                return None
            if over():
                return self._of_pool(value)
            distance = min(2 * distance, furthest)

    def _cover(
        self, classes: NDArray[np.int64], costs: Floats, distance: float, over: Callable[[], bool]
    ) -> NDArray[np.int64] | None:
        """The best cover by these classes, empty if there is none; None if time was over first."""
        search = new_cover(self.n, classes, costs, distance)
        while not cover_some(self.n, self._k, self._n_classes or 0, search, _NODES_AT_ONCE):
            if over():
                return None
        return search.best[: search.place[1]]

    def _of_pool(self, bound: float) -> Best:
        """The best partition made of the pool's classes in a few seconds, if there is one."""
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.passModel(self._highs.getModel())
        count, stand_ins = highs.getNumCol(), self.n + 2
        integer = np.full(count, highspy.HighsVarType.kInteger)
        highs.changeColsIntegrality(count, np.arange(count, dtype=np.int32), integer)
        highs.changeColsBounds(
            stand_ins, np.arange(stand_ins, dtype=np.int32), np.zeros(stand_ins), np.zeros(stand_ins)
        )
        highs.setOptionValue("time_limit", _POOL_SECONDS)
        highs.run()
        if highs.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return Best(bound)
        taken = np.rint(np.array(highs.getSolution().col_value)[stand_ins:]).astype(bool)
        found = np.array(self._pool)[taken]
        price = float(self._all.classes.prices[found].sum())
        close = price - bound <= _ZERO * self._scale
        return Best(price if close else bound, price, self._labels(found))

    def _labels(self, classes: NDArray[np.int64]) -> Labels:
        labels = np.empty(self.n, np.int64)
        for label, mask in enumerate(classes):
            labels[_members(int(mask), self.n)] = label
        return labels

    def _join(self, classes: NDArray[np.int64]) -> bool:
        """Put classes into the pool; whether any of them was not there yet."""
        before = len(self._pool)
        for mask in classes:
            if int(mask) not in self._pooled and np.isfinite(self._all.classes.prices[mask]):
                self._pooled.add(int(mask))
                self._pool.append(int(mask))
                rows = np.append(_members(int(mask), self.n), self.n).astype(np.int32)
                price = float(self._all.classes.prices[mask])
                self._highs.addCol(price, 0.0, highspy.kHighsInf, len(rows), rows, np.ones(len(rows)))
        return len(self._pool) > before

    def _restrict(self, needs: LeastEntropies) -> None:
        """Classes of the pool below the least entropies are held at zero."""
        pool = np.array(self._pool, np.int64)
        entropies = self._all.classes.entropies[:, pool]
        fits = (entropies >= needs.least[:, None] - _ZERO).all(axis=0) & (entropies.sum(axis=0) >= needs.total - _ZERO)
        stand_ins = self._highs.getNumCol() - len(pool)
        columns = np.arange(stand_ins, stand_ins + len(pool), dtype=np.int32)
        upper = np.where(fits, highspy.kHighsInf, 0.0)
        self._highs.changeColsBounds(len(pool), columns, np.zeros(len(pool)), upper)


def _without_entropy(test: ClassTest) -> ClassTest:
    return test._replace(entropy=np.zeros_like(test.entropy))


def _take(classes: ListedClasses, places: NDArray[np.int64]) -> ListedClasses:
    return ListedClasses(
        classes.masks[places], classes.prices[places], np.ascontiguousarray(classes.entropies[:, places])
    )


def _members(mask: int, n: int) -> NDArray[np.int64]:
    return np.flatnonzero(mask >> np.arange(n) & 1)


def _master(n: int, n_classes: int | None, costly: float) -> highspy.Highs:
    """Each record covered once, the number of classes as prescribed; costly stand-ins keep it feasible."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("dual_feasibility_tolerance", _MASTER_TOLERANCE)
    nothing = np.zeros(0, np.int32), np.zeros(0)
    for _ in range(n):
        highs.addRow(1.0, 1.0, 0, *nothing)
    highs.addRow(float(n_classes or 0), float(n_classes or n), 0, *nothing)
    for row in range(n + 1):
        highs.addCol(costly, 0.0, highspy.kHighsInf, 1, np.array([row], np.int32), np.ones(1))
    highs.addCol(costly, 0.0, highspy.kHighsInf, 1, np.array([n], np.int32), -np.ones(1))
    return highs
