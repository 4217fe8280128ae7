"""A bound on the price of any partition whose classes have least entropies: column generation with Gibbs' pricing.

The master covers every kind of record by fractional classes; any duals give the bound
sum(duals) + (most classes there can be) * min(0, least reduced cost). Duals move by box steps, as for few classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from optmodels.price import Floats
from solvers.boxed_master import BoxedMaster
from solvers.class_counts import Needs, count_vectors
from solvers.gibbs_pricing import Kinds

_SLACK = 1e-2  # of an average class's price: how exact pricing is
_CONVERGED = 5e-3  # relative distance of the linear master's value from the bound
_MOST_ROUNDS = 200
_FIRST_WIDTH = 0.3  # of an average record's price
_MOST_FAILURES = 12
_GAIN = 5e-3


@dataclass(frozen=True)
class Bound:
    """A bound on the total price, and the duals that prove it."""

    price: float
    duals: Floats


def least_price(
    kinds: Kinds, needs: Needs, start: Floats, scale: float, enough: float, over: Callable[[], bool]
) -> Bound:
    """The best bound found from these first duals until time is over, it is `enough`, or the master is solved.

    `scale` is the price of some partition, by which the accuracy is measured.
    """
    counts = kinds.groups.counts
    n = int(counts.sum())
    most = max(1, n // needs.k)
    table = count_vectors(kinds.whole, needs)
    field = kinds.field(table)
    slack = _SLACK * scale / most
    best = Bound(-inf, start)
    before = -inf
    while best.price - before > _GAIN * abs(best.price) or before == -inf:
        before = best.price
        # Early cuts were made with worths that have since improved: they are forgotten, the worths are not.
        master = BoxedMaster(counts, 1, most)
        master.add(kinds.cost(counts.astype(np.float64)), counts.astype(np.float64))
        duals, value, width, failures = best.duals, inf, _FIRST_WIDTH * scale / n, 0
        for _ in range(_MOST_ROUNDS):
            hopeless = (best.price - float(duals @ counts)) / most
            floor, classes = kinds.price(field, needs, table, duals, slack, hopeless, over)
            bound = float(duals @ counts) + (most * floor if floor < 0 else floor)
            for reduced, members in classes:
                kept = np.where(members > 1e-9, members, 0.0)
                master.add(reduced + float(duals @ kept), kept)
            if bound > best.price:
                width, failures = 1.2 * width if bound - best.price > 1e-3 * abs(bound) else width, 0
                best = Bound(bound, duals)
            else:
                failures += 1
                width *= 0.8
            if best.price >= enough or over():
                return best
            if value - best.price <= _CONVERGED * abs(best.price) or failures > _MOST_FAILURES:
                if not master.box_binds() or failures > _MOST_FAILURES:
                    break
                width *= 5.0
            master.box(best.duals, width)
            value, duals, _ = master.solve()
    return best
