"""What local search is asked to do next: which member of an archive it starts from, and what for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optmodels.partition import Labels
from solvers.evolution.archive import Archive

_ANY_MEMBER = 0.4  # of the tasks are about a member drawn at random, the others about a wide gap
_LEAPS = 0.7  # of the tasks at most, where leaps are possible
_LEAPING_RECORDS = 100.0  # of more, as many fewer tasks are leaps
_LEAST_SHARE = 0.8  # of a member's levels that a descent is to hold


class Task(NamedTuple):
    """A partition to start from: a descent holds a share of its levels, a leap goes beyond them."""

    labels: Labels
    seed: int
    share: float = 1.0
    classes: int | None = None  # of a leap; None: a descent


def next_task(archive: Archive, draw: np.random.Generator, *, leaps: bool) -> Task:
    """A descent from a member, mostly one above a wide gap, or a leap from below a gap into it."""
    order = np.argsort(archive.costs[:, 0], kind="stable")
    seed = int(draw.integers(1 << 31))
    leap = leaps and draw.random() < min(_LEAPS, _LEAPING_RECORDS / len(archive.labels(0)))
    anywhere = len(order) < 3 or draw.random() < _ANY_MEMBER
    if len(order) == 1 or (anywhere and not leap):
        return Task(archive.labels(int(draw.integers(len(order)))), seed)
    low = int(draw.integers(len(order) - 1)) if anywhere else _gap(archive, order, draw)
    below, above = archive.labels(int(order[low])), archive.labels(int(order[low + 1]))
    if not leap:
        return Task(above, seed, share=float(draw.uniform(_LEAST_SHARE, 1.0)))
    # Everyone together is known from the beginning, so that no leap has one class.
    fewest, most = sorted((int(below.max()) + 1, int(above.max()) + 1))
    return Task(below, seed, classes=int(draw.integers(max(2, fewest - 1), max(2, most) + 2)))


def _gap(archive: Archive, order: np.ndarray, draw: np.random.Generator) -> int:
    """The place of a gap between neighbours by loss, drawn by its area.

    Losses span orders of magnitude, so it is their logarithms that count.
    """
    costs = archive.costs[order]
    losses = np.log(np.maximum(costs[:, 0] - costs[0, 0], 0) + 1e-3 * (np.ptp(costs[:, 0]) + 1e-12))
    others = np.abs(np.diff(costs[:, 1:], axis=0)) / np.maximum(np.ptp(costs[:, 1:], axis=0), 1e-12)
    areas = np.diff(losses) * others.sum(axis=1) + 1e-12
    return int(draw.choice(len(areas), p=areas / areas.sum()))
