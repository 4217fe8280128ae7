"""Aminifar's model with the centres left open: classes of equal size around their own means."""

from __future__ import annotations

from math import fsum

import numpy as np

from formulations.aminifar.balanced import BalancedProblem
from optmodels.objectives import Objective
from optmodels.partition import Labels, members


class FreeAminifarProblem(BalancedProblem):
    """Balanced classes, each around its own mean: what a record is away from what is released for it.

    >>> import pandas as pd
    >>> from formulations import Aminifar
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 60, 22, 64]}), quasi={"age": "numeric"})
    >>> Aminifar(k=2, centres="free").build(table).evaluate([0, 1, 0, 1]).values
    {'distance': 6.0}
    """

    objectives = (Objective("distance", "min", "distance of records to the means of their classes, plus penalties"),)

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
