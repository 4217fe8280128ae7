"""Conditions on a class as bounds on how many records of each sensitive value it holds, wherever they are that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import kernel

Ints = NDArray[np.int64]

# How many sizes are tried, from either end of a range, until one is found that a class can have.
_TRIED = 100


class Between(NamedTuple):
    """The fewest and the most records of each value that a class may hold."""

    low: Ints
    high: Ints


class ValueBounds:
    """What the conditions let a class of a given size hold of each value of one sensitive attribute.

    Of an attribute with two values every condition is a pair of bounds: what mixes well enough, or is close enough to
    the table, is a range of shares. The test itself tries all counts, so that no condition is stated twice. Of more
    values only those conditions are bounds that look at each value alone; `unbounded` names the others.

    >>> import pandas as pd
    >>> from optmodels import Table
    >>> from optmodels.conditions import Conditions
    >>> frame = pd.DataFrame({"age": range(10), "ill": [1] * 3 + [0] * 7})
    >>> table = Table(frame, quasi={"age": "numeric"}, sensitive="ill")
    >>> bounds = ValueBounds(Conditions(t=0.25).compile(table), attribute=0)
    >>> bounds.at(5)  # of five records three to four are well: 0.6 and 0.8 are within 0.25 of 0.7
    Between(low=array([3, 1]), high=array([4, 2]))
    """

    def __init__(self, *tests: ClassTest, attribute: int) -> None:
        self.tests = [alone(test, attribute) for test in tests]
        self.n_values = int(self.tests[0].starts[-1])
        self._known: dict[int, Between | None] = {}

    @cached_property
    def unbounded(self) -> tuple[str, ...]:
        """The conditions, by their names, that are no bounds on the count of each value alone."""
        if self.n_values <= 2:
            return ()
        asked = {
            "distinct_l": any(1 < test.distinct_l[0] < self.n_values for test in self.tests),
            "entropy_l": any(test.entropy[0] > 0 for test in self.tests),
            "recursive": any(test.recursive_l[0] > 0 for test in self.tests),
            "t": any(np.isfinite(test.t[0]) for test in self.tests),
        }
        return tuple(name for name, is_asked in asked.items() if is_asked)

    def at(self, size: int) -> Between | None:
        """The bounds in a class of this size; None if no class of this size meets the conditions."""
        if size not in self._known:
            found = [self._by(test, size) for test in self.tests]
            self._known[size] = _both([between for between in found if between is not None], len(found), size)
        return self._known[size]

    def over(self, least: int, most: int) -> Between:
        """Bounds that hold for every class of these sizes: neither of them falls as classes grow.

        Of two values and of sizes that differ by one at most they say all there is to say. Let L(s) be the fewest
        records of one value in s, which grows by 0 or 1 from a size to the next, and likewise the most of the other
        value, s - L(s): in s = least the first bound is the tight one, in s + 1 whichever of both has grown.
        """
        smallest = self._first(range(least, min(most, least + _TRIED) + 1))
        largest = self._first(range(most, max(least, most - _TRIED) - 1, -1))
        low, high = np.zeros(self.n_values, np.int64), np.full(self.n_values, most)
        if smallest is None and most - least <= _TRIED:
            return Between(low + 1, low)  # no class has any of these sizes
        return Between(low if smallest is None else smallest.low, high if largest is None else largest.high)

    def varies(self, least: int, most: int) -> bool:
        """Whether `over` says less of some class of these sizes than `at` its own size does."""
        if most - least <= (1 if self.n_values == 2 else 0):
            return False
        first, last = self.at(least), self.at(most)
        if first is None or last is None or (first.low != last.low).any():
            return True
        # What the others leave free is all that bounds a value from above.
        left = [size - bounds.low.sum() + bounds.low for size, bounds in ((least, first), (most, last))]
        free = (first.high >= left[0]) & (last.high >= left[1])
        return bool((~free & (first.high != last.high)).any())

    def binding(self, least: int, most: int, occurring: Ints) -> list[int]:
        """The values that the conditions bound in some class of these sizes; so many records of each occur."""
        bound = np.zeros(self.n_values, np.bool_)
        for size in (least, most):
            found = self.at(size)
            bound |= True if found is None else (found.low > 0) | (found.high < np.minimum(occurring, size))
        return np.flatnonzero(bound).tolist()

    def _first(self, sizes: range) -> Between | None:
        return next((found for size in sizes if (found := self.at(size)) is not None), None)

    def _by(self, test: ClassTest, size: int) -> Between | None:
        """The bounds by one of the tests."""
        if self.n_values == 2 and not test.only_size:
            first, last = _tried(test, size)
            return None if first > last else Between(np.array([first, size - last]), np.array([last, size - first]))
        low = np.full(self.n_values, int(test.distinct_l[0] == self.n_values > 1))
        low = np.maximum(low, np.ceil(test.least_shares.max(axis=0, initial=0.0) * size).astype(np.int64))
        high = np.floor(np.minimum(test.most_shares.min(axis=0, initial=1.0), 1.0) * size).astype(np.int64)
        return _possible(low, high, size)


def _both(found: Sequence[Between], wanted: int, size: int) -> Between | None:
    """The bounds of several tests at once; None if one of them, or all together, let no class be of this size."""
    if len(found) < wanted:
        return None
    low, high = (np.array(bounds) for bounds in zip(*found, strict=True))
    return _possible(low.max(axis=0), high.min(axis=0), size)


def _possible(low: Ints, high: Ints, size: int) -> Between | None:
    return Between(low, high) if (low <= high).all() and low.sum() <= size <= high.sum() else None


def alone(test: ClassTest, attribute: int) -> ClassTest:
    """The test of one sensitive attribute, whatever the size of a class."""
    values = slice(*test.starts[attribute : attribute + 2])
    edges = slice(*test.edge_starts[attribute : attribute + 2])
    return test._replace(
        k=1,
        codes=np.ascontiguousarray(test.codes[:, [attribute]] - test.starts[attribute], np.int32),
        starts=test.starts[attribute : attribute + 2] - test.starts[attribute],
        distinct_l=test.distinct_l[[attribute]],
        entropy=test.entropy[[attribute]],
        recursive_c=test.recursive_c[[attribute]],
        recursive_l=test.recursive_l[[attribute]],
        t=test.t[[attribute]],
        least_shares=np.ascontiguousarray(test.least_shares[:, values]),
        most_shares=np.ascontiguousarray(test.most_shares[:, values]),
        least_values=test.least_values[[attribute]],
        shares=test.shares[values],
        order=test.order[values],
        edge_starts=test.edge_starts[attribute : attribute + 2] - test.edge_starts[attribute],
        edge_low=test.edge_low[edges],
        edge_high=test.edge_high[edges],
        edge_weight=test.edge_weight[edges],
    )


def without(test: ClassTest, attributes: Sequence[int]) -> ClassTest:
    """The test that asks nothing of some sensitive attributes."""
    dropped = np.isin(np.arange(len(test.t)), attributes)
    values = np.repeat(dropped, np.diff(test.starts))
    return test._replace(
        distinct_l=np.where(dropped, 0, test.distinct_l),
        entropy=np.where(dropped, 0.0, test.entropy),
        recursive_l=np.where(dropped, 0, test.recursive_l),
        t=np.where(dropped, np.inf, test.t),
        least_shares=np.where(values, 0.0, test.least_shares),
        most_shares=np.where(values, np.inf, test.most_shares),
    )


@kernel(nogil=True)
def _tried(test: ClassTest, size: int) -> tuple[int, int]:
    """The fewest and the most records with the first of two values in a class of this size; (1, 0) if none will do."""
    counts = np.zeros(2, np.int64)
    low, high = -1, 0
    for first in range(size + 1):
        counts[0], counts[1] = first, size - first
        if meets(test, counts, size):
            high = first
            if low < 0:
                low = first
    return (1, 0) if low < 0 else (low, high)
