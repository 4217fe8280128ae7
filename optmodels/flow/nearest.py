"""What classes cost where each goes to the centre that is cheapest for it, whoever else is there."""

from __future__ import annotations

import numpy as np

from optmodels.flow.cells import cheapest_centres, classes_of, in_cells, pair_costs
from optmodels.flow.distances import CODES, Floats, Ints, Metric, class_distances
from optmodels.parallel import threads

# Distances of records to centres that are looked at one by one.
_FEW = 2_000_000
# Records of a class from which sums along each axis tell its centre sooner than the mean and cells of centres do.
_LARGE = 1_000
_SHARE = 256  # classes that one thread looks at in one go


def nearest_costs(points: Floats, columns: Floats, metric: Metric, order: Ints, starts: Ints) -> Floats:
    """The least of the summed distances of each class to a centre; classes and centres are as in `class_distances`.

    >>> both = np.array([0, 1, 2]), np.array([0, 2, 3])
    >>> nearest_costs(np.array([[0.0], [1.0], [5.0]]), np.array([[3.0, 5.0]]), "manhattan", *both)
    array([5., 0.])
    """
    n_classes, m = len(starts) - 1, columns.shape[1]
    if len(order) * m <= _FEW:
        return np.asarray(class_distances(points, columns, metric, order, starts).min(axis=1))
    classes, code, found = classes_of(points, order, starts), CODES[metric], np.empty(n_classes)
    # distances that are no sums over axes must be looked at one by one
    large = np.diff(starts) > (_LARGE if metric != "euclidean" else len(order))
    for c in np.flatnonzero(large).tolist():
        nearest = _nearest_of_sums(points[order[starts[c] : starts[c + 1]]], columns, metric)
        found[c] = pair_costs(classes, columns, code, np.array([c]), np.array([nearest]))[0]
    small, cells = np.flatnonzero(~large), in_cells(columns.T)

    def search(first: int) -> None:
        rows = small[first : first + _SHARE]
        targets, costs, reduced = np.empty((len(rows), 1), np.int32), np.empty((len(rows), 1)), np.empty((len(rows), 1))
        below = np.full(len(rows), np.inf)
        cheapest_centres(classes, cells, code, np.zeros(m), rows, below, targets, costs, reduced)
        found[rows] = costs[:, 0]

    with threads() as pool:
        list(pool.map(search, range(0, len(small), _SHARE)))
    return found


def _nearest_of_sums(points: Floats, columns: Floats, metric: Metric) -> int:
    """The centre of least summed distance, where distances are sums over axes."""
    total = np.zeros(columns.shape[1])
    for along, column in zip(points.T, columns, strict=True):
        if metric == "sqeuclidean":
            total += len(along) * (column - along.mean()) ** 2
            continue
        ordered = np.sort(along)
        below = np.append(0.0, np.cumsum(ordered))  # what the first of them add up to
        first = np.searchsorted(ordered, column)
        total += (2 * first - len(along)) * column + below[-1] - 2 * below[first]
    return int(total.argmin())
