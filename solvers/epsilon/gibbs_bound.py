"""A bound on the price of any partition whose classes have least entropies: column generation with Gibbs' pricing.

The master covers every kind of record by fractional classes; any duals give the bound
sum(duals) + (most classes there can be) * min(0, least reduced cost). Duals move by box steps, as for few classes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from optmodels.price import Floats
from solvers.columns.boxed_master import BoxedMaster
from solvers.epsilon.class_counts import Needs, count_vectors
from solvers.epsilon.gibbs_pricing import Field, Kinds

ROUGH, EXACT = 1e-2, 3e-3  # of an average class's price: how exact pricing is
_CONVERGED = 0.5  # times that: relative distance of the linear master's value from the bound
_MOST_ROUNDS = 200
_FIRST_WIDTH = 0.3  # of an average record's price
_KEPT = 5  # cuts a kind of record that outlive a restart
_REMEMBERED = 400_000  # numbers: the cuts that are kept until the search goes on, at most
_FRACTIONAL = 0.01  # bits that a fractional class may lack: it is between classes that lack none
_MASTER_SECONDS = 5.0  # of the linear master, at most
_GAIN = 5e-3  # relative: what a restart must bring for another one


Fields = dict[tuple[int, int], Field]  # by the least size of a class and the largest that is listed
Column = tuple[float, Floats]  # a class: its cost, and how many records of each kind it takes


@dataclass(frozen=True)
class GibbsBound:
    """A bound on the total price, the duals that prove it, and classes with which the search goes on."""

    price: float
    duals: Floats
    columns: tuple[Column, ...] = ()


def least_price(
    kinds: Kinds, needs: Needs, start: GibbsBound, scale: float, enough: float, over: Callable[[], bool],
    columns: Iterable[Column] = (), n_classes: int | None = None, fields: Fields | None = None,
    slack_share: float = ROUGH,
) -> GibbsBound:  # fmt: skip
    """The best bound found from the duals of another until time is over, it is `enough`, or the master is solved.

    `scale` is the price of some partition, by which the accuracy is measured; `columns` are classes that steer the
    duals from the beginning, as do those of `start`, and `fields` what was learnt of the cells under other needs,
    which grows.
    """
    counts = kinds.groups.counts
    n = int(counts.sum())
    most = max(1, n // needs.k)
    if n_classes is not None:
        if n_classes > most:
            return GibbsBound(inf, start.duals)  # there are not enough records for so many classes of that size
        most = n_classes
    table = count_vectors(kinds.whole, needs)
    fields = {} if fields is None else fields
    field = fields.setdefault((needs.k, table.largest), kinds.field(table))
    slack = slack_share * scale / most
    best = GibbsBound(-inf, start.duals)
    gained = True
    everyone = counts.astype(np.float64)
    recent: deque[Column] = deque(_able(kinds, needs, start.columns), maxlen=_KEPT * len(counts))
    while gained:
        before = best.price
        # Early cuts were made with worths that have since improved: they are forgotten, the worths are not.
        master = BoxedMaster(counts, n_classes or 0, most)
        master.add(kinds.cost(everyone), everyone)
        for cost, members in columns:
            if kinds.meet(needs, members):
                master.add(cost, members)
        for cost, members in recent:
            master.add(cost, members)
        duals, value, width, failures = best.duals, inf, _FIRST_WIDTH * scale / n, 0
        for _ in range(_MOST_ROUNDS):
            hopeless = (best.price - float(duals @ counts)) / most
            floor, classes = kinds.price(field, needs, table, duals, slack, hopeless, over)
            fewest = n_classes or 1
            bound = float(duals @ counts) + (most if floor < 0 else fewest) * floor
            for reduced, members in classes:
                kept = np.where(members > 1e-9, members, 0.0)
                cost = reduced + float(duals @ kept)
                if (kept == np.rint(kept)).all() and kinds.meet(needs, kept):
                    cost = min(cost, kinds.cost(kept))  # at its own centre it may be cheaper than where it was met
                recent.append((cost, kept))
                master.add(*recent[-1])
            if bound > best.price:
                best, width, failures = GibbsBound(bound, duals), 1.2 * width, 0
            else:
                failures += 1
                if failures > 3:
                    width, failures = 0.6 * width, 0
            if best.price >= enough or over():
                return replace(best, columns=tuple(recent)[-_REMEMBERED // len(counts) :])
            if (not classes and value < inf) or value - best.price <= _CONVERGED * slack_share * abs(best.price):
                if not master.box_binds():
                    break
                width *= 5.0
            master.box(best.duals, width)
            value, duals, _ = master.solve(_MASTER_SECONDS)
            if value == -inf:  # HiGHS may go round in circles: with fewer classes it gets on
                break
        if value - best.price < 0 or not classes:
            recent.clear()
        gained = best.price - before > _GAIN * abs(best.price)
    return replace(best, columns=tuple(recent)[-_REMEMBERED // len(counts) :])


def _able(kinds: Kinds, needs: Needs, columns: Iterable[Column]) -> Iterator[Column]:
    """Columns found under these needs or looser ones, without the classes that do not meet these."""
    nearly = needs._replace(least=needs.least - _FRACTIONAL, total=needs.total - _FRACTIONAL)
    for cost, members in columns:
        if kinds.meet(needs if (members == np.rint(members)).all() else nearly, members):
            yield cost, members
