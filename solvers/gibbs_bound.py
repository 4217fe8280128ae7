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
_NODES_A_CALL = 20_000
_CONVERGED = 5e-3  # relative distance of the linear master's value from the bound
_MOST_ROUNDS = 500


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
    master, field, table = BoxedMaster(counts, 1, most), kinds.field(), count_vectors(kinds.whole, needs)
    master.add(kinds.cost(counts.astype(np.float64)), counts.astype(np.float64))
    slack = _SLACK * scale / most
    best = Bound(-inf, start)
    duals, value, width, failures = start, inf, scale / n, 0
    for _ in range(_MOST_ROUNDS):
        floor, classes = kinds.price(field, needs, table, duals, slack, _NODES_A_CALL)
        bound = float(duals @ counts) + (most * floor if floor < 0 else floor)
        for members in classes:
            master.add(kinds.cost(members), np.where(members > 1e-9, members, 0.0))
        if bound > best.price:
            best, width, failures = Bound(bound, duals), 1.2 * width, 0
        else:
            failures += 1
            if failures > 3:
                width, failures = 0.6 * width, 0
        if best.price >= enough or over():
            break
        if value - best.price <= _CONVERGED * abs(best.price):
            if not master.box_binds():
                break
            width *= 5.0
        master.box(best.duals, width)
        value, duals, _ = master.solve()
    return best
