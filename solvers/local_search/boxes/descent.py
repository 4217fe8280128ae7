"""A partition under improvement whose classes are told by their boxes, for prices through hierarchies under k alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from optmodels.conditions import ClassTest
from optmodels.halting import Flag, lowered
from optmodels.parallel import threads
from optmodels.partition import LEFT_OUT, Labels, canonical, class_sizes, members
from optmodels.price import Floats, Price
from optmodels.suppression import NOBODY, Suppression, left_out
from solvers.local_search.boxes.leaving import Leaving
from solvers.local_search.boxes.ruin import BoxClasses, Owned, fill, ruin_and_recreate
from solvers.local_search.boxes.sides import numbered
from solvers.local_search.cross import crossed
from solvers.local_search.near import Near, embed, neighbourhoods

NEIGHBOURS = 12
WIDEST = 4
CLASSES_PER_WORKER = 20
TOLERANCE = 1e-11
MOST_CELLS = 1 << 27  # records that classes have room for


def takes(price: Price, test: ClassTest, n_classes: int | None) -> bool:
    """Whether this search is made for a problem: then classes of more than 2k - 1 records are never needed."""
    return price.name == "hierarchy" and test.only_size and n_classes is None


class BoxDescent:
    """A partition under improvement, as `Descent` is one. Workers own disjoint sets of classes.

    `suppression` is how many records may be left out, and what each of them costs in the units of the price.
    """

    def __init__(
        self,
        price: Price,
        test: ClassTest,
        labels: Labels,
        *,
        seed: int,
        workers: int,
        near: Near | None = None,
        suppression: Suppression = NOBODY,
        halt: Flag | None = None,
    ) -> None:
        self.price, self.test, self.workers = price, test, workers
        self.k, self.most = test.k, 2 * test.k - 1
        self.halt = lowered() if halt is None else halt  # raised, it ends what is being done
        self.generator = np.random.default_rng(seed)
        self.near = neighbourhoods(price, NEIGHBOURS, seed, self.halt) if near is None else near
        self.sides, rows = numbered(price)
        # a class of one record costs nothing, so that nobody is left out where that is a class
        most_left_out = min(suppression.most, price.n - self.k) if self.k > 1 else 0
        self.leaving = Leaving(most_left_out, suppression.price)
        self.best = split_large(labels, self.k)
        self.best_prices = price.per_class(self.best)
        if most_left_out:
            self.best = self.leaving.dearest_classes(self.best, self.best_prices)
            self.best_prices = price.per_class(self.best)
        capacity = max(price.n // self.k, 1)
        self.classes = BoxClasses(
            rows,
            np.zeros(price.n, np.int64),
            np.zeros((capacity, min(self.most, price.n)), np.int32),
            np.zeros(capacity, np.int64),
            np.zeros(capacity),
        )
        self.owned = Owned(np.zeros(capacity, np.int64), np.full(price.n if most_left_out else 0, -1))
        self.tolerance = TOLERANCE * price.of(np.arange(price.n))
        self._places = embed(price)
        self.back_to_best()

    @property
    def total(self) -> float:
        """Price of the current partition, those left out included."""
        return float(self.classes.prices.sum()) + self.leaving.price * left_out(self.classes.labels)

    @property
    def best_price(self) -> float:
        """Price of the best partition, those left out included."""
        return float(self.best_prices.sum()) + self.leaving.price * left_out(self.best)

    @property
    def n_classes(self) -> int:
        """Number of classes now."""
        return int((self.classes.sizes > 0).sum())

    def keep_better(self) -> bool:
        """Keep of the partition the parts that are the best yet."""
        labels, prices = self.classes.labels.copy(), self.classes.prices.copy()
        if self.leaving.most:
            return self._keep_better_leaving_out(labels, prices)
        mixed, prices, replaced = crossed(self.best, self.best_prices, labels, prices, False, self.tolerance)
        if replaced == 0:
            return False
        self.best, self.best_prices = mixed, prices
        return True

    def _keep_better_leaving_out(self, labels: Labels, prices: Floats) -> bool:
        """The same where how many may be left out ties the parts together: the better parts, or all of it."""
        mine, theirs = self.leaving.alone(self.best, self.best_prices), self.leaving.alone(labels, prices)
        mixed, mixed_prices, _ = crossed(*mine, *theirs, False, self.tolerance)
        before = self.best_price
        for found, costs in (self.leaving.together(mixed, mixed_prices), (labels, prices)):
            missing = left_out(found)
            if missing <= self.leaving.most and costs.sum() + missing * self.leaving.price < before - self.tolerance:
                self.best = canonical(found)
                self.best_prices = self.price.per_class(self.best)
                return True
        return False

    def back_to_best(self) -> None:
        """Continue from the best partition found."""
        fill(self.classes, self.best)
        self.best_prices = self.price.per_class(self.best)
        self.classes.prices[: len(self.best_prices)] = self.best_prices

    def sweep(self) -> Iterator[float]:
        """Nothing: rounds of ruin and recreate at no temperature are what sweeps would be."""
        yield from ()

    def anneal(self, rounds: int, temperature: float) -> None:
        """So many rounds of ruin and recreate, shared among the workers, at one temperature."""
        workers = max(1, min(self.workers, self.n_classes // CLASSES_PER_WORKER))
        used = self.classes.sizes > 0
        slots, records = self.owned
        outside = np.flatnonzero(self.classes.labels == LEFT_OUT) if self.leaving.most else np.zeros(0, np.int64)
        slots[:] = 0
        records[:] = -1
        records[outside] = 0
        if workers > 1:
            first = self._places[self.classes.held[:, 0]]
            direction = self.generator.normal(size=first.shape[1])
            along = first @ direction + 1e-9 * self.generator.random(len(first))
            edges = np.quantile(along[used], np.linspace(0, 1, workers + 1)[1:-1])
            slots[:] = np.searchsorted(edges, along)
            records[outside] = np.searchsorted(edges, self._places[outside] @ direction)
        free = np.flatnonzero(~used)
        slots[free] = -1
        left = self.leaving.most - len(outside)
        streams = self.generator.spawn(workers)

        def work(me: int) -> None:
            each = rounds // workers + (me < rounds % workers)
            mine = free[me::workers]
            spare = np.empty(len(slots) + 1, np.int64)
            spare[: len(mine)] = mine
            ruin_and_recreate(
                self.classes, self.sides, self.near, self.owned, me, spare, len(mine), self.k, WIDEST,
                left // workers + (me < left % workers), self.leaving.asked, each, streams[me], temperature, self.halt,
            )  # fmt: skip

        if workers == 1:
            work(0)
        else:
            with threads(workers) as pool:
                list(pool.map(work, range(workers)))
        if self.leaving.most:
            self.leaving.ask(self.classes.labels, float(self.classes.prices.sum()))


def split_large(labels: Labels, k: int) -> Labels:
    """The partition with classes of 2k records or more split, which never costs more.

    >>> split_large(np.array([0, 0, 0, 0, 0, 1, 1]), 2)
    array([0, 1, 0, 1, 0, 2, 2])
    """
    classes = canonical(labels)
    sizes = class_sizes(classes)
    order, starts = members(classes)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.repeat(starts[:-1], sizes)
    pieces = np.maximum(sizes // k, 1)
    return canonical(np.concatenate([[0], np.cumsum(pieces)[:-1]])[classes] + place % pieces[classes])
