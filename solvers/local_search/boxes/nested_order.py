"""Records in an order in which those below the same high nodes stand together, and among them those below lower ones.

Sorting by one attribute after the other puts first what the first attributes say, to the last leaf. Here the highest
nodes of all attributes come first, then the next ones: neighbours in the order agree roughly in all attributes before
they agree exactly in any. It takes a few sorts, so that it does where there is no time for anything else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HALVINGS = 6  # of the ranks of a number without a hierarchy, the coarsest first


def nested_order(
    points: Floats, plain: int, climbs: Floats, enough: int, generator: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """The places of points in that order, of which the first `plain` columns are numbers and the others leaves.

    Groups are told apart until there are `enough` of them. On each level attributes of few nodes come first, or with a
    generator in any order.

    >>> climbs = np.array([[1.0, 3.0, 1 / 3, 1.0]] * 2 + [[3.0, 3.0, 1 / 3, 1.0]] * 2)  # two nodes of two leaves each
    >>> nested_order(np.array([[3.0], [0.0], [2.0], [1.0]]), 0, climbs, 4)
    array([1, 3, 2, 0])
    """
    groups = np.zeros(len(points), np.int64)
    for level in _levels(points, plain, climbs):
        many = [int(nodes.max(initial=-1)) + 1 for nodes in level]
        for j in np.argsort(many, kind="stable") if generator is None else generator.permutation(len(level)):
            if many[j] > 1:
                groups = np.unique(groups * many[j] + level[j], return_inverse=True)[1]
                if groups.max() + 1 >= enough:
                    return np.argsort(groups, kind="stable")
    return np.argsort(groups, kind="stable")


def _levels(points: Floats, plain: int, climbs: Floats) -> Iterator[list[NDArray[np.int64]]]:
    """The nodes of all attributes, numbered from 0, level by level from below the root to the leaves."""
    leaves = [points[:, j].astype(np.int64) for j in range(plain, points.shape[1])]
    ranks = [np.unique(points[:, j], return_inverse=True)[1] for j in range(plain)]
    height = max(climbs.shape[1] // 2, 1) if leaves else HALVINGS
    for level in range(height - 2, -2, -1):
        # the last leaf of a node stands for the node
        nodes = [climbs[leaf, level].astype(np.int64) if level >= 0 else leaf for leaf in leaves]
        halves = max(height - 1 - level, HALVINGS if level < 0 else 0)
        nodes += [rank * (1 << min(halves, 20)) // max(int(rank.max(initial=0)) + 1, 1) for rank in ranks]
        yield [np.unique(column, return_inverse=True)[1] for column in nodes]
