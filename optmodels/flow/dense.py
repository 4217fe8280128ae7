"""Small transports as one dense matrix in POT's network simplex, with a certificate computed here."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.flow.paths import Bounds, Floats, Indices, Ints

# Up to this many arcs POT is the faster of the two; with ten times as many the sparse flow is.
MOST_ARCS = 100_000
_MOST_PIVOTS = 10_000_000


def dense_transport(costs: Floats, value: Indices, bounds: Bounds) -> tuple[NDArray[np.int64], float] | None:
    """The centre of each record at least cost, and a bound below every assignment; None where it does not apply.

    It applies where POT is installed, an extra, to plain transports: sizes alone, or given sizes and one bounded group,
    for which a centre has `floor` places of its own, `cap - floor` open to everyone and the rest closed to it. POT's
    duals are believed only as far as they prove something: whatever the prices of places, no assignment costs less than
    them and the records' least reduced costs together.

    >>> from optmodels.flow import sizes_only
    >>> costs = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 9.0], [4.0, 4.0]])
    >>> dense_transport(costs, np.zeros(4, np.int32), sizes_only([2, 2], [2, 2]))
    (array([0, 1, 0, 1]), 9.0)
    """
    try:
        from ot.lp import emd  # takes a while to import, and nothing else needs it
    except ModuleNotFoundError:
        return None
    n, m = costs.shape
    bounded = _bounded(bounds)
    spare = int(bounds.most.sum()) - n
    given = bool((bounds.least == bounds.most).all())
    if bounds.slope.any() or len(bounded) > 1 or (bounded and not given) or not bounds.least.sum() <= n <= n + spare:
        return None
    # At every centre places that all must fill, then optional ones or, with a bounded group, those closed to it.
    group, floor, cap = bounded[0] if bounded else (-1, np.zeros(m, np.int64), bounds.least)
    if (floor > cap).any():
        return None
    own = [floor] if floor.any() else []
    places = np.concatenate([cap - floor, bounds.most - cap, *own])
    forbidden = (n + 1) * (1.0 + float(np.abs(costs).max(initial=0.0)))
    arcs = np.hstack([costs] * (2 + len(own)))
    if bounded:
        arcs[value == group, m : 2 * m] = forbidden
        arcs[value != group, 2 * m :] = forbidden
    if spare:  # optional places that no record takes
        arcs = np.vstack([arcs, np.repeat([forbidden, 0.0], m)])
    used = np.flatnonzero(places)
    supply = np.concatenate([np.ones(n), np.full(1 if spare else 0, float(spare))])
    solved = _simplex(emd, np.ascontiguousarray(arcs[:, used]), supply, places[used].astype(np.float64), forbidden)
    if solved is None:
        return None
    chosen, bound = solved
    return used[chosen[:n]] % m, bound


def _bounded(bounds: Bounds) -> list[tuple[int, Ints, Ints]]:
    """The groups that more than sizes bind, with floors and caps; what binds one of two groups binds the other."""
    tight = (bounds.floor > 0) | (bounds.cap < bounds.most[:, None])
    groups = np.flatnonzero(tight.any(axis=0)).tolist()
    if len(groups) == 2 == bounds.cap.shape[1]:
        floor = np.maximum(bounds.floor[:, 0], bounds.most - bounds.cap[:, 1])
        return [(0, floor, np.minimum(bounds.cap[:, 0], bounds.most - bounds.floor[:, 1]))]
    return [(group, bounds.floor[:, group], bounds.cap[:, group]) for group in groups]


def _simplex(
    emd: Callable[..., Any], arcs: Floats, supply: Floats, places: Floats, forbidden: float
) -> tuple[NDArray[np.int64], float] | None:
    """The place of each row's largest share, and the bound; None if there is no solution or POT gave up."""
    plan, log = emd(supply, places, arcs, numItermax=_MOST_PIVOTS, log=True)
    if log["warning"] is not None or plan[arcs >= forbidden].any():
        return None
    prices = log["v"]
    least = (arcs - prices).min(axis=1)
    return plan.argmax(axis=1), fsum(np.concatenate([least * supply, prices * places]))
