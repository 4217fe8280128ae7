"""Exact pricing of all classes, in chunks that return to Python often, and the bound that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import wait
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from optmodels.parallel import threads
from solvers.columns.charges import charged, rewards
from solvers.columns.duals import Duals
from solvers.columns.instance import Floats, Instance, Ints, PairBound
from solvers.columns.search import Limit
from solvers.columns.sweeps import collect, collect_few, search_many, star_bounds

_MOST_KEPT_BYTES = 2_000_000_000  # of pairwise bounds
_CHUNK = 16  # seeds times class size
_POLL_SECONDS = 0.1
_CRUDE_AT_ONCE = 512  # seeds bounded between two looks at the clock
_SAMPLE = 24
_LEAST_COMPLETED = 0.5
# What a search that was cut short is tried again with: ever less of the gap between the crude bound and zero.
_SHARES = (0.5, 0.75, 0.875)

Expired = Callable[[], bool]
Result = TypeVar("Result")


@dataclass(eq=False)
class NewColumns:
    """What exact pricing found: the best class of each seed and size, and the least reduced cost of each seed."""

    classes: list[Ints] = field(default_factory=list)
    floors: Floats = field(default_factory=lambda: np.zeros(0))  # of each seed's classes, at most 0
    complete: bool = True  # no search was cut short, so the floors are exact
    nodes: int = 0

    def slack(self, instance: Instance) -> float:
        """A bound (at most 0) on the reduced costs of any partition together.

        A type is the medoid of at most as many classes as it has copies, and there are at most n/k classes; so it
        is for the fractional classes that `sizes` speaks of.
        """
        total = 0.0
        left = instance.n / instance.smallest if instance.n_classes is None else float(instance.n_classes)
        for t in np.argsort(self.floors, kind="stable"):
            if left <= 0 or self.floors[t] >= 0:
                break
            times = min(left, float(instance.types.copies[t]))
            total += times * float(self.floors[t])
            left -= times
        return total


class Pricer:
    """Exact pricing by depth-first search from every type as a medoid, for every size.

    A search is cut short after `node_limit` nodes; its seed's floor is then the best ceiling below which a
    search could be completed.
    """

    def __init__(self, instance: Instance, node_limit: int) -> None:
        self.instance = instance
        self._limit = Limit(node_limit, np.zeros(1, np.bool_))
        self._bounds: dict[int, PairBound] = {}

    def pair_bound(self, size: int, duals: Duals) -> PairBound:
        """The pairwise bound for classes of one size with the duals' charges; without them it is kept."""
        if size not in self._bounds:
            most = max(1, _MOST_KEPT_BYTES // (8 * self.instance.n_types**2))
            while len(self._bounds) >= most:
                del self._bounds[next(iter(self._bounds))]
            self._bounds[size] = self.instance.pair_bound(size)
        return charged(self._bounds[size], duals, self.instance.types.copies)

    def _crude(self, duals: Duals, expired: Expired) -> Floats | None:
        """A bound for each seed on its classes of each size or larger, by distances to the seed alone.

        None if there is no time for that.
        """
        instance = self.instance
        gains, bounds = rewards(duals, instance.types.copies), []
        for first in range(0, instance.n_types, _CRUDE_AT_ONCE):
            if first and expired():
                return None
            bounds.append(
                star_bounds(
                    instance.types.copies,
                    instance.distance,
                    instance.star_factor,
                    duals,
                    gains,
                    np.arange(first, min(first + _CRUDE_AT_ONCE, instance.n_types)),
                    instance.smallest,
                    instance.largest,
                )
            )
        return np.concatenate(bounds)

    def sizes(self, duals: Duals) -> range:
        """The sizes that pricing must look at.

        The k-subsets of a class of m records cost k/m of its price on average, at most, whatever the price is. So
        where nothing but size matters and the duals charge records alone, no larger class has a lower reduced cost
        per record than all classes of k.
        """
        instance = self.instance
        alone = len(duals.penalties) == 0 and len(duals.charges) == 0
        alone = alone and instance.types.only_size and instance.n_classes is None
        return range(instance.smallest, (instance.smallest if alone else instance.largest) + 1)

    def out_of_reach(self, duals: Duals, tolerance: float, expired: Expired) -> bool:
        """Whether most searches would be cut short, by nodes or time, already for the smallest classes: a sample."""
        instance = self.instance
        if instance.n_types <= _SAMPLE:
            return False
        seeds = np.linspace(0, instance.n_types - 1, _SAMPLE).astype(np.int64)
        bound = self.pair_bound(instance.smallest, duals)

        def work(some: Ints) -> NDArray[np.bool_]:
            ceilings = np.full(len(some), -tolerance)
            completed: NDArray[np.bool_] = search_many(instance.types, bound, duals, some, ceilings, self._limit)[2]
            return completed

        with closing(self._side_by_side(work, seeds, expired)) as results:
            completed = np.concatenate([done for _, done in results])
        return bool(completed.mean() < _LEAST_COMPLETED)

    def price(self, duals: Duals, tolerance: float, expired: Expired) -> NewColumns:
        """The best class of each seed and size below -tolerance; what time did not suffice for is bounded crudely."""
        instance = self.instance
        result = NewColumns(floors=np.full(instance.n_types, -tolerance))
        crude = self._crude(duals, expired)
        if crude is None:
            result.floors[:], result.complete = -np.inf, False
            return result
        for size in self.sizes(duals):
            seeds = np.flatnonzero(crude[:, size] < -tolerance)
            if len(seeds) == 0:
                break
            short = self._price_size(size, seeds, np.full(len(seeds), -tolerance), duals, result, expired)
            if short is None or not self._floors_of_short(size, short, crude[:, size], duals, result, expired):
                np.minimum(result.floors, crude[:, size], out=result.floors)
                result.complete = False
                break
        return result

    def _price_size(
        self, size: int, seeds: Ints, ceilings: Floats, duals: Duals, result: NewColumns, expired: Expired
    ) -> Ints | None:
        """Search these seeds and note what is found; the seeds whose search was cut short, None if out of time."""
        cut_short: list[NDArray[np.int64]] = []
        bound = self.pair_bound(size, duals)

        def work(places: Ints) -> tuple[Ints, Floats, NDArray[np.bool_], Ints]:
            types = self.instance.types
            best: tuple[Ints, Floats, NDArray[np.bool_], Ints] = search_many(
                types, bound, duals, seeds[places], ceilings[places], self._limit
            )
            return best

        with closing(self._side_by_side(work, np.arange(len(seeds)), expired)) as results:
            for chunk, (found, costs, completed, nodes) in results:
                result.nodes += int(nodes.sum())
                for i in np.flatnonzero(np.isfinite(costs)):
                    result.classes.append(np.sort(found[i]))
                    seed = seeds[chunk[i]]
                    result.floors[seed] = min(result.floors[seed], costs[i])
                cut_short.append(seeds[chunk[~completed]])
                if expired():
                    return None
        return np.concatenate(cut_short)

    def _floors_of_short(
        self, size: int, short: Ints, crude: Floats, duals: Duals, result: NewColumns, expired: Expired
    ) -> bool:
        """Lower the floors of searches that were cut short to what can be proven; False if out of time."""
        if len(short) == 0:
            return True
        result.complete = False
        floors = crude[short].copy()
        open_places = np.arange(len(short))
        for share in _SHARES[::-1]:
            ceilings = share * crude[short[open_places]]
            still = self._price_size(size, short[open_places], ceilings, duals, result, expired)
            if still is None:
                return False
            done = ~np.isin(short[open_places], still)
            floors[open_places[done]] = np.maximum(floors[open_places[done]], ceilings[done])
            open_places = open_places[done]
            if len(open_places) == 0:
                break
        np.minimum.at(result.floors, short, floors)
        return True

    def below(self, duals: Duals, ceiling: float, room: int, expired: Expired) -> list[Ints] | None:
        """All classes with a reduced cost below the ceiling, or None if they are more than `room` or time is out."""
        instance = self.instance
        crude = self._crude(duals, expired)
        if crude is None:
            return None
        classes: list[Ints] = []
        for size in range(instance.smallest, instance.largest + 1):
            seeds = np.flatnonzero(crude[:, size] < ceiling)
            if len(seeds) == 0:
                break
            bound = self.pair_bound(size, duals)
            work = partial(_collected, collect, instance, bound, duals, ceiling, self._limit, room)
            with closing(self._side_by_side(work, seeds, expired)) as results:
                for _, (found, _costs, complete) in results:
                    if not complete or len(classes) + len(found) > room or expired():
                        return None
                    classes += [np.sort(members) for members in found]
        return classes

    def few_of_each(self, duals: Duals, ceiling: float, few: int, expired: Expired) -> list[Ints]:
        """The classes of least reduced cost of each seed and size, about `few` of each and all below the ceiling."""
        classes: list[Ints] = []
        instance = self.instance
        # Only a heuristic list: sizes beyond 2k - 1, where conditions allow them, are left to the other lists.
        for size in range(instance.smallest, min(instance.largest, 2 * instance.smallest - 1) + 1):
            bound = self.pair_bound(size, duals)
            work = partial(_collected, collect_few, instance, bound, duals, ceiling, self._limit, few)
            with closing(self._side_by_side(work, np.arange(instance.n_types), expired)) as results:
                for _, (found, counts) in results:
                    classes += [np.sort(found[i, j]) for i in range(len(counts)) for j in range(counts[i])]
                    if expired():
                        return classes
        return classes

    def _side_by_side(
        self, work: Callable[[Ints], Result], places: Ints, expired: Expired
    ) -> Generator[tuple[Ints, Result], None, None]:
        """Chunks of places with what the kernels make of them; closing it drops the chunks not begun.

        Kernels that are still at it when the time is over are cut short.
        """
        # A search from one seed takes about as many times longer as classes are larger.
        chunks = np.array_split(places, max(1, len(places) * self.instance.smallest // _CHUNK))
        pool = threads()
        self._limit.halted[0] = False
        try:
            jobs = [pool.submit(work, chunk) for chunk in chunks]
            for chunk, job in zip(chunks, jobs, strict=True):
                while not wait([job], _POLL_SECONDS).done:
                    self._limit.halted[0] = expired()
                yield chunk, job.result()
        finally:
            self._limit.halted[0] = True
            pool.shutdown(cancel_futures=True)
            self._limit.halted[0] = False


def _collected(
    kernel: Callable[..., Any],
    instance: Instance,
    bound: PairBound,
    duals: Duals,
    ceiling: float,
    limit: Limit,
    most: int,
    seeds: Ints,
) -> Any:
    return kernel(instance.types, bound, duals, seeds, ceiling, limit, most)
