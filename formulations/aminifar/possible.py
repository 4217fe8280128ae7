"""Why bounds on sensitive values cannot be met by any classes, and what could be met instead.

Records of one attribute, or of two, can be dealt out so that every class gets its share of every value and of all
records, rounded down or up (see `caps_together`). Bounds that are the same for all classes can be met exactly if they
let every class have these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.aminifar.capped import Cap
from formulations.aminifar.caps_together import MOST_SURE, fits_together, smallest_alpha
from formulations.aminifar.value_bounds import ValueBounds
from formulations.aminifar.whole_records import HAIR, Sizes
from optmodels.conditions import CONDITIONS, ClassTest, Conditions
from optmodels.conditions.asked import Asked
from optmodels.conditions.sensitive import HOW
from optmodels.table import Table

# What is recommended has so many steps to 1.
_STEPS = 10_000


class Milder(NamedTuple):
    """What can be varied of a condition, the value at which it asks for least, and how finely it is told."""

    word: str
    mildest: Callable[[Asked, int], float]
    steps: int = _STEPS


_MILDER = {
    "distinct_l": Milder("distinct_l", lambda asked, n: 1, 1),
    "entropy_l": Milder("entropy_l", lambda asked, n: 1),
    "recursive": Milder("c", lambda asked, n: n + 1),
    "most_share": Milder("most_share", lambda asked, n: 1),
    "beta": Milder("beta", lambda asked, n: n),
    "delta": Milder("delta", lambda asked, n: ceil(log(n)) + 1),
    "t": Milder("t", lambda asked, n: 2 if asked.t_distance == "variational" else 1),
}


def cannot_hold(caps: Sequence[Cap], sizes: Sizes, alpha: float | None, least: float | None) -> str | None:
    """Why the classes cannot hold what alpha and floor ask for, and what works, or None."""
    m = len(sizes.least)
    for cap in caps:
        for group, value in enumerate(cap.values[: cap.n_chosen]):
            has = f"'{cap.attribute}' has {cap.counts[group]} records with {value} and {m} classes"
            if cap.most[group] * m < cap.counts[group]:
                return f"alpha={alpha or 0:g} cannot hold: {has} may hold {cap.most[group]} each. {_alpha(caps, sizes)}"
            if cap.least[group] * m > cap.counts[group]:
                works = min(float((cap.counts // m * m / cap.counts)[: cap.n_chosen].min()) for cap in caps)
                return (
                    f"floor={least or 0:g} cannot hold: {has} must hold {cap.least[group]} each. "
                    f"The largest floor that works is {_rounded(works, floor)}."
                )
    return None


def cannot_hold_together(caps: Sequence[Cap], sizes: Sizes, asked: str, *, by_alpha: bool) -> str | None:
    """Why three or more attributes are in each other's way, with the alpha that works where alpha is asked for."""
    bounds = [cap.over(int(sizes.least.min()), int(sizes.most.max())) for cap in caps]
    if len(caps) <= MOST_SURE or fits_together(caps, sizes, bounds) is not False:
        return None
    names = ", ".join(f"'{cap.attribute}'" for cap in caps)
    advice = _alpha(caps, sizes) if by_alpha else "Ask less of one of them."
    return f"{asked} cannot hold for {names} together, only for each alone. {advice}"


def _alpha(caps: Sequence[Cap], sizes: Sizes) -> str:
    least, works = smallest_alpha(caps, sizes)
    rounded_up = _rounded(least, ceil)
    return f"The smallest alpha that works is {rounded_up}." if works else f"No alpha below {rounded_up} works."


def _rounded(number: float, towards: Callable[[float], int]) -> str:
    hair = HAIR if towards is floor else -HAIR
    return f"{towards(number * _STEPS + hair) / _STEPS:.4f}".rstrip("0").rstrip(".")


def conditions_cannot_hold(conditions: Conditions, test: ClassTest, table: Table, sizes: Sizes) -> str | None:
    """Which condition classes of these sizes cannot meet, and the nearest to it that they can, or None."""
    for j, name in enumerate(table.sensitive):
        if not _dealt(ValueBounds(test, attribute=j), table.sensitive_codes[:, j], sizes):
            asked = conditions.of(name)
            given = [one for one in CONDITIONS if getattr(asked, one) is not None]
            alone = (_alone(asked, one, table, j, sizes) for one in given)
            together = f"{' and '.join(given)} cannot hold together for '{name}' in {_sizes(sizes)}: ask less of one."
            return next((reason for reason in alone if reason is not None), together)
    return None


def _alone(asked: Asked, condition: str, table: Table, attribute: int, sizes: Sizes) -> str | None:
    """Why one condition cannot hold even if it is the only one, or None."""
    name, codes = table.sensitive[attribute], table.sensitive_codes[:, attribute]
    value = getattr(asked, condition)
    milder, is_pair = _MILDER[condition], isinstance(value, tuple)
    how = {HOW[condition]: {name: getattr(asked, HOW[condition])}} if condition in HOW else {}

    def holds(level: float) -> bool:
        only: dict[str, Any] = {condition: {name: (level, value[1]) if is_pair else level}}
        return _dealt(ValueBounds(Conditions(**(only | how)).compile(table), attribute=attribute), codes, sizes)

    level = value[0] if is_pair else value
    if holds(level):
        return None
    mildest = milder.mildest(asked, table.n)
    works = _nearest(holds, level, mildest, milder.steps)
    kind = "smallest" if mildest > level else "largest"
    advice = "" if works is None else f" The {kind} {milder.word} that works is {works:g}."
    amount = f"{level:g},{value[1]}" if is_pair else f"{level:g}"
    return f"{condition}={amount} cannot hold for '{name}' in {_sizes(sizes)}.{advice}"


def _sizes(sizes: Sizes) -> str:
    least, most = int(sizes.least.min()), int(sizes.most.max())
    size = f"{least}" if least == most else f"{least} to {most}"
    return f"{len(sizes.least)} classes of {size} records"


def _nearest(works: Callable[[float], bool], asked: float, mildest: float, steps: int) -> float | None:
    """The value nearest to what was asked for that works, in whole steps; None if not even the mildest does."""
    towards = 1 if mildest > asked else -1
    # A value that is no whole number of steps is first rounded to one that asks for less.
    start = ceil(asked * steps) if towards > 0 else floor(asked * steps)
    low, high = 0, abs(round(mildest * steps) - start)

    def value(step: int) -> float:
        return (start + towards * step) / steps if steps > 1 else start + towards * step

    if not works(value(high)):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(value(middle)) else (middle + 1, high)
    return value(low)


def _dealt(bounds: ValueBounds, codes: NDArray[np.int32], sizes: Sizes) -> bool:
    """Whether the values can be dealt out within what the conditions allow; true also where that is not known."""
    least, most, m = int(sizes.least.min()), int(sizes.most.max()), len(sizes.least)
    if most - least <= 1:
        # All classes have one size if the records divide into them, otherwise some have either.
        occurring = {len(codes) // m, -(-len(codes) // m)}
        if any(bounds.at(size) is None for size in occurring):
            return False
    low, high = bounds.over(least, most)
    counts = np.bincount(codes, minlength=bounds.n_values)
    return bool((low * m <= counts).all() and (high * m >= counts).all())
