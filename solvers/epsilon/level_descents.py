"""Better partitions for levels of entropy: local search under one way after another to share a level out.

A level E is met by classes whose entropies are at least e1 and at least e2 with e1 + e2 = E. The ways tried are those
of the best partition known, and others near it; the search starts from the best partition found that meets them.
"""

from __future__ import annotations

import numpy as np

from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.solver import Run
from optmodels.structures import EntropyLevels, Priced, compiled_price
from solvers.epsilon.level_partitions import EQUAL, LevelPartition, LevelPartitions
from solvers.local_search import improve

_SLICE = 1.0  # seconds of one search, at most: between two of them Ctrl-C is heeded
_FIRST = (0.5, 0.0, 1.0)  # shares of what the best partition has to spare that the first attribute gives up
_AWAY = 0.15  # bits from the best partition's own way, about, once those were tried


class LevelDescents:
    """Searches that add to what is known of a problem's partitions; the same seed makes the same ones."""

    def __init__(self, problem: Problem, partitions: LevelPartitions, run: Run) -> None:
        self._problem, self._partitions, self._run = problem, partitions, run
        self._entropies, self._priced = problem.require(EntropyLevels), problem.require(Priced)
        self._tried: dict[float, int] = {}
        self._random = np.random.default_rng(run.seed)

    def search(self, entropy: float, seconds: float) -> None:
        """Look for partitions with at least this entropy for about so many seconds."""
        until = self._run.seconds + seconds
        while not self._run.expired and (left := until - self._run.seconds) > 0:
            best = self._partitions.best(entropy)
            if best is None:
                return
            tried = self._tried.get(entropy, 0)
            self._tried[entropy] = tried + 1
            least = self.way(best, entropy, tried)
            able = [one for one in self._partitions.found if (one.entropies >= least - EQUAL).all()]
            start = min(able, key=lambda one: one.loss, default=best)
            labels = improve(
                compiled_price(self._priced), self._problem.with_entropy(least.tolist()).test, start.labels,
                n_classes=self._priced.n_classes, seconds=min(_SLICE, left), seed=self._run.seed + tried,
            )  # fmt: skip
            self._partitions.offer(labels)

    def way(self, best: LevelPartition, entropy: float, tried: int) -> Floats:
        """Least entropies that sum to the level: near those of the best partition, first by giving up what is spare."""
        own, most = best.entropies, self._entropies.most
        if tried < len(_FIRST) and len(own) > 1:
            spare, first = max(0.0, best.entropy - entropy), _FIRST[tried]
            others = np.full(len(own) - 1, (1 - first) / (len(own) - 1))
            wanted = np.clip(own - spare * np.append(first, others), 0.0, most)
        else:
            wanted = np.clip(own + self._random.normal(0.0, _AWAY, len(own)), 0.0, most)
        missing = entropy - wanted.sum()
        room = most - wanted if missing > 0 else wanted
        moved: Floats = wanted + missing * room / room.sum() if room.sum() > 0 else wanted
        return np.clip(moved, 0.0, most)  # what is moved down to nothing may end a rounding below it
