"""A first bound within seconds: classes priced by the distances from their medoid alone, duals by subgradients.

Leaving out the distances among the other members makes pricing a matter of sorting, for any size of classes; the
bound is weaker than the linear master's, and all there is where exact pricing cannot be completed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from optmodels.kernels import kernel, part
from solvers.columns.instance import Floats, Instance, Ints

_STEPS = 1_000
_PATIENCE = 5  # steps without a better bound before they are halved
_ENOUGH = 1e-4  # steps shorter than this change nothing


def quick_bound(instance: Instance, rows: Floats, goal: float, expired: Callable[[], bool]) -> float:
    """A lower bound on every partition's price, from duals that begin at `rows`; `goal` is the incumbent's price."""
    copies = instance.types.copies
    best, centre, step, failures = 0.0, 0.6 * rows, 1.0, 0
    duals = centre
    for _ in range(_STEPS):
        if expired() or step < _ENOUGH:
            break
        costs, takes = _stars(
            copies, instance.distance, instance.star_factor, duals, instance.smallest, instance.largest
        )
        # A type is the medoid of at most as many classes as it has copies.
        order = np.argsort(costs, kind="stable")
        times = np.zeros(len(costs), np.int64)
        left = instance.most_classes
        for t in order:
            if left == 0 or (costs[t] >= 0 and instance.n_classes is None):
                break
            times[t] = min(left, copies[t])
            left -= times[t]
        bound = float(duals @ copies) + float(costs @ times)
        direction = copies - _uses(
            copies, instance.distance, instance.star_factor, duals, instance.smallest, times, takes
        )
        if bound > best:
            best, centre, failures = bound, duals, 0
        else:
            failures += 1
            if failures == _PATIENCE:
                step, failures, duals = 0.5 * step, 0, centre
                continue
        length = float(direction @ direction)
        if length == 0:
            break
        duals = duals + step * (goal - bound) / length * direction
    return best


@part
def _nearest_first(distance: Floats, factor: float, rows: Floats, smallest: int, keys: Floats) -> Ints:
    """The types worth taking, and enough of the others, by what they cost at least; `keys` receives all costs."""
    for t in range(len(rows)):
        keys[t] = factor * distance[t] - rows[t]
    cutoff = max(0.0, np.partition(keys, min(smallest, len(keys) - 1))[min(smallest, len(keys) - 1)])
    some = np.flatnonzero(keys <= cutoff)
    return some[np.argsort(keys[some])]


@kernel
def _stars(
    copies: Ints, distance: Floats, factor: float, rows: Floats, smallest: int, largest: int
) -> tuple[Floats, Ints]:
    """For each medoid the least reduced cost by distances to it alone, and how many others that takes."""
    n = len(copies)
    keys = np.empty(n)
    costs = np.empty(n)
    takes = np.empty(n, np.int64)
    for seed in range(n):
        value, count = -rows[seed], 0
        for t in _nearest_first(distance[seed], factor, rows, smallest, keys):
            spare = copies[t] - (t == seed)
            needed = max(smallest - 1 - count, 0) if keys[t] >= 0 else largest - 1 - count
            taken = min(spare, needed)
            value += taken * keys[t]
            count += taken
        costs[seed] = value
        takes[seed] = count
    return costs, takes


@kernel
def _uses(
    copies: Ints, distance: Floats, factor: float, rows: Floats, smallest: int, times: Ints, takes: Ints
) -> Floats:
    """How often each type is used by the chosen medoids' classes."""
    keys = np.empty(len(copies))
    used = np.zeros(len(copies))
    for seed in np.flatnonzero(times):
        used[seed] += times[seed]
        left = takes[seed]
        for t in _nearest_first(distance[seed], factor, rows, smallest, keys):
            taken = min(left, copies[t] - (t == seed))
            used[t] += times[seed] * taken
            left -= taken
    return used
