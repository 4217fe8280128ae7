"""A first bound within seconds: classes priced by the distances from their medoid alone, duals by subgradients.

Leaving out the distances among the other members makes pricing a matter of sorting, for any size of classes; the
bound is weaker than the linear master's, and all there is where exact pricing cannot be completed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from solvers.columns.instance import Floats, Instance, Ints

_STEPS = 120
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
        direction = copies - _uses(copies, instance.distance, instance.star_factor, duals, times, takes)
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


@njit(cache=True)
def _stars(
    copies: Ints, distance: Floats, factor: float, rows: Floats, smallest: int, largest: int
) -> tuple[Floats, Ints]:
    """For each medoid the least reduced cost by distances to it alone, and how many others that takes."""
    n = len(copies)
    costs = np.empty(n)
    takes = np.empty(n, np.int64)
    for seed in range(n):
        keys = factor * distance[seed] - rows
        value, count = -rows[seed], 0
        best, best_count = np.inf, 0
        for t in np.argsort(keys):
            for _ in range(copies[t] - (t == seed)):
                if count == largest - 1 or (count >= smallest - 1 and keys[t] >= 0):
                    break
                value += keys[t]
                count += 1
                if count >= smallest - 1 and value < best:
                    best, best_count = value, count
            if count == largest - 1 or (count >= smallest - 1 and keys[t] >= 0):
                break
        costs[seed], takes[seed] = best, best_count
    return costs, takes


@njit(cache=True)
def _uses(copies: Ints, distance: Floats, factor: float, rows: Floats, times: Ints, takes: Ints) -> Floats:
    """How often each type is used by the chosen medoids' classes."""
    used = np.zeros(len(copies))
    for seed in range(len(copies)):
        if times[seed] == 0:
            continue
        used[seed] += times[seed]
        left = takes[seed]
        for t in np.argsort(factor * distance[seed] - rows):
            taken = min(left, copies[t] - (t == seed))
            used[t] += times[seed] * taken
            left -= taken
            if left == 0:
                break
    return used
