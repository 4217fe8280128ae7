"""Pricing classes under least entropies, from below: which centre's class could cost less than its duals pay?

A class whose mean lies in a box with middle q and half-width h costs at least sum d(i, q) - N h^2, which is linear in
its records; what is left are its conditions. Of small classes the counts of sensitive values are listed
(`class_counts`): exactly of the first attribute, by a worth of each value of the others. Of larger ones the
conditions are replaced by linear ones that entropies imply (`gibbs_ascent`), for one range of sizes after another. Any
worths are valid; good ones are found by ascent and remembered for each cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.kernels import copy_into, kernel, part
from optmodels.parallel import threads
from optmodels.partition import class_sizes, group_rows
from optmodels.price import Codes, Floats, Price
from solvers.columns.candidate_centres import Groups, grouped_price, taken
from solvers.epsilon.class_counts import Counts, Needs, cheapest_vector, worth_of_levels
from solvers.epsilon.gibbs_ascent import SizeRange, ascend, taken_between

Ints = NDArray[np.int64]

_CELLS_AT_ONCE = 64  # by one worker between two looks at the clock
_PORTIONS = 2  # searched from one best class; no number of cores: what is found must not depend on the machine
_NODES = 2_000  # visited of so many cells before boxes are no longer halved
_CELLS = 64  # boxes of numeric coordinates to begin with, over all attributes
_MODES = 64  # combinations of categories told apart; further attributes cost nothing, which keeps the bound valid
_STEPS = 25  # ascent steps a visit
_MEMORY = 0.1  # the share of the newest class in the mean of those met
_FOUND = 100  # classes handed to the master after a pricing
_EQUAL = 1e-9  # bits
_FINE = 0.1  # of the slack: a box whose width costs an average class less than this is not halved


class Field(NamedTuple):
    """What is remembered of every cell of centres between two pricings."""

    low: Floats  # (cells, numeric): the box of numeric coordinates
    high: Floats
    mode: Codes  # (cells, categorical): its categories; -1 where they are left open
    small: Floats  # (cells, sizes, sensitive values): what a record of that value is worth to a small class
    members: Floats  # (cells, ranges of sizes, groups): large fractional classes near the cell's middle
    prices: Floats  # (cells, ranges, attributes + 1): what a bit of a record costs there, by attribute and of the total


class ValueTypes(NamedTuple):
    """Combinations of sensitive values."""

    of_group: Ints
    values: Codes  # (types, attributes): places in the vector of sensitive counts
    of_value: Ints  # (values of the first attribute, most types): the types that have it; -1 where there are fewer


@dataclass(frozen=True, eq=False)
class Kinds:
    """Records equal in quasi-identifiers and sensitive values, once, and the cells their centres may lie in."""

    groups: Groups
    sensitive: Codes  # (groups, attributes): places in the vector of sensitive counts
    starts: Ints
    types: ValueTypes

    @classmethod
    def of(cls, price: Price, test: ClassTest) -> Kinds:
        """The kinds of a problem's records."""
        of_record = group_rows([*price.numeric.T, *price.codes.T, *test.codes.T])
        first = np.unique(of_record, return_index=True)[1]
        n_codes = price.codes.max(axis=0, initial=-1).astype(np.int64) + 1
        groups = Groups(
            price.numeric[first], price.codes[first], price.code_weights, class_sizes(of_record), of_record, n_codes
        )
        sensitive = test.codes[first]
        values, of_group = np.unique(sensitive, axis=0, return_inverse=True)
        rows = [np.flatnonzero(values[:, 0] == v) for v in range(test.starts[1])]
        of_value = np.full((len(rows), max(map(len, rows))), -1, np.int64)
        for v, row in enumerate(rows):
            of_value[v, : len(row)] = row
        types = ValueTypes(of_group.ravel().astype(np.int64), values, of_value)
        return cls(groups, sensitive, test.starts, types)

    @property
    def whole(self) -> list[Ints]:
        """How many records have each value of each sensitive attribute."""
        held = np.zeros(self.starts[-1], np.int64)
        for column in self.sensitive.T:
            np.add.at(held, column, self.groups.counts)
        return [held[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def field(self, table: Counts) -> Field:
        """Cells over all centres, with nothing known of them yet."""
        groups, d = self.groups, self.groups.numeric.shape[1]
        each = max(1, int(_CELLS ** (1 / max(d, 1)))) if d else 1
        edges = [np.linspace(column.min(), column.max(), each + 1) for column in groups.numeric.T]
        told_apart, ranges = 1, []
        for n in groups.n_codes:
            apart = told_apart * n <= _MODES
            told_apart *= int(n) if apart else 1
            ranges.append(range(n) if apart else (-1,))
        boxes, modes = list(product(range(each), repeat=d)), list(product(*ranges))
        cells = len(boxes) * len(modes)
        low = np.array([[edges[j][b[j]] for j in range(d)] for b in boxes for _ in modes]).reshape(cells, d)
        high = np.array([[edges[j][b[j] + 1] for j in range(d)] for b in boxes for _ in modes]).reshape(cells, d)
        mode = np.array([m for _ in boxes for m in modes], np.int32).reshape(cells, len(groups.n_codes))
        return Field(
            low, high, mode, np.zeros((cells, len(table.starts) - 1, self.starts[-1])),
            np.zeros((cells, len(table.large), len(groups.counts))),
            np.zeros((cells, len(table.large), len(self.starts))),
        )  # fmt: skip

    def price(
        self, field: Field, needs: Needs, table: Counts, duals: Floats, slack: float, hopeless: float,
        over: Callable[[], bool],
    ) -> tuple[float, list[tuple[float, Floats]]]:  # fmt: skip
        """A lower bound on the reduced cost of any class that meets the needs, and costs and members of such.

        The bound is -inf where not all cells have been looked at: time was over, or there were enough classes already
        and one of a cost below `hopeless`.
        """
        floor, best, found = inf, 0.0, []

        def look(cells: Ints) -> tuple[float, list[tuple[float, Floats]]]:
            lowest, classes = _cheapest_class(
                *self.groups.arrays, self.sensitive, self.starts, self.types, needs, table, field, cells, duals, best,
                slack,
            )  # fmt: skip
            return float(lowest), list(classes)

        portions = max(1, len(field.low) // _CELLS_AT_ONCE)
        with threads(_PORTIONS) as pool:
            for first in range(0, portions, _PORTIONS):
                # Every portion has cells from everywhere.
                places = range(first, min(first + _PORTIONS, portions))
                for lowest, classes in pool.map(look, [np.arange(p, len(field.low), portions) for p in places]):
                    found += classes
                    floor = min(floor, lowest)
                best = min([best, *(reduced for reduced, _ in found)])
                if over() or (best < hopeless and len(found) >= _FOUND):
                    floor = -inf
                    break
        found.sort(key=lambda pair: pair[0])
        return floor, found[:_FOUND]

    def meet(self, needs: Needs, members: Floats) -> bool:
        """Whether a class of these members meets the needs."""
        size, bits = float(members.sum()), np.empty(len(needs.least))
        for j, column in enumerate(self.sensitive.T):
            held = np.bincount(column, members)
            shares = held[held > 0] / size
            bits[j] = -float(shares @ np.log2(shares))
        return bool(size >= needs.k and (bits >= needs.least - _EQUAL).all() and bits.sum() >= needs.total - _EQUAL)

    def cost(self, members: Floats) -> float:
        """The spread of a class, whole or fractional."""
        return float(grouped_price(*self.groups.arrays, self.groups.n_codes, members))


@part
def _line_up(base: Floats, counts: Ints, types: ValueTypes, largest: int, ranked: Floats, owners: Ints) -> None:
    """The cheapest records of each type, ascending, at most `largest`; infinite where there are no more."""
    filled = np.zeros(len(types.values), np.int64)
    ranked[:] = np.inf
    for g in np.argsort(base):
        t = types.of_group[g]
        for _ in range(min(counts[g], largest - filled[t])):
            ranked[t, filled[t]] = base[g]
            owners[t, filled[t]] = g
            filled[t] += 1


@part
def _merge(ranked: Floats, types: ValueTypes, worths: Floats, records: int, prefix: Floats, order: Ints) -> None:
    """Sums of the cheapest records of each value of the first attribute, and from which type each comes."""
    for v in range(len(types.of_value)):
        at = np.zeros(types.of_value.shape[1], np.int64)
        prefix[v, 0] = 0.0
        for c in range(records):
            best, place = np.inf, -1
            for p in range(len(at)):
                t = types.of_value[v, p]
                if t < 0:
                    break
                if at[p] < records:
                    value = ranked[t, at[p]]
                    for j in range(1, types.values.shape[1]):
                        value -= worths[types.values[t, j]]
                    if value < best:
                        best, place = value, p
            prefix[v, c + 1] = prefix[v, c] + best
            if place >= 0:
                at[place] += 1
                order[v, c] = types.of_value[v, place]


@part
def _small(
    base: Floats, counts: Ints, types: ValueTypes, starts: Ints, k: int, table: Counts, worths: Floats, steps: int,
    stop: float, members: Floats,
) -> float:  # fmt: skip
    """A bound on what a small class costs; `members` become the fractional class to which it belongs.

    `worths`, of the further attributes' values for each size of a class, become the best found.
    """
    largest = table.largest
    ranked, owners = np.empty((len(types.values), largest)), np.zeros((len(types.values), largest), np.int64)
    _line_up(base, counts, types, largest, ranked, owners)
    cheapest = np.cumsum(np.sort(ranked.ravel())[:largest])
    prefix, order = np.empty((len(types.of_value), largest + 1)), np.zeros((len(types.of_value), largest), np.int64)
    least, which = np.empty(len(table.opens)), np.zeros(len(table.opens), np.int64)
    best, mean = np.inf, np.zeros(len(base))
    for size in range(len(table.starts) - 1):
        enough = min(stop, best)
        bound = cheapest[k + size - 1]  # without any condition
        if bound < enough and table.starts[size + 1, 0] > table.starts[size, 0]:
            bound = _of_size(
                size, k + size, ranked, owners, types, starts, table, worths[size], steps, enough, mean, prefix, order,
                least, which,
            )  # fmt: skip
            if bound < best:
                copy_into(members, mean)
        elif table.starts[size + 1, 0] == table.starts[size, 0]:
            bound = np.inf
        best = min(best, bound)
    return best


@part
def _of_size(
    size: int, records: int, ranked: Floats, owners: Ints, types: ValueTypes, starts: Ints, table: Counts,
    worths: Floats, steps: int, stop: float, members: Floats, prefix: Floats, order: Ints, least: Floats, which: Ints,
) -> float:  # fmt: skip
    """A bound on what a class of one size costs, by ascent in the worths; `members` is a mean of the classes met."""
    trial, gradient, taken_of = worths.copy(), np.zeros(len(worths)), np.zeros(len(types.values), np.int64)
    best, pace = -np.inf, 1.0
    members[:] = 0.0
    for step in range(steps):
        _merge(ranked, types, trial, records, prefix, order)
        worth_of_levels(table, size, starts, trial, least, which)
        value, row = cheapest_vector(table, size, prefix, least)
        if row < 0:
            return np.inf
        taken_of[:] = 0
        for v in range(len(types.of_value)):
            for c in range(table.first[row, v]):
                taken_of[order[v, c]] += 1
        share = max(_MEMORY, 1.0 / (step + 1))
        members *= 1.0 - share
        gradient[:] = 0.0
        for t in range(len(taken_of)):
            for c in range(taken_of[t]):
                members[owners[t, c]] += share
            for j in range(1, types.values.shape[1]):
                gradient[types.values[t, j]] -= taken_of[t]
        for j in range(table.places.shape[1]):
            other = which[table.places[row, j]]
            for v in range(starts[j + 1], starts[j + 2]):
                gradient[v] += table.others[other, v - starts[j + 1]]
        if value > best:
            best = value
            copy_into(worths, trial)
        else:
            pace *= 0.75
        length = (gradient * gradient).sum()
        if best >= stop or length == 0.0:
            break
        trial += pace * max(stop - value, 0.0) / length * gradient
    return best


@kernel(nogil=True)
def _cheapest_class(
    numeric: Floats, codes: Codes, code_weights: Floats, counts: Ints, sensitive: Codes, starts: Ints,
    types: ValueTypes, needs: Needs, table: Counts, field: Field, cells: Ints, duals: Floats, best: float, slack: float,
) -> tuple[float, list[tuple[float, Floats]]]:  # fmt: skip
    """Branch and bound over the cells of centres; children inherit what their cell knows."""
    n, d = len(counts), numeric.shape[1]
    floor, nodes = np.inf, 0
    found = [(0.0, np.zeros(n))]
    base, members = np.empty(n), np.zeros(n)
    for cell in cells:
        lows, highs, floors, depths = [field.low[cell].copy()], [field.high[cell].copy()], [-np.inf], [0]
        mode = field.mode[cell]
        worths, large, prices = field.small[cell].copy(), field.members[cell].copy(), field.prices[cell].copy()
        cheapest, cheap = -slack, members
        while len(floors) > 0:
            low, high, parent, depth = lows.pop(), highs.pop(), floors.pop(), depths.pop()
            if parent >= best - slack:
                floor = min(floor, parent)
                continue
            nodes += 1
            if depth > 0 and nodes > _NODES:
                floor = min(floor, parent)
                continue
            blur = 0.0
            for j in range(d):
                blur += (0.5 * (high[j] - low[j])) ** 2
            for g in range(n):
                base[g] = -duals[g] - blur
                for j in range(d):
                    base[g] += (numeric[g, j] - 0.5 * (low[j] + high[j])) ** 2
                for j in range(len(mode)):
                    if mode[j] >= 0 and codes[g, j] != mode[j]:
                        base[g] += code_weights[j]
            # Every cell may give a class to the master; within a cell only what could lower the floor matters.
            stop = -0.5 * slack if depth == 0 else best - 0.5 * slack
            bound = taken(counts, base, needs.k)[1]  # without any condition but size
            if bound >= stop:
                floor = min(floor, bound)
                continue
            bound = _small(base, counts, types, starts, needs.k, table, worths, _STEPS, stop, members)
            for place in range(len(table.large)):
                sizes = SizeRange(table.large[place, 0], table.large[place, 1])
                enough = min(stop, bound)
                of_large = taken_between(counts, base, sizes)[1]
                if of_large < enough:
                    of_large = ascend(
                        base, counts, sensitive, starts, needs, sizes, large[place], prices[place], _STEPS, enough
                    )
                    if of_large < bound:
                        copy_into(members, large[place])
                    if depth == 0:
                        field.members[cell, place] = large[place]
                        field.prices[cell, place] = prices[place]
                bound = min(bound, of_large)
            at_middle = bound + blur * members.sum()
            if bound < stop and at_middle < cheapest:
                cheapest, cheap = at_middle, members.copy()
                best = min(best, at_middle)
            if depth == 0:
                field.small[cell] = worths
            bound = max(bound, parent)
            if bound >= best - slack or blur * needs.k <= _FINE * slack:
                floor = min(floor, bound)
                continue
            widest = 0
            for j in range(d):
                if high[j] - low[j] > high[widest] - low[widest]:
                    widest = j
            upper_low, lower_high = low.copy(), high.copy()
            upper_low[widest] = lower_high[widest] = 0.5 * (low[widest] + high[widest])
            lows.append(low)
            highs.append(lower_high)
            lows.append(upper_low)
            highs.append(high)
            for _ in range(2):
                floors.append(bound)
                depths.append(depth + 1)
        if cheapest < -slack:
            found.append((cheapest, cheap))
    return floor, found[1:]
