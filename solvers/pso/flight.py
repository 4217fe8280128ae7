"""The flight of one particle swarm over centroids (Wei et al., Algorithm 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optmodels.centroids.centres import centred_prices
from optmodels.partition import Labels
from optmodels.price import Floats, Price
from optmodels.problem import Problem
from optmodels.structures import Centroids, Priced, Score

if TYPE_CHECKING:
    from optmodels.centroids.space import CentroidSpace, Decoded

# Inertia and the pull of the own and the common best: the customary values, the paper states none.
_INERTIA, _OWN, _COMMON = 0.7, 1.5, 1.5
_FASTEST = 0.2  # of an attribute's range, in one step


def loss_of(problem: Problem) -> tuple[Floats | None, float] | None:
    """What mismatches cost in the loss, where that is not what they cost near centroids, and what it is divided by.

    None where the loss is no spread around centroids.
    """
    if scales := problem.require(Centroids).scales:
        return None, float(next(iter(scales.values())))
    priced = (problem if problem.structure(Score) is None else problem.unscored()).structure(Priced)
    if priced is None or not isinstance(priced.price, Price) or priced.price.name != "spread":
        return None
    return priced.price.code_weights, priced.scale


class Flight:
    """The swarm: positions, velocities, and the best places of each particle and of all.

    It minimises the first objective and, as costs, `weight` times the others. With a `penalty` it is the paper's swarm
    as it stands: particles are not mended but pay for each missing record, and are scored around raw centroids.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int,
        weight: float = 0.0,
        *,
        particles: int,
        n_centroids: int | None,
        penalty: float | None,
    ) -> None:
        price = problem.require(Centroids).price
        self.problem, self.penalty = problem, penalty
        self.weight = weight
        self.native = problem.to_pymoo(n_centroids, mend=penalty is None).native
        self.space: CentroidSpace = self.native.space
        self.draw = np.random.default_rng(seed)
        self.numeric = np.tile(
            np.arange(self.space.width) < price.numeric.shape[1], self.space.n_centroids
        )  # which coordinates are numbers
        self.span = np.where(self.numeric, self.space.high - self.space.low, 1.0)
        self.positions = self._started(particles, price)
        self.velocities = np.zeros_like(self.positions)
        self.own_best, self.own_costs = self.positions.copy(), np.full(particles, np.inf)
        self.best, self.best_cost = self.positions[0].copy(), np.inf
        self.iterations = 0

    def _started(self, particles: int, price: Price) -> Floats:
        """Random records as first centroids."""
        rows = self.draw.integers(price.n, size=(particles, self.space.n_centroids))
        records = np.concatenate([price.numeric[rows], price.codes[rows]], axis=2)
        return records.reshape(particles, -1).astype(np.float64)

    @property
    def evaluations(self) -> int:
        """Particles evaluated so far."""
        return self.native.decoded

    def step(self) -> tuple[Decoded, Floats]:
        """Score every particle, remember the best places, and move on; what was scored, and how."""
        decoded = self.native.decode(self.positions)
        costs = self._fitness(decoded)
        better = costs < self.own_costs
        self.own_best[better], self.own_costs[better] = self.positions[better], costs[better]
        leader = int(np.argmin(costs))
        if costs[leader] < self.best_cost:
            self.best, self.best_cost = self.positions[leader].copy(), float(costs[leader])
        self.iterations += 1
        self._move()
        return decoded, costs

    def _fitness(self, decoded: Decoded) -> Floats:
        """The target and the weighted others; in the faithful swarm around raw centroids and with the penalty."""
        costs = self.native.measures.costs(decoded)
        missing = decoded.partitions.missing
        others = self.weight * costs[:, 1:].sum(axis=1)
        if self.penalty is None:
            return np.where(missing > 0, np.inf, costs[:, 0] + others)
        score = self.problem.structure(Score)
        losses = self._raw_losses(decoded, self.positions)
        if score is not None:
            entropies = self._entropies(decoded)
            losses = np.array([score.of(loss, bits) for loss, bits in zip(losses, entropies, strict=True)])
        return np.asarray(losses + others + self.penalty * missing)

    def _raw_losses(self, decoded: Decoded, positions: Floats) -> Floats:
        """What partitions lose around the centroids themselves, which the published swarm releases."""
        weights, scale = loss_of(self.problem) or (None, 1.0)
        units = decoded.coarse.units
        priced = units if weights is None else units._replace(code_weights=weights)
        prices = centred_prices(priced, decoded.partitions.labels, *self.space.matrices(positions))
        return np.asarray(prices / scale)

    def _entropies(self, decoded: Decoded) -> Floats:
        """Bits of every partition: the sum over sensitive attributes of the least entropy of a class."""
        return np.asarray(decoded.partitions.entropies.sum(axis=1))

    def _move(self) -> None:
        shape = self.positions.shape
        own, common = self.draw.random(shape), self.draw.random(shape)
        to_own, to_best = self.own_best - self.positions, self.best - self.positions
        # Categories have no distance: that they differ is what pulls.
        to_own = np.where(self.numeric, to_own, to_own != 0)
        to_best = np.where(self.numeric, to_best, to_best != 0)
        self.velocities = _INERTIA * self.velocities + _OWN * own * to_own + _COMMON * common * to_best
        limit = np.where(self.numeric, _FASTEST * self.span, np.inf)
        self.velocities = np.clip(self.velocities, -limit, limit)
        moved = np.clip(self.positions + self.velocities, self.space.low, self.space.high)
        chance = np.abs(self.velocities / np.sqrt(self.velocities**2 + 1.0))
        taken = np.where(self.draw.random(shape) < 0.5, self.own_best, self.best)
        switched = np.where(self.draw.random(shape) < chance, taken, self.positions)
        self.positions = np.where(self.numeric, moved, switched)

    @property
    def best_labels(self) -> Labels:
        """The class of each record under the best particle; in the faithful swarm it may break the conditions."""
        return self.native.labels(self.best)

    def described(self) -> dict[str, Any]:
        """What the best particle is worth, violations and all; nothing before the first step."""
        if not np.isfinite(self.best_cost):
            return {}
        labels = self.best_labels
        decoded = self.space.decode(self.best[None], mend=False)
        raw = float(self._raw_losses(decoded, self.best[None])[0]) if self.penalty is not None else None
        evaluation = self.problem.evaluate(labels)
        sizes = np.bincount(labels)
        below = sizes < self.problem.conditions.k
        return {
            "fitness": self.best_cost,
            "values": {name: float(value) for name, value in evaluation.values.items()},
            "loss_around_centroids": raw,
            "classes": len(sizes),
            "classes_below_k": int(below.sum()),
            "records_in_classes_below_k": int(sizes[below].sum()),
            "violations": {name: int(broken) for name, broken in evaluation.violations.items()},
        }
