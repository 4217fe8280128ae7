"""The least conceivable loss of a table, and losses as shares beyond it."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from optmodels.price import Price


def loss_share(loss: float, least: float) -> float:
    """1 - least/loss: 0 for the least conceivable loss, near 1 for one many times as large.

    >>> loss_share(0.5, 0.1)
    0.8
    """
    return 0.0 if loss <= least else 1.0 - least / loss


def nearest_loss(price: Price, k: int) -> float:
    """A bound below the price of every partition into classes of at least k: each record with its k - 1 nearest.

    A class of m costs at least (1/2m) * sum of d_ij over its ordered pairs, d_ij being the squared distance plus the
    weights of the mismatches, and that share of the nearest m - 1 does not fall as m grows.
    """
    # Indicators scaled so that two different values are one weight apart, squared.
    indicators = [
        np.eye(int(codes.max()) + 1)[codes] * np.sqrt(weight / 2)
        for codes, weight in zip(price.codes.T, price.code_weights, strict=True)
    ]
    points = np.hstack([price.numeric, *indicators])
    tree = cKDTree(points, compact_nodes=False, balanced_tree=False)  # the form that bears many equal points
    distances = np.asarray(tree.query(points, k=k)[0])
    return float((distances**2).sum() / (2 * k))
