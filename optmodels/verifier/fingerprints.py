"""A fingerprint of a table's cells that knows no order of rows or columns, so that parts of a table can be added up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from optmodels.verifier.cells import Cells, rows_of

_LANES = 2
_MASK = (1 << 64) - 1


def fingerprint(columns: Mapping[str, Cells]) -> str:
    """128 bits in which every cell counts, with its column and with all other cells of its row, and every row.

    Cells are hashed by SHA-256. Rows are sums of cells, stirred, and the table is their sum: whoever wants to can make
    another table of the same fingerprint, but no accident will.

    >>> import pandas as pd
    >>> one = {"a": Cells.of(pd.Series([1, 2])), "b": Cells.of(pd.Series(["x", "y"]))}
    >>> turned = {"b": Cells.of(pd.Series(["y", "x"])), "a": Cells.of(pd.Series([2, 1]))}
    >>> mixed = {"a": Cells.of(pd.Series([1, 2])), "b": Cells.of(pd.Series(["y", "x"]))}
    >>> fingerprint(one) == fingerprint(turned), fingerprint(one) == fingerprint(mixed)
    (True, False)
    """
    rows = np.zeros((rows_of(columns), _LANES), np.uint64)
    for name, cells in columns.items():
        rows += _hashed(name, cells.texts)[cells.codes]
    return _written(_stirred(rows).sum(axis=0, dtype=np.uint64).tolist())


def total(parts: Iterable[str]) -> str:
    """The fingerprint of a table from those of its parts."""
    lanes = [0] * _LANES
    for part in parts:
        lanes = [(lane + int(part[16 * at : 16 * at + 16], 16)) & _MASK for at, lane in enumerate(lanes)]
    return _written(lanes)


def _hashed(column: str, texts: list[str]) -> NDArray[np.uint64]:
    start = hashlib.sha256(f"{len(column)} {column} ".encode("utf-8", "surrogatepass"))
    digests = bytearray()
    for text in texts:
        one = start.copy()
        one.update(text.encode("utf-8", "surrogatepass"))
        digests += one.digest()[: 8 * _LANES]
    return np.frombuffer(bytes(digests), "<u8").reshape(-1, _LANES)


def _stirred(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of a word spread over all of it (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _written(lanes: list[int]) -> str:
    return "".join(f"{lane:016x}" for lane in lanes)
