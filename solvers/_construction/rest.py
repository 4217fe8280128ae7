"""What a construction leaves: records without a class, few at its end and many when time was over."""

from __future__ import annotations

import numpy as np

from optmodels.conditions import ClassTest
from optmodels.partition import Labels
from optmodels.price import Price
from optmodels.solver import Run
from solvers.mondrian import MedianCuts


def cut_rest(price: Price, test: ClassTest, labels: Labels, run: Run) -> None:
    """Cut the records whose label is negative at medians, in place, as far as conditions allow."""
    rest = np.flatnonzero(labels < 0)
    if not len(rest):
        return
    cuts = MedianCuts(price.take(rest), test.take(rest))
    cuts.make()
    labels[rest] = labels.max(initial=-1) + 1 + cuts.labels()
    if len(rest) >= 2 * test.k:
        run.details["rest"] = f"{len(rest)} records had no class when time was over, and were cut at medians"
