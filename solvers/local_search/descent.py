"""A partition under improvement: sweeps of single moves, ruin and recreate by workers, and the best parts kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from optmodels.conditions import ClassTest
from optmodels.halting import lowered
from optmodels.parallel import threads
from optmodels.partition import Labels, canonical
from optmodels.price import HIERARCHY, Price
from solvers.local_search.cross import crossed
from solvers.local_search.moves import sweep
from solvers.local_search.near import Near, neighbourhoods
from solvers.local_search.ruin import OwnClasses, Rules, ruin_and_recreate
from solvers.local_search.state import fill, new_state

NEIGHBOURS = 12
SWEEP_ROWS = 2_000
MOST_ROWS = 512  # taken apart at once, unless classes are larger
LARGE_ROWS = 20_000
CLASSES_PER_WORKER = 20
TOLERANCE = 1e-11  # of the price of everyone in one class: savings below it are rounding
# That search disjoint classes side by side; no number of cores: for a seed the answer must not depend on the machine.
WORKERS = 2


class Descent:
    """A partition under improvement. Workers own disjoint sets of classes, so they share the state without locks."""

    def __init__(
        self,
        price: Price,
        test: ClassTest,
        labels: Labels,
        *,
        fixed: bool,
        seed: int,
        workers: int = WORKERS,
        widest: int = 6,
        near: Near | None = None,
    ) -> None:
        labels = canonical(labels)
        classes = int(labels.max()) + 1
        capacity = classes if fixed else max(classes, price.n // test.k)
        self.price = price
        self.test = test
        self.workers = workers
        self.generator = np.random.default_rng(seed)
        self.state = new_state(price, test, capacity)
        self.near = neighbourhoods(price, NEIGHBOURS, seed) if near is None else near
        self.owner = np.zeros(capacity, np.int64)
        fill(self.state, labels)
        everyone = price.total(np.zeros(price.n, np.int64))
        self.tolerance = TOLERANCE * everyone
        most_rows = max(MOST_ROWS, min(3 * price.n // classes, LARGE_ROWS))
        self.rules = Rules(fixed, widest, min(most_rows, price.n), self.tolerance)
        self.best = labels
        self.best_prices = self.state.prices.copy()
        self.sweeps = 0
        self.halt = lowered()  # raised, it ends what is being done

    @property
    def total(self) -> float:
        """Price of the current partition."""
        return float(self.state.prices.sum())

    @property
    def best_price(self) -> float:
        """Price of the best partition."""
        return float(self.best_prices.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes now."""
        return int((self.state.sizes > 0).sum())

    def keep_better(self) -> bool:
        """Forget accumulated rounding, and keep of the partition the parts that are the best yet."""
        labels = self.state.labels.copy()
        fill(self.state, labels)
        mixed, prices, replaced = crossed(
            self.best, self.best_prices, labels, self.state.prices, self.rules.fixed, self.tolerance
        )
        if replaced == 0:
            return False
        self.best, self.best_prices = mixed, prices
        return True

    def back_to_best(self) -> None:
        """Continue from the best partition found."""
        fill(self.state, self.best)

    def sweep(self) -> Iterator[float]:
        """One pass over all records in random order; yields the saving of each chunk."""
        self.sweeps += 1
        order = self.generator.permutation(self.price.n)
        self.owner[:] = 0
        for low in range(0, len(order), SWEEP_ROWS):
            high = min(low + SWEEP_ROWS, len(order))
            yield sweep(self.state, self.test, self.near, self.owner, 0, order, low, high, self.tolerance, self.halt)

    def anneal(self, rounds: int, temperature: float) -> None:
        """So many rounds of ruin and recreate, shared among the workers, at one temperature."""
        workers = max(1, min(self.workers, self.n_classes // CLASSES_PER_WORKER))
        own = self._own_classes(workers)
        streams = self.generator.spawn(workers)

        def work(me: int) -> None:
            each = rounds // workers + (me < rounds % workers)
            ruin_and_recreate(
                self.state, self.test, self.near, own[me], self.rules, each, streams[me], temperature, self.halt
            )

        if workers == 1:
            work(0)
            return
        with threads(workers) as pool:
            list(pool.map(work, range(workers)))

    def _own_classes(self, workers: int) -> list[OwnClasses]:
        """Give each worker the classes between two of some random parallel planes, and free slots."""
        state = self.state
        used = state.sizes > 0
        self.owner[:] = 0
        if workers > 1:
            middle = np.where(used[:, None], state.measures[:, 0], 0.0)
            if state.kind == HIERARCHY:  # leaves are numbered through, whatever they are worth
                middle = middle / np.maximum(np.ptp(state.numeric, axis=0), 1e-300)
            along = middle @ self.generator.normal(size=middle.shape[1]) + 1e-9 * self.generator.random(len(middle))
            edges = np.quantile(along[used], np.linspace(0, 1, workers + 1)[1:-1])
            self.owner[:] = np.searchsorted(edges, along)
        free = np.flatnonzero(~used)
        given = []
        for me in range(workers):
            mine = free[me::workers]
            self.owner[mine] = me
            spare = np.empty(len(self.owner) + 1, np.int64)
            spare[: len(mine)] = mine
            given.append(OwnClasses(self.owner, me, spare, len(mine)))
        return given
