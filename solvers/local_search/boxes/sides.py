"""What boxes cost: records as whole numbers, and the cost of an attribute from the least and the greatest of them.

Every value of every attribute has a number of its own, in the order of the values or depth first through the tree.
A box knows the two least and the two greatest numbers of its records, so that it is known without any one of them.
What a box is released as is wider than the box: a node, all of whose numbers cost as much. Whoever is to join and is
below the nodes already is seen to be so by two comparisons an attribute, without a climb through any tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part
from optmodels.price import Price

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

LOW, NEXT_LOW, HIGH, NEXT_HIGH = 0, 1, 2, 3  # planes of a box
NONE = np.int32(2**31 - 1)  # the least number of no record at all; its negative is the greatest


class Sides(NamedTuple):
    """How the cost of an attribute follows from the least and the greatest number of a box."""

    plain: int  # attributes of numbers, which come first
    values: Floats  # the number that each whole number stands for
    first: Numbers  # (leaves, levels): the first leaf of the node above each leaf on each level
    last: Numbers  # the last one
    costs: Floats  # what the node costs


class Wholes(NamedTuple):
    """What some boxes are released as: from the first to the last number of each attribute, and what that costs."""

    first: Numbers  # (boxes, attributes)
    last: Numbers
    costs: Floats


def numbered(price: Price) -> tuple[Sides, Numbers]:
    """The sides of a hierarchy price, and its records as whole numbers, attributes through trees from dear to cheap.

    The dearer an attribute, the sooner what is too dear is seen to be so.
    """
    plain = price.numeric.shape[1]
    values, columns, before = [np.zeros(0)], [], 0
    for j in range(plain):
        distinct, ranks = np.unique(price.numeric[:, j], return_inverse=True)
        values.append(distinct)
        columns.append(before + ranks)
        before += len(distinct)
    codes = price.codes[:, _from_dear_to_cheap(price)]
    rows = np.column_stack([*columns, codes]) if columns else codes
    levels = price.climbs.shape[1] // 2
    last = price.climbs[:, :levels].astype(np.int32)
    first = np.empty_like(last)
    for level in range(levels):
        # nodes of a level hold consecutive leaves, and no two of them end with the same one
        first[:, level] = np.searchsorted(last[:, level], last[:, level])
    costs = np.ascontiguousarray(price.climbs[:, levels:])
    sides = Sides(plain, np.concatenate(values), first, last, costs)
    return sides, np.ascontiguousarray(rows, np.int32)


def _from_dear_to_cheap(price: Price) -> NDArray[np.int64]:
    """Attributes through trees by what two records cost on average, each with the one after it."""
    levels = price.climbs.shape[1] // 2
    last, costs = price.climbs[:, :levels], price.climbs[:, levels:]
    means = np.zeros(price.codes.shape[1])
    for j, column in enumerate(price.codes.T):
        low, high = np.sort([column, np.roll(column, 1)], axis=0)
        level = (last[low] < high[:, None]).sum(axis=1)
        means[j] = np.where(low < high, costs[low, level], 0.0).mean()
    return np.argsort(-means, kind="stable")


@part
def new_wholes(boxes: int, attributes: int) -> Wholes:
    """Room for what so many boxes are released as."""
    return Wholes(
        np.empty((boxes, attributes), np.int32),
        np.empty((boxes, attributes), np.int32),
        np.empty((boxes, attributes)),
    )


@part(forceinline=True)
def side(sides: Sides, j: int, low: int, high: int) -> float:
    """The cost of attribute j for each record of a box from low to high."""
    if low >= high:
        return 0.0
    if j < sides.plain:
        return float(sides.values[high] - sides.values[low])
    level = 0
    while sides.last[low, level] < high:
        level += 1
    return float(sides.costs[low, level])


@part(forceinline=True)
def released(sides: Sides, wholes: Wholes, r: int, j: int, low: int, high: int) -> None:
    """Find what box r is released as in attribute j, where it reaches from low to high."""
    if low >= high or j < sides.plain:
        wholes.first[r, j] = low
        wholes.last[r, j] = high
        wholes.costs[r, j] = side(sides, j, low, high)
        return
    level = 0
    while sides.last[low, level] < high:
        level += 1
    wholes.first[r, j] = sides.first[low, level]
    wholes.last[r, j] = sides.last[low, level]
    wholes.costs[r, j] = sides.costs[low, level]


@part(forceinline=True)
def joined(sides: Sides, wholes: Wholes, r: int, rows: Numbers, x: int, cost: float, enough: float = np.inf) -> float:
    """The cost of box r with one more record, which is `cost` without it; infinite once it is `enough` or more."""
    for j in range(rows.shape[1]):
        v = rows[x, j]
        if v < wholes.first[r, j]:
            cost += side(sides, j, v, wholes.last[r, j]) - wholes.costs[r, j]
        elif v > wholes.last[r, j]:
            cost += side(sides, j, wholes.first[r, j], v) - wholes.costs[r, j]
        else:
            continue
        if cost >= enough:
            return np.inf
    return cost


@part
def begun(wholes: Wholes, r: int, rows: Numbers, x: int) -> None:
    """Make box r that of one record, which costs nothing."""
    for j in range(rows.shape[1]):
        wholes.first[r, j] = wholes.last[r, j] = rows[x, j]
        wholes.costs[r, j] = 0.0


@part
def stretched(sides: Sides, wholes: Wholes, r: int, rows: Numbers, x: int) -> float:
    """Take one more record into box r; what it costs then."""
    total = 0.0
    for j in range(rows.shape[1]):
        v = rows[x, j]
        if v < wholes.first[r, j]:
            released(sides, wholes, r, j, v, wholes.last[r, j])
        elif v > wholes.last[r, j]:
            released(sides, wholes, r, j, wholes.first[r, j], v)
        total += wholes.costs[r, j]
    return total


@part
def as_is(sides: Sides, wholes: Wholes, r: int, box: Numbers, c: int) -> float:
    """The cost of box c for each of its records; what it is released as is written down as r."""
    total = 0.0
    for j in range(box.shape[2]):
        released(sides, wholes, r, j, box[c, LOW, j], box[c, HIGH, j])
        total += wholes.costs[r, j]
    return total


@part
def without_row(sides: Sides, wholes: Wholes, r: int, box: Numbers, c: int, rows: Numbers, x: int) -> float:
    """The cost of box c without one of its records; what it is released as then is written down as r."""
    total = 0.0
    for j in range(box.shape[2]):
        v = rows[x, j]
        low = box[c, NEXT_LOW if v <= box[c, LOW, j] else LOW, j]
        high = box[c, NEXT_HIGH if v >= box[c, HIGH, j] else HIGH, j]
        released(sides, wholes, r, j, low, high)
        total += wholes.costs[r, j]
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
