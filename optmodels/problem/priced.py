"""Problems whose target is the total price of their classes: the common ground of class-additive models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.objectives import Objective
from optmodels.partition import Labels
from optmodels.price import PlainPrice, Price, geometry, on_lines
from optmodels.problem._problem import Formulation, Problem
from optmodels.structures import Centroids, ClassCount, Parts, Priced, Structure
from optmodels.table import Table


class OwnPrice(Protocol):
    """A price of a model's own, in plain Python: an object of any class that says what a class of records costs."""

    def of(self, rows: NDArray[np.int64], /) -> float:
        """The price of one class, given the numbers of its records."""


class PricedProblem(Problem):
    """A problem whose target is the total price of its classes: the common ground of class-additive models."""

    def __init__(
        self,
        table: Table,
        formulation: Formulation,
        conditions: Conditions,
        price: Price | PlainPrice | OwnPrice | Callable[[NDArray[np.int64]], float],
        *,
        price_scale: float = 1.0,
        n_classes: int | None = None,
    ) -> None:
        super().__init__(table, formulation, conditions)
        self.price: Price | PlainPrice = _known_to_solvers(price, table.n)
        self.price_scale = price_scale
        self.n_classes = n_classes

    objectives: tuple[Objective, ...] = (Objective("loss", "min", "total price of the classes"),)
    stand_in: str | None = None

    def structures(self) -> Iterator[Structure]:
        """A price for each class, and parts whose prices add up."""
        if self.target.sense == "min":
            yield Priced(self.price, self.test, self.price_scale, self.n_classes, self.largest, self.suppression)
        yield self._centroids()
        yield Parts(stand_in=self.stand_in)
        if self.n_classes is not None:
            yield ClassCount(self.n_classes)

    def _centroids(self) -> Centroids:
        """Records lie where a compiled price has them; a spread is then what decoding counts anyway."""
        if isinstance(self.price, PlainPrice):
            return Centroids(geometry(self.table), self.test, self.n_classes)
        if self.price.name == "spread":
            return Centroids(self.price, self.test, self.n_classes, {self.target.name: self.price_scale})
        if self.price.name == "hierarchy":
            return Centroids(on_lines(self.price), self.test, self.n_classes)
        return Centroids(replace(self.price, name="spread"), self.test, self.n_classes)

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The same problem for some of the records, in the whole table's scaling and against its distribution."""
        part = self._copy()
        part.n_classes = self.n_classes if classes is None else len(classes)
        part.table = self.table.take(rows)
        part.price = self.price.take(rows)
        part.test = self.test.take(rows)
        return part

    @property
    def largest(self) -> int | None:
        """2k - 1 where only size matters: splitting a larger class never costs more."""
        if self.n_classes is not None:
            return self.n - self.test.k * (self.n_classes - 1)
        superadditive = isinstance(self.price, Price)  # of a plain price nothing is known
        return 2 * self.test.k - 1 if superadditive and self.test.only_size else None

    def values(self, labels: Labels) -> dict[str, float]:
        """The loss of a partition."""
        return {self.target.name: self.price.total(labels) / self.price_scale}

    def violations(self, labels: Labels) -> dict[str, int]:
        """Broken conditions, and by how much the number of classes is off where it is fixed."""
        broken = super().violations(labels)
        if self.n_classes is not None:
            broken["classes"] = abs(int(labels.max()) + 1 - self.n_classes)
        return broken

    def _of_kept(self, labels: Labels, missing: int) -> tuple[dict[str, float], dict[str, int]]:
        return self._with_left_out(self.values(labels), missing), self.violations(labels)

    def impossible(self) -> str | None:
        """Why no partition can satisfy the conditions and the number of classes, or None."""
        if self.n_classes is not None and self.n_classes * self.test.k > self.n:
            return (
                f"{self.n_classes} classes of at least {self.test.k} records need {self.n_classes * self.test.k} "
                f"records and the table has {self.n}: lower k or the number of classes."
            )
        return super().impossible()


def whole_price(price: Price | PlainPrice) -> float:
    """The price of everyone in one class, as a scale for losses; 1 where there is nothing to lose."""
    return price.of(np.arange(price.n)) or 1.0


def _known_to_solvers(
    price: Price | PlainPrice | OwnPrice | Callable[[NDArray[np.int64]], float], n: int
) -> Price | PlainPrice:
    """The price as solvers know it: a function of records, or an object of a class of one's own, is a plain price."""
    if isinstance(price, Price | PlainPrice):
        return price
    function = getattr(price, "of", price)
    if not callable(function):
        raise InputError(
            f"The price of a class must be a function of the numbers of its records, or an object with a method "
            f"'of' that is one, not {price!r}."
        )
    return PlainPrice(function, n)
