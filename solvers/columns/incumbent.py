"""Where the first partition comes from: a construction, then local search."""

from __future__ import annotations

import numpy as np

from optmodels.partition import LEFT_OUT, Labels
from optmodels.solver import Run
from optmodels.structures import Priced, compiled_price
from solvers.local_search.construct import first_partition as construct
from solvers.local_search.descents import descent_for
from solvers.local_search.search import Schedule, follow

_SHARE = 0.2  # of the time limit, for local search
_MOST_SECONDS = 12.0
_SMALL = 60  # records; column generation needs no head start below


def first_partition(priced: Priced) -> Labels | None:
    """Some partition that meets the conditions, or None if none was found."""
    labels = construct(compiled_price(priced), priced.test, priced.n_classes)
    if labels is None and priced.n_classes in (None, 1):
        return np.zeros(priced.n, np.int64)
    return labels


def improved(priced: Priced, run: Run, seconds: float | None = None, again: int = 0) -> list[Labels]:
    """Offer what local search makes of the incumbent, as it finds it, in so many seconds or in a share of the time.

    Returns its best partitions; `again` is how often it was called before.
    """
    n = priced.n
    if run.labels is None or n <= _SMALL:
        return []
    if seconds is None:
        seconds = min(_SHARE * run.remaining, _MOST_SECONDS, 0.01 * n)
    run.report("local search")
    inside = np.flatnonzero(run.labels != LEFT_OUT)  # who is left out stays so
    price, test = compiled_price(priced).take(inside), priced.test.take(inside)
    descent = descent_for(price, test, run.labels[inside], n_classes=priced.n_classes, seed=run.seed + again)
    found: list[Labels] = []

    def on_best(labels: Labels) -> None:
        everyone = np.full(n, LEFT_OUT, np.int64)
        everyone[inside] = labels
        found.append(everyone)
        run.offer(everyone)

    try:
        follow(descent, Schedule(seconds=max(seconds, 1e-3)), on_best, lambda: run.interrupt.pressed)
    finally:
        on_best(descent.best)
    return found
