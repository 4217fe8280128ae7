"""Objective values of many decisions at once, by name, from what decoding has counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from optmodels.centroids.kernel import Asked, Partitions
from optmodels.centroids.space import Decoded
from optmodels.objectives import quantity_of
from optmodels.price import Floats
from optmodels.problem import Centroids, Objective, Problem, Scalarised


class Measures:
    """The objectives of a problem over decoded decisions, as costs to be made small.

    What decoding counts anyway is taken from there; any other objective is asked of the problem, one partition
    at a time.
    """

    def __init__(self, problem: Problem, objectives: Sequence[Objective]) -> None:
        assert isinstance(problem, Centroids)
        self.problem = problem
        self.objectives = tuple(objectives)
        linkages = (o.name for o in objectives if o.name.partition("@")[0] == "linkage")
        self._taus = {name: float(quantity_of(name)[1] or 0.0) for name in linkages}
        self.asked = Asked(np.array(list(self._taus.values())), any(o.name == "closeness" for o in objectives))

    def costs(self, decoded: Decoded) -> Floats:
        """(decisions, objectives): values, those to be made large with their sign changed."""
        columns = []
        for objective in self.objectives:
            measure = self._measure(objective.name)
            values = self._judged(objective.name, decoded) if measure is None else measure(decoded.partitions)
            columns.append(values if objective.sense == "min" else -values)
        return np.column_stack(columns)

    def _measure(self, name: str) -> Callable[[Partitions], Floats] | None:
        problem = self.problem
        parts = problem.parts if isinstance(problem, Scalarised) else problem
        scale = float(getattr(parts, "price_scale", 1.0))
        if name in self._taus:
            place = list(self._taus).index(name)
            return lambda found: found.linkable[:, place].astype(np.float64)
        if name == "score" and isinstance(problem, Scalarised):
            return lambda found: np.array(
                [
                    problem.score(price / scale, bits)
                    for price, bits in zip(found.prices, found.entropies.sum(axis=1), strict=True)
                ]
            )
        measures: dict[str, Callable[[Partitions], Floats]] = {
            "loss": lambda found: found.prices / scale,
            "distance": lambda found: found.prices,
            "entropy": lambda found: found.entropies.sum(axis=1),
            "classes": lambda found: found.classes.astype(np.float64),
            "homogeneity": lambda found: found.homogeneous.astype(np.float64),
            "closeness": lambda found: found.closeness,
        }
        return measures.get(name)

    def _judged(self, name: str, decoded: Decoded) -> Floats:
        many = range(len(decoded.partitions.prices))
        return np.array([self.problem.evaluate(decoded.labels(i)).values[name] for i in many])
