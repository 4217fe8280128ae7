"""The particle swarm as the authors of MO-OBAM have programmed it, which their paper does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optmodels.metrics.privacy import entropies
from optmodels.partition import histograms
from optmodels.price import Floats, Price
from solvers.pso.flight import Flight

if TYPE_CHECKING:
    from optmodels.centroids.space import Decoded

PULL = 0.01  # the largest pull of the own and of the common best
PENALTY = 1 / 500  # for each record that a class lacks


class AuthorsFlight(Flight):
    """The authors' rules: hardly any pull, nearly all inertia, categories that jump, strays that return to the mean.

    Particles start anywhere in the range of the data. A step draws the pulls of the own and of the common best from
    U(0, 0.01), and keeps 1 minus both of the velocity. A category moves with the paper's chance, and then to any
    level; a number that leaves its range becomes the mean. Entropy is the least over classes of the sum over sensitive
    attributes, where the paper prints the sum of the least.
    """

    def _started(self, particles: int, price: Price) -> Floats:
        self.means = np.where(self.numeric, np.tile(self._centre(price), self.space.n_centroids), 0.0)
        drawn = self.draw.uniform(self.space.low, self.space.high, (particles, self.space.size))
        return np.where(self.numeric, drawn, self._levels((particles, self.space.size)))

    def _centre(self, price: Price) -> Floats:
        return np.concatenate([price.numeric.mean(axis=0), np.zeros(price.codes.shape[1])])

    def _levels(self, shape: tuple[int, ...]) -> Floats:
        """Any category, one as likely as another."""
        return np.asarray(self.draw.integers(0, self.space.high.astype(np.int64) + 1, shape), np.float64)

    def _entropies(self, decoded: Decoded) -> Floats:
        codes = self.problem.table.sensitive_codes.T
        found = []
        for i in range(len(decoded.partitions.labels)):
            labels = decoded.labels(i)
            bits = np.array([entropies(histograms(labels, column)) for column in codes])
            found.append(float(bits.sum(axis=0).min()))
        return np.array(found)

    def _move(self) -> None:
        shape = self.positions.shape
        own, common = self.draw.uniform(0, PULL, (2, len(self.positions), 1))
        to_own, to_best = self.own_best - self.positions, self.best - self.positions
        self.velocities = (1 - own - common) * self.velocities + own * to_own + common * to_best
        moved = self.positions + self.velocities
        strayed = (moved < self.space.low) | (moved > self.space.high)
        chance = np.abs(self.velocities / np.sqrt(self.velocities**2 + 1.0))
        jumped = np.where(self.draw.random(shape) < chance, self._levels(shape), self.positions)
        self.positions = np.where(self.numeric, np.where(strayed, self.means, moved), jumped)
