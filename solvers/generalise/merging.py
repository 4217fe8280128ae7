"""Classes that give a secret away merged with others, those first that pay least for what they hide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.kernels import kernel
from optmodels.partition import Labels, canonical, class_sizes, members
from optmodels.structures import Levels

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Paths = NDArray[np.int32]

# Classes times classes times sensitive values that are looked at in one round: some seconds.
_MOST_LOOKS = 4_000_000_000


class Merging:
    """A partition that is made coarser, one pair of classes at a time; classes are on their least levels.

    What an attacker gets right is the most frequent value of each class, so merging pays where two classes have
    different ones. `right` is how many records that are, `labels()` the partition as it is now.
    """

    def __init__(self, levels: Levels, labels: Labels) -> None:
        self.start = canonical(labels)
        order, starts = members(self.start)
        self.sizes = class_sizes(self.start)
        self.paths = _paths(levels, order[starts[:-1]])
        self.levels = np.column_stack(
            [_common(nodes[levels.leaves[order, j]], starts) for j, nodes in enumerate(levels.nodes)]
        )
        level_costs = levels.costs()
        self.level_costs = np.zeros(self.paths.shape[1:])
        for j, costs in enumerate(level_costs):
            self.level_costs[j, : len(costs)] = costs
        self.costs = np.sum([costs[self.levels[:, j]] for j, costs in enumerate(level_costs)], axis=0)
        self.counts = _counts(levels.test, self.start, len(self.sizes))
        self.most = self.counts.max(axis=1)
        self.right = int(self.most.sum())
        self.alive = np.ones(len(self.sizes), np.bool_)
        self.into = np.arange(len(self.sizes))

    def labels(self) -> Labels:
        """The partition as it is now."""
        return canonical(self.into[self.start])

    def steps(self) -> Iterator[None]:
        """Merge a pair at each step, until no merging hides anything more."""
        while True:
            touched = np.zeros(len(self.sizes), np.bool_)
            for g, h in self._bargains():
                if not touched[g] and not touched[h]:
                    touched[[g, h]] = True
                    self._merge(g, h)
                    yield
            if not touched.any():
                return

    def _bargains(self) -> list[tuple[int, int]]:
        """Classes whose most frequent value is not the usual one, with their best partners; the best bargain first."""
        living = np.flatnonzero(self.alive)
        usual = int(self.counts.sum(axis=0).argmax())
        seekers = living[self.most[living] > self.counts[living, usual]]
        if len(seekers) * len(living) * self.counts.shape[1] > _MOST_LOOKS:
            return []
        prices, partners = best_partners(
            seekers, living, self.paths, self.levels, self.level_costs, self.costs, self.sizes, self.counts, self.most
        )
        order = np.argsort(prices, kind="stable")
        return [(int(seekers[i]), int(partners[i])) for i in order if partners[i] >= 0]

    def _merge(self, g: int, h: int) -> None:
        self.levels[g] = joined(g, h, self.paths, self.levels)
        self.costs[g] = sum(self.level_costs[j, level] for j, level in enumerate(self.levels[g]))
        self.sizes[g] += self.sizes[h]
        self.counts[g] += self.counts[h]
        most = self.counts[g].max()
        self.right += int(most - self.most[g] - self.most[h])
        self.most[g] = most
        self.alive[h] = False
        self.into[self.into == h] = g


def _paths(levels: Levels, rows: Whole) -> Paths:
    """(rows, quasi, levels) the nodes above a record, those of shorter hierarchies filled up with their root."""
    longest = max(nodes.shape[1] for nodes in levels.nodes)
    paths = np.empty((len(rows), len(levels.nodes), longest), np.int32)
    for j, nodes in enumerate(levels.nodes):
        own = nodes[levels.leaves[rows, j]]
        paths[:, j, : nodes.shape[1]] = own
        paths[:, j, nodes.shape[1] :] = own[:, -1:]
    return paths


def _common(nodes: Paths, starts: Whole) -> Whole:
    """The least level at which each class of consecutive records is one node."""
    first = np.repeat(nodes[starts[:-1]], np.diff(starts), axis=0)
    levels: Whole = np.maximum.reduceat((nodes != first).sum(axis=1), starts[:-1])
    return levels


def _counts(test: ClassTest, labels: Labels, n_classes: int) -> Whole:
    """(classes, values) how many records of each class have each sensitive value."""
    width = int(test.starts[-1])
    places = [np.bincount(labels * width + codes, minlength=n_classes * width) for codes in test.codes.T]
    counts: Whole = np.sum(places, axis=0)
    return counts.reshape(n_classes, width)


@kernel(nogil=True)
def joined(g: int, h: int, paths: Paths, levels: Whole) -> Whole:
    """The least levels on which two classes are equal."""
    lowest = np.empty(paths.shape[1], np.int64)
    for j in range(paths.shape[1]):
        level = max(levels[g, j], levels[h, j])
        while paths[g, j, level] != paths[h, j, level]:
            level += 1
        lowest[j] = level
    return lowest


@kernel(nogil=True)
def best_partners(
    seekers: Whole,
    living: Whole,
    paths: Paths,
    levels: Whole,
    level_costs: Floats,
    costs: Floats,
    sizes: Whole,
    counts: Whole,
    most: Whole,
) -> tuple[Floats, Whole]:
    """For each seeker the class it merges with at the least distortion for each record hidden, and that price."""
    prices = np.full(len(seekers), np.inf)
    partners = np.full(len(seekers), -1, np.int64)
    for i in range(len(seekers)):
        g = seekers[i]
        for h in living:
            if h == g:
                continue
            together = 0
            for value in range(counts.shape[1]):
                together = max(together, counts[g, value] + counts[h, value])
            gain = most[g] + most[h] - together
            if gain <= 0:
                continue
            cost = 0.0
            for j in range(paths.shape[1]):
                level = max(levels[g, j], levels[h, j])
                while paths[g, j, level] != paths[h, j, level]:
                    level += 1
                cost += level_costs[j, level]
            price = ((sizes[g] + sizes[h]) * cost - sizes[g] * costs[g] - sizes[h] * costs[h]) / gain
            if price < prices[i]:
                prices[i], partners[i] = price, h
    return prices, partners
