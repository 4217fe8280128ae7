"""Exact pricing of all classes, in chunks that return to Python often, and the bound that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from solvers.columns.instance import Floats, Instance, Ints, PairBound
from solvers.columns.search import Duals, search_many

_THREADS = 2
_CHUNK = 24
_NODES = 100_000  # per seed and size in one go: well under a second


@dataclass(eq=False)
class Priced:
    """What exact pricing found: the best class of each seed and size, and the least reduced cost of each seed."""

    classes: list[Ints] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    floors: Floats = field(default_factory=lambda: np.zeros(0))  # at most 0
    finished: bool = True
    nodes: int = 0

    def slack(self, instance: Instance) -> float:
        """A bound (at most 0) on the reduced costs of any partition together.

        A type is the medoid of at most as many classes as it has copies, and there are at most
        `most_classes` classes.
        """
        order = np.argsort(self.floors, kind="stable")
        total, left = 0.0, instance.most_classes
        for t in order:
            if left == 0 or self.floors[t] >= 0:
                break
            times = min(left, int(instance.types.copies[t]))
            total += times * float(self.floors[t])
            left -= times
        return total


class Pricer:
    """Exact pricing by depth-first search from every type as a medoid, for every size."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._bounds: dict[int, PairBound] = {}

    def pair_bound(self, size: int) -> PairBound:
        """The pairwise bound of a size, made once."""
        if size not in self._bounds:
            self._bounds[size] = self.instance.pair_bound(size)
        return self._bounds[size]

    def price(self, duals: Duals, tolerance: float, expired: Callable[[], bool]) -> Priced:
        """The best class of each seed and size below -tolerance, with the least reduced cost of each seed."""
        n = self.instance.n_types
        result = Priced(floors=np.zeros(n))
        ceilings = np.full(n, -tolerance)
        for size in range(self.instance.smallest, self.instance.largest + 1):
            bound = self.pair_bound(size)
            for seeds, (found, costs, completed, nodes) in _spread(self.instance, bound, duals, ceilings):
                result.nodes += int(nodes.sum())
                result.finished = result.finished and bool(completed.all())
                for i, seed in enumerate(seeds):
                    if np.isfinite(costs[i]):
                        result.classes.append(np.sort(found[i]))
                        result.costs.append(float(costs[i]))
                        result.floors[seed] = min(result.floors[seed], costs[i])
                if expired():
                    result.finished = False
                    return result
        np.minimum(result.floors, -tolerance, out=result.floors)
        return result


def _spread(
    instance: Instance, bound: PairBound, duals: Duals, ceilings: Floats
) -> Iterator[tuple[Ints, tuple[Ints, Floats, Ints, Ints]]]:
    """Search all seeds in chunks on the machine's cores; the kernels release the interpreter."""
    chunks = np.array_split(np.arange(instance.n_types), max(1, instance.n_types // _CHUNK))
    with ThreadPoolExecutor(_THREADS) as pool:
        jobs = [pool.submit(search_many, instance.types, bound, duals, chunk, ceilings[chunk], _NODES) for chunk in chunks]
        try:
            for chunk, job in zip(chunks, jobs, strict=True):
                yield chunk, job.result()
        finally:
            for job in jobs:
                job.cancel()
