"""Objective values of many decisions at once, from what decoding has counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from optmodels.centroids.kernel import AlsoMeasured, Partitions
from optmodels.centroids.space import Decoded
from optmodels.conditions import Conditions
from optmodels.objectives import Objective, quantity_of
from optmodels.price import Floats
from optmodels.structures import Centroids, Score, Structure

Kind = TypeVar("Kind", bound=Structure)


class Decodable(Protocol):
    """What decoding asks of a problem: its objectives, what is known of it, and its judgement of a partition."""

    objectives: tuple[Objective, ...]
    conditions: Conditions

    @property
    def n(self) -> int:
        """Number of records."""

    def evaluate(self, labels: Any) -> Any:
        """Values and violations of a partition."""

    def structure(self, kind: type[Kind]) -> Kind | None:
        """What is known of the problem in this regard, or None."""

    def require(self, kind: type[Kind]) -> Kind:
        """What is known of the problem in this regard."""

    def unscored(self) -> Decodable:
        """What a score is made of."""


class Measures:
    """The objectives of a problem over decoded decisions, as costs to be made small.

    What decoding counts anyway is taken from there; any other objective is asked of the judge, one partition at a time.
    """

    def __init__(self, judge: Decodable, objectives: Sequence[Objective]) -> None:
        self.judge = judge
        self.objectives = tuple(objectives)
        known = [quantity_of(o.quantity) for o in objectives if o.quantity is not None]
        self._taus = [float(tau or 0.0) for quantity, tau in known if quantity == "linkage"]
        # decoding measures closeness as t is measured; where that is another distance, the judge is asked
        self._closeness = judge.conditions.usual_distance and any(quantity == "closeness" for quantity, _ in known)
        self.asked = AlsoMeasured(np.array(self._taus), self._closeness)
        self._counted = [self._of_counts(objective) for objective in objectives]
        # Whether the judge is asked about every partition: what a decision costs is then its work.
        self.judged = None in self._counted or not judge.require(Centroids).sufficient

    def costs(self, decoded: Decoded) -> Floats:
        """(decisions, objectives): values, those to be made large with their sign changed.

        A partition that breaks what only the judge knows of lacks a record, so that nothing takes it for feasible.
        """
        values = []
        for i in range(len(decoded.partitions.prices)) if self.judged else ():
            found = self.judge.evaluate(decoded.labels(i))
            values.append(found.values)
            if not found.feasible:
                decoded.partitions.missing[i] = max(1, decoded.partitions.missing[i])
        columns = []
        for objective, counted in zip(self.objectives, self._counted, strict=True):
            if counted is not None:
                column = counted(decoded.partitions)
            else:
                column = np.array([found[objective.name] for found in values], np.float64)
            columns.append(column if objective.sense == "min" else -column)
        return np.column_stack(columns)

    def _of_counts(self, objective: Objective) -> Callable[[Partitions], Floats] | None:
        """How an objective follows from what decoding has counted, or None where it does not."""
        scales = self.judge.require(Centroids).scales
        if objective.name in scales:
            return lambda found: found.prices / scales[objective.name]
        score = self.judge.structure(Score)
        if score is not None and objective == self.judge.objectives[0]:
            return self._score(score)
        if objective.quantity is None:
            return None
        quantity, tau = quantity_of(objective.quantity)
        if quantity == "linkage":
            place = self._taus.index(float(tau or 0.0))
            return lambda found: found.linkable[:, place].astype(np.float64)
        measures: dict[str, Callable[[Partitions], Floats]] = {
            "entropy": lambda found: found.entropies.sum(axis=1),
            "classes": lambda found: found.classes.astype(np.float64),
            "homogeneity": lambda found: found.homogeneous.astype(np.float64),
            "closeness": lambda found: found.closeness,
        }
        return None if quantity == "closeness" and not self._closeness else measures.get(quantity)

    def _score(self, score: Score) -> Callable[[Partitions], Floats] | None:
        parts = self.judge.unscored()
        scale = parts.require(Centroids).scales.get(parts.objectives[0].name)
        if scale is None:
            return None

        def measure(found: Partitions) -> Floats:
            entropies = found.entropies.sum(axis=1)
            pairs = zip(found.prices, entropies, strict=True)
            return np.array([score.of(price / scale, bits) for price, bits in pairs])

        return measure
