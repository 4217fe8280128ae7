"""Rearranging points, and whose they are, around a median: what median cuts and trees of boxes are made with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import copy_into, part

Points = NDArray[np.floating[Any]]
Rows = NDArray[np.int64]


@part
def swap(points: Points, rows: Rows, a: int, b: int) -> None:
    """Exchange two points and their rows."""
    rows[a], rows[b] = rows[b], rows[a]
    for j in range(points.shape[1]):
        points[a, j], points[b, j] = points[b, j], points[a, j]


@part
def select(points: Points, rows: Rows, low: int, high: int, place: int, j: int) -> None:
    """Rearrange points[low:high] so that points[place, j] is what it would be in order of j, with none larger before.

    Hoare's quickselect; should its pivots keep failing, what is left is sorted, so that no order of the input makes it
    quadratic.
    """
    left, right = low, high - 1
    patience = 2 * np.int64(np.log2(high - low + 1)) + 8
    while left < right:
        if patience == 0:
            _sort(points, rows, left, right + 1, j)
            return
        patience -= 1
        # The middle of three against sorted input.
        middle = (left + right) // 2
        if points[middle, j] < points[left, j]:
            swap(points, rows, middle, left)
        if points[right, j] < points[left, j]:
            swap(points, rows, right, left)
        if points[right, j] < points[middle, j]:
            swap(points, rows, right, middle)
        pivot = points[middle, j]
        a, b = left, right
        while a <= b:
            while points[a, j] < pivot:
                a += 1
            while pivot < points[b, j]:
                b -= 1
            if a <= b:
                swap(points, rows, a, b)
                a += 1
                b -= 1
        if place <= b:
            right = b
        elif place >= a:
            left = a
        else:
            return


@part
def _sort(points: Points, rows: Rows, low: int, high: int, j: int) -> None:
    order = np.argsort(points[low:high, j])
    copy_into(rows[low:high], rows[low:high][order])
    for i in range(points.shape[1]):
        copy_into(points[low:high, i], points[low:high, i][order])
