"""Classes with size bounds and caps as the bounds of a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optmodels.flow.flow import sizes_only
from optmodels.flow.paths import Bounds

if TYPE_CHECKING:
    from optmodels.problem import BoundedClasses


def network_of(problem: BoundedClasses, n: int) -> tuple[NDArray[np.int32], Bounds]:
    """The group of each of n records and the bounds of each class; at most one attribute may be capped."""
    most = np.minimum(problem.most, n)
    if not problem.caps:
        return np.zeros(n, np.int32), sizes_only(problem.least, most)
    caps = np.minimum(problem.caps[0], most[:, None])
    bounds = Bounds(problem.least, most, caps, problem.thresholds[0], problem.slopes[0])
    return np.ascontiguousarray(problem.groups[:, 0]), bounds
