"""Classes with a plain price: all of them listed where they are few, those that a search met where they are not."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import count_values, meets
from optmodels.partition import LEFT_OUT, members
from optmodels.price import PlainPrice
from optmodels.problem import Problem
from optmodels.solver import Run
from optmodels.structures import Priced
from optmodels.suppression import Suppression
from solvers.columns.integer import cheapest_partition
from solvers.local_search.by_judge import by_judge

Rows = NDArray[np.int64]

_SEARCH_SHARE = 0.6  # of the time, for the search whose classes are then combined
_COMBINING_SHARE = 0.5  # of what is left then
_LONG = 1e9  # seconds, where there is no limit
_COMBINED = 4_000  # classes met last, about, that are combined
_OFTEN = 64  # classes listed between two looks at the clock


def by_listing(problem: Problem, run: Run, most: int) -> None:
    """The proven best partition where at most so many classes are possible; else the best one of those met."""
    priced = problem.require(Priced)
    possible = possible_classes(priced, most)
    if possible <= most and (listed := _all_classes(priced, problem.n, run)) is not None:
        run.details["classes"] = f"all {len(listed)} that meet the conditions"
        _combine(priced, listed, run, complete=True)
        return
    _search(problem, run, begun=False)
    run.details["remark"] = (
        f"The price of classes is a plain function and more than {most} classes are possible, too many to list: "
        "nothing is proven."
    )
    if isinstance(priced.price, PlainPrice) and run.labels is not None and not run.expired:
        _combine(priced, priced.price.met(_COMBINED), run, complete=False)
        if run.time_limit is not None:
            _search(problem, run, begun=True)


def _search(problem: Problem, run: Run, *, begun: bool) -> None:
    """Search by the judge: at first for a share of the time, and once more for the rest."""
    limit, stop = run.time_limit, run.stop
    if limit is not None and not begun:
        run.time_limit = _SEARCH_SHARE * limit
    try:
        by_judge(problem, run, begun=begun)
    finally:
        if run.time_limit != limit:
            run.time_limit, run.stop = limit, stop


def possible_classes(priced: Priced, most: int) -> int:
    """How many classes of an allowed size there are, counted no further than it takes to be more than so many."""
    count = 0
    for size in _sizes(priced, priced.n):
        count += comb(priced.n, size)
        if count > most:
            break
    return count


def _sizes(priced: Priced, n: int) -> range:
    return range(priced.test.k, (priced.largest or n) + 1)


def _all_classes(priced: Priced, n: int, run: Run) -> list[Rows] | None:
    """Every class that meets the conditions, priced, or None where time was over before they were listed."""
    test, found = priced.test, []
    for place, rows in enumerate(rows for size in _sizes(priced, n) for rows in combinations(range(n), size)):
        if place % _OFTEN == 0 and run.expired:
            return None
        members_of = np.array(rows, np.int64)
        if test.only_size or meets(test, count_values(test, members_of), len(rows)):
            priced.price.of(members_of)  # which is remembered
            found.append(members_of)
    return found


def _combine(priced: Priced, classes: list[Rows], run: Run, *, complete: bool) -> None:
    """Offer the cheapest partition made of these classes, and prove it where there are no others."""
    start = None if run.labels is None else _classes_of(run.labels)
    if not classes and start is None:
        run.infeasible("No class of these records meets the conditions.")
        return
    share = 1.0 if complete else _COMBINING_SHARE  # of the time left: the search goes on afterwards
    seconds = _LONG if run.time_limit is None else share * run.remaining
    allowed = Suppression(priced.suppression.most, priced.left_out_price)
    best = cheapest_partition(
        priced.n, classes, priced.price.of, seconds, n_classes=priced.n_classes, start=start, suppression=allowed
    )
    if best.classes is not None:
        labels = np.empty(priced.n, np.int64)
        for label, rows in enumerate(best.classes):
            labels[rows] = label if len(rows) > 1 else LEFT_OUT
        run.offer(labels)
    if not complete:
        return
    if best.bound == np.inf:
        run.infeasible("No combination of classes that meet the conditions holds every record once.")
    elif best.optimal and run.value is not None:
        run.prove(run.value)
    elif best.bound > -np.inf:
        run.prove(best.bound / priced.scale)


def _classes_of(labels: NDArray[np.int64]) -> list[Rows]:
    order, starts = members(labels)
    alone = [np.array([record]) for record in np.flatnonzero(labels == LEFT_OUT)]
    return [*(order[a:b] for a, b in pairwise(starts)), *alone]
