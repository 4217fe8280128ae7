"""Who is left out of all classes while these are searched for: how many may be, and what is asked for it.

Where more would like to be left out than may be, each is asked for more than leaving out costs, so much that the places
nearly suffice: then those are left out for whom it saves most, wherever they are.
"""

from __future__ import annotations

import numpy as np

from optmodels.partition import LEFT_OUT, Labels, canonical, class_sizes
from optmodels.price import Floats
from optmodels.suppression import left_out

FULL = 0.98  # of the places: from here on more is asked for
EMPTY = 0.9  # of the places: from here on less is
STEP = 1.05


class Leaving:
    """At most so many records at a price each; `asked` is what a search is to count for each of them."""

    def __init__(self, most: int, price: float) -> None:
        self.most, self.price = most, price
        self.asked = price

    def ask(self, labels: Labels, total: float) -> None:
        """Ask for more where hardly a place is left, for less where there are many."""
        taken = left_out(labels)
        if taken > FULL * self.most:
            self.asked = max(self.asked * STEP, (STEP - 1) * total / len(labels))
        elif taken < EMPTY * self.most:
            self.asked = max(self.price, self.asked / STEP)

    def dearest_classes(self, labels: Labels, prices: Floats) -> Labels:
        """The partition without the classes that are dearest for each record, where that pays; one class stays."""
        sizes = class_sizes(labels)
        each = prices / sizes
        order = np.argsort(-each, kind="stable")
        fitting = np.cumsum(sizes[order]) <= self.most
        gone = order[fitting & (each[order] > self.price)]
        if len(gone) and not fitting.all():
            self.asked = max(self.price, float(each[gone].min()))
        result = labels.copy()
        result[np.isin(labels, gone)] = LEFT_OUT
        return canonical(result)

    def alone(self, labels: Labels, prices: Floats) -> tuple[Labels, Floats]:
        """Those left out as classes of one record, at what is asked for them."""
        outside = np.flatnonzero(labels == LEFT_OUT)
        result = labels.copy()
        result[outside] = len(prices) + np.arange(len(outside))
        return result, np.concatenate([prices, np.full(len(outside), self.asked)])

    def together(self, labels: Labels, prices: Floats) -> tuple[Labels, Floats]:
        """Classes of one record as records left out; the prices are those of the other classes."""
        single = class_sizes(labels) == 1
        return np.where(single[labels], LEFT_OUT, labels), prices[~single]
