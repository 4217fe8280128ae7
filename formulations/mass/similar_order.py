"""Records in one line, people with similar quasi-identifiers close to each other.

- `snake`: by one attribute after the other, those of fewest values first, to and fro: where the values before change by
  one step, those after them run backwards. Best for attributes of few values.
- `hilbert`: along a Hilbert curve through all attributes at once. Best for several attributes of many values.
- `cosine`: by the cosine similarity to the table's average record, as in Majeed and Hwang; far behind in loss.
- `auto`: `snake` or `hilbert`, whichever loses less in classes of neighbours.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import unknown
from optmodels.kernels import kernel
from optmodels.parallel import threads
from optmodels.price import extent
from optmodels.table import Table

Order = Literal["auto", "snake", "hilbert", "cosine"]
Rows = NDArray[np.int64]
Keys = NDArray[np.int64]
Places = NDArray[np.int32]  # (n, attributes): where each record is on a grid

_GRID = 1024  # places of a number between its extremes
_BITS = 62  # of a key
_CLASSES_TRIED = 4096


def checked_order(order: str) -> None:
    """Nothing if there is such an order."""
    if order not in get_args(Order):
        raise unknown("order of similar records", str(order), get_args(Order))


def similar_order(table: Table, order: Order = "auto", class_size: int = 10) -> tuple[str, Rows]:
    """The order that was used, and the records in it; `class_size` is what `auto` tries classes of.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 70, 31, 72], "sex": ["m", "f", "f", "f"]})
    >>> similar_order(Table(people, quasi={"age": "numeric", "sex": "categorical"}), "snake")
    ('snake', array([2, 1, 3, 0]))
    """
    checked_order(order)
    grid = _grid(table)
    if order != "auto":
        return order, _sorted(table, grid, order)
    names = ("snake", "hilbert")
    with threads() as pool:
        found = dict(zip(names, pool.map(lambda name: _sorted(table, grid, name), names), strict=True))
    losses = {name: _loss_of_neighbours(table, rows, class_size) for name, rows in found.items()}
    best = min(losses, key=losses.__getitem__)
    return best, found[best]


def _grid(table: Table) -> Places:
    """Every attribute as whole numbers from 0: codes of categories, places of numbers and ranks on a grid."""
    places = np.empty((table.n, len(table.quasi)), np.int32)
    for j, column in enumerate([*table.values.T, *table.codes.T]):
        low, span = float(column.min()), float(np.ptp(column))
        is_number = j < len(table.measured)
        scale = (_GRID - 1) / span if is_number and span > 0 else 1.0
        np.rint((column - low) * scale, out=places[:, j], casting="unsafe")
    return places


def _sorted(table: Table, grid: Places, order: str) -> Rows:
    match order:
        case "snake":
            return _by_key(_snake_keys(*_few_values_first(grid)))
        case "hilbert":
            return _by_key(_hilbert_keys(grid, np.asarray(grid.max(axis=0, initial=1), np.int64)))
    points = grid / np.maximum(grid.max(axis=0, initial=1), 1)
    centre = points.mean(axis=0)
    lengths = np.linalg.norm(points, axis=1)
    similarity = points @ centre / np.where(lengths > 0, lengths, 1.0)
    return np.argsort(-similarity, kind="stable").astype(np.int64)


def _by_key(keys: Keys) -> Rows:
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)


def _few_values_first(grid: Places) -> tuple[Places, NDArray[np.int64]]:
    """The attributes with values numbered without gaps, those of fewest values first, and how many each has.

    Where keys would not fit into a whole number, the attributes of most values are made coarser.
    """
    ranked = np.empty_like(grid)
    sizes = np.empty(grid.shape[1], np.int64)
    for j, column in enumerate(grid.T):
        present = np.bincount(column) > 0
        sizes[j] = present.sum()
        ranked[:, j] = (np.cumsum(present) - 1)[column]
    while np.log2(sizes).sum() > _BITS:
        widest = int(np.argmax(sizes))
        ranked[:, widest] //= 2
        sizes[widest] = -(-sizes[widest] // 2)
    order = np.argsort(sizes, kind="stable")
    return np.ascontiguousarray(ranked[:, order]), sizes[order]


def _loss_of_neighbours(table: Table, rows: Rows, size: int) -> float:
    """What classes of so many neighbours lose, from some of them spread over the order."""
    price = extent(table)
    starts = np.unique(np.linspace(0, max(table.n - size, 0), _CLASSES_TRIED).astype(np.int64))
    return float(sum(price.of(rows[start : start + size]) for start in starts))


@kernel(nogil=True)
def _snake_keys(places: Places, sizes: NDArray[np.int64]) -> Keys:
    """The number of each record's cell when cells are walked to and fro: a reflected mixed-radix code."""
    keys = np.empty(places.shape[0], np.int64)
    for i in range(places.shape[0]):
        key = np.int64(0)
        for j in range(places.shape[1]):
            digit = np.int64(places[i, j])
            if key & 1:
                digit = sizes[j] - 1 - digit
            key = key * sizes[j] + digit
        keys[i] = key
    return keys


@kernel(nogil=True)
def _hilbert_keys(places: Places, most: NDArray[np.int64]) -> Keys:
    """The place of each record along a Hilbert curve (Skilling's transposed form, 2004)."""
    d = min(places.shape[1], _BITS)
    bits = max(1, min(16, _BITS // d))
    top = np.int64(1) << (bits - 1)
    keys = np.empty(places.shape[0], np.int64)
    x = np.empty(d, np.int64)
    for i in range(places.shape[0]):
        for j in range(d):
            x[j] = places[i, j] * (2 * top - 1) // most[j]
        q = top
        while q > 1:
            for j in range(d):
                if x[j] & q:
                    x[0] ^= q - 1
                else:
                    t = (x[0] ^ x[j]) & (q - 1)
                    x[0] ^= t
                    x[j] ^= t
            q >>= 1
        for j in range(1, d):
            x[j] ^= x[j - 1]
        t, q = np.int64(0), top
        while q > 1:
            if x[d - 1] & q:
                t ^= q - 1
            q >>= 1
        key = np.int64(0)
        for b in range(bits - 1, -1, -1):
            for j in range(d):
                key = (key << 1) | (((x[j] ^ t) >> b) & 1)
        keys[i] = key
    return keys
