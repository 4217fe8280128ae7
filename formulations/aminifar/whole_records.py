"""Sizes of classes, and shares of an average class, in whole records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# alpha * records / classes is meant exactly; a product of floats may fall a hair short of a whole number.
HAIR = 1e-9


class Sizes(NamedTuple):
    """How many records each class takes."""

    least: Ints
    most: Ints


def whole_caps(alpha: float, average: NDArray[np.float64]) -> Ints:
    """How many records of each group a class may hold at most.

    >>> whole_caps(1.4, np.array([5.0, 2.5]))
    array([7, 3])
    """
    return np.floor(alpha * average + HAIR).astype(np.int64)


def whole_floors(floor: float, average: NDArray[np.float64]) -> Ints:
    """How many records of each group a class must hold at least.

    >>> whole_floors(0.9, np.array([5.0, 2.5]))
    array([5, 3])
    """
    return np.ceil(floor * average - HAIR).astype(np.int64)
