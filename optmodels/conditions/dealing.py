"""A prescribed number of classes that keep the conditions, or the proof that there are none.

Conditions look at how many records of each combination of sensitive values a class has, and at nothing else. So the
counts that a class may have are listed, and as many of them as there are to be classes are chosen so that together
they use up every record: an integer program with a row for each combination. Where all counts are too many, those
near an equal share of everything are listed, which proves nothing where they do not suffice; what is forbidden by
a single attribute, or by how few records a value has, is forbidden all the same. Records dealt out in turn, sorted by
combination, are the last try.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.clock import now
from optmodels.conditions.class_test import ClassTest, broken_classes, fewest_values, meets
from optmodels.metrics.privacy import TOLERANCE
from optmodels.partition import Labels, group_rows, members

_MOST_COUNTS = 10_000  # that are listed: an integer program with more of them takes its time
_MOST_SIZES = 100  # of the smallest class, that are looked at
DEAL_SECONDS = 10.0


@dataclass(frozen=True)
class Dealt:
    """The classes, or None; `decided` says that then there are none."""

    labels: Labels | None = None
    decided: bool = False

    @property
    def proves_there_are_none(self) -> bool:
        """Whether no partition into so many classes keeps the conditions."""
        return self.decided and self.labels is None


def deal(
    test: ClassTest, n_classes: int, order: NDArray[np.int64] | None = None, seconds: float = DEAL_SECONDS
) -> Dealt:
    """So many classes that keep the conditions; records that come one after the other in `order` share one if they can.

    >>> import pandas as pd
    >>> from optmodels.conditions import Conditions
    >>> from optmodels.table import Table
    >>> people = pd.DataFrame({"age": [1, 2, 3, 4], "illness": ["flu", "flu", "cold", "cold"]})
    >>> table = Table(people, quasi={"age": "numeric"}, sensitive="illness")
    >>> deal(Conditions(2, distinct_l=2).compile(table), 2).labels
    array([0, 1, 0, 1])
    >>> deal(Conditions(2, distinct_l=3).compile(table), 2)
    Dealt(labels=None, decided=True)
    """
    if _too_few(test, n_classes):
        return Dealt(decided=True)
    n, end = len(test.codes), now() + seconds
    rows, kinds, labels = np.arange(n) if order is None else order, _kinds(test), np.empty(n, np.int64)
    chosen, decided = _counted(test, kinds, n_classes, seconds)
    if chosen is not None:
        for kind, shares in enumerate(chosen.T):
            labels[rows[kinds[rows] == kind]] = np.repeat(np.arange(n_classes), shares)
    elif not decided:
        labels[rows[np.argsort(kinds[rows], kind="stable")]] = np.arange(n) % n_classes
        if broken_classes(test, *members(labels)).any():
            return Dealt(decided=_forbidden(test, n_classes, max(end - now(), 0.1)))
    elif decided:
        return Dealt(decided=True)
    return Dealt(labels, decided=True)


def _too_few(test: ClassTest, n_classes: int) -> bool:
    """Whether there are too few records of some values for each of the classes to have what it must have of them."""
    held = np.bincount(test.codes.ravel(), minlength=int(test.starts[-1]))
    attributes = [slice(*test.starts[j : j + 2]) for j in range(test.codes.shape[1])]
    for j, values in enumerate(attributes):
        if np.minimum(held[values], n_classes).sum() < n_classes * fewest_values(test, j):
            return True
    at_most = len(test.codes) // n_classes  # records in the smallest class
    sizes = np.arange(test.k, min(at_most, test.k + _MOST_SIZES) + 1)
    possible, least = np.ones(len(sizes), bool), np.zeros((len(sizes), 1))
    if len(test.most_shares):
        least = np.ceil(np.outer(sizes, test.least_shares.max(0)))
        most = np.floor(np.outer(sizes, np.minimum(test.most_shares.min(0), 1.0)))
        for values in attributes:
            possible &= (least[:, values].sum(1) <= sizes) & (sizes <= most[:, values].sum(1))
    for j in np.flatnonzero(test.t < np.inf).tolist():
        possible &= _nearest(test, sizes, j) <= test.t[j] + TOLERANCE
    if not possible.any():
        return at_most <= test.k + _MOST_SIZES
    return bool((held < n_classes * least[possible.argmax()]).any())


def _nearest(test: ClassTest, sizes: NDArray[np.int64], j: int) -> NDArray[np.float64]:
    """A bound on how near classes of these sizes come to the table: each edge carries what whole records leave."""
    first, edges = test.starts[j], slice(*test.edge_starts[j : j + 2])
    shares = test.shares[first + test.order[first : test.starts[j + 1]]]
    prefix = np.append(0.0, shares.cumsum())
    wanted = np.outer(sizes, prefix[test.edge_high[edges]] - prefix[test.edge_low[edges]])
    apart: NDArray[np.float64] = np.abs(wanted - np.rint(wanted)) @ test.edge_weight[edges] / sizes
    return apart


def _forbidden(test: ClassTest, n_classes: int, seconds: float) -> bool:
    """Whether what is asked of one of several attributes is already too much."""
    alone = [test.alone(j) for j in range(test.codes.shape[1])]
    found = (_counted(one, _kinds(one), n_classes, seconds / len(alone)) for one in alone)
    return len(alone) > 1 and any(decided and chosen is None for chosen, decided in found)


def _kinds(test: ClassTest) -> NDArray[np.int64]:
    """Which combination of sensitive values each record has, by number."""
    return group_rows(list(test.codes.T)) if test.codes.shape[1] else np.zeros(len(test.codes), np.int64)


def _counted(
    test: ClassTest, kinds: NDArray[np.int64], n_classes: int, seconds: float
) -> tuple[NDArray[np.int64] | None, bool]:
    """(classes, kinds) how many records of each kind each class gets, or None; and whether that is decided."""
    totals, largest = np.bincount(kinds), len(kinds) - test.k * (n_classes - 1)
    if largest < test.k:
        return None, True
    fair, fair_size, end = totals // n_classes, len(kinds) // n_classes, now() + seconds
    listed, complete = None, False
    for off in (0, *(1 << np.arange(largest.bit_length() + 1))):  # how far from its share: the least and the most
        most = np.minimum(fair + 1 + off, totals)
        wider = _between(np.maximum(fair - off, 0), most, min(fair_size + 1 + off, largest))
        if wider is None:
            break
        listed, complete = wider, off >= largest
        if off == 0 and (chosen := _chosen(_allowed(test, kinds, wider), totals, n_classes, seconds)[0]) is not None:
            return chosen, True
    if listed is None:
        return None, False
    chosen, decided = _chosen(_allowed(test, kinds, listed), totals, n_classes, max(end - now(), 0.1))
    return chosen, decided and (chosen is not None or complete)


def _between(least: NDArray[np.int64], most: NDArray[np.int64], largest: int) -> NDArray[np.int64] | None:
    """(counts, kinds) all counts between the bounds that sum up to no more than the largest; None if too many."""
    counts, room = np.zeros((1, 0), np.int64), np.array([largest - least.sum()])
    if room[0] < 0:
        return counts[:0].reshape(0, len(least))
    for low, high in zip(least.tolist(), most.tolist(), strict=True):
        ways = np.minimum(room, high - low) + 1
        if ways.sum() > _MOST_COUNTS:
            return None
        more = np.arange(ways.sum()) - np.repeat(ways.cumsum() - ways, ways)
        counts = np.column_stack([np.repeat(counts, ways, axis=0), low + more])
        room = np.repeat(room, ways) - more
    return counts


def _allowed(test: ClassTest, kinds: NDArray[np.int64], every: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the counts of records of each kind that meet the conditions."""
    values = np.zeros((every.shape[1], int(test.starts[-1])), np.int64)  # what a record of each kind adds
    first = np.unique(kinds, return_index=True)[1]
    for j in range(test.codes.shape[1]):
        values[np.arange(len(first)), test.codes[first, j]] += 1
    sizes = every.sum(1)
    every, sizes = every[sizes >= test.k], sizes[sizes >= test.k]
    met = [meets(test, found, size) for found, size in zip(every @ values, sizes.tolist(), strict=True)]
    allowed: NDArray[np.int64] = every[np.array(met, bool)]
    return allowed


def _chosen(
    allowed: NDArray[np.int64], totals: NDArray[np.int64], n_classes: int, seconds: float
) -> tuple[NDArray[np.int64] | None, bool]:
    """(classes, kinds) counts that use up all records; None, and whether there are none for sure."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not len(allowed):
        return None, True
    rows = np.vstack([allowed.T, np.ones(len(allowed), np.int64)])
    wanted = np.append(totals, n_classes)
    found = milp(
        np.zeros(len(allowed)),
        integrality=np.ones(len(allowed), np.int64),
        bounds=Bounds(0, n_classes),
        constraints=LinearConstraint(rows, wanted, wanted),
        options={"time_limit": seconds},
    )
    if found.x is None:
        return None, found.status == 2  # infeasible, as scipy numbers it
    chosen = np.repeat(allowed, np.rint(found.x).astype(np.int64), axis=0)
    return (chosen, True) if (chosen.sum(0) == totals).all() and len(chosen) == n_classes else (None, False)
