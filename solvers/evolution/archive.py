"""All non-dominated distinct partitions met during a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import moocore
import numpy as np
from numpy.typing import NDArray

from optmodels.partition import Labels, canonical
from optmodels.price import Floats


class Archive:
    """Costs and labels of the partitions that nothing met so far dominates; of equal costs the first is kept.

    >>> archive = Archive(2)
    >>> archive.add(np.array([1.0, 5.0]), lambda: np.array([0, 0, 1, 1]))
    True
    >>> archive.add(np.array([2.0, 6.0]), lambda: np.array([0, 1, 0, 1]))  # dominated
    False
    >>> archive.add(np.array([0.5, 5.0]), lambda: np.array([0, 1, 1, 0])), len(archive)
    (True, 1)
    """

    def __init__(self, n_objectives: int) -> None:
        self.costs: Floats = np.zeros((0, n_objectives))
        self._labels: list[NDArray[np.integer]] = []

    def __len__(self) -> int:
        return len(self._labels)

    def add(self, costs: Floats, labels: Callable[[], Labels]) -> bool:
        """Take a partition in unless it is dominated or equalled; labels are only asked for if it is not."""
        if not np.isfinite(costs).all() or (self.costs <= costs).all(axis=1).any():
            return False
        found = canonical(labels())  # may be interrupted, so it comes before anything changes
        small = np.int16 if found.max() < np.iinfo(np.int16).max else np.int32
        kept = np.flatnonzero(~(costs <= self.costs).all(axis=1))
        self._labels = [*(self._labels[i] for i in kept), found.astype(small)]
        self.costs = np.vstack([self.costs[kept], costs])
        return True

    def labels(self, i: int) -> Labels:
        """The labels of partition i."""
        return self._labels[i].astype(np.int64)

    def partitions(self) -> Iterator[Labels]:
        """The labels of all partitions, by the first objective."""
        for i in np.argsort(self.costs[:, 0], kind="stable"):
            yield self.labels(int(i))

    def held(self) -> Sequence[NDArray[np.integer]]:
        """The labels of all partitions as they are at this moment, for another thread."""
        return self._labels

    def hypervolume(self, reference: Floats) -> float:
        """The volume dominated within a reference point, in costs."""
        return float(moocore.hypervolume(self.costs, ref=reference)) if len(self) else 0.0
