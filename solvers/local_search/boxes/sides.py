"""What boxes cost: records as whole numbers, and the cost of an attribute from the least and the greatest of them.

Every value of every attribute has a number of its own, in the order of the values or depth first through the tree.
A box knows the two least and the two greatest numbers of its records, so that it is known without any one of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part
from optmodels.price import Price, node_cost

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

LOW, NEXT_LOW, HIGH, NEXT_HIGH = 0, 1, 2, 3  # planes of a box
NONE = np.int32(2**31 - 1)  # the least number of no record at all; its negative is the greatest


class Sides(NamedTuple):
    """How the cost of an attribute follows from the least and the greatest number of a box."""

    plain: int  # attributes of numbers, which come first
    values: Floats  # the number that each whole number stands for
    climbs: Floats  # of leaves, see `optmodels.price`


def numbered(price: Price) -> tuple[Sides, Numbers]:
    """The sides of a hierarchy price, and its records as whole numbers."""
    plain = price.numeric.shape[1]
    values, columns, before = [np.zeros(0)], [], 0
    for j in range(plain):
        distinct, ranks = np.unique(price.numeric[:, j], return_inverse=True)
        values.append(distinct)
        columns.append(before + ranks)
        before += len(distinct)
    rows = np.column_stack([*columns, price.codes]) if columns else price.codes
    return Sides(plain, np.concatenate(values), price.climbs), np.ascontiguousarray(rows, np.int32)


@part(forceinline=True)
def side(sides: Sides, j: int, low: int, high: int) -> float:
    """The cost of attribute j for each record of a box from low to high."""
    if low >= high:
        return 0.0
    if j < sides.plain:
        return float(sides.values[high] - sides.values[low])
    return node_cost(sides.climbs, low, high)


@part
def as_is(sides: Sides, box: Numbers, c: int) -> float:
    """The cost of box c for each of its records."""
    total = 0.0
    for j in range(box.shape[2]):
        total += side(sides, j, box[c, LOW, j], box[c, HIGH, j])
    return total


@part
def with_row(sides: Sides, box: Numbers, c: int, rows: Numbers, x: int) -> float:
    """The cost of box c with one more record."""
    total = 0.0
    for j in range(box.shape[2]):
        v = rows[x, j]
        total += side(sides, j, min(box[c, LOW, j], v), max(box[c, HIGH, j], v))
    return total


@part
def without_row(sides: Sides, box: Numbers, c: int, rows: Numbers, x: int) -> float:
    """The cost of box c without one of its records."""
    total = 0.0
    for j in range(box.shape[2]):
        v = rows[x, j]
        low = box[c, NEXT_LOW if v <= box[c, LOW, j] else LOW, j]
        high = box[c, NEXT_HIGH if v >= box[c, HIGH, j] else HIGH, j]
        total += side(sides, j, low, high)
    return total


@part
def traded(sides: Sides, box: Numbers, c: int, rows: Numbers, out: int, into: int) -> float:
    """The cost of box c with one record in the place of another."""
    total = 0.0
    for j in range(box.shape[2]):
        v, w = rows[out, j], rows[into, j]
        low = box[c, NEXT_LOW if v <= box[c, LOW, j] else LOW, j]
        high = box[c, NEXT_HIGH if v >= box[c, HIGH, j] else HIGH, j]
        total += side(sides, j, min(low, w), max(high, w))
    return total


@part
def emptied(box: Numbers, c: int) -> None:
    """Make box c that of no record."""
    for j in range(box.shape[2]):
        box[c, LOW, j] = box[c, NEXT_LOW, j] = NONE
        box[c, HIGH, j] = box[c, NEXT_HIGH, j] = -NONE


@part
def widened(box: Numbers, c: int, rows: Numbers, x: int) -> None:
    """Take one more record into box c."""
    for j in range(box.shape[2]):
        v = rows[x, j]
        if v <= box[c, LOW, j]:
            box[c, NEXT_LOW, j] = box[c, LOW, j]
            box[c, LOW, j] = v
        elif v < box[c, NEXT_LOW, j]:
            box[c, NEXT_LOW, j] = v
        if v >= box[c, HIGH, j]:
            box[c, NEXT_HIGH, j] = box[c, HIGH, j]
            box[c, HIGH, j] = v
        elif v > box[c, NEXT_HIGH, j]:
            box[c, NEXT_HIGH, j] = v
