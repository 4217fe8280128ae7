"""A prescribed number of classes that keep the conditions, or the proof that there is none, where tables are small.

Conditions look at how many records of each combination of sensitive values a class has, and at nothing else. So all
counts that a class may have are listed, and as many of them as there are to be classes are chosen so that together
they use up every record: an integer program with a row for each combination.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions.class_test import ClassTest, meets
from optmodels.partition import Labels, group_rows

_MOST_COUNTS = 50_000  # that a class may have: each is put to the test in Python
DEAL_SECONDS = 10.0


@dataclass(frozen=True)
class Dealt:
    """The classes, or None; `decided` says that then there are none."""

    labels: Labels | None = None
    decided: bool = False


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
    n = len(test.codes)
    kinds = group_rows(list(test.codes.T)) if test.codes.shape[1] else np.zeros(n, np.int64)
    totals = np.bincount(kinds)
    if np.log1p(totals).sum() > np.log(_MOST_COUNTS):
        return Dealt()
    allowed = _allowed(test, kinds, totals, n_classes)
    chosen, decided = _chosen(allowed, totals, n_classes, seconds)
    if chosen is None:
        return Dealt(decided=decided)
    labels = np.empty(n, np.int64)
    rows = np.arange(n) if order is None else order
    for kind, shares in enumerate(chosen.T):
        labels[rows[kinds[rows] == kind]] = np.repeat(np.arange(n_classes), shares)
    return Dealt(labels, decided=True)


def _allowed(test: ClassTest, kinds: NDArray[np.int64], totals: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """(counts, kinds) how many records of each kind a class may have: all that meet the conditions."""
    every = np.indices(tuple(totals + 1)).reshape(len(totals), -1).T
    sizes = every.sum(1)
    every = every[(sizes >= test.k) & (sizes <= totals.sum() - test.k * (n_classes - 1))]
    values = np.zeros((len(totals), int(test.starts[-1])), np.int64)  # what a record of each kind adds
    first = np.unique(kinds, return_index=True)[1]
    for j in range(test.codes.shape[1]):
        values[np.arange(len(totals)), test.codes[first, j]] += 1
    counts = every @ values
    met = [meets(test, found, size) for found, size in zip(counts, every.sum(1).tolist(), strict=True)]
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
