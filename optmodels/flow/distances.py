"""Distances from records, or from whole classes, to centres: dense blocks that vectorise over the centres."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Metric = Literal["manhattan", "euclidean", "sqeuclidean"]

# The metrics by the numbers that kernels know them by.
CODES: dict[Metric, int] = {"manhattan": 0, "euclidean": 1, "sqeuclidean": 2}


def distances(points: Floats, columns: Floats, metric: Metric) -> Floats:
    """The distance of every point to every centre; `columns` holds the centres' coordinates, (d, m).

    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 1.0], [4.0, 0.0]]), "euclidean")
    array([[5., 1.]])
    """
    rows = np.arange(len(points))
    found: Floats = _summed(points, columns, CODES[metric], rows, np.arange(len(points) + 1))
    return found


def class_distances(points: Floats, columns: Floats, metric: Metric, order: Ints, starts: Ints) -> Floats:
    """The summed distances of the members of each class to every centre; class c is order[starts[c]:starts[c + 1]].

    >>> both = np.array([0, 1]), np.array([0, 2])
    >>> class_distances(np.array([[0.0], [1.0]]), np.array([[3.0, 5.0]]), "manhattan", *both)
    array([[5., 9.]])
    """
    found: Floats = _summed(points, columns, CODES[metric], order, starts)
    return found


@kernel(nogil=True)
def _summed(points: Floats, columns: Floats, metric: int, order: Ints, starts: Ints) -> Floats:
    n_axes, m = columns.shape
    out = np.zeros((len(starts) - 1, m))
    root = np.empty(m)
    for c in range(len(out)):
        line = out[c]
        for member in order[starts[c] : starts[c + 1]]:
            if metric == 1:
                root[:] = 0.0
            for axis in range(n_axes):
                x = points[member, axis]
                column = columns[axis]
                if metric == 0:
                    for centre in range(m):
                        line[centre] += abs(x - column[centre])
                elif metric == 1:
                    for centre in range(m):
                        root[centre] += (x - column[centre]) * (x - column[centre])
                else:
                    for centre in range(m):
                        line[centre] += (x - column[centre]) * (x - column[centre])
            if metric == 1:
                for centre in range(m):
                    line[centre] += np.sqrt(root[centre])
    return out
