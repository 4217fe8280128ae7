"""The greatest dual below every node of a tree of boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part
from solvers._construction.box_tree import BoxTree

Floats = NDArray[np.float64]


@part
def tops_of(tree: BoxTree, duals: Floats) -> Floats:
    """The greatest dual below every node."""
    leaves = len(tree.bounds) - 1
    tops = np.full(2 * leaves, -np.inf)
    for leaf in range(leaves):
        for t in range(tree.bounds[leaf], tree.bounds[leaf + 1]):
            tops[leaves + leaf] = max(tops[leaves + leaf], duals[t])
    for node in range(leaves - 1, 0, -1):
        tops[node] = max(tops[2 * node], tops[2 * node + 1])
    return tops
