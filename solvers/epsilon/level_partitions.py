"""Partitions for levels of entropy, from the top down.

Everyone in one class has the most, and what has more entropy than a level is good for it too. A level is shared out
over the attributes in several ways, each a local search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optmodels.partition import Labels, canonical
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.structures import EntropyLevels, Priced, compiled_price
from solvers.local_search.construct import first_partition
from solvers.local_search.search import improve

_SHARES = (0.5, 0.35, 0.65, 0.2, 0.8, 0.08, 0.92)  # how a level is shared out between two attributes
_AGAIN = 3  # of the best ways to share are searched once more, from the best partition found
_TIE = 1e-12


@dataclass(frozen=True)
class LevelPartition:
    """A partition that was found, with its loss and the least entropy of a class for each attribute in bits."""

    labels: Labels
    loss: float
    entropies: Floats

    @property
    def entropy(self) -> float:
        """The sum of the least entropies."""
        return float(self.entropies.sum())


class LevelPartitions:
    """All partitions found so far, whatever the level they were looked for at."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._seed = problem, seed
        self._priced, self._entropies = problem.require(Priced), problem.require(EntropyLevels)
        self.found: list[LevelPartition] = []

    def offer(self, labels: Labels) -> None:
        """Keep a partition if it is feasible."""
        evaluation = self._problem.evaluate(labels)
        if evaluation.feasible:
            canonical_labels = canonical(labels)
            entropies = self._entropies.least_of(canonical_labels)
            self.found.append(LevelPartition(canonical_labels, evaluation.values["loss"], entropies))

    def best(self, entropy: float) -> LevelPartition | None:
        """The partition of least loss, and then of most entropy, with at least this entropy."""
        fit = [found for found in self.found if found.entropy >= entropy - 1e-9]
        return min(fit, key=lambda found: (round(found.loss, 12), -found.entropy), default=None)

    def front(self, targets: Floats) -> list[LevelPartition]:
        """The best partitions of these levels, ascending, each once."""
        chosen: list[LevelPartition] = []
        for target in (0.0, *targets[1:]):
            found = self.best(float(target))
            if found is not None and not any(found is other for other in chosen):
                chosen.append(found)
        return chosen

    def look(self, entropy: float, seconds: float) -> None:
        """Search at one level for about so many seconds."""
        ways = self._ways(entropy)
        again = min(_AGAIN, len(ways)) if entropy > 0 else 1
        each = seconds / (len(ways) + 2 * again)
        results: list[tuple[float, int]] = []
        for way in ways:
            loss = self._search(way, None, each, self._seed)
            results.append((loss, len(results)))
        for turn, (_, place) in enumerate(sorted(results)[:again]):
            start = self.best(entropy)
            self._search(ways[place], None if start is None else start.labels, 2 * each, self._seed + 1 + turn)

    def _ways(self, entropy: float) -> list[Floats]:
        """Least entropies of the attributes that sum to the level."""
        most = self._entropies.most
        if entropy <= 0:
            return [np.zeros(len(most))]
        if len(most) != 2:
            return [most * (entropy / most.sum())]
        low, high = max(0.0, entropy - most[1]), min(most[0], entropy)
        if high - low < 1e-6:
            return [np.array([low, entropy - low])]
        return [np.array([low + s * (high - low), entropy - low - s * (high - low)]) for s in _SHARES]

    def _search(self, least: Floats, start: Labels | None, seconds: float, seed: int) -> float:
        """The loss of the partition that local search makes of `start`, or of a construction, or of everyone."""
        asked = np.maximum(least * (1 - _TIE), self._priced.test.entropies / np.log(2))
        test = self._priced.test.with_entropies(asked * np.log(2))
        price, n_classes = compiled_price(self._priced), self._priced.n_classes
        first = start if start is not None else first_partition(price, test, n_classes)
        if first is None:
            fit = [f for f in self.found if (f.entropies >= least - 1e-9).all()]
            first = min(fit, key=lambda f: f.loss).labels if fit else np.zeros(price.n, np.int64)
        labels = improve(price, test, first, n_classes=n_classes, seconds=max(seconds, 0.02), seed=seed)
        self.offer(labels)
        return price.total(labels)
