"""Diving: fix the classes the linear master likes best, generate again for the rest, until all is fixed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.columns.greedy import grow_classes
from solvers.columns.instance import Instance, Ints
from solvers.columns.master import Master

_TOLERANCE = 1e-6
_GENERATIONS = 2  # rounds of greedy pricing after each step
_COLUMNS_A_ROUND = 200
_LIKED = 0.7  # fix everything above this weight, or else the heaviest class
_COVERED = -1e6  # dual of a type without copies left, in units of what a record costs


def dive(
    instance: Instance, master: Master, reach: int, expired: Callable[[], bool], remaining: Callable[[], float]
) -> list[Ints] | None:
    """A partition close to the linear master's optimum, or None if time ran out or some records were left over."""
    fixed: dict[int, int] = {}
    left = instance.types.copies.copy()
    master.release()
    try:
        while left.any() and not expired():
            relaxed = master.solve(remaining())
            for _ in range(_GENERATIONS):
                if relaxed is None:
                    return None
                rows = np.where(left > 0, relaxed.duals.rows, _COVERED)
                grown = grow_classes(instance, relaxed.duals._replace(rows=rows), reach, -_TOLERANCE, _COLUMNS_A_ROUND)
                if master.add(grown) == 0:
                    break
                relaxed = master.solve(remaining())
            if relaxed is None:
                return None
            liked = _next(relaxed.weights, fixed)
            if not liked:
                return None
            for place, times in liked.items():
                np.subtract.at(left, np.repeat(master.classes[place], times - fixed.get(place, 0)), 1)
                fixed[place] = times
                master.bound_below(place, times)
            if (left < 0).any():
                return None
    finally:
        for place in fixed:
            master.bound_below(place, 0)
    if left.any():
        return None
    return [master.classes[place] for place, times in fixed.items() for _ in range(times)]


def _next(weights: np.ndarray, fixed: dict[int, int]) -> dict[int, int]:  # type: ignore[type-arg]
    """Classes to fix next and how many times: what is integral or liked, or else the heaviest of the rest."""
    rest = weights.copy()
    for place, times in fixed.items():
        rest[place] -= times
    liked = np.flatnonzero(rest > _LIKED)
    if len(liked) == 0:
        heaviest = int(np.argmax(rest))
        liked = np.array([heaviest]) if rest[heaviest] > _TOLERANCE else liked
    return {int(c): fixed.get(int(c), 0) + max(1, int(rest[c] + 1 - _LIKED)) for c in liked}
