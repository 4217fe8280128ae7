"""Records left out by local search: in turns, classes of those inside are searched for, and who is inside is changed.

Between two turns those who are left out are put where that costs least, and others are left out for whom it saves more
than it costs; or a few classes too many are given up, and whoever finds a cheap home goes there. Where classes are told
by their boxes this is not needed: leaving out is a move of that search itself (`boxes.leaving`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import count_values, meets
from optmodels.kernels import kernel
from optmodels.partition import LEFT_OUT, Labels, canonical, class_sizes, members
from optmodels.price import Codes, Floats, class_price
from optmodels.solver import Run
from optmodels.structures import Priced, compiled_price
from optmodels.suppression import left_out, price_arrays, trimmed, without_payers
from solvers.local_search.construct import first_partition
from solvers.local_search.descents import descent_for
from solvers.local_search.search import Schedule, follow

SHARES = (0.6, 0.2, 0.2)  # of the time or of the rounds, turn by turn
HOTTEST_AGAIN = 0.08  # temperature that later turns begin with: hot enough to mend what a change of members has left
MOST_HOMES = 1_000_000_000  # records left out times records inside: some seconds
MOST_TRIALS = 30  # of giving up other classes
CELLS_OF_TRIALS = 30_000_000


def in_turns(
    priced: Priced, start: Labels, run: Run, offer: Callable[[Labels], object], *, workers: int, iterations: int | None
) -> bool:
    """Search in turns from a partition, some of whose records may be left out; whether it ended by itself."""
    price, labels, finished = compiled_price(priced), start, True
    done = 0
    for turn, share in enumerate(SHARES):
        kept = np.flatnonzero(labels != LEFT_OUT)
        inside = canonical(labels[kept])
        some, test = price.take(kept), priced.test.take(kept)
        descent = descent_for(some, test, inside, n_classes=priced.n_classes, seed=run.seed + turn, workers=workers)

        def put_back(found: Labels, kept: NDArray[np.int64] = kept) -> Labels:
            everyone = np.full(price.n, LEFT_OUT, np.int64)
            everyone[kept] = found
            return everyone

        of_rest = share / sum(SHARES[turn:])
        rounds = None if iterations is None else round((iterations - done) * of_rest)
        done += rounds or 0
        schedule = Schedule(
            seconds=None if run.time_limit is None else max(run.remaining * of_rest, 1e-3),
            iterations=rounds,
            hottest=HOTTEST_AGAIN if turn else Schedule.hottest,
        )
        try:
            finished = follow(
                descent, schedule, lambda found: offer(put_back(found)), lambda: run.interrupt.pressed
            )  # fmt: skip
        finally:
            run.offer(put_back(descent.best))
        run.interrupt.heed()
        labels = who_pays(priced, put_back(descent.best), run.seed + turn, lambda: run.expired)
        run.offer(labels)
    return finished


def mixed_enough(priced: Priced) -> Labels | None:
    """A partition to begin with where everybody together does not meet the conditions: of those who do, if any."""
    price = compiled_price(priced)
    kept = trimmed(priced.test, price.n, priced.suppression.most)
    if kept is None:
        return None
    found = first_partition(price.take(kept), priced.test.take(kept), priced.n_classes)
    if found is None:
        return None
    labels = np.full(price.n, LEFT_OUT, np.int64)
    labels[kept] = found
    return labels


def who_pays(priced: Priced, labels: Labels, seed: int = 0, halted: Callable[[], bool] = lambda: False) -> Labels:
    """The same classes, some without those whose leaving saves more than it costs, some given up; never dearer.

    Once halted, no others are given up.

    >>> import pandas as pd
    >>> from formulations import LiangSamavi
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 21, 22, 60, 61, 99]}), quasi={"age": "numeric"})
    >>> priced = LiangSamavi(k=2, suppress=0.2, suppression_price=0.1).build(table).require(Priced)
    >>> who_pays(priced, np.array([0, 0, -1, 1, 1, 1]))
    array([ 0,  0,  0,  1,  1, -1])
    """
    best = min(labels, lighter(priced, at_home(priced, labels, 0)), key=lambda found: worth(priced, found))
    if priced.n_classes is not None:
        return best
    draw = np.random.default_rng(seed)
    cells = price_cells(priced)
    for _ in range(int(max(1, min(MOST_TRIALS, CELLS_OF_TRIALS // cells)))):
        if halted():
            break
        given_up = lighter(priced, at_home(priced, without_classes(priced, best, draw), priced.suppression.most))
        best = min(best, given_up, key=lambda found: worth(priced, found))
    return best


def price_cells(priced: Priced) -> int:
    """About how many cells it takes to look for everybody's home."""
    return (priced.suppression.most + 2 * priced.test.k) * priced.n


def worth(priced: Priced, labels: Labels) -> float:
    """What a partition costs, those left out included; infinitely much where too many are."""
    missing = left_out(labels)
    if missing > priced.suppression.most or missing == priced.n:
        return float("inf")
    return priced.price.total(labels) + missing * priced.left_out_price


def lighter(priced: Priced, labels: Labels) -> Labels:
    """The partition without records, and whole classes, whose leaving saves more than it costs."""
    most = priced.suppression.most - left_out(labels)
    whole = priced.n_classes is None
    return without_payers(priced.price, priced.test, labels, most, priced.left_out_price, whole=whole)


def without_classes(priced: Priced, labels: Labels, draw: np.random.Generator) -> Labels:
    """The partition without dear classes, more of them than may stay away."""
    labels = canonical(labels)
    sizes = class_sizes(labels)
    each = priced.price.per_class(labels) / sizes * draw.random(len(sizes))
    order = np.argsort(-each, kind="stable")
    away = left_out(labels) + np.cumsum(sizes[order])
    gone = order[: min(int((away < priced.suppression.most + priced.test.k).sum()) + 1, len(order) - 1)]
    return np.where(np.isin(labels, gone), LEFT_OUT, labels)


def at_home(priced: Priced, labels: Labels, most: int) -> Labels:
    """All but so many of those left out in the classes that they make dearer by least, if these stay as they must be.

    Who costs less there than left out is at home, too.
    """
    price, test, result = compiled_price(priced), priced.test, canonical(labels)
    while len(outside := np.flatnonzero(result == LEFT_OUT)) and len(outside) * price.n <= MOST_HOMES:
        homes, costs = _cheapest_homes(*price_arrays(price), *members(result), outside)
        cheap = np.argsort(costs, kind="stable")
        wanted = max(int((costs < priced.left_out_price).sum()), len(outside) - most)
        moved = 0
        for place in cheap[: -(-wanted // 2)].tolist():
            rows = np.append(np.flatnonzero(result == homes[place]), outside[place])
            if test.only_size or meets(test, count_values(test, rows), len(rows)):
                result[outside[place]] = homes[place]
                moved += 1
        if not moved:
            break
    return result


@kernel(nogil=True)
def _cheapest_homes(
    kind: int,
    numeric: Floats,
    codes: Codes,
    code_weights: Floats,
    climbs: Floats,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    outside: NDArray[np.int64],
) -> tuple[NDArray[np.int64], Floats]:
    """For each of some records the class that it makes dearer by least, and by how much; classes: `members(labels)`."""
    homes, least = np.zeros(len(outside), np.int64), np.full(len(outside), np.inf)
    for c in range(len(starts) - 1):
        rows = np.empty(starts[c + 1] - starts[c] + 1, np.int64)
        rows[:-1] = order[starts[c] : starts[c + 1]]
        before = class_price(kind, numeric, codes, code_weights, climbs, rows[:-1])
        for place in range(len(outside)):
            rows[-1] = outside[place]
            change = class_price(kind, numeric, codes, code_weights, climbs, rows) - before
            if change < least[place]:
                homes[place], least[place] = c, change
    return homes, least
