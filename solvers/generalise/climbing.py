"""One way up the hierarchies: records stay where they are enough, others wait or call some of those back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import copy_into, kernel, part
from optmodels.partition import Labels, canonical

Counts = NDArray[np.int64]


class Climb:
    """The class of each record so far, -1 while it waits; `step` is called with ever dearer combinations of levels."""

    def __init__(self, n: int, test: ClassTest, generosity: float, dearest: float) -> None:
        self.test = test
        self.generosity = generosity
        self.dearest = dearest
        self.home = np.full(n, -1, np.int64)
        most = n // test.k + 1
        values = 0 if test.only_size else int(test.starts[-1])
        self.sizes = np.zeros(most, np.int64)
        self.costs = np.zeros(most)
        self.counts = np.zeros((most, values), np.int64)
        self.n_classes = 0

    def step(self, order: Counts, starts: Counts, cost: float) -> bool:
        """Make classes of whom a combination suits; whether anyone still waits.

        Records that are equal on it are order[starts[c]:starts[c + 1]] for some c.
        """
        last = cost >= self.dearest
        self.n_classes = int(
            new_classes(
                order,
                starts,
                self.home,
                self.sizes,
                self.costs,
                self.counts,
                self.n_classes,
                self.test,
                cost,
                np.inf if last else self.generosity * (self.dearest - cost),
            )
        )
        return bool((self.home < 0).any())

    def finished(self) -> Labels:
        """The classes; who waits in vain takes whole classes along, the dearest first, until conditions are met."""
        home = self.home.copy()
        waiting = np.flatnonzero(home < 0)
        if waiting.size:
            dearest_first = np.argsort(-self.costs[: self.n_classes], kind="stable")
            joined = take_along(home, waiting, dearest_first, self.test)
            home[(home < 0) | np.isin(home, dearest_first[:joined])] = self.n_classes
        return canonical(home)


@kernel(nogil=True)
def new_classes(
    order: Counts,
    starts: Counts,
    home: Labels,
    sizes: Counts,
    costs: NDArray[np.float64],
    counts: Counts,
    n_classes: int,
    test: ClassTest,
    cost: float,
    worth: float,
) -> int:
    """New classes of the waiting records that are equal here; returns how many classes there are then.

    `worth` is what each waiting record may have others pay who are called back to make a class with it.
    """
    only_size = counts.shape[1] == 0
    own = np.zeros(test.starts[-1], np.int64)
    called = np.empty(len(order), np.int64)
    for key in range(len(starts) - 1):
        rows = order[starts[key] : starts[key + 1]]
        if len(rows) < test.k:
            continue
        waiting = 0
        own[:] = 0
        for i in rows:
            if home[i] < 0:
                waiting += 1
                if not only_size:
                    for j in range(test.codes.shape[1]):
                        own[test.codes[i, j]] += 1
        if waiting == 0:
            continue
        n_called = 0
        met = waiting >= test.k if only_size else meets(test, own, waiting)
        if not met:
            if worth <= 0:
                continue
            n_called, met = _call_back(rows, home, sizes, costs, counts, test, cost, worth, waiting, own, called)
        if not met:
            for c in range(n_called):  # nobody is called in vain
                _move(called[c], home[called[c]], 1, sizes, counts, test)
            continue
        for i in rows:
            if home[i] < 0:
                home[i] = n_classes
        for c in range(n_called):
            home[called[c]] = n_classes
        sizes[n_classes] = waiting + n_called
        costs[n_classes] = cost
        if not only_size:
            counts[n_classes] = own
        n_classes += 1
    return n_classes


@part
def _move(row: int, group: int, by: int, sizes: Counts, counts: Counts, test: ClassTest) -> None:
    sizes[group] += by
    if counts.shape[1]:
        for j in range(test.codes.shape[1]):
            counts[group, test.codes[row, j]] += by


@part
def _helps(row: int, own: Counts, size: int, test: ClassTest) -> bool:
    """Whether a record makes a class larger that is too small, or more even where it is too certain."""
    if size < test.k:
        return True
    for j in range(test.codes.shape[1]):
        most = own[test.starts[j] : test.starts[j + 1]].max()
        if 2 * own[test.codes[row, j]] < most:
            return True
    return False


@part
def _call_back(
    rows: Counts,
    home: Labels,
    sizes: Counts,
    costs: NDArray[np.float64],
    counts: Counts,
    test: ClassTest,
    cost: float,
    worth: float,
    waiting: int,
    own: Counts,
    called: Counts,
) -> tuple[int, bool]:
    """Take records out of classes that can spare them, those first who have least to pay.

    Returns how many and whether they are enough; who was called is still at home, but counted out of there.
    """
    only_size = counts.shape[1] == 0
    n_called, paid = 0, 0.0
    for nearness in (0.75, 0.4, -1.0):  # from homes nearly as dear as here to any
        for i in rows:
            group = home[i]
            if group < 0 or costs[group] < nearness * cost or sizes[group] <= test.k:
                continue
            if nearness < 0.75 and costs[group] >= (0.75 if nearness > 0 else 0.4) * cost:
                continue  # seen already
            if not only_size and not _helps(i, own, waiting + n_called, test):
                continue
            if paid + cost - costs[group] > worth * waiting:
                continue
            _move(i, group, -1, sizes, counts, test)
            if not only_size and not meets(test, counts[group], sizes[group]):
                _move(i, group, 1, sizes, counts, test)
                continue
            called[n_called] = i
            n_called += 1
            paid += cost - costs[group]
            size = waiting + n_called
            if only_size:
                if size >= test.k:
                    return n_called, True
            else:
                for j in range(test.codes.shape[1]):
                    own[test.codes[i, j]] += 1
                if meets(test, own, size):
                    return n_called, True
    return n_called, False


@kernel(nogil=True)
def take_along(home: Labels, waiting: Counts, dearest_first: Counts, test: ClassTest) -> int:
    """How many classes, in this order, make a class with the waiting records that meets the conditions."""
    n_classes = len(dearest_first)
    place = np.empty(n_classes, np.int64)
    for p in range(n_classes):
        place[dearest_first[p]] = p
    sizes = np.zeros(n_classes, np.int64)
    by_place = np.zeros(len(home), np.int64)
    for i in range(len(home)):
        if home[i] >= 0:
            sizes[place[home[i]]] += 1
    starts = np.zeros(n_classes + 1, np.int64)
    copy_into(starts[1:], np.cumsum(sizes))
    filled = starts[:-1].copy()
    for i in range(len(home)):
        if home[i] >= 0:
            p = place[home[i]]
            by_place[filled[p]] = i
            filled[p] += 1
    counts = np.zeros(test.starts[-1], np.int64)
    size = len(waiting)
    for i in waiting:
        for j in range(test.codes.shape[1]):
            counts[test.codes[i, j]] += 1
    for p in range(n_classes):
        if meets(test, counts, size):
            return p
        for at in range(starts[p], starts[p + 1]):
            for j in range(test.codes.shape[1]):
                counts[test.codes[by_place[at], j]] += 1
        size += sizes[p]
    return n_classes
