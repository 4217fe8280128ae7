"""The bound at any size for prices through hierarchies, where a class costs what its box does.

What records cost together with their (k - 1)-th nearest are duals that no class exceeds. What they cost in a partition
adds up to its price. These duals are lowered towards the first until no class is worth more than
its box (`box_repair`), raised by a share of themselves and lowered again: they come near to the best that duals can do,
though single turns may lose.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from optmodels.partition import LEFT_OUT, Labels, class_sizes
from optmodels.price import Price
from optmodels.structures import Priced, compiled_price
from solvers.bound.any_size import TOLERANCE, DualBound, Expired
from solvers.bound.box_repair import nearest_costs, repair_boxes
from solvers.bound.repair import Floats, Ints, Records
from solvers.columns.instance import Types

_RAISES = (0.5, 0.3, 0.3, 0.2, 0.1, 0.1, 0.05, 0.02)  # by what share of themselves, one time after the other


class BoxBound(DualBound):
    """Duals of the different records of a problem through hierarchies, from a partition of them.

    >>> import pandas as pd
    >>> from formulations import Generalisation
    >>> from optmodels import Hierarchy, Table
    >>> tree = {"age": Hierarchy.automatic(range(8), fanout=2)}
    >>> table = Table(pd.DataFrame({"age": [0, 7, 1, 6, 2, 7]}), quasi={"age": "categorical"}, hierarchies=tree)
    >>> priced = Generalisation(k=3).build(table).require(Priced)
    >>> labels = np.array([0, 1, 0, 1, 0, 1])
    >>> bound = BoxBound(priced, 3 / 7, labels)
    >>> for _ in bound.steps(lambda: False):
    ...     pass
    >>> float(round(bound.value, 6)), float(round(priced.price.total(labels), 6))
    (1.714286, 1.714286)
    """

    def __init__(self, priced: Priced, unit: float, labels: Labels) -> None:
        """`unit` is what a record costs in the partition, roughly."""
        super().__init__(priced, unit)
        self._types = _types(self._records)
        self._floors = np.zeros(len(self._records.copies))
        self._start = self._shares(compiled_price(priced), labels)

    @property
    def n_steps(self) -> int:
        """How many bounds `steps` proves, given the time."""
        return 2 + len(_RAISES)

    def steps(self, expired: Expired) -> Iterator[float]:
        """Better and better bounds, each as soon as it is proven."""
        floors = self._floors

        def nearest(places: Ints) -> bool:
            done: bool = nearest_costs(self._types, self._records.k, self._tree, places, floors, self.halted)
            return done

        if not self._in_chunks(nearest, expired):
            return
        self.duals = floors
        yield self.value
        duals = np.maximum(self._start, floors)
        for share in (0.0, *_RAISES):
            raised = self._repaired(duals * (1.0 + share), expired)
            if raised is None:
                return
            duals = np.maximum(raised, 0.0)
            self._keep_better(raised)
            yield self.value

    def _repair(self, before: Floats, duals: Floats, places: Ints) -> bool:
        done: bool = repair_boxes(
            self._types, self._records.k, self._tree, self._floors, before, duals, places, TOLERANCE, self._limit
        )
        return done

    def _shares(self, price: Price, labels: Labels) -> Floats:
        """What each different record costs in a partition, on average over its copies."""
        inside = labels != LEFT_OUT
        sizes = class_sizes(labels)
        each = np.full(len(labels), self._priced.left_out_price)
        each[inside] = (price.per_class(labels) / sizes)[labels[inside]]
        copies = self._records.copies
        shares: Floats = np.bincount(self._place, each, len(copies)) / (copies * self._unit)
        shares[copies >= self._records.k] = 0.0  # as many equal ones cost nothing
        return shares


def _types(records: Records) -> Types:
    return Types(
        records.kind,
        records.numeric,
        records.codes,
        records.code_weights,
        records.climbs,
        records.test,
        records.copies,
        False,
        True,
    )
