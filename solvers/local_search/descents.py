"""Which search is made for which problem: by boxes where these tell all there is to know, by statistics otherwise."""

from __future__ import annotations

from optmodels.conditions import ClassTest
from optmodels.halting import Flag
from optmodels.partition import Labels
from optmodels.price import Price
from optmodels.suppression import NOBODY, Suppression
from solvers.local_search import boxes
from solvers.local_search.descent import WORKERS, Descent
from solvers.local_search.improving import Improving


def descent_for(
    price: Price,
    test: ClassTest,
    labels: Labels,
    *,
    n_classes: int | None,
    seed: int,
    workers: int = WORKERS,
    suppression: Suppression = NOBODY,
    halt: Flag | None = None,
) -> Improving:
    """A partition to be improved, by the search that is quickest at it; that by boxes leaves out records as well."""
    if boxes.takes(price, test, n_classes):
        return boxes.BoxDescent(price, test, labels, seed=seed, workers=workers, suppression=suppression, halt=halt)
    return Descent(price, test, labels, fixed=n_classes is not None, seed=seed, workers=workers)
