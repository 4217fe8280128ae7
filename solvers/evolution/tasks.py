"""What local search is asked to do next: which member of an archive it starts from, and what for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optmodels.partition import Labels
from optmodels.price import Floats
from solvers.evolution.archive import Archive

_ANY_MEMBER = 0.4  # of the tasks are about a member drawn at random, the others about a wide gap
_LEAPS = 0.7  # of the tasks at most, where leaps are possible
_LEAPING_RECORDS = 100.0  # of more, as many fewer tasks are leaps
_AIMED = 0.7  # of the tasks, where one score is asked for, are about the members that are best by it
_BEST = 3  # of these, about
_AIMED_SHARE = 0.97  # of their levels, at least, are kept
_PATIENCE = 60  # times as many rounds as for any member
_LEAST_SHARE = 0.8  # of a member's levels that a descent is to hold


class Task(NamedTuple):
    """A partition to start from: a descent holds a share of its levels, a leap goes beyond them."""

    labels: Labels
    seed: int
    share: float = 1.0
    classes: int | None = None  # of a leap; None: a descent
    patience: int = 1  # times as many rounds of a descent as usual


def next_task(archive: Archive, draw: np.random.Generator, *, leaps: bool, scores: Floats | None = None) -> Task:
    """A descent from a member, mostly one above a wide gap, or a leap from below a gap into it.

    With scores of the members most tasks are about those of the least: descents that keep nearly all of what they have,
    and leaps to about as many classes.
    """
    if scores is not None and draw.random() < _AIMED:
        return _aimed(archive, draw, scores, leaps=leaps)
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


def _aimed(archive: Archive, draw: np.random.Generator, scores: Floats, *, leaps: bool) -> Task:
    place = min(int(draw.exponential(_BEST)), len(scores) - 1)
    labels = archive.labels(int(np.argsort(scores, kind="stable")[place]))
    seed = int(draw.integers(1 << 31))
    if leaps and draw.random() < 0.5:
        return Task(labels, seed, classes=max(2, int(labels.max()) + 1 + int(draw.integers(-1, 2))))
    return Task(labels, seed, share=float(draw.uniform(_AIMED_SHARE, 1.0)), patience=_PATIENCE)


def _gap(archive: Archive, order: np.ndarray, draw: np.random.Generator) -> int:
    """The place of a gap between neighbours by loss, drawn by its area.

    Losses span orders of magnitude, so it is their logarithms that count.
    """
    costs = archive.costs[order]
    losses = np.log(np.maximum(costs[:, 0] - costs[0, 0], 0) + 1e-3 * (np.ptp(costs[:, 0]) + 1e-12))
    others = np.abs(np.diff(costs[:, 1:], axis=0)) / np.maximum(np.ptp(costs[:, 1:], axis=0), 1e-12)
    areas = np.diff(losses) * others.sum(axis=1) + 1e-12
    return int(draw.choice(len(areas), p=areas / areas.sum()))
