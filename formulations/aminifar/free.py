"""Aminifar's model with the centres left open: classes of equal size around their own means."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from formulations.aminifar.balanced import BalancedProblem, Floats
from formulations.aminifar.capped import Cap
from optmodels.conditions import Conditions
from optmodels.objectives import Objective
from optmodels.partition import Labels, members
from optmodels.price import Price
from optmodels.table import Table

if TYPE_CHECKING:
    from formulations.aminifar._aminifar import Aminifar


class FreeAminifarProblem(BalancedProblem):
    """Balanced classes, each around its own mean: what a record is away from what is released for it.

    >>> import pandas as pd
    >>> from formulations import Aminifar
    >>> table = Table(pd.DataFrame({"age": [20, 60, 22, 64]}), quasi={"age": "numeric"})
    >>> Aminifar(k=2, centres="free").build(table).evaluate([0, 1, 0, 1]).values
    {'distance': 6.0}
    """

    objectives = (Objective("distance", "min", "distance of records to the means of their classes, plus penalties"),)

    def __init__(
        self,
        table: Table,
        formulation: Aminifar,
        conditions: Conditions,
        points: Floats,
        m: int,
        capped: tuple[Cap, ...],
    ) -> None:
        super().__init__(table, formulation, conditions, points, m, capped)
        self.metric = formulation.metric
        self.n_classes = m
        self.price = Price("spread", points, np.zeros((table.n, 0), np.int32), np.zeros(0))

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The same problem for some of the records and some of the classes."""
        part = super().restricted(rows, classes)
        part.n_classes, part.price = len(part.least), self.price.take(rows)
        return part

    def distance(self, labels: Labels) -> float:
        """The distance of all records to the means of their classes, plus penalties."""
        order, starts = members(labels)
        means = np.add.reduceat(self.points[order], starts[:-1], axis=0) / np.diff(starts)[:, None]
        gaps = self.points - means[labels]
        if self.metric == "manhattan":
            away = np.abs(gaps).sum(axis=1)
        else:
            away = np.square(gaps).sum(axis=1)
            away = np.sqrt(away) if self.metric == "euclidean" else away
        return fsum(away) + self.penalties(labels)

    def values(self, labels: Labels) -> dict[str, float]:
        """The distance of a partition."""
        return {"distance": self.distance(labels)}
