"""Attacks on sensitive values that conditions shut out: what has to be asked of every class so that nobody is open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions._conditions import Conditions
from optmodels.errors import InputError
from optmodels.metrics.privacy import Transport
from optmodels.table import Table

# A class is closer to the table than this only if it holds values that are far apart; solvers compare within 1e-9.
_HAIR = 1e-6
# From so many values on all pairs of them would be looked at for minutes.
_MOST_VALUES = 2_000


def against(table: Table, *, skewness: float | None = None, similarity: float | None = None) -> dict[str, Any]:
    """Conditions under which no record is open to an attack, as keywords of a formulation or of `Conditions`.

    - `skewness`, a factor of at least 1: no sensitive value is more than so many times as frequent in a class as in the
      table. That is basic beta-likeness with beta = factor - 1, no more and no less.
    - `similarity`, a distance from 0 to 1: in every class some two values of every sensitive attribute are further
      apart. A class that lacks such a pair lies within a range of alike values, and cannot be nearer to the table
      than the nearest distribution over such a range: t below that shuts them all out. It asks for more than that,
      since a class may be far from the table and hold two values that are far apart, too.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": range(6), "pay": ["low", "low", "middle", "middle", "high", "high"]})
    >>> orders = {"pay": ["low", "middle", "high"]}
    >>> table = Table(frame, quasi={"age": "numeric"}, sensitive="pay", orders=orders)
    >>> against(table, skewness=2, similarity=0.5)
    {'beta': 1.0, 't': {'pay': 0.166666}}

    Raises:
        InputError: the table has no sensitive attribute, or all values of one are alike, whatever the classes.
    """
    if not table.sensitive:
        raise InputError(
            "Skewness and similarity attacks are on sensitive attributes, and the table has none: name one."
        )
    asked: dict[str, Any] = {}
    if skewness is not None:
        if not 1 <= skewness < np.inf:
            raise InputError(f"The factor of a skewness attack must be a number of at least 1, not {skewness!r}.")
        asked["beta"] = float(skewness) - 1.0
    if similarity is not None:
        if not 0 <= similarity < 1:
            raise InputError(f"How far apart alike values may be is a distance from 0 to below 1, not {similarity!r}.")
        asked["t"] = {name: _closest(table, j, similarity) for j, name in enumerate(table.sensitive)}
    return asked


def _closest(table: Table, attribute: int, apart: float) -> float:
    name, size = table.sensitive[attribute], len(table.sensitive_levels[attribute])
    if size > _MOST_VALUES:
        raise InputError(
            f"'{name}' has {size:,} values, more than {_MOST_VALUES:,}: cut them into bins to guard against similarity."
        )
    start = sum(len(levels) for levels in table.sensitive_levels[:attribute])
    shares = table.sensitive_shares[start : start + size]
    distance = least_distance(shares, Conditions().transport(table, attribute), apart)
    if distance <= 2 * _HAIR:
        raise InputError(
            f"Some values of '{name}' within {apart:g} of each other are all that there are: nothing shuts out a "
            f"similarity attack on it. Choose a smaller distance, or leave '{name}' out."
        )
    return round(float(np.floor((distance - _HAIR / 2) / _HAIR) * _HAIR), 6)


def least_distance(shares: NDArray[np.float64], transport: Transport, apart: float) -> float:
    """How near to the table's a distribution can be whose values are pairwise no further apart than this.

    Values in the order of the ground are such that, seen from any of them, those further off are further away; so alike
    values are runs of that order, and what lies outside a run has its nearest value at the nearer end.

    >>> round(least_distance(np.array([0.5, 0.25, 0.25]), Transport.ordered(3), 0.5), 9)  # all of 'high' to the middle
    0.125
    """
    size, order = len(shares), transport.order
    one, other = (places.ravel() for places in np.indices((size, size)))
    far = transport.between(order[one], order[other]).reshape(size, size)
    q = shares[order]
    nearest = np.inf
    for first in range(size):
        alike = np.flatnonzero(far[first, first:] <= apart + 1e-9)
        last = first + int(alike[-1])
        moved = float(q[:first] @ far[:first, first] + q[last + 1 :] @ far[last, last + 1 :])
        nearest = min(nearest, moved)
    return nearest
