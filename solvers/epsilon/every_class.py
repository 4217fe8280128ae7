"""Exact partitions of very few records: every class is priced once, then any entropy bounds are solved fast.

Up to 24 records there are at most 2**24 classes, one bit a record. Their prices and entropies are computed once;
a master problem over a small pool of them is solved by pricing passes over all. Reduced costs are then never
negative and add up to a partition's distance from the linear optimum, so a depth-first search over the classes
cheaper than some distance finds the best partition within it, or proves that there is none and looks further.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np
from numba import prange
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import kernel, part
from optmodels.partition import Labels
from optmodels.price import SPREAD, Codes, Floats
from optmodels.structures import Priced, compiled_price
from solvers.epsilon.class_cover import cover_some, new_cover

MOST_RECORDS = 24
_BLOCK = 12  # bits of a block of classes: one pricing pass returns at most one class a block
_POOLED = 300  # classes that join the pool after a pass
_FIRST_DISTANCE = 0.02  # of the price of one class: how far from the linear optimum the search looks first
_MOST_LISTED = 3_000_000  # classes at once in memory for the search for a cover
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


def _never() -> bool:
    return False


class EveryClass:
    """All classes of a problem's records that meet its conditions, ready for any least entropies (in nats)."""

    def __init__(self, priced: Priced) -> None:
        price, test = compiled_price(priced), priced.test
        self.n = price.n
        if self.n > MOST_RECORDS:
            raise ValueError(f"{self.n} records have too many classes to price them all")
        self.prices, self.entropies = _price_all(
            price.kind, price.numeric, price.codes, price.code_weights, _without_entropy(test)
        )
        self.entropies = self.entropies[: len(test.entropies)]
        self._scale = float(price.of(np.arange(self.n))) or 1.0
        self._k, self._n_classes = test.k, priced.n_classes
        self._pool: list[int] = []
        self._pooled: set[int] = set()
        self._highs = _master(self.n, priced.n_classes, 10 * self._scale)
        self._join(np.array([(1 << self.n) - 1]))

    def best(self, least: Floats, useful: float = np.inf, over: Callable[[], bool] = _never) -> Best | None:
        """The cheapest partition whose classes all have these entropies, proven; None where there is none.

        Where the linear bound already reaches `useful`, the bound alone is returned; where time is over, or there are
        too many equally good classes to list, what is known so far.
        """
        self._restrict(least)
        proven = 0.0
        while True:
            self._highs.run()
            value = float(self._highs.getInfo().objective_function_value)
            duals = np.array(self._highs.getSolution().row_dual)
            costs, classes = _cheapest(self.prices, self.entropies, least, duals[:-1], duals[-1])
            # No partition has more than n // k classes, each at least as dear as the duals pay less this.
            short = min(0.0, float(costs.min()))
            proven = max(proven, value + self.n // self._k * short)
            wanted = np.flatnonzero(costs < -_ZERO * self._scale)
            order = wanted[np.argsort(costs[wanted])][:_POOLED]
            if not self._join(classes[order]):
                break  # the master knows them all: what is left below zero is its own tolerance
            if over():
                return Best(proven)
            self._restrict(least)
        # Classes have at least k records, so with duals lower by this no reduced cost is negative, and what they are
        # worth together is a bound, however precisely the master was solved.
        duals[:-1] += short / self._k
        value += self.n / self._k * short
        if value > 5 * self._scale:  # only the costly stand-ins can be that expensive
            return None
        if value >= useful or over():
            return Best(value)
        return self._integer(least, duals, value, over)

    def _integer(self, least: Floats, duals: Floats, value: float, over: Callable[[], bool]) -> Best | None:
        """The integer optimum, looked for further and further from the linear one."""
        distance = _FIRST_DISTANCE * self._scale
        from_pool: Best | None = None
        while True:
            if _how_many(self.prices, self.entropies, least, duals[:-1], duals[-1], distance) > _MOST_LISTED:
                from_pool = from_pool or self._of_pool(value)
                closer = 0.999 * (from_pool.price - value)
                if closer <= _ZERO * self._scale:
                    return from_pool
                if distance <= closer:  # a cover may be nearer than what cannot be listed
                    return from_pool
                distance = closer
                continue
            classes, costs = _cheaper_than(self.prices, self.entropies, least, duals[:-1], duals[-1], distance)
            order = np.argsort(costs, kind="stable")
            found = self._cover(classes[order], costs[order], distance, over)
            if found is None:
                return from_pool or self._of_pool(value)
            if len(found):
                price = float(self.prices[found].sum())
                return Best(price, price, self._labels(found))
            if from_pool is not None:  # nothing is nearer than the pool's best
                return Best(from_pool.price, from_pool.price, from_pool.labels)
            if distance > 2 * self._scale:  # further than any partition can be
                return None
            if over():
                return self._of_pool(value)
            distance *= 2

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
        price = float(self.prices[found].sum())
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
            if int(mask) not in self._pooled and np.isfinite(self.prices[mask]):
                self._pooled.add(int(mask))
                self._pool.append(int(mask))
                rows = np.append(_members(int(mask), self.n), self.n).astype(np.int32)
                price = float(self.prices[mask])
                self._highs.addCol(price, 0.0, highspy.kHighsInf, len(rows), rows, np.ones(len(rows)))
        return len(self._pool) > before

    def _restrict(self, least: Floats) -> None:
        """Classes of the pool below the least entropies are held at zero."""
        pool = np.array(self._pool, np.int64)
        fits = (self.entropies[:, pool] >= least[:, None] - _ZERO).all(axis=0)
        stand_ins = self._highs.getNumCol() - len(pool)
        columns = np.arange(stand_ins, stand_ins + len(pool), dtype=np.int32)
        upper = np.where(fits, highspy.kHighsInf, 0.0)
        self._highs.changeColsBounds(len(pool), columns, np.zeros(len(pool)), upper)


def _without_entropy(test: ClassTest) -> ClassTest:
    return test._replace(entropy=np.zeros_like(test.entropy))


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


@kernel(parallel=True)
def _price_all(
    kind: int, numeric: Floats, codes: Codes, code_weights: Floats, test: ClassTest
) -> tuple[Floats, Floats]:
    """The price of every class, infinite for those that break a condition, and each attribute's entropy in nats."""
    n = len(numeric)
    total = 1 << n
    prices = np.full(total, np.inf)
    entropies = np.zeros((len(test.starts) - 1, total))
    logs = np.zeros(n + 1)
    for m in range(2, n + 1):
        logs[m] = m * np.log(m)
    n_codes = 1
    for j in range(codes.shape[1]):
        n_codes = max(n_codes, codes[:, j].max() + 1)
    block = 1 << min(n, _BLOCK)
    for b in prange(total // block):
        rows = np.empty(n, np.int64)
        counts = np.zeros(test.starts[-1], np.int64)
        tally = np.zeros(n_codes, np.int64)
        for mask in range(b * block, (b + 1) * block):
            size = 0
            for i in range(n):
                if mask >> i & 1:
                    rows[size] = i
                    size += 1
            if size < test.k:
                continue
            counts[:] = 0
            for a in range(size):
                for j in range(test.codes.shape[1]):
                    counts[test.codes[rows[a], j]] += 1
            if not meets(test, counts, size):
                continue
            prices[mask] = _price_of(kind, numeric, codes, code_weights, rows, size, tally)
            for j in range(len(test.starts) - 1):
                weighted = 0.0
                for v in range(test.starts[j], test.starts[j + 1]):
                    weighted += logs[counts[v]]
                entropies[j, mask] = np.log(size) - weighted / size
    return prices, entropies


@part
def _price_of(
    kind: int, numeric: Floats, codes: Codes, code_weights: Floats, rows: NDArray[np.int64], size: int,
    tally: NDArray[np.int64],
) -> float:  # fmt: skip
    """`class_price` without allocations, `tally` being scratch: it is called millions of times here."""
    total = 0.0
    for j in range(numeric.shape[1]):
        origin = numeric[rows[0], j]
        add, square, low, high = 0.0, 0.0, 0.0, 0.0
        for a in range(1, size):
            x = numeric[rows[a], j] - origin
            add += x
            square += x * x
            low, high = min(low, x), max(high, x)
        total += max(0.0, square - add * add / size) if kind == SPREAD else size * (high - low)
    for j in range(codes.shape[1]):
        tally[:] = 0
        distinct, mode = 0, 0
        for a in range(size):
            code = codes[rows[a], j]
            distinct += tally[code] == 0
            tally[code] += 1
            mode = max(mode, tally[code])
        total += code_weights[j] * ((size - mode) if kind == SPREAD else size * (distinct - 1))
    return total


@part
def _dual_sums(duals: Floats, first: int, bits: int) -> Floats:
    """Sums of the duals of all subsets of `bits` records from `first` on."""
    sums = np.zeros(1 << bits)
    for i in range(bits):
        for mask in range(1 << i):
            sums[mask | 1 << i] = sums[mask] + duals[first + i]
    return sums


@part
def _diverse(entropies: Floats, least: Floats, mask: int) -> bool:
    diverse = True
    for j in range(len(least)):
        diverse &= entropies[j, mask] >= least[j] - _ZERO
    return diverse


@kernel(parallel=True)
def _cheapest(
    prices: Floats, entropies: Floats, least: Floats, duals: Floats, class_dual: float
) -> tuple[Floats, NDArray[np.int64]]:
    """The least reduced cost of each block of classes, and the class that has it."""
    n = len(duals)
    low_bits = min(n, _BLOCK)
    low, high = _dual_sums(duals, 0, low_bits), _dual_sums(duals, low_bits, n - low_bits)
    costs, classes = np.full(len(high), np.inf), np.zeros(len(high), np.int64)
    for b in prange(len(high)):
        for offset in range(len(low)):
            mask = b * len(low) + offset
            cost = prices[mask] - low[offset] - high[b] - class_dual
            if cost < costs[b] and _diverse(entropies, least, mask):
                costs[b] = cost
                classes[b] = mask
    return costs, classes


@kernel(parallel=True)
def _how_many(prices: Floats, entropies: Floats, least: Floats, duals: Floats, class_dual: float, most: float) -> int:
    """How many classes have a reduced cost of at most `most`."""
    n = len(duals)
    low_bits = min(n, _BLOCK)
    low, high = _dual_sums(duals, 0, low_bits), _dual_sums(duals, low_bits, n - low_bits)
    limit, total = most * (1.0 + 1e-9), 0
    for b in prange(len(high)):
        for offset in range(len(low)):
            mask = b * len(low) + offset
            if prices[mask] - low[offset] - high[b] - class_dual <= limit and _diverse(entropies, least, mask):
                total += 1
    return total


@kernel(parallel=True)
def _cheaper_than(
    prices: Floats, entropies: Floats, least: Floats, duals: Floats, class_dual: float, most: float
) -> tuple[NDArray[np.int64], Floats]:
    """Every class whose reduced cost is at most `most`, and that cost, never negative; counted first, by block."""
    n = len(duals)
    low_bits = min(n, _BLOCK)
    low, high = _dual_sums(duals, 0, low_bits), _dual_sums(duals, low_bits, n - low_bits)
    limit = most * (1.0 + 1e-9)
    starts = np.zeros(len(high) + 1, np.int64)
    for b in prange(len(high)):
        for offset in range(len(low)):
            mask = b * len(low) + offset
            if prices[mask] - low[offset] - high[b] - class_dual <= limit and _diverse(entropies, least, mask):
                starts[b + 1] += 1
    starts = np.cumsum(starts)
    found, costs = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    for b in prange(len(high)):
        place = starts[b]
        if starts[b + 1] > place:
            for offset in range(len(low)):
                mask = b * len(low) + offset
                cost = prices[mask] - low[offset] - high[b] - class_dual
                if cost <= limit and _diverse(entropies, least, mask):
                    found[place] = mask
                    costs[place] = max(cost, 0.0)
                    place += 1
    return found, costs
