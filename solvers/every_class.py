"""Exact partitions of very few records: every class is priced once, then any entropy bounds are solved fast.

Up to 24 records there are at most 2**24 classes, one bit a record. Their prices and entropies are computed once;
a master problem over a small pool of them is solved by pricing passes over all. Reduced costs are then never
negative and add up to a partition's distance from the linear optimum, so a depth-first search over the classes
cheaper than some distance finds the best partition within it, or proves that there is none and looks further.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.partition import Labels
from optmodels.price import SPREAD, Codes, Floats
from optmodels.problem import ClassAdditive

MOST_RECORDS = 24
_BLOCK = 12  # bits of a block of classes: one pricing pass returns at most one class a block
_POOLED = 300  # classes that join the pool after a pass
_FIRST_DISTANCE = 0.02  # of the price of one class: how far from the linear optimum the search looks first
_ZERO = 1e-9  # relative: reduced costs and gaps below this are rounding


@dataclass(frozen=True)
class Best:
    """The least total price of a partition, and the partition; without one, the price is only a bound."""

    price: float
    labels: Labels | None


class EveryClass:
    """All classes of a problem's records that meet its conditions, ready for any least entropies (in nats)."""

    def __init__(self, problem: ClassAdditive) -> None:
        price, test = problem.price, problem.test
        self.n = price.n
        if self.n > MOST_RECORDS:
            raise ValueError(f"{self.n} records have too many classes to price them all")
        self.prices, self.entropies = _price_all(
            price.kind, price.numeric, price.codes, price.code_weights, _without_entropy(test)
        )
        self._scale = float(price.of(np.arange(self.n))) or 1.0
        self._k, self._n_classes = test.k, problem.n_classes
        self._pool: list[int] = []
        self._pooled: set[int] = set()
        self._highs = _master(self.n, problem.n_classes, 10 * self._scale)
        self._join(np.array([(1 << self.n) - 1]))

    def best(self, least: Floats, useful: float = np.inf) -> Best | None:
        """The cheapest partition whose classes all have these entropies, proven; None where there is none.

        Where the linear bound already reaches `useful`, the bound alone is returned.
        """
        self._restrict(least)
        while True:
            self._highs.run()
            value = float(self._highs.getInfo().objective_function_value)
            duals = np.array(self._highs.getSolution().row_dual)
            costs, classes = _cheapest(self.prices, self.entropies, least, duals[:-1], duals[-1])
            wanted = costs < -_ZERO * self._scale
            if not wanted.any():
                break
            order = np.argsort(costs[wanted])[:_POOLED]
            self._join(classes[wanted][order])
            self._restrict(least)
        if value > 5 * self._scale:  # only the costly stand-ins can be that expensive
            return None
        if value >= useful:
            return Best(value, None)
        return self._integer(least, duals)

    def _integer(self, least: Floats, duals: Floats) -> Best | None:
        """The integer optimum, looked for further and further from the linear one."""
        distance = _FIRST_DISTANCE * self._scale
        while True:
            classes = _cheaper_than(self.prices, self.entropies, least, duals[:-1], duals[-1], distance)
            costs = np.maximum(_reduced(self.prices, duals, classes), 0.0)
            order = np.argsort(costs, kind="stable")
            found = _best_cover(self.n, self._k, self._n_classes or 0, classes[order], costs[order], distance)
            if len(found):
                labels = np.empty(self.n, np.int64)
                for label, mask in enumerate(found):
                    labels[_members(int(mask), self.n)] = label
                return Best(float(self.prices[found].sum()), labels)
            if distance > 2 * self._scale:  # further than any partition can be
                return None
            distance *= 2

    def _join(self, classes: NDArray[np.int64]) -> None:
        for mask in classes:
            if int(mask) not in self._pooled and np.isfinite(self.prices[mask]):
                self._pooled.add(int(mask))
                self._pool.append(int(mask))
                rows = np.append(_members(int(mask), self.n), self.n).astype(np.int32)
                price = float(self.prices[mask])
                self._highs.addCol(price, 0.0, highspy.kHighsInf, len(rows), rows, np.ones(len(rows)))

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
    nothing = np.zeros(0, np.int32), np.zeros(0)
    for _ in range(n):
        highs.addRow(1.0, 1.0, 0, *nothing)
    highs.addRow(float(n_classes or 0), float(n_classes or n), 0, *nothing)
    for row in range(n + 1):
        highs.addCol(costly, 0.0, highspy.kHighsInf, 1, np.array([row], np.int32), np.ones(1))
    highs.addCol(costly, 0.0, highspy.kHighsInf, 1, np.array([n], np.int32), -np.ones(1))
    return highs


def _reduced(prices: Floats, duals: Floats, classes: NDArray[np.int64]) -> Floats:
    bits = (classes[:, None] >> np.arange(len(duals) - 1)) & 1
    return np.asarray(prices[classes] - bits @ duals[:-1] - duals[-1])


@njit(cache=True, parallel=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _best_cover(
    n: int, k: int, n_classes: int, classes: NDArray[np.int64], costs: Floats, distance: float
) -> NDArray[np.int64]:
    """Disjoint classes that cover everyone at least total reduced cost, at most `distance`; none where none do.

    Classes come by ascending cost and are listed by their lowest record, which is what the search covers next.
    Fewer than 2k records left can only be one class, which is looked up.
    """
    by_mask = np.argsort(classes)
    masks = classes[by_mask]
    starts = np.zeros(n + 1, np.int64)
    lowest = np.empty(len(classes), np.int64)
    for c in range(len(classes)):
        i = 0
        while not classes[c] >> i & 1:
            i += 1
        lowest[c] = i
        starts[i + 1] += 1
    starts = np.cumsum(starts)
    place = starts[:-1].copy()
    listed, listed_costs = np.empty_like(classes), np.empty_like(costs)
    for c in range(len(classes)):
        listed[place[lowest[c]]] = classes[c]
        listed_costs[place[lowest[c]]] = costs[c]
        place[lowest[c]] += 1
    everyone = (1 << n) - 1
    best, best_cost = np.zeros(0, np.int64), distance
    chosen = np.zeros(n + 1, np.int64)
    covered, spent, at = np.zeros(n + 1, np.int64), np.zeros(n + 1), np.zeros(n + 1, np.int64)
    depth, record = 0, 0
    records = np.zeros(n + 1, np.int64)
    while depth >= 0:
        c = at[depth]
        record = records[depth]
        # Once there is a cover, ties are left alone: of equal records there are more of them than can be visited.
        if c >= starts[record + 1] or (
            spent[depth] + listed_costs[c] >= best_cost if len(best) > 0 else spent[depth] + listed_costs[c] > best_cost
        ):
            depth -= 1
            continue
        at[depth] += 1
        if listed[c] & covered[depth]:
            continue
        chosen[depth] = listed[c]
        union, cost = covered[depth] | listed[c], spent[depth] + listed_costs[c]
        if union == everyone:
            if (n_classes == 0 or depth + 1 == n_classes) and (cost < best_cost or len(best) == 0):
                best, best_cost = chosen[: depth + 1].copy(), cost
            continue
        if depth + 1 == n_classes:
            continue
        rest = everyone & ~union
        left = 0
        for i in range(n):
            left += rest >> i & 1
        if left < 2 * k:
            place_of_rest = np.searchsorted(masks, rest)
            if place_of_rest < len(masks) and masks[place_of_rest] == rest:
                cost += costs[by_mask[place_of_rest]]
                if (n_classes == 0 or depth + 2 == n_classes) and (
                    cost < best_cost or (len(best) == 0 and cost <= best_cost)
                ):
                    chosen[depth + 1] = rest
                    best, best_cost = chosen[: depth + 2].copy(), cost
            continue
        while union >> record & 1:
            record += 1
        depth += 1
        covered[depth], spent[depth], records[depth], at[depth] = union, cost, record, starts[record]
    return best


@njit(cache=True)
def _dual_sums(duals: Floats, first: int, bits: int) -> Floats:
    """Sums of the duals of all subsets of `bits` records from `first` on."""
    sums = np.zeros(1 << bits)
    for i in range(bits):
        for mask in range(1 << i):
            sums[mask | 1 << i] = sums[mask] + duals[first + i]
    return sums


@njit(cache=True)
def _diverse(entropies: Floats, least: Floats, mask: int) -> bool:
    diverse = True
    for j in range(len(least)):
        diverse &= entropies[j, mask] >= least[j] - _ZERO
    return diverse


@njit(cache=True, parallel=True)
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


@njit(cache=True, parallel=True)
def _cheaper_than(
    prices: Floats, entropies: Floats, least: Floats, duals: Floats, class_dual: float, most: float
) -> NDArray[np.int64]:
    """Every class whose reduced cost is at most `most`: counted block by block, then written to its place."""
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
    found = np.empty(starts[-1], np.int64)
    for b in prange(len(high)):
        place = starts[b]
        if starts[b + 1] > place:
            for offset in range(len(low)):
                mask = b * len(low) + offset
                if prices[mask] - low[offset] - high[b] - class_dual <= limit and _diverse(entropies, least, mask):
                    found[place] = mask
                    place += 1
    return found
