"""Classes to centres, one to one, at least total cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from optmodels.flow.flow import Flow, sizes_only

# The dense method is cubic, but half as dear as the sparse one up to this many classes.
_DENSE = 5000
# Up to this many numbers (1 GB) the whole matrix is computed once rather than at every pass.
_HELD = 125_000_000

CostRows = Callable[[int, int], NDArray[np.float64]]


def cheapest_matching(rows: CostRows, m: int) -> tuple[NDArray[np.int64], float]:
    """The centre of each of m classes and the total cost; `rows(first, last)` gives rows of the cost matrix.

    >>> costs = np.array([[1.0, 2.0], [1.0, 5.0]])
    >>> centres, total = cheapest_matching(lambda first, last: costs[first:last], 2)
    >>> centres.tolist(), total
    ([1, 0], 3.0)
    """
    if m <= _DENSE:
        costs = rows(0, m)
        _, centres = linear_sum_assignment(costs)
        return centres.astype(np.int64), float(costs[np.arange(m), centres].sum())
    held = rows(0, m) if m * m <= _HELD else None

    def block(chosen: NDArray[np.int64], _: NDArray[np.int64]) -> NDArray[np.float64]:
        # Blocks of all classes are asked for in order; those of some are gathered one by one.
        if held is not None:
            return held[chosen]
        if len(chosen) and chosen[-1] - chosen[0] == len(chosen) - 1:
            return rows(int(chosen[0]), int(chosen[-1]) + 1)
        return np.concatenate([rows(int(c), int(c) + 1) for c in chosen])

    ones = np.ones(m, np.int64)
    flow = Flow(block, np.zeros(m, np.int32), sizes_only(ones, ones))
    flow.finish()
    return flow.home, flow.cost
