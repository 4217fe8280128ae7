"""Pricing classes under least entropies, from below: which centre's class could cost less than its duals pay?

A class whose mean lies in a box with middle q and half-width h costs at least sum d(i, q) - N h^2, which is linear in
its records; what is left are its conditions. Of small classes the counts of sensitive values are listed
(`class_counts`): exactly of the first attribute, by a worth of each value of the others. Of larger ones the
conditions are replaced by Gibbs' inequality: a class never has more entropy than -sum n_v log2 p_v / N bits, whatever
the distribution p. Any worths and any p are valid; good ones are found by ascent and remembered for each cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.partition import class_sizes, group_rows
from optmodels.price import Codes, Floats, Price
from solvers.candidate_centres import Groups, grouped_price, taken
from solvers.class_counts import Counts, Needs, cheapest_vector, worth_of_levels
from solvers.gibbs_ascent import made_feasible, settle

Ints = NDArray[np.int64]

_CELLS = 96  # boxes of numeric coordinates to begin with, over all attributes
_MODES = 64  # combinations of categories told apart; further attributes cost nothing, which keeps the bound valid
_STEPS = 12  # ascent steps a visit
_FOUND = 100  # classes handed to the master after a pricing
_FINE = 0.1  # of the slack: a box whose width costs an average class less than this is not halved


class Field(NamedTuple):
    """What is remembered of every cell of centres between two pricings."""

    low: Floats  # (cells, numeric): the box of numeric coordinates
    high: Floats
    mode: Codes  # (cells, categorical): its categories; -1 where they are left open
    small: Floats  # (cells, sensitive values): what a record of that value is worth to a small class
    members: Floats  # (cells, groups): a large fractional class near the cell's middle
    prices: Floats  # (cells, attributes + 1): what a bit of a record costs there, by attribute and of the total


class Types(NamedTuple):
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
    types: Types

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
        types = Types(of_group.ravel().astype(np.int64), values, of_value)
        return cls(groups, sensitive, test.starts, types)

    @property
    def whole(self) -> list[Ints]:
        """How many records have each value of each sensitive attribute."""
        held = np.zeros(self.starts[-1], np.int64)
        for column in self.sensitive.T:
            np.add.at(held, column, self.groups.counts)
        return [held[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def field(self) -> Field:
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
            low, high, mode, np.zeros((cells, self.starts[-1])), np.zeros((cells, len(groups.counts))),
            np.zeros((cells, len(self.starts))),
        )  # fmt: skip

    def price(
        self, field: Field, needs: Needs, table: Counts, duals: Floats, slack: float, most_nodes: int
    ) -> tuple[float, list[Floats]]:
        """A lower bound on the reduced cost of any class that meets the needs, and classes of low cost."""
        groups = self.groups
        floor, found = _cheapest_class(
            *groups.arrays, groups.n_codes, self.sensitive, self.starts, self.types, needs, table, field, duals, slack,
            most_nodes,
        )  # fmt: skip
        return float(floor), list(found)

    def cost(self, members: Floats) -> float:
        """The spread of a class, whole or fractional."""
        return float(grouped_price(*self.groups.arrays, self.groups.n_codes, members))


@njit(cache=True)
def _line_up(base: Floats, counts: Ints, types: Types, largest: int, ranked: Floats, owners: Ints) -> None:
    """The cheapest records of each type, ascending, at most `largest`; infinite where there are no more."""
    filled = np.zeros(len(types.values), np.int64)
    ranked[:] = np.inf
    for g in np.argsort(base):
        t = types.of_group[g]
        for _ in range(min(counts[g], largest - filled[t])):
            ranked[t, filled[t]] = base[g]
            owners[t, filled[t]] = g
            filled[t] += 1


@njit(cache=True)
def _merge(ranked: Floats, types: Types, worths: Floats, prefix: Floats, order: Ints) -> None:
    """Sums of the cheapest records of each value of the first attribute, and from which type each comes."""
    largest = ranked.shape[1]
    for v in range(len(types.of_value)):
        at = np.zeros(types.of_value.shape[1], np.int64)
        prefix[v, 0] = 0.0
        for c in range(largest):
            best, place = np.inf, -1
            for p in range(len(at)):
                t = types.of_value[v, p]
                if t < 0:
                    break
                if at[p] < largest:
                    value = ranked[t, at[p]]
                    for j in range(1, types.values.shape[1]):
                        value -= worths[types.values[t, j]]
                    if value < best:
                        best, place = value, p
            prefix[v, c + 1] = prefix[v, c] + best
            if place >= 0:
                at[place] += 1
                order[v, c] = types.of_value[v, place]


@njit(cache=True)
def _small(
    base: Floats, counts: Ints, types: Types, starts: Ints, table: Counts, worths: Floats, steps: int, stop: float,
    members: Floats,
) -> float:  # fmt: skip
    """A bound on what a small class costs, by ascent in the worths of the further attributes; its class as well.

    `worths` become the best found, and `members` a class of counts that are allowed for the first attribute.
    """
    largest = table.largest
    ranked, owners = np.empty((len(types.values), largest)), np.zeros((len(types.values), largest), np.int64)
    _line_up(base, counts, types, largest, ranked, owners)
    prefix, order = np.empty((len(types.of_value), largest + 1)), np.zeros((len(types.of_value), largest), np.int64)
    least, which = np.empty(len(table.opens)), np.zeros(len(table.opens), np.int64)
    trial, gradient = worths.copy(), np.zeros(len(worths))
    best, pace = -np.inf, 1.0
    for _ in range(steps):
        _merge(ranked, types, trial, prefix, order)
        worth_of_levels(table, starts, trial, least, which)
        value, row = cheapest_vector(table, prefix, least)
        if row < 0:
            return np.inf
        taken = np.zeros(len(types.values), np.int64)
        for v in range(len(types.of_value)):
            for c in range(table.first[row, v]):
                taken[order[v, c]] += 1
        gradient[:] = 0.0
        for t in range(len(taken)):
            for j in range(1, types.values.shape[1]):
                gradient[types.values[t, j]] -= taken[t]
        for j in range(table.places.shape[1]):
            other = which[table.places[row, j]]
            for v in range(starts[j + 1], starts[j + 2]):
                gradient[v] += table.others[other, v - starts[j + 1]]
        length = (gradient * gradient).sum()
        if value > best:
            best = value
            worths[:] = trial
            if best >= stop or length == 0.0:
                _fill(taken, owners, members)
                break
            if best == value:
                _fill(taken, owners, members)
        else:
            pace *= 0.7
        if length == 0.0:
            break
        trial = trial + pace * max(stop - value, 0.0) / length * gradient
    return best


@njit(cache=True)
def _fill(taken: Ints, owners: Ints, members: Floats) -> None:
    members[:] = 0.0
    for t in range(len(taken)):
        for c in range(taken[t]):
            members[owners[t, c]] += 1.0


@njit(cache=True)
def _lacks(held: Floats, starts: Ints, needs: Needs) -> float:
    """How many bits a class of these counts lacks, over all its conditions."""
    lacking, total = 0.0, 0.0
    for j in range(len(starts) - 1):
        size, weighted = 0.0, 0.0
        for v in range(starts[j], starts[j + 1]):
            if held[v] > 0.0:
                size += held[v]
                weighted += held[v] * np.log2(held[v])
        bits = np.log2(size) - weighted / size
        total += bits
        lacking += max(0.0, needs.least[j] - bits - 1e-9)
    return lacking + max(0.0, needs.total - total - 1e-9)


@njit(cache=True)
def _repaired(
    members: Floats, base: Floats, counts: Ints, sensitive: Codes, starts: Ints, needs: Needs, fresh: Ints
) -> bool:
    """Exchange members for the cheapest others of each type until the class meets the needs; whether it does."""
    n_attributes = len(starts) - 1
    held = np.zeros(starts[-1])
    for g in range(len(members)):
        if members[g] > 0.0:
            for j in range(n_attributes):
                held[sensitive[g, j]] += members[g]
    lacking = _lacks(held, starts, needs)
    for _ in range(6):
        if lacking <= 0.0:
            return True
        best, best_out, best_in = 0.0, -1, -1
        for out in range(len(members)):
            if members[out] < 0.5:
                continue
            for j in range(n_attributes):
                held[sensitive[out, j]] -= 1.0
            for enter in fresh:
                if enter < 0 or enter == out or members[enter] >= counts[enter]:
                    continue
                for j in range(n_attributes):
                    held[sensitive[enter, j]] += 1.0
                gain = lacking - _lacks(held, starts, needs)
                for j in range(n_attributes):
                    held[sensitive[enter, j]] -= 1.0
                if gain > 1e-12:
                    score = gain / max(base[enter] - base[out], 1e-6)
                    if score > best:
                        best, best_out, best_in = score, out, enter
            for j in range(n_attributes):
                held[sensitive[out, j]] += 1.0
        if best_out < 0:
            return False
        members[best_out] -= 1.0
        members[best_in] += 1.0
        for j in range(n_attributes):
            held[sensitive[best_out, j]] -= 1.0
            held[sensitive[best_in, j]] += 1.0
        lacking = _lacks(held, starts, needs)
    return lacking <= 0.0


@njit(cache=True)
def _cheapest_class(
    numeric: Floats, codes: Codes, code_weights: Floats, counts: Ints, n_codes: Ints, sensitive: Codes, starts: Ints,
    types: Types, needs: Needs, table: Counts, field: Field, duals: Floats, slack: float, most_nodes: int,
) -> tuple[float, list[Floats]]:  # fmt: skip
    """Branch and bound over the cells of centres; children inherit what their cell knows."""
    n, d = len(counts), numeric.shape[1]
    best, floor, nodes = 0.0, np.inf, 0
    found, costs = [np.zeros(n)], [0.0]
    base, members, fresh = np.empty(n), np.zeros(n), np.empty(len(types.values), np.int64)
    beyond = Needs(needs.least, needs.total, table.largest + 1)
    any_large = counts.sum() > table.largest
    for cell in range(len(field.low)):
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
            if nodes > most_nodes:
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
            stop = best - 0.5 * slack
            bound = taken(counts, base, needs.k)[1]  # without any condition but size
            if bound >= stop:
                floor = min(floor, bound)
                continue
            bound = _small(base, counts, types, starts, table, worths, _STEPS, stop, members)
            if bound < stop:
                fresh[:] = -1
                for g in range(n):
                    t = types.of_group[g]
                    if members[g] < counts[g] and (fresh[t] < 0 or base[g] < base[fresh[t]]):
                        fresh[t] = g
                if _repaired(members, base, counts, sensitive, starts, needs, fresh):
                    reduced = grouped_price(numeric, codes, code_weights, counts, n_codes, members)
                    reduced -= (members * duals).sum()
                    best = min(best, reduced)
                    if reduced < cheapest:
                        cheapest, cheap = reduced, members.copy()
            if any_large:
                of_large = settle(base, counts, sensitive, starts, beyond, large, prices, _STEPS, stop)
                if of_large < stop:
                    feasible = made_feasible(large, counts, sensitive, starts, needs)
                    reduced = grouped_price(numeric, codes, code_weights, counts, n_codes, feasible)
                    reduced -= (feasible * duals).sum()
                    best = min(best, reduced)
                    if reduced < cheapest:
                        cheapest, cheap = reduced, feasible
                bound = min(bound, of_large)
            if depth == 0:
                field.small[cell] = worths
                field.members[cell] = large
                field.prices[cell] = prices
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
            found.append(cheap)
            costs.append(cheapest)
    order = np.argsort(np.array(costs))[:_FOUND]
    return floor, [found[place] for place in order if costs[place] < 0.0]
