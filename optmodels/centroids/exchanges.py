"""Exchanges of records between classes of bounded sizes, for conditions that no assignment at least cost can hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.halting import Flag, lowered
from optmodels.kernels import kernel, part
from optmodels.partition import Labels
from optmodels.price import Floats
from optmodels.structures import Assignment

Ints = NDArray[np.int64]

_BATCH = 64  # nearest records that are tried first, then twice as many
_KICKS = 30  # exchanges at random, where none helps, before it is given up
_TRIALS = 1 << 62  # as many as it takes
_SAME = 1e-9


class Bounded(NamedTuple):
    """What a class of an assignment must keep beyond the test: its size, and floors and caps on groups of records."""

    least: Ints
    most: Ints
    groups: NDArray[np.int64]  # (n, s): the place of each record's groups in the columns of floors and caps
    floors: Ints  # (classes, groups of all attributes)
    caps: Ints


def bounded(assignment: Assignment) -> Bounded:
    """The bounds of an assignment as arrays for the kernel."""
    m, n = len(assignment.least), len(assignment.points)
    starts = np.cumsum([0, *(caps.shape[1] for caps in assignment.caps)])[:-1]
    return Bounded(
        assignment.least,
        np.minimum(assignment.most, n),
        np.ascontiguousarray(assignment.groups[:, : len(starts)] + starts, np.int64),
        np.hstack([np.zeros((m, 0), np.int64), *assignment.floors]),
        np.hstack([np.zeros((m, 0), np.int64), *assignment.caps]),
    )


def exchanged(
    test: ClassTest,
    bounds: Bounded,
    points: Floats,
    centres: Floats,
    labels: Labels,
    kicks: int = _KICKS,
    trials: int = _TRIALS,
    halt: Flag | None = None,
) -> tuple[Labels, int]:
    """The partition after exchanges of near records between classes, and how many classes still break something.

    An exchange is made where it leaves fewer classes broken, or broken ones closer to the table's mix of values, which
    is what nearly all conditions ask for; of those that do the most for it, the cheapest. Where none helps, up to
    `kicks` are made at random; after so many `trials` of exchanges, or once the flag is raised, it is left as it is.
    """
    found = labels.astype(np.int64)
    flag = lowered() if halt is None else halt
    broken = int(_exchange(test, bounds, points, centres, found, kicks, trials, flag))
    return found, broken


class _State(NamedTuple):
    """A partition under way: its classes' sizes, and their counts of sensitive values and of bounded groups."""

    labels: Ints
    sizes: Ints
    counts: Ints  # (classes, values)
    held: Ints  # (classes, groups)


@kernel(nogil=True)
def _exchange(
    test: ClassTest, bounds: Bounded, points: Floats, centres: Floats, labels: Ints, most: int, trials: int, halt: Flag
) -> int:
    """Exchange in place while that helps; where nothing does, a few times at random."""
    m, n = len(centres), len(labels)
    state = _State(labels, np.zeros(m, np.int64), np.zeros((m, test.starts[-1]), np.int64), np.zeros_like(bounds.caps))
    for i in range(n):
        _count(test, bounds, state, i, labels[i], 1)
    lack = np.array([_lack(test, bounds, state, c) for c in range(m)])
    kicks, luck = 0, 1
    while lack.any() and kicks <= most and trials > 0 and not halt[0]:
        helped = False
        for c in np.flatnonzero(lack):
            if lack[c] > 0.0 and trials > 0 and not halt[0]:
                better, tried = _mend(test, bounds, points, centres, state, lack, int(c))
                helped |= better
                trials -= tried
        if not helped:
            kicks += 1
            luck = luck * 48_271 % 2_147_483_647
            broken, j = np.flatnonzero(lack), luck % n
            c, d = broken[luck % len(broken)], labels[j]
            mine = np.flatnonzero(labels == c)
            if d != c and len(mine):
                _trade(test, bounds, state, mine[luck % len(mine)], j, c, d)
                lack[c], lack[d] = _lack(test, bounds, state, c), _lack(test, bounds, state, d)
    return int((lack > 0.0).sum())


@part
def _mend(
    test: ClassTest, bounds: Bounded, points: Floats, centres: Floats, state: _State, lack: Floats, c: int
) -> tuple[bool, int]:
    """Make the exchange, or the move of one record, that does most for a class and its partner; if one does any.

    Also how many were tried.
    """
    labels, sizes = state.labels, state.sizes
    far = np.array([_far(points, i, centres, c) for i in range(len(labels))])
    order, mine = np.argsort(far), np.append(np.flatnonzero(labels == c), -1)  # -1: nobody
    tried, batch = 0, _BATCH
    while tried < len(labels):
        # what helps by rounding alone would be undone and done again for ever
        most, least, goes, comes, partner = 2 * _SAME, np.inf, -1, -1, -1
        for near in order[tried : tried + batch]:
            d = labels[near]
            for i in mine:
                for j in (near, -1):
                    grows = int(j >= 0) - int(i >= 0)
                    fits = bounds.least[c] <= sizes[c] + grows <= bounds.most[c]
                    if d == c or not fits or not bounds.least[d] <= sizes[d] - grows <= bounds.most[d]:
                        continue
                    _trade(test, bounds, state, i, j, c, d)
                    gain = lack[c] + lack[d] - _lack(test, bounds, state, c) - _lack(test, bounds, state, d)
                    _trade(test, bounds, state, i, j, d, c)
                    extra = 0.0 if i < 0 else _far(points, i, centres, d) - far[i]
                    extra += 0.0 if j < 0 else far[j] - _far(points, j, centres, d)
                    if gain > most + _SAME or (gain > most - _SAME and extra < least):
                        most, least, goes, comes, partner = max(gain, most), extra, i, j, d
        if partner >= 0:
            _trade(test, bounds, state, goes, comes, c, partner)
            lack[c], lack[partner] = _lack(test, bounds, state, c), _lack(test, bounds, state, partner)
            return True, (tried + batch) * len(mine)
        tried += batch
        batch *= 2
    return False, tried * len(mine)


@part
def _trade(test: ClassTest, bounds: Bounded, state: _State, i: int, j: int, c: int, d: int) -> None:
    """Record i goes from class c to class d, and record j the other way; either may be nobody."""
    if i >= 0:
        _count(test, bounds, state, i, c, -1)
        _count(test, bounds, state, i, d, 1)
        state.labels[i] = d
    if j >= 0:
        _count(test, bounds, state, j, d, -1)
        _count(test, bounds, state, j, c, 1)
        state.labels[j] = c


@part
def _count(test: ClassTest, bounds: Bounded, state: _State, i: int, c: int, by: int) -> None:
    state.sizes[c] += by
    for j in range(test.codes.shape[1]):
        state.counts[c, test.codes[i, j]] += by
    for j in range(bounds.groups.shape[1]):
        state.held[c, bounds.groups[i, j]] += by


@part
def _lack(test: ClassTest, bounds: Bounded, state: _State, c: int) -> float:
    """0 for a class that keeps everything, else from 1 for one that mirrors the table to 2 for the most unlike it."""
    size, counts, held = state.sizes[c], state.counts[c], state.held[c]
    if meets(test, counts, size) and (held >= bounds.floors[c]).all() and (held <= bounds.caps[c]).all():
        return 0.0
    unlike = 0.0
    for v in range(len(counts)):
        unlike += abs(counts[v] - size * test.shares[v])
    return float(1.0 + unlike / max(1, 2 * size * (len(test.starts) - 1)))


@part
def _far(points: Floats, i: int, centres: Floats, c: int) -> float:
    far = 0.0
    for j in range(points.shape[1]):
        far += (points[i, j] - centres[c, j]) ** 2
    return far
