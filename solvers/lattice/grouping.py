"""Who is equal to whom on given levels: groups of records, counted by hashes of their nodes.

A hash that two different combinations share makes a group look larger than it is, never smaller: levels are never ruled
out by mistake, and what they are said to allow the judge looks at before it counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel
from optmodels.partition import group_rows, members
from optmodels.price import Floats
from optmodels.structures import Lattice

Levels = tuple[int, ...]
Counts = NDArray[np.int64]

_KEPT = 64  # groupings that others are made from
_FEWER = 0.7  # groups, of those of the grouping it was made from, that make one worth keeping


@dataclass(frozen=True, eq=False)
class Grouping:
    """One record of each group of records that are equal on some levels, and how many there are of it."""

    levels: NDArray[np.int64]
    leaves: NDArray[np.int32]  # (attributes, groups)
    counts: Counts


@dataclass(frozen=True)
class Cut:
    """What levels leave in groups that are too small: how many records, and what those cost there."""

    records: int
    costs: float


class Groupings:
    """Records grouped on any levels, each time from the fewest groups that are known on levels below."""

    def __init__(self, lattice: Lattice) -> None:
        self.k = lattice.test.k
        kinds = group_rows(list(lattice.leaves.T))
        order, starts = members(kinds)
        distinct = np.ascontiguousarray(lattice.leaves[order[starts[:-1]]].T)
        self.known = [Grouping(np.zeros(len(lattice.nodes), np.int64), distinct, np.diff(starts))]
        draw = np.random.default_rng(0)
        self.nodes = lattice.nodes
        self.hashes = [draw.integers(0, 2**63, len(costs), np.uint64) for costs in lattice.node_costs]
        self.costs = lattice.node_costs

    def cut(self, levels: Levels) -> Cut:
        """The records in groups of fewer than k on these levels."""
        wanted = np.array(levels)
        base = min((one for one in self.known if (one.levels <= wanted).all()), key=lambda one: len(one.counts))
        keys = np.zeros(len(base.counts), np.uint64)
        costs = np.zeros(len(base.counts))
        for j, level in enumerate(levels):
            nodes = self.nodes[j][:, level][base.leaves[j]]
            keys += self.hashes[j][nodes]
            costs += self.costs[j][nodes]
        first, counts, records, small = count_groups(keys, base.counts, costs, self.k)
        if len(first) < _FEWER * len(base.counts) and len(self.known) < _KEPT:
            self.known.append(Grouping(wanted, np.ascontiguousarray(base.leaves[:, first]), counts))
        return Cut(int(records), float(small))


@kernel
def count_groups(keys: NDArray[np.uint64], weights: Counts, costs: Floats, k: int) -> tuple[Counts, Counts, int, float]:
    """The first of each group and the weight of all of it; the weight, and the cost, of groups that are too light."""
    size = 1
    while size < 2 * len(keys):
        size *= 2
    table = np.full(size, -1, np.int64)
    first = np.empty(len(keys), np.int64)
    total = np.zeros(len(keys), np.int64)
    found = 0
    for i in range(len(keys)):
        place = np.int64(keys[i] & np.uint64(size - 1))
        while table[place] >= 0 and keys[first[table[place]]] != keys[i]:
            place = (place + 1) & (size - 1)
        if table[place] < 0:
            table[place] = found
            first[found] = i
            found += 1
        total[table[place]] += weights[i]
    records, small = 0, 0.0
    for group in range(found):
        if total[group] < k:
            records += total[group]
            small += total[group] * costs[first[group]]
    return first[:found].copy(), total[:found].copy(), records, small
