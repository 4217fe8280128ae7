"""Local recoding as it is published for ARX, for comparison: the best levels for all, again for whom they leave out.

In a turn one level for each attribute is looked for, for all who are left: groups that these levels make large enough
are released on them, the others wait for the next turn. A cell of a record that has to wait counts as `price` in the
search for the levels: the less, the finer the levels and the more turns. At least a hundredth of the records must not
have to wait.

The levels are climbed to, from those of the turn before and from the top, one step at a time. Whom nothing is found for
in the end is suppressed, and every cell counts 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

import optmodels as om
from formulations import Generalisation
from optmodels.partition import class_sizes, group_rows
from optmodels.price import Floats
from optmodels.structures import Lattice
from solvers.lattice.grouping import Groupings

Levels = tuple[int, ...]

LEAST = 0.01  # of those who are left, for whom levels must do
PRICES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02)


@dataclass(frozen=True)
class Iterated:
    """What came of it: the mean NCP, how many were suppressed in the end, and how many turns it took."""

    ncp: float
    suppressed: int
    turns: int


def best_iterated(
    table: om.Table, k: int, seconds: float, prices: Sequence[float] = PRICES
) -> tuple[Iterated, float, float]:
    """The best over all prices while seconds are left, its price, and how many seconds all of them took."""
    began = perf_counter()
    best, chosen = iterated(table, k, prices[0]), prices[0]
    for price in prices[1:]:
        left = seconds - (perf_counter() - began)
        if left <= 0:
            break
        found = iterated(table, k, price, left)
        if found.ncp < best.ncp:
            best, chosen = found, price
    return best, chosen, perf_counter() - began


def iterated(table: om.Table, k: int, price: float, seconds: float = np.inf) -> Iterated:
    """Turns at one price; once the seconds are over, at twice the price from turn to turn, which ends soon."""
    began = perf_counter()
    whole = Generalisation(k=k, scheme="full-domain").build(table).require(Lattice)
    every_cell = whole.dearest
    rest, start, total, turns = np.arange(table.n), None, 0.0, 0
    while len(rest) >= k:
        left = replace(whole, leaves=whole.leaves[rest], test=whole.test.take(rest))
        start = _best_levels(left, price * every_cell, start)
        nodes = [whole.nodes[j][:, level][left.leaves[:, j]] for j, level in enumerate(start)]
        groups = group_rows(nodes)
        released = (class_sizes(groups) >= k)[groups]
        cost = sum((whole.node_costs[j][column] for j, column in enumerate(nodes)), np.zeros(len(rest)))
        if not released.any():
            break
        total += float(cost[released].sum())
        rest = rest[~released]
        turns += 1
        if perf_counter() - began > seconds:
            price = min(2 * price, 1.0)
    return Iterated((total + len(rest) * every_cell) / (table.n * every_cell), len(rest), turns)


def _best_levels(left: Lattice, price: float, start: Levels | None) -> Levels:
    """Levels that no step up or down improves, from the better of two beginnings."""
    groupings, costs = Groupings(left), left.level_costs()
    top = tuple(len(of_level) - 1 for of_level in costs)
    least = max(left.test.k, int(LEAST * left.n))
    known: dict[Levels, float] = {}

    def value(levels: Levels) -> float:
        if levels not in known:
            known[levels] = _value(groupings, costs, left.n, levels, price, least)
        return known[levels]

    found = [_climbed(at, top, value) for at in ([top] if start is None else [top, start])]
    return min(found, key=value)


def _value(groupings: Groupings, costs: Sequence[Floats], n: int, levels: Levels, price: float, least: int) -> float:
    cut = groupings.cut(levels)
    if n - cut.records < least:
        return np.inf
    all_kept = sum(float(of_level[level]) for of_level, level in zip(costs, levels, strict=True))
    return all_kept - cut.costs + cut.records * price


def _climbed(at: Levels, top: Levels, value: Callable[[Levels], float]) -> Levels:
    while True:
        steps = [
            (*at[:j], at[j] + step, *at[j + 1 :])
            for j in range(len(at))
            for step in (-1, 1)
            if 0 <= at[j] + step <= top[j]
        ]
        best = min(steps, key=value)
        if value(best) >= value(at) - 1e-12:
            return at
        at = best
