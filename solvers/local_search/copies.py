"""Equal records beyond what a search can make use of, set aside: k of them in a class cost nothing.

Splitting a class never costs more, so that k equal records can leave any class that keeps k others. What is left of a
coarse table is searched in a fraction of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.partition import Labels, class_sizes, group_rows
from optmodels.price import Price
from optmodels.structures import Priced, compiled_price

_WORTH = 0.5  # of the records: no more than these may be left


@dataclass(frozen=True, eq=False)
class SetAside:
    """Who is searched, and the classes of the others."""

    rows: NDArray[np.int64]
    others: Labels  # of all records; -1: searched

    def part(self, priced: Priced) -> Priced:
        """What those who are searched cost."""
        return replace(priced, price=compiled_price(priced).take(self.rows), test=priced.test.take(self.rows))

    def whole(self, labels: Labels) -> Labels:
        """The partition of all records, given that of those searched."""
        found = self.others.copy()
        found[self.rows] = labels + (found.max() + 1)
        return found


def set_aside(price: Price, test: ClassTest, labels: Labels | None = None) -> SetAside | None:
    """Take k equal records at a time out of the classes of a partition; None where too many records are left.

    With no partition there is nothing that the records left have to keep.

    Of equal records 2k - 1 stay, or more: as many as are in any class that is of use.

    >>> import pandas as pd
    >>> from optmodels import Table
    >>> from optmodels.conditions import Conditions
    >>> from optmodels.price import spread
    >>> table = Table(pd.DataFrame({"age": [30, *[40] * 10, 31]}), quasi={"age": "numeric"})
    >>> aside = set_aside(spread(table), Conditions(k=2).compile(table), np.zeros(12, int))
    >>> aside.rows, aside.whole(np.array([0, 1, 1, 1, 1, 0]))
    (array([ 0,  7,  8,  9, 10, 11]), array([3, 0, 0, 1, 1, 2, 2, 4, 4, 4, 4, 3]))
    """
    k, columns = test.k, [*price.numeric.T, *price.codes.T]
    types = group_rows(columns) if columns else np.zeros(price.n, np.int64)
    spare = np.maximum(np.bincount(types) - (2 * k - 1), 0)  # how many can leave, at most
    if price.n - spare.sum() > _WORTH * price.n:
        return None
    others = np.full(price.n, -1, np.int64)
    labels = types if labels is None else labels
    sizes, n_found = class_sizes(labels), 0
    order = np.lexsort((labels, types))
    starts = np.flatnonzero(np.diff(types[order], prepend=-1) | np.diff(labels[order], prepend=-1))
    lengths = np.diff(starts, append=price.n)
    # where most of a type are together first: classes of nothing else leave as they are
    for place in np.argsort(-lengths, kind="stable"):
        length, row = lengths[place], order[starts[place]]
        if length < k:
            break
        kind, slot = types[row], labels[row]
        alone = length == sizes[slot] and length <= spare[kind]
        times = 1 if alone else max(0, min(spare[kind], length, sizes[slot] - k) // k)
        many = length if alone else k * times
        others[order[starts[place] : starts[place] + many]] = n_found + np.repeat(
            np.arange(times), many // max(times, 1)
        )
        n_found += times
        spare[kind] -= many
        sizes[slot] -= many
    rows = np.flatnonzero(others < 0)
    return SetAside(rows, others) if len(rows) <= _WORTH * price.n else None
