"""The course of a search: sweeps down to a local optimum, then annealed ruin and recreate, by workers side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from optmodels.conditions import ClassTest
from optmodels.partition import Labels, canonical
from optmodels.price import SPREAD, Price
from solvers.local_search.construct import make_feasible
from solvers.local_search.moves import sweep
from solvers.local_search.near import neighbourhoods
from solvers.local_search.ruin import ruin_and_recreate
from solvers.local_search.state import LOW, MEAN, fill, new_state

NEIGHBOURS = 12
SWEEP_ROWS = 50_000
MOST_SWEEPS = 50
SWEEP_SAVING = 1e-4  # a sweep that saves less than this share ends the first descent
MOST_ROWS = 512
STEPS = 200  # temperatures of one cooling
STEP_SECONDS = 0.25
FIRST_ROUNDS = 200
ROUNDS_AT_ONCE = 5_000
CYCLES = (0.0, 0.1, 0.3, 1.0)  # coolings, as shares of the time
FEW_ROUNDS = 40
ROUNDS_PER_CLASS = 300
QUIET_CYCLES = 2
CYCLE_SAVING = 1e-4
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
        """So many rounds of ruin and recreate by each worker at one temperature."""
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


@dataclass(frozen=True)
class Schedule:
    """When to stop and how hot to anneal; temperatures are in units of the average price of a class."""

    seconds: float | None = None
    iterations: int | None = None
    hottest: float = 3.0
    coldest: float = 0.01
    widest: int = 4


def follow(descent: Descent, schedule: Schedule, on_best: Callable[[Labels], object]) -> bool:
    """Improve until the schedule ends; False if that was by the clock. `on_best` receives every new best."""
    clock = Clock(schedule.seconds)
    for _ in range(MOST_SWEEPS):
        before = descent.total
        for _ in descent.sweep():
            if clock.over:
                break
        if descent.settle():
            on_best(descent.best)
        if clock.over:
            return False
        if descent.total > before * (1 - SWEEP_SAVING):
            break
    if schedule.iterations is not None:
        _cycle_by_rounds(descent, schedule, schedule.iterations, clock, on_best)
        return not clock.over
    if schedule.seconds is not None:
        _cycles_by_time(descent, schedule, clock, on_best)
        return False
    length, quiet = ROUNDS_PER_CLASS * descent.n_classes, 0
    while quiet < QUIET_CYCLES:
        before = descent.best_price
        _cycle_by_rounds(descent, schedule, length, clock, on_best)
        quiet = 0 if descent.best_price < before * (1 - CYCLE_SAVING) else quiet + 1
        length *= 2
    return True


class Clock:
    """Seconds spent of a limit that may be absent."""

    def __init__(self, limit: float | None) -> None:
        self._began = perf_counter()
        self._limit = limit

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return perf_counter() - self._began

    @property
    def over(self) -> bool:
        """Whether the limit has passed."""
        return self._limit is not None and self.spent >= self._limit


def _temperature(schedule: Schedule, share: float) -> float:
    """Falls geometrically from hottest to coldest while the share of work done rises from 0 to 1."""
    return float(schedule.hottest * (schedule.coldest / schedule.hottest) ** share)


def _cycle_by_rounds(
    descent: Descent, schedule: Schedule, rounds: int, clock: Clock, on_best: Callable[[Labels], object]
) -> None:
    """One cooling whose steps are counted, not timed: the same for the same seed."""
    descent.back_to_best()
    steps = max(1, min(STEPS, rounds // descent.workers))
    done = 0
    for step in range(steps):
        upto = rounds * (step + 1) // steps
        share_of_each = -(-(upto - done) // descent.workers)
        # long steps return to Python now and then, for the clock and for Ctrl-C
        while share_of_each > 0:
            some = min(share_of_each, ROUNDS_AT_ONCE)
            descent.anneal(some, _temperature(schedule, step / steps), schedule.widest)
            share_of_each -= some
            if descent.settle():
                on_best(descent.best)
            if clock.over:
                return
        done = upto


def _cycles_by_time(descent: Descent, schedule: Schedule, clock: Clock, on_best: Callable[[Labels], object]) -> None:
    """Coolings that share the time left, each longer than the one before and each from the best partition."""
    assert schedule.seconds is not None
    began, rounds = clock.spent, FIRST_ROUNDS
    left = schedule.seconds - began
    for low, high in zip(CYCLES[:-1], CYCLES[1:], strict=True):
        descent.back_to_best()
        start, length = began + low * left, (high - low) * left
        while (share := (clock.spent - start) / length) < 1 and not clock.over:
            temperature = _temperature(schedule, max(share, 0.0))
            # where time allows few rounds per class, a hot start would not be cooled down again
            per_class = rounds / (STEP_SECONDS * descent.n_classes) * length * descent.workers
            if per_class < FEW_ROUNDS:
                temperature = 0.0
            before = clock.spent
            descent.anneal(rounds, temperature, schedule.widest)
            took = max(clock.spent - before, 1e-4)
            rounds = 1 + int(rounds * min(4.0, max(0.25, STEP_SECONDS / took)))
            if descent.settle():
                on_best(descent.best)


def improve(
    price: Price, test: ClassTest, labels: Labels, *, n_classes: int | None = None, seconds: float, seed: int
) -> Labels:
    """A feasible partition no worse than the given feasible one, after about so many seconds.

    A given partition that is not feasible is repaired first; if that fails it is returned as it is.

    >>> import optmodels as om
    >>> import pandas as pd
    >>> from optmodels.conditions import Conditions
    >>> from optmodels.price import spread
    >>> table = om.Table(pd.DataFrame({"age": [0, 10, 1, 11, 2, 12]}), quasi={"age": "numeric"})
    >>> start = np.array([0, 0, 0, 1, 1, 1])
    >>> improve(spread(table), Conditions(k=3).compile(table), start, seconds=0.1, seed=1)
    array([0, 1, 0, 1, 0, 1])
    """
    start = make_feasible(price, test, labels, n_classes)
    if start is None:
        return canonical(labels)
    descent = Descent(price, test, start, fixed=n_classes is not None, seed=seed)
    follow(descent, Schedule(seconds=seconds), lambda found: None)
    return canonical(descent.best)
