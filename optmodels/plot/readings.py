"""What a released cell stands for, as someone would read it who knows the release alone.

A centroid stands for itself. An interval or a set stands for all that it covers, each value as likely as any other, and
a node of a hierarchy for the values below it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from optmodels.partition import canonical, class_sizes, histograms, members
from optmodels.plot.bands import Bands
from optmodels.recoding import Method, recode

if TYPE_CHECKING:
    from optmodels.table import Table

Floats = NDArray[np.float64]


class Recoded:
    """A table with the classes by which it was released, and in which way: what is known to the maker of a release.

    Records with a negative label were left out of the release: `original` has them and `table` does not.
    """

    def __init__(
        self, table: Table, labels: ArrayLike, method: Method, levels: NDArray[np.int64] | None = None
    ) -> None:
        given = np.asarray(labels)
        self.kept: NDArray[np.bool_] = given >= 0
        self.original = table
        self.table = table if self.kept.all() else table.part(np.flatnonzero(self.kept))
        self.labels = canonical(given[self.kept])
        self.method, self.levels = method, levels

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The release in the order of the records of `table`."""
        return recode(self.table, self.labels, self.method, levels=self.levels)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return self.table.quasi

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each class."""
        return class_sizes(self.labels)

    @cached_property
    def _anyone(self) -> NDArray[np.int64]:
        """The number of some record of each class."""
        anyone = np.zeros(len(self.sizes), np.int64)
        anyone[self.labels] = np.arange(len(self.labels))
        return anyone

    def sample(self, classes: int, seed: int = 0) -> Recoded:
        """The records of so many classes, drawn at random; all of them if there are no more."""
        if len(self.sizes) <= classes:
            return self
        chosen = np.sort(np.random.default_rng(seed).choice(len(self.sizes), classes, replace=False))
        rows = np.flatnonzero(np.isin(self.labels, chosen))
        levels = None if self.levels is None else self.levels[chosen]
        return Recoded(self.table.part(rows), self.labels[rows], self.method, levels)

    def way(self, name: str) -> Method:
        """How an attribute was recoded: numbers and ordinals without a hierarchy are released as intervals."""
        plain = self.levels is None and self.table.kinds[name] != "categorical" and name not in self.table.hierarchies
        return "interval" if self.method == "hierarchy" and plain else self.method

    def numbers(self, name: str) -> Floats:
        """What the number or rank of each class is read as: the centroid, or the middle of what is covered."""
        way = self.way(name)
        if way == "centroid":
            released = self.frame[name].take(self._anyone)
            if self.table.kinds[name] == "numeric":
                return released.to_numpy(np.float64)
            return self.table.levels[name].get_indexer(pd.Index(released)).astype(np.float64)
        if way == "interval":
            low, high = self._extent(name)
            return (low + high) / 2
        leaves = self._leaf_numbers(name)
        means, at = np.zeros(len(self.sizes)), self._nodes(name)
        for node, below in self._below(name).items():
            found = leaves[below]
            means[at == node] = np.nanmean(found) if np.isfinite(found).any() else np.nan
        return means

    def spread(self, name: str, bands: Bands) -> Floats:
        """(classes, bands) how many of the records of each class are expected in each band."""
        shares = {"centroid": self._at_centroid, "interval": self._over_extent, "hierarchy": self._over_leaves}
        return shares[self.way(name)](name, bands) * self.sizes[:, None]

    def _at_centroid(self, name: str, bands: Bands) -> Floats:
        return _all_in_one(bands.of(self.frame[name].take(self._anyone)), len(bands))

    def _over_extent(self, name: str, bands: Bands) -> Floats:
        if self.table.kinds[name] == "numeric":
            low, high = self._extent(name)
            if bands.edges is not None and not len(bands.values):
                whole = bool((np.rint(low) == low).all() and (np.rint(high) == high).all())
                return _over_interval(low, high + 1.0 if whole else high, bands)
            present = np.unique(self.table.frame[name].to_numpy(np.float64))
            lowest, highest = np.searchsorted(present, low), np.searchsorted(present, high)
            return _over_run(lowest, highest, bands.of(pd.Index(present)), len(bands))
        known, places = histograms(self.labels, self.table.level_codes(name)), bands.of(self.table.levels[name])
        if self.table.kinds[name] == "ordinal":  # from the lowest to the highest, whatever lies between
            return _over_run(known.values[known.starts[:-1]], known.values[known.starts[1:] - 1], places, len(bands))
        counts = np.zeros((len(self.sizes), len(bands)))
        np.add.at(counts, (np.repeat(np.arange(len(self.sizes)), np.diff(known.starts)), places[known.values]), 1.0)
        return _shares(counts)

    def _over_leaves(self, name: str, bands: Bands) -> Floats:
        leaves, at = self._as_in_the_table(name), self._nodes(name)
        places = bands.of(leaves)
        shares = np.zeros((len(self.sizes), len(bands)))
        for node, below in self._below(name).items():
            counts = np.bincount(places[below], minlength=len(bands))
            shares[at == node] = counts / counts.sum()
        return shares

    def _extent(self, name: str) -> tuple[Floats, Floats]:
        order, starts = members(self.labels)
        values = self.table.values[order, self.table.measured.index(name)]
        return np.minimum.reduceat(values, starts[:-1]), np.maximum.reduceat(values, starts[:-1])

    def _nodes(self, name: str) -> NDArray[np.int32]:
        """The node of the hierarchy by which each class is released."""
        hierarchy, leaves = self.table.hierarchy(name), self.table.leaf_codes(name)
        if self.levels is None:
            levels = hierarchy.common_level(self.labels, leaves)
        else:
            levels = self.levels[:, self.quasi.index(name)]
        nodes: NDArray[np.int32] = hierarchy.nodes[leaves[self._anyone], levels]
        return nodes

    def _below(self, name: str) -> dict[int, NDArray[np.intp]]:
        """The leaves below each node that occurs, those only that the table has."""
        hierarchy = self.table.hierarchy(name)
        occurring = np.unique(self.original.leaf_codes(name))
        return {
            node: occurring[hierarchy.nodes[occurring, hierarchy.node_levels[node]] == node].astype(np.intp)
            for node in np.unique(self._nodes(name)).tolist()
        }

    def _as_in_the_table(self, name: str) -> pd.Series:
        """The leaves of a hierarchy by the table's own values for them, and missing where it has none."""
        column = self.original.frame[name]
        leaves = np.full(len(self.table.hierarchy(name).values), np.nan, dtype=object)
        found, first = np.unique(self.original.leaf_codes(name), return_index=True)
        leaves[found] = column.astype(object).to_numpy()[first]
        return pd.Series(leaves)

    def _leaf_numbers(self, name: str) -> Floats:
        leaves = self._as_in_the_table(name)
        if self.table.kinds[name] == "numeric":
            return pd.to_numeric(leaves, errors="coerce").to_numpy(np.float64)
        ranks = self.table.levels[name].get_indexer(pd.Index(leaves)).astype(np.float64)
        return np.where(ranks < 0, np.nan, ranks)


def _all_in_one(places: NDArray[np.int64], bands: int) -> Floats:
    shares = np.zeros((len(places), bands))
    shares[np.arange(len(places)), places] = 1.0
    return shares


def _over_interval(low: Floats, high: Floats, bands: Bands) -> Floats:
    """The share of each interval that lies between two edges."""
    assert bands.edges is not None
    edges, reach = bands.edges, np.where(high > low, high - low, 1.0)
    with np.errstate(over="ignore"):  # far beyond an end of a tiny interval is as good as at it
        below = np.clip((edges - low[:, None]) / reach[:, None], 0.0, 1.0)
    below[:, 0], below[:, -1] = 0.0, 1.0
    shares = np.diff(below, axis=1)
    point = high <= low
    shares[point] = _all_in_one(bands.of(pd.Index(low[point])), shares.shape[1])[:, : shares.shape[1]]
    return np.pad(shares, ((0, 0), (0, len(bands) - shares.shape[1])))


def _over_run(low: NDArray[np.integer], high: NDArray[np.integer], places: NDArray[np.int64], bands: int) -> Floats:
    """Every known value from the lowest to the highest of a class is as likely as any other of these."""
    below = np.concatenate([np.zeros((1, bands)), np.cumsum(_all_in_one(places, bands), axis=0)])
    return _shares(below[high + 1] - below[low])


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares
