"""What Aminifar's problems have in common, wherever their centres lie: sizes, caps, and what breaks them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from formulations.aminifar.capped import Cap, cannot_hold
from formulations.aminifar.caps_together import Sizes
from optmodels.conditions import Conditions
from optmodels.objectives import Objective
from optmodels.partition import Labels, class_sizes
from optmodels.price import Price
from optmodels.problem import Problem
from optmodels.structures import Assignment, Centroids, ClassCount, Parts, Structure
from optmodels.table import Table

if TYPE_CHECKING:
    from formulations.aminifar._aminifar import Aminifar

Floats = NDArray[np.float64]


class BalancedProblem(Problem):
    """A given number of classes with bounds on their sizes and caps on what they hold of a sensitive value."""

    objectives = (Objective("distance", "min", "distance of records to their centres, plus penalties"),)
    stand_in: str | None = None
    centres: Floats | None = None

    def __init__(
        self,
        table: Table,
        formulation: Aminifar,
        conditions: Conditions,
        points: Floats,
        m: int,
        capped: tuple[Cap, ...],
    ) -> None:
        super().__init__(table, formulation, conditions)
        n = table.n
        self.model = formulation
        self.points, self.capped = points, capped
        exact = formulation.sizes == "exact"
        self.least = np.full(m, n // m if exact else conditions.k, np.int64)
        self.most = np.full(m, ceil(n / m) if exact else n, np.int64)
        self.groups = np.column_stack([np.zeros((n, 0), np.int32), *(cap.groups for cap in capped)]).astype(np.int32)
        self.caps = tuple(np.tile(np.minimum(cap.most, self.most[0]), (m, 1)) for cap in capped)
        self.thresholds = tuple(np.tile(cap.threshold, (m, 1)) for cap in capped)
        self.slopes = tuple(np.tile(cap.slope, (m, 1)) for cap in capped)

    def structures(self) -> Iterator[Structure]:
        """Records assigned to centres, given or not, as many as there are classes."""
        m = len(self.least)
        price = Price("spread", self.points, np.zeros((self.n, 0), np.int32), np.zeros(0))
        yield self.assignment()
        yield ClassCount(m)
        yield Centroids(price, self.test, m, {"distance": 1.0})  # what decoding to the assignment's bounds measures
        yield Parts(self.restricted, self.stand_in)

    def assignment(self) -> Assignment:
        """The bounds of the classes, and what a partition's distance is."""
        return Assignment(
            least=self.least,
            most=self.most,
            groups=self.groups,
            caps=self.caps,
            thresholds=self.thresholds,
            slopes=self.slopes,
            points=self.points,
            metric=self.model.metric,
            distance=lambda labels: self.values(labels)["distance"],
            centres=self.centres,
        )

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The same problem for some of the records and some of the classes, with the sizes and caps of the whole."""
        chosen = np.arange(len(self.least)) if classes is None else classes
        part = copy(self)
        vars(part).pop("_cannot_hold", None)  # what was found out of the whole
        part.table, part.test = self.table.take(rows), self.test.take(rows)
        part.points, part.groups = self.points[rows], self.groups[rows]
        part.capped = tuple(cap.restricted(rows) for cap in self.capped)
        part.least, part.most = self.least[chosen], self.most[chosen]
        part.caps, part.thresholds, part.slopes = (
            tuple(of_attribute[chosen] for of_attribute in bounds)
            for bounds in (self.caps, self.thresholds, self.slopes)
        )
        return part

    def penalties(self, labels: Labels) -> float:
        """What classes pay for holding more of a value than a soft cap allows."""
        return sum(cap.penalties(labels) for cap in self.capped)

    def violations(self, labels: Labels) -> dict[str, int]:
        """Classes too many or too few, of a wrong size, or above a hard cap."""
        sizes = class_sizes(labels)
        over = np.zeros(len(sizes), bool)
        for cap in self.capped:
            over |= cap.exceeded(labels)
        wrong = (sizes < self.least[0]) | (sizes > self.most[0])
        return {
            **super().violations(labels),
            "classes": abs(len(sizes) - len(self.least)),
            "sizes": int(wrong.sum()),
            "cap": int(over.sum()),
        }

    def impossible(self) -> str | None:
        """An alpha too small to hold all records of a value, with the smallest that works.

        Nothing else can be in the way of one or two capped attributes; more of them may be in each other's.
        """
        return super().impossible() or (None if self.model.soft else self._cannot_hold)

    @cached_property
    def _cannot_hold(self) -> str | None:
        return cannot_hold(self.capped, Sizes(self.least, self.most), self.model.alpha or 0.0)
