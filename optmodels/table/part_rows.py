"""Which records of a table a part is to have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optmodels.errors import InputError


def rows_of_part(rows: ArrayLike, n: int) -> NDArray[np.integer[Any]]:
    """The numbers of records that are named by number or by mask, of a table of n.

    >>> rows_of_part([True, False, True], 3)
    array([0, 2])
    """
    chosen = np.asarray(rows)
    if chosen.dtype == bool:
        if chosen.shape != (n,):
            raise InputError(f"A mask of {chosen.size} records was given for a table of {n}.")
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
        raise InputError("Name the records of a part by their numbers or by a mask, and at least one of them.")
    strangers = chosen[(chosen < 0) | (chosen >= n)]
    if strangers.size:
        raise InputError(f"The table has records 0 to {n - 1}, not {strangers[0]}.")
    return chosen
