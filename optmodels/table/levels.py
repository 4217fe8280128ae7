"""The values of a column in the order of their codes, and how often each occurs; those of two tables merge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.table.encoding import Codes, places_in_order, sorted_levels

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class ColumnLevels:
    """The values of a column in the order of their codes, and how often each occurs."""

    values: pd.Index
    counts: Counts
    given: tuple[object, ...] | None  # the order that was given for them, if any

    def __post_init__(self) -> None:
        # pandas finds this out when first asked, and two threads that ask at once may be told that it is not so
        assert self.values.is_unique, "a level is there twice"

    def merged(self, other: ColumnLevels, name: str) -> ColumnLevels:
        """The values of both, in the order of both.

        >>> one, other = (ColumnLevels(pd.Index(names), np.array([1, 2]), None) for names in (["a", "c"], ["b", "c"]))
        >>> both = one.merged(other, "town")
        >>> both.values.tolist(), both.counts.tolist()
        (['a', 'b', 'c'], [1, 1, 4])
        """
        if self.given is not None:
            # a value that a piece lacks is spelled as in the order given, where others know it as a number
            spelled = [
                theirs if str(mine) == str(asked) and mine == asked else mine
                for mine, theirs, asked in zip(self.values, other.values, self.given, strict=True)
            ]
            return ColumnLevels(pd.Index(spelled), self.counts + other.counts, self.given)
        together = self.values.append(other.values)
        codes, values = sorted_levels(pd.Series(together), name)
        counts = np.bincount(codes, weights=np.concatenate([self.counts, other.counts]), minlength=len(values))
        return ColumnLevels(values, counts.astype(np.int64), None)

    def places(self, values: pd.Index) -> Codes:
        """The code of each of some values that are among these."""
        found = places_in_order(self.values, values)[0] if self.given else self.values.get_indexer(values)
        return np.asarray(found, np.int32)
