"""Every condition from its definition, on counts: how many records of each class have each value.

p is a value's share in a class, q its share in the whole table. Each function tells what the worst class has.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mix:
    """The values of one attribute in every class: entry e says that `count[e]` of class `label[e]` have `value[e]`.

    Entries are sorted by class and then by value; `q` has the shares of all values in the whole table.
    """

    label: Whole
    value: Whole
    count: Whole
    sizes: Whole
    q: Floats

    @classmethod
    def of(cls, labels: Whole, values: Whole, q: Floats) -> Mix:
        """The mix of records with these classes and values, both numbered from 0."""
        keys, count = np.unique(labels * len(q) + values, return_counts=True)
        return cls(keys // len(q), keys % len(q), count, np.bincount(labels), q)

    @property
    def p(self) -> Floats:
        """The share of each entry's value in its class."""
        return self.count / self.sizes[self.label]

    def over_classes(self, of_entries: Floats) -> Floats:
        """The sum over the entries of each class."""
        return np.bincount(self.label, of_entries, len(self.sizes)).astype(np.float64)


def distinct_l(mix: Mix) -> int:
    """Fewest different values."""
    return int(np.bincount(mix.label, minlength=len(mix.sizes)).min())


def entropy_l(mix: Mix) -> float:
    """Least e to the entropy.

    >>> round(entropy_l(Mix.of(np.zeros(4, int), np.array([0, 0, 1, 1]), np.ones(2) / 2)), 9)
    2.0
    """
    return float(np.exp(-mix.over_classes(mix.p * np.log(mix.p)).max()))


def recursive(mix: Mix, c: float, rare: int) -> bool:
    """Whether the most frequent value is rarer than c times the `rare`-th and all rarer ones in every class."""
    order = np.lexsort((-mix.count, mix.label))
    label, count = mix.label[order], mix.count[order]
    first = np.searchsorted(label, np.arange(len(mix.sizes)))
    rank = np.arange(len(label)) - first[label]
    tail = np.bincount(label, np.where(rank >= rare - 1, count, 0), len(mix.sizes))
    return bool((count[first] < c * tail).all())


def largest_share(mix: Mix) -> float:
    """The largest share of a value."""
    return float(mix.p.max())


def beta(mix: Mix, kind: str) -> float:
    """Largest (p - q) / q; where `enhanced`, infinite if it is more than -ln q for some value."""
    gain = mix.p / mix.q[mix.value] - 1.0
    if kind == "enhanced" and (gain > -np.log(mix.q[mix.value]) + 1e-8).any():
        return inf
    return max(0.0, float(gain.max()))


def delta(mix: Mix) -> float:
    """Largest abs(ln(p / q)); infinite where a value of the table is not in a class."""
    present = np.bincount(mix.label, mix.q[mix.value] > 0, len(mix.sizes))
    if (present < np.count_nonzero(mix.q)).any():
        return inf
    return float(np.abs(np.log(mix.p / mix.q[mix.value])).max())


def variational(mix: Mix) -> Floats:
    """The sum of abs(p - q), for each class: what it has no record of adds q."""
    q = mix.q[mix.value]
    return mix.over_classes(np.abs(mix.p - q)) + float(mix.q.sum()) - mix.over_classes(q)


def ordered(mix: Mix) -> Floats:
    """Earth mover's distance where values are places on a line, 1 from end to end, for each class.

    The sums of p and of q up to a place differ by what has to cross it. Between two values of a class the former stand
    still, and the latter pass them once: all places before that one are summed at once, and so are all after it.
    """
    places = len(mix.q)
    if places < 2:
        return np.zeros(len(mix.sizes))
    risen = np.cumsum(mix.q)
    area = np.concatenate([[0.0], np.cumsum(risen)])
    last = np.append(mix.label[1:] != mix.label[:-1], True)
    total = np.cumsum(mix.count)
    before = np.concatenate([[0], total[last]])[mix.label]
    reached = (total - before) / mix.sizes[mix.label]  # the sum of p from this entry's value on
    start, stop = mix.value, np.where(last, places - 1, np.append(mix.value[1:], 0))
    cross = np.clip(np.searchsorted(risen, reached), start, np.maximum(start, stop))
    stop = np.maximum(start, stop)
    across = (
        reached * (cross - start) - (area[cross] - area[start]) + (area[stop] - area[cross]) - reached * (stop - cross)
    )
    first = np.concatenate([[True], last[:-1]])
    return mix.over_classes(across + np.where(first, area[mix.value], 0.0)) / (places - 1)


def hierarchical(mix: Mix, nodes: Whole) -> Floats:
    """Earth mover's distance where values are as far apart as the level on which they meet, 1 at the root.

    `nodes` (values, levels) has the node of each value on each level, its own first and the root last: what a node has
    too much or too little of goes half a level up, and another half a level down elsewhere.
    """
    height = nodes.shape[1] - 1
    distance = np.zeros(len(mix.sizes))
    for level in range(height):
        at = nodes[:, level]
        keys, where = np.unique(mix.label * (at.max() + 1) + at[mix.value], return_inverse=True)
        merged = Mix(
            keys // (at.max() + 1),
            keys % (at.max() + 1),
            np.bincount(where, mix.count).astype(np.int64),
            mix.sizes,
            np.bincount(at, mix.q).astype(np.float64),
        )
        distance += variational(merged) * 0.5 / height
    return distance
