"""Who is left out on some levels: whoever has to be, and where leaving out is cheap, those who cost most there.

A group with too few records, people or distinct values has to go as it is: no part of it has more of them. Other
conditions a group may meet without some of its records, so that what has to be paid is less than what is done here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, broken_classes
from optmodels.partition import Labels, class_sizes, members
from optmodels.price import Floats
from optmodels.structures import Lattice

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LeavingOut:
    """What leaving out adds to the costs of some levels, and whom it is done to.

    Attributes:
        added: by leaving out these records; infinite where more would have to be than may be.
        least: what any way of leaving out adds here, and on all levels below; infinite where there is none.
        records: who is left out.
    """

    added: float
    least: float
    records: NDArray[np.bool_]


def only_counts(test: ClassTest) -> bool:
    """Whether classes are asked for numbers of records, people and distinct values alone."""
    none = not test.entropy.any() and not test.recursive_l.any() and bool(np.isinf(test.t).all())
    return none and not len(test.most_shares)


def leaving(lattice: Lattice, groups: Labels, costs: Floats) -> LeavingOut:
    """Who is left out of groups of equal records, which cost so much each, and what that adds."""
    test, most, price = lattice.test, lattice.most_left_out, lattice.left_out_price
    sizes, (order, starts) = class_sizes(groups), members(groups)
    gains = costs[order[starts[:-1]]] - price  # of leaving out a record of each group
    hopeless = _hopeless(test, groups, sizes)
    nobody = np.zeros(len(groups), np.bool_)
    if most == 0:  # then what is broken here is so on all levels below, since merging mends
        added = inf if broken_classes(test, order, starts).any() else 0.0
        return LeavingOut(added, added, nobody)
    room = most - int(sizes[hopeless].sum())
    if room < 0:
        return LeavingOut(inf, inf, nobody)
    forced = -float(sizes[hopeless] @ gains[hopeless])
    tempting = np.flatnonzero(~hopeless & (gains > 0))
    tempting = tempting[np.argsort(-gains[tempting], kind="stable")]
    least = forced - _most_saved(sizes[tempting], gains[tempting], room)
    broken = hopeless if only_counts(test) else _broken(test, order, starts)
    room = most - int(sizes[broken].sum())
    if room < 0:
        return LeavingOut(inf, least, nobody)
    out = np.where(broken, sizes, 0)
    for group in tempting[~broken[tempting]].tolist():
        some = max(int(sizes[group]) - test.k, 0) if test.only_size else 0
        out[group] = sizes[group] if sizes[group] <= room else min(some, room)
        room -= int(out[group])
    place = np.empty(len(groups), np.int64)
    place[order] = np.arange(len(groups)) - np.repeat(starts[:-1], sizes)
    return LeavingOut(-float(out @ gains), least, np.asarray(place < out[groups]))


def _hopeless(test: ClassTest, groups: Labels, sizes: Counts) -> NDArray[np.bool_]:
    """The groups that no part of can be a class."""
    hopeless = sizes < test.k
    for j in np.flatnonzero(test.distinct_l > 1):
        pairs = np.unique(groups * np.int64(test.starts[-1]) + test.codes[:, j])
        distinct = np.bincount(pairs // test.starts[-1], minlength=len(sizes))
        hopeless |= distinct < test.distinct_l[j]
    return np.asarray(hopeless)


def _broken(test: ClassTest, order: Counts, starts: Counts) -> NDArray[np.bool_]:
    """The groups that are no classes as they are."""
    found = [broken_classes(test, order[low:high], np.array([0, high - low])).any() for low, high in pairwise(starts)]
    return np.array(found, np.bool_)


def _most_saved(sizes: Counts, gains: Floats, room: int) -> float:
    """What so many records save at most, where groups from dear to cheap may be left out in part."""
    before = np.cumsum(sizes) - sizes
    return float(np.clip(room - before, 0, sizes) @ gains)
