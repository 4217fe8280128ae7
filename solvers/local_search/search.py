"""The course of a search: sweeps down to a local optimum, then annealed ruin and recreate, by workers side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from optmodels.conditions import ClassTest
from optmodels.partition import Labels, canonical
from optmodels.price import SPREAD, Price
from solvers.local_search.moves import sweep
from solvers.local_search.near import neighbourhoods
from solvers.local_search.ruin import ruin_and_recreate
from solvers.local_search.state import LOW, MEAN, fill, new_state

NEIGHBOURS = 12
SWEEP_ROWS = 50_000
MOST_ROWS = 512
TOLERANCE = 1e-11  # of the price of everyone in one class: savings below it are rounding


class Descent:
    """A partition under improvement. Workers own disjoint sets of classes, so they share the state without locks."""

    def __init__(
        self, price: Price, test: ClassTest, labels: Labels, *, fixed: bool, seed: int, workers: int = 2
    ) -> None:
        labels = canonical(labels)
        classes = int(labels.max()) + 1
        capacity = classes if fixed else max(classes, price.n // test.k)
        self.price = price
        self.test = test
        self.fixed = fixed
        self.workers = workers
        self.generator = np.random.default_rng(seed)
        self.state = new_state(price, test, capacity)
        self.near = neighbourhoods(price, NEIGHBOURS, seed)
        self.owner = np.zeros(capacity, np.int64)
        fill(self.state, labels)
        everyone = price.total(np.zeros(price.n, np.int64))
        self.tolerance = TOLERANCE * everyone
        self.best = labels
        self.best_price = self.total

    @property
    def total(self) -> float:
        """Price of the current partition."""
        return float(self.state.prices.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes now."""
        return int((self.state.sizes > 0).sum())

    def settle(self) -> bool:
        """Forget accumulated rounding, and keep the partition if it is the best yet."""
        labels = self.state.labels.copy()
        fill(self.state, labels)
        if self.total < self.best_price - self.tolerance:
            self.best, self.best_price = labels, self.total
            return True
        return False

    def back_to_best(self) -> None:
        """Continue from the best partition found."""
        fill(self.state, self.best)

    def sweep(self) -> Iterator[float]:
        """One pass over all records in random order; yields the saving of each chunk."""
        order = self.generator.permutation(self.price.n)
        self.owner[:] = 0
        for low in range(0, len(order), SWEEP_ROWS):
            high = min(low + SWEEP_ROWS, len(order))
            yield sweep(self.state, self.test, self.near, self.owner, 0, order, low, high, self.tolerance)

    def anneal(self, rounds: int, temperature: float, widest: int) -> None:
        """So many rounds of ruin and recreate at one temperature, shared among the workers."""
        self._share_out()
        free = np.flatnonzero(self.state.sizes == 0)
        tasks = []
        with ThreadPoolExecutor(self.workers) as pool:
            for me in range(self.workers):
                mine = free[me :: self.workers]
                spare = np.empty(len(self.owner) + 1, np.int64)
                spare[: len(mine)] = mine
                seed = int(self.generator.integers(1 << 31))
                tasks.append(
                    pool.submit(
                        ruin_and_recreate, self.state, self.test, self.near, self.owner, me, spare, len(mine), self.fixed,
                        rounds, seed, temperature, widest, MOST_ROWS, self.tolerance,
                    )
                )
        for task in tasks:
            task.result()

    def _share_out(self) -> None:
        """Give each worker the classes on its side of random parallel planes."""
        if self.workers == 1:
            self.owner[:] = 0
            return
        state = self.state
        middle = np.where(state.sizes[:, None] > 0, state.measures[:, MEAN if state.kind == SPREAD else LOW], 0.0)
        along = middle @ self.generator.normal(size=middle.shape[1]) + 1e-9 * self.generator.random(len(middle))
        used = state.sizes > 0
        edges = np.quantile(along[used], np.linspace(0, 1, self.workers + 1)[1:-1])
        self.owner[:] = np.searchsorted(edges, along)


def timed(
    descent: Descent, seconds: float, *, heat: float, cool: float, widest: int, on_best: Callable[[Labels], object]
) -> None:
    began = perf_counter()
    while True:
        before = descent.total
        for _ in descent.sweep():
            if perf_counter() - began > seconds:
                break
        if descent.total > before - 1e-6 * before or perf_counter() - began > seconds:
            break
    if descent.settle():
        on_best(descent.best)
    average = descent.total / descent.n_classes
    rounds = 1000
    while (spent := perf_counter() - began) < seconds:
        share = spent / seconds
        temperature = average * heat * (cool ** share) 
        start = perf_counter()
        descent.anneal(rounds, temperature, widest)
        took = perf_counter() - start
        rounds = int(np.clip(rounds * 0.25 / max(took, 1e-3), rounds / 4, rounds * 4)) + 1
        if descent.settle():
            on_best(descent.best)
