"""All arcs, a block of records at a time: the cheapest arcs at given prices, and the bound that they prove."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import NamedTuple

import numpy as np

from optmodels.flow.paths import Arcs, Bounds, Floats, Indices, Ints
from optmodels.halting import Flag
from optmodels.kernels import kernel
from optmodels.parallel import threads

# The cost of putting each of some records with each of some centres, as a dense block; called from several threads.
ArcCosts = Callable[[Ints, Ints], Floats]

# Entries of one block: it stays in the processor's cache between being computed and being searched.
_BLOCK = 120_000
# Records searched by one thread at a time, and the number of arcs from which threads are worth their start.
_PART = 2048
_LARGE = 5_000_000


class Cheapest(NamedTuple):
    """The arcs of least reduced cost of some records, cheapest first; a missing one has target -1."""

    rows: Ints
    targets: Indices  # (rows, count)
    costs: Floats  # (rows, count)
    reduced: Floats  # (rows, count): cost plus price of the target


class Halted(Exception):  # noqa: N818 - nothing is wrong
    """What was being done has been given up."""


def cheapest_arcs(
    arc_costs: ArcCosts, rows: Ints, value: Indices, prices: Floats, count: int, halt: Flag | None = None
) -> list[Cheapest]:
    """The `count` arcs of each record with the least cost + prices[value, centre], in parts.

    An infinite price closes a centre to the records of a value. Large problems are searched in threads.

    Raises:
        Halted: the flag was raised before all were found, where that takes more than a moment.
    """
    m = prices.shape[1]
    centres = np.arange(m)
    step = max(1, _BLOCK // m)
    part_size = max(step, _PART // step * step)
    count = min(count, m)

    large = len(rows) * m >= _LARGE

    def searched(first: int) -> Cheapest:
        if large and halt is not None and halt[0]:
            raise Halted
        chosen = rows[first : first + part_size]
        targets = np.empty((len(chosen), count), np.int32)
        costs = np.empty((len(chosen), count))
        reduced = np.empty((len(chosen), count))
        for low in range(0, len(chosen), step):
            part = slice(low, low + step)
            block = arc_costs(chosen[part], centres)
            _select(block, value[chosen[part]], prices, targets[part], costs[part], reduced[part])
        return Cheapest(chosen, targets, costs, reduced)

    starts = range(0, len(rows), part_size)
    if not large:
        return [searched(first) for first in starts]
    with threads() as pool:
        return list(pool.map(searched, starts))


@kernel(nogil=True)
def _select(block: Floats, value: Indices, prices: Floats, targets: Indices, costs: Floats, reduced: Floats) -> None:
    """The arcs of least block + price of each row, by insertion into a sorted list."""
    count = targets.shape[1]
    for row in range(len(block)):
        price = prices[value[row]]
        best = reduced[row]
        best[:] = np.inf
        targets[row, :] = -1
        worst = np.inf
        for centre in range(block.shape[1]):
            key = block[row, centre] + price[centre]
            if key < worst:
                place = count - 1
                while place > 0 and best[place - 1] > key:
                    best[place] = best[place - 1]
                    targets[row, place] = targets[row, place - 1]
                    place -= 1
                best[place] = key
                targets[row, place] = centre
                worst = best[count - 1]
        for place in range(count):
            costs[row, place] = block[row, targets[row, place]] if targets[row, place] >= 0 else np.inf


def with_arcs(arcs: Arcs, found: list[Cheapest]) -> Arcs:
    """The arcs with all that were found; each record must occur once, in ascending order."""
    added = np.zeros(len(arcs.starts) - 1, np.int64)
    exists = [part.targets >= 0 for part in found]
    for part, real in zip(found, exists, strict=True):
        added[part.rows] = real.sum(axis=1)
    targets = [part.targets[real] for part, real in zip(found, exists, strict=True)]
    costs = [part.costs[real] for part, real in zip(found, exists, strict=True)]
    if not targets:
        return arcs
    together: Arcs = _merged(arcs, added, np.concatenate(targets), np.concatenate(costs))
    return together


@kernel
def _merged(arcs: Arcs, added: Ints, targets: Indices, costs: Floats) -> Arcs:
    """The arcs with `added[j]` more for each record j, taken from the concatenated targets and costs."""
    n = len(added)
    starts = np.zeros(n + 1, np.int64)
    for j in range(n):
        starts[j + 1] = starts[j] + arcs.starts[j + 1] - arcs.starts[j] + added[j]
    all_targets = np.empty(starts[n], np.int32)
    all_costs = np.empty(starts[n])
    new = 0
    for j in range(n):
        place = starts[j]
        for old in range(arcs.starts[j], arcs.starts[j + 1]):
            all_targets[place] = arcs.targets[old]
            all_costs[place] = arcs.costs[old]
            place += 1
        for _ in range(added[j]):
            all_targets[place] = targets[new]
            all_costs[place] = costs[new]
            place += 1
            new += 1
    return Arcs(starts, all_targets, all_costs)


class Prices(NamedTuple):
    """Lagrange multipliers: what it costs to enter (value, centre), a centre, and the pool."""

    pair: Floats  # (V, m)
    centre: Floats  # (m)
    pool: float


def centres_share(bounds: Bounds, prices: Prices, n: int) -> float:
    """The part of the dual bound that centres contribute; records add the sum of their least reduced costs.

    For any prices, least cost >= sum_j min_i (cost_ji + pair_vi)
      + sum_iv min_{floor <= c <= cap} (penalty_iv(c) - (pair_vi - centre_i) c)
      + sum_i min_{least <= s <= most} -(centre_i - pool) s - pool n.
    """
    drop = prices.pair.T - prices.centre[:, None]
    corners = [bounds.floor.astype(np.float64), bounds.cap.astype(np.float64)]
    kink = np.where(np.isfinite(bounds.threshold), np.floor(bounds.threshold), 0.0)
    corners += [np.clip(kink, bounds.floor, bounds.cap), np.clip(kink + 1, bounds.floor, bounds.cap)]
    with np.errstate(invalid="ignore"):
        over = [np.where(bounds.slope > 0, np.maximum(0.0, c - bounds.threshold), 0.0) for c in corners]
    pairs = np.min([bounds.slope * o - drop * c for o, c in zip(over, corners, strict=True)], axis=0)
    rise = prices.centre - prices.pool
    sizes = -np.where(rise > 0, rise * bounds.most, rise * bounds.least)
    return fsum(pairs.ravel()) + fsum(sizes) - prices.pool * n
