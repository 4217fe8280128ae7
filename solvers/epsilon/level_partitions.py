"""Partitions for levels of entropy: what has more entropy than a level is good for it too."""

from __future__ import annotations

from dataclasses import dataclass

from optmodels.partition import Labels, canonical
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.structures import EntropyLevels

EQUAL = 1e-9  # bits


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

    def __init__(self, problem: Problem) -> None:
        self._problem, self._entropies = problem, problem.require(EntropyLevels)
        self.found: list[LevelPartition] = []

    def offer(self, labels: Labels) -> None:
        """Keep a partition if it is feasible."""
        evaluation = self._problem.evaluate(labels)
        if evaluation.feasible:
            canonical_labels = canonical(labels)
            entropies = self._entropies.least_of(canonical_labels)
            self.found.append(LevelPartition(canonical_labels, evaluation.values[self._problem.target.name], entropies))

    def best(self, entropy: float) -> LevelPartition | None:
        """The partition of least loss, and then of most entropy, with at least this entropy."""
        fit = [found for found in self.found if found.entropy >= entropy - EQUAL]
        return min(fit, key=lambda found: (round(found.loss, 12), -found.entropy), default=None)

    def front(self, targets: Floats) -> list[LevelPartition]:
        """The best partitions of these levels, ascending, each once."""
        chosen: list[LevelPartition] = []
        for target in (0.0, *targets[1:]):
            found = self.best(float(target))
            if found is not None and not any(found is other for other in chosen):
                chosen.append(found)
        return chosen
