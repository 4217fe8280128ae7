"""Distances from records to centres as dense blocks, laid out so that the compiler vectorises over centres."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit

from optmodels.flow.paths import Floats

Metric = Literal["manhattan", "euclidean", "sqeuclidean"]


def distances(points: Floats, columns: Floats, metric: Metric) -> Floats:
    """The distance of every point to every centre; `columns` holds the centres' coordinates, (d, m).

    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 1.0], [4.0, 0.0]]), "euclidean")
    array([[5., 1.]])
    """
    out = _distances(points, columns, metric == "manhattan")
    return np.sqrt(out, out=out) if metric == "euclidean" else out


@njit(cache=True, nogil=True)
def _distances(points: Floats, columns: Floats, absolute: bool) -> Floats:
    out = np.zeros((len(points), columns.shape[1]))
    for row in range(len(points)):
        line = out[row]
        for axis in range(len(columns)):
            x = points[row, axis]
            column = columns[axis]
            if absolute:
                for centre in range(len(line)):
                    line[centre] += abs(x - column[centre])
            else:
                for centre in range(len(line)):
                    line[centre] += (x - column[centre]) * (x - column[centre])
    return out
