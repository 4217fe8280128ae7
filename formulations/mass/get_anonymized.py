"""GetAnonymized, the first module of MASS: classes for one k that mirror the table's mix of sensitive values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from formulations.mass.dealing import DealtStrata, deal
from formulations.mass.floors import Floors, checked_floors
from formulations.mass.mending import mended
from formulations.mass.sensitive_mix import SensitiveMix
from formulations.mass.similar_order import Order, checked_order, similar_order
from optmodels.conditions import ClassTest
from optmodels.errors import InputError, finite, whole
from optmodels.metrics.loss import general_loss_metric
from optmodels.partition import Labels
from optmodels.table import Table


@dataclass(frozen=True, eq=False)
class Anonymized:
    """Classes for one k, with what GetAnonymized records of them."""

    k: int
    labels: Labels
    privacy_loss: float
    loss: float


class GetAnonymized:
    """Strata of equal sensitive values, each in an order of similarity and dealt to n // k classes in proportion.

    `order` is how records are put in line (see `similar_order`), `reach` among how many times as many nearest strata
    as it needs a class looks for values that it lacks: 1 keeps neighbours together, more comes closer to the
    table's mix. `floors` is how much it is worth that every class has its share of every value (see `floors`).

    >>> from optmodels.datasets.synthetic import health_like
    >>> found = GetAnonymized(health_like(1000, l_v=7))(k=4)
    >>> int(np.bincount(found.labels).min()), 0 < found.privacy_loss < 1, 0 < found.loss < 1
    (4, True, True)
    """

    def __init__(
        self,
        table: Table,
        *,
        bins: int = 5,
        order: Order = "auto",
        reach: float = 2.0,
        typical_k: int = 10,
        floors: Floors = "auto",
        mix: SensitiveMix | None = None,
    ) -> None:
        checked_order(order)
        checked_floors(floors)
        finite("reach", reach, "it multiplies the number of strata that a class needs", positive=True)
        self.table = table
        self.mix = SensitiveMix(table, bins) if mix is None else mix
        self.order = order
        self.reach = reach
        self.typical_k = typical_k
        self.floors: Floors = floors

    @cached_property
    def line(self) -> tuple[str, Labels]:
        """The order that was used, and the records in it."""
        return similar_order(self.table, self.order, self.typical_k)

    def restricted(self, rows: NDArray[np.int64]) -> GetAnonymized:
        """The same for some of the records, whose classes are to mirror all of them."""
        return GetAnonymized(
            self.table.part(rows),
            order=self.order,
            reach=self.reach,
            typical_k=self.typical_k,
            floors=self.floors,
            mix=self.mix.restricted(rows),
        )

    def dealt(self, k: int, halted: Callable[[], bool] = lambda: False, test: ClassTest | None = None) -> DealtStrata:
        """Classes of at least k records that mirror the table, and meet the conditions if one class of everybody does.

        Each that was dealt has its share of every stratum, and as far as possible of every value, rounded up or down.
        """
        whole("k", k, 1)
        if k > self.table.n:
            raise InputError(f"k={k} is more than the table's {self.table.n} records: lower k or give more records.")
        shares, strata, codes = np.concatenate(self.mix.shares), self.mix.strata, self.mix.stratum_codes
        found = deal(self.line[1], strata, codes, shares, k, self.reach, halted, self.floors)
        if test is None or test.only_size:
            return found
        return found._replace(labels=mended(found.labels, test, strata, codes, halted))

    def __call__(self, k: int) -> Anonymized:
        """Classes of at least k records, their privacy loss and their information loss."""
        labels = self.dealt(k).labels
        return Anonymized(k, labels, self.mix.of(labels).privacy_loss, general_loss_metric(self.table, labels))
