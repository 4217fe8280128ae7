"""Short lists of what is least or nearest so far, kept in ascending order by compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part

Floats = NDArray[np.float64]
Kept = NDArray[np.int64] | NDArray[np.int32]  # long lists are kept narrow


@part
def keep_least(least: Floats, value: float) -> None:
    """Keep the smallest values seen, in ascending order; the list begins with infinities."""
    place = len(least) - 1
    if value >= least[place]:
        return
    while place > 0 and least[place - 1] > value:
        least[place] = least[place - 1]
        place -= 1
    least[place] = value


@part
def keep_nearest(kept: Kept, distances: Floats, last: int, candidate: int, distance: float) -> None:
    """Put a candidate where it belongs among the nearest, from place `last` downwards; what stood there is gone."""
    while last > 0 and distances[last - 1] > distance:
        kept[last] = kept[last - 1]
        distances[last] = distances[last - 1]
        last -= 1
    kept[last] = candidate
    distances[last] = distance
