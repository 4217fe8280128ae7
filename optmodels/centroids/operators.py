"""pymoo operators that know what a centroid is: numbers and categories, regions, and classes that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling

from optmodels.partition import Labels
from optmodels.price import Floats

if TYPE_CHECKING:
    from optmodels.centroids.space import CentroidSpace

_SEED_RECORDS = 2_000  # records among which k-means++ draws its centroids
_SEED_COMPARISONS = 500_000  # of records with centroids drawn before, for each start


class Decisions(Protocol):
    """What operators ask of the pymoo problem whose decisions they make."""

    @property
    def space(self) -> CentroidSpace:
        """The way from decisions to partitions and back."""

    def polished(self, decisions: Floats) -> Floats:
        """The means and modes of the classes that decisions stand for."""

    def partition_keys(self, decisions: Floats) -> list[bytes]:
        """The same key for decisions that stand for the same partition."""


class CentroidSampling(Sampling):  # type: ignore[misc]
    """Given partitions first; then records drawn at random or spread out as k-means++ does, a few or many of them."""

    def __init__(self, starts: Sequence[Labels] = ()) -> None:
        super().__init__()
        self.starts = tuple(starts)

    def _do(
        self, problem: Decisions, n_samples: int, *args: Any, random_state: np.random.Generator, **kwargs: Any
    ) -> Floats:
        space = problem.space
        decisions = [space.decision(labels) for labels in self.starts[:n_samples]]
        while len(decisions) < n_samples:
            few = space.n_centroids
            if not space.fixed and few > 2:
                few = int(np.exp(random_state.uniform(np.log(2), np.log(few + 1))))
            draw = _spread_records if len(decisions) % 2 else _random_records
            decisions.append(_filled(space, draw(space, few, random_state)))
        return np.array(decisions)


class RegionCrossover(Crossover):  # type: ignore[misc]
    """Two children of two parents: one parent's centroids on one side of a random plane, the other's on the other."""

    def __init__(self, prob: float = 0.9) -> None:
        super().__init__(2, 2, prob=prob)

    def _do(
        self, problem: Decisions, decisions: Floats, *args: Any, random_state: np.random.Generator, **kwargs: Any
    ) -> Floats:
        space = problem.space
        children = np.empty_like(decisions)
        for mating in range(decisions.shape[1]):
            first, second = (_distinct(space, decisions[parent, mating]) for parent in (0, 1))
            together = np.concatenate([first, second])
            normal = random_state.normal(size=space.width) / np.where(together.std(axis=0) > 0, together.std(axis=0), 1)
            along_first, along_second = first @ normal, second @ normal
            cut = random_state.choice(np.concatenate([along_first, along_second]))
            for child, side in enumerate((along_first < cut, along_first >= cut)):
                other = along_second >= cut if child == 0 else along_second < cut
                rows = np.concatenate([first[side], second[other]])
                if len(rows) > space.n_centroids:
                    rows = rows[np.sort(random_state.permutation(len(rows))[: space.n_centroids])]
                if len(rows) == 0:
                    rows = first
                if space.fixed and len(rows) < space.n_centroids:
                    spare = together[random_state.permutation(len(together))[: space.n_centroids - len(rows)]]
                    rows = np.concatenate([rows, spare])
                children[child, mating] = _filled(space, rows)
        return children


class CentroidMutation(Mutation):  # type: ignore[misc]
    """A few centroids move within their surroundings, change a category, are born at a record, or die."""

    def __init__(self, moves: float = 2.0, births: float = 0.5, deaths: float = 0.5) -> None:
        super().__init__(prob=1.0)
        self.moves = moves
        self.births = births
        self.deaths = deaths

    def _do(
        self, problem: Decisions, decisions: Floats, *args: Any, random_state: np.random.Generator, **kwargs: Any
    ) -> Floats:
        return np.array([self._mutant(problem.space, decision, random_state) for decision in decisions])

    def _mutant(self, space: CentroidSpace, decision: Floats, draw: np.random.Generator) -> Floats:
        rows = _distinct(space, decision)
        d = space.price.numeric.shape[1]
        for place in draw.integers(len(rows), size=draw.poisson(self.moves)):
            # As far as to some other centroid at most: steps shrink by themselves as centroids grow dense.
            step = rows[draw.integers(len(rows)), :d] - rows[place, :d]
            rows[place, :d] += draw.normal(scale=0.5) * step * draw.random(d)
            if space.width > d and draw.random() < 0.5:
                j = int(draw.integers(space.width - d))
                rows[place, d + j] = draw.integers(space.n_codes[j])
        if not space.fixed:
            deaths = min(draw.poisson(self.deaths), len(rows) - 1)
            rows = rows[np.sort(draw.permutation(len(rows))[: len(rows) - deaths])]
        births = _random_records(space, draw.poisson(self.births), draw)
        if space.fixed and len(births):
            births = births[: len(rows)]
            rows[draw.permutation(len(rows))[: len(births)]] = births
        else:
            rows = np.concatenate([rows, births])[: space.n_centroids]
        low, high = space.low[: space.width], space.high[: space.width]
        return _filled(space, np.clip(rows, low, high))


class Polish(Repair):  # type: ignore[misc]
    """The centroids become the means and modes of the mended classes: for the same classes nothing costs less."""

    def _do(self, problem: Decisions, decisions: Floats, **kwargs: Any) -> Floats:
        return problem.polished(decisions)


class SamePartition(DuplicateElimination):  # type: ignore[misc]
    """Two decisions are the same if their partitions are, wherever their centroids lie."""

    def __init__(self, problem: Decisions) -> None:
        super().__init__()
        self.problem = problem

    def _do(self, pop: Any, other: Any, is_duplicate: NDArray[np.bool_]) -> NDArray[np.bool_]:
        keys = self.problem.partition_keys(pop.get("X"))
        seen = set() if other is None else set(self.problem.partition_keys(other.get("X")))
        for i, key in enumerate(keys):
            is_duplicate[i] |= key in seen
            if other is None:
                seen.add(key)
        return is_duplicate


def _distinct(space: CentroidSpace, decision: Floats) -> Floats:
    """The different centroids of a decision, as they come: copies stand for centroids without a class."""
    rows = decision.reshape(space.n_centroids, space.width)
    if space.fixed:
        return rows.copy()
    rows = np.ascontiguousarray(rows)
    # Whole rows compared as bytes: many times faster than np.unique along an axis.
    _, first = np.unique(rows.view(np.dtype((np.void, rows.itemsize * space.width))).ravel(), return_index=True)
    return rows[np.sort(first)]


def _filled(space: CentroidSpace, rows: Floats) -> Floats:
    """A flat decision of these centroids, the first of them copied where they are too few."""
    copies = np.repeat(rows[:1], space.n_centroids - len(rows), axis=0)
    return np.concatenate([rows, copies]).ravel()


def _records(space: CentroidSpace, rows: NDArray[np.int64]) -> Floats:
    return np.concatenate([space.price.numeric[rows], space.price.codes[rows]], axis=1, dtype=np.float64)


def _random_records(space: CentroidSpace, many: int, draw: np.random.Generator) -> Floats:
    return _records(space, draw.integers(space.price.n, size=many))


def _spread_records(space: CentroidSpace, many: int, draw: np.random.Generator) -> Floats:
    """Records drawn one after the other with a chance that grows with their cost under those drawn before.

    Where they are so many that this takes long, the later ones are drawn as they come.
    """
    price = space.price
    pool = draw.permutation(price.n)[:_SEED_RECORDS]
    chosen = [int(draw.integers(len(pool)))]
    nearest = np.full(len(pool), np.inf)
    spread = min(many, _SEED_COMPARISONS // len(pool))
    while len(chosen) < spread:
        last = pool[chosen[-1]]
        squared = ((price.numeric[pool] - price.numeric[last]) ** 2).sum(axis=1)
        nearest = np.minimum(nearest, squared + (price.codes[pool] != price.codes[last]) @ price.code_weights)
        total = nearest.sum()
        if total <= 0:
            chosen.append(int(draw.integers(len(pool))))
        else:
            chosen.append(int(np.searchsorted(np.cumsum(nearest), draw.random() * total)))
    spread_out = _records(space, pool[np.minimum(chosen, len(pool) - 1)])
    return np.concatenate([spread_out, _random_records(space, many - len(chosen), draw)])
