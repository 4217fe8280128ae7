"""Classes on the lowest levels at which they are equal have prices, and local search takes those."""

from __future__ import annotations

import numpy as np

from optmodels.halting import Flag
from optmodels.kernels import kernel
from optmodels.nearest_lists import keep_least
from optmodels.price import Codes, Floats, by_levels, node_cost
from optmodels.solver import Run
from optmodels.structures import Levels
from optmodels.suppression import left_out
from solvers.local_search.construct import first_partition
from solvers.local_search.descents import descent_for
from solvers.local_search.search import Schedule, follow

# Rounds of local search for each record: where no time limit says how long it may take, and at most.
_ROUNDS_PER_RECORD = 2
_MOST_ROUNDS_PER_RECORD = 200
# Records up to which all pairs are looked at for a bound: some seconds.
_MOST_NEAREST = 20_000


def improve_by_prices(levels: Levels, run: Run, *, prove: bool) -> None:
    """Offer what local search makes of the best so far, or of the cheapest classes first; `prove` a bound before."""
    price = by_levels(levels.leaves, levels.nodes, levels.costs())
    with run.halting() as halt:
        if prove and price.n <= _MOST_NEAREST and not run.problem.suppression.most:
            nearest = with_nearest(price.codes, price.climbs, levels.test.k, halt)
            if not halt[0]:
                run.prove(float(nearest.sum()))
        first = first_partition(price, levels.test, halt=halt)
        if first is not None:
            run.offer(first)
        start = run.labels
        if start is None or run.expired or left_out(start):
            return
        descent = descent_for(price, levels.test, start, n_classes=None, seed=run.seed, halt=halt)
        seconds = None if run.time_limit is None else max(run.remaining, 1e-3)
        rounds = price.n * (_ROUNDS_PER_RECORD if seconds is None else _MOST_ROUNDS_PER_RECORD)
        try:
            follow(descent, Schedule(seconds=seconds, iterations=rounds), run.offer, lambda: run.interrupt.pressed)
        finally:
            run.offer(descent.best)
    run.interrupt.heed()


@kernel(nogil=True)
def with_nearest(codes: Codes, climbs: Floats, k: int, halt: Flag) -> Floats:
    """For each record what it costs in a class with the k - 1 others that are nearest to it, at least.

    A class costs each of its records no less than the two of them that are furthest apart would cost each other.
    """
    n = len(codes)
    result = np.zeros(n)
    nearest = np.empty(max(k - 1, 1))
    for i in range(n):
        if halt[0]:
            return result
        nearest[:] = np.inf
        for other in range(n):
            if other == i:
                continue
            cost = 0.0
            for j in range(codes.shape[1]):
                low, high = min(codes[i, j], codes[other, j]), max(codes[i, j], codes[other, j])
                cost += node_cost(climbs, low, high)
                if cost >= nearest[-1]:
                    break
            keep_least(nearest, cost)
        result[i] = nearest[-1] if k > 1 else 0.0
    return result
