"""Equal records once: what is found for each of them is expanded to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from optmodels.partition import Labels, class_sizes, group_rows

Item = TypeVar("Item", bound=np.generic)


@dataclass(frozen=True)
class Collapsed:
    """Equal records once: `rows` are their first appearances, `counts` how many there are of each."""

    rows: NDArray[np.int64]
    inverse: Labels
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[NDArray[Any]]) -> Self:
        """Records that are equal in these columns, once.

        >>> Collapsed.of([np.array([31, 45, 31])]).counts
        array([2, 1])
        """
        inverse = group_rows(columns)
        counts = class_sizes(inverse)
        rows = np.empty(len(counts), np.int64)
        rows[inverse[::-1]] = np.arange(len(inverse) - 1, -1, -1)  # written last, and so kept: the first appearance
        return cls(rows, inverse, counts)

    def expand(self, values: NDArray[Item]) -> NDArray[Item]:
        """What was found for each distinct record, for every record.

        >>> Collapsed(np.array([0, 2]), np.array([0, 0, 1]), np.array([2, 1])).expand(np.array([7, 9]))
        array([7, 7, 9])
        """
        expanded: NDArray[Item] = values[self.inverse]
        return expanded
