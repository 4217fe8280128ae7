"""The course of a search: sweeps down to a local optimum, then annealed ruin and recreate, by workers side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from optmodels.conditions import ClassTest
from optmodels.parallel import threads
from optmodels.partition import Labels, canonical
from optmodels.price import Price
from solvers.local_search.construct import make_feasible
from solvers.local_search.cross import crossed
from solvers.local_search.moves import sweep
from solvers.local_search.near import Near, neighbourhoods
from solvers.local_search.pace import Clock, Pace
from solvers.local_search.ruin import Rules, Share, ruin_and_recreate
from solvers.local_search.state import fill, new_state

NEIGHBOURS = 12
SWEEP_ROWS = 2_000
MOST_SWEEPS = 50
SWEEP_SAVING = 1e-4  # a sweep that saves less than this share ends the first descent
ROUGH_SAVING = 1e-2  # the same where counted rounds of ruin and recreate follow, which save more for their time
MOST_ROWS = 512  # taken apart at once, unless classes are larger
LARGE_ROWS = 20_000
CLASSES_PER_WORKER = 20
STEPS = 200  # least number of temperatures of one cooling
FEW_STEPS = 50  # the same where so few rounds are to be made that going from step to step would take most of the time
ROUNDS_AT_ONCE = 2_000
# Of the classes, searched side by side; no number of cores: for a seed the answer must not depend on the machine.
SHARES = 2
SETTLE_ROUNDS = 0.25  # rounds per record between two looks at the whole partition
QUICK = 0.05  # of the time, for a first quick cooling
PERIODS = (
    4  # of cooling and simmering: what one cooling froze wrongly, such as the classes of outliers, another may not
)
PERIOD_ROUNDS = 1_000  # per class, the least for a period of its own
COOLING = 0.4  # of a period; the rest simmers
SPELL = 130  # rounds per class of one spell of simmering, from the best partition and back to it
LOOKS = 10  # at the whole partition in a spell: every time the parts that have become better are kept
ROUNDS_PER_CLASS = 300
QUIET_CYCLES = 2
CYCLE_SAVING = 1e-4
TOLERANCE = 1e-11  # of the price of everyone in one class: savings below it are rounding


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
        workers: int = SHARES,
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

    def settle(self) -> bool:
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
            yield sweep(self.state, self.test, self.near, self.owner, 0, order, low, high, self.tolerance)

    def anneal(self, rounds: int, temperature: float) -> None:
        """So many rounds of ruin and recreate, shared among the workers, at one temperature."""
        workers = max(1, min(self.workers, self.n_classes // CLASSES_PER_WORKER))
        shares = self._share_out(workers)
        streams = self.generator.spawn(workers)

        def work(me: int) -> None:
            each = rounds // workers + (me < rounds % workers)
            ruin_and_recreate(self.state, self.test, self.near, shares[me], self.rules, each, streams[me], temperature)

        if workers == 1:
            work(0)
            return
        with threads(workers) as pool:
            list(pool.map(work, range(workers)))

    def _share_out(self, workers: int) -> list[Share]:
        """Give each worker the classes between two of some random parallel planes, and free slots."""
        state = self.state
        used = state.sizes > 0
        self.owner[:] = 0
        if workers > 1:
            middle = np.where(used[:, None], state.measures[:, 0], 0.0)
            along = middle @ self.generator.normal(size=middle.shape[1]) + 1e-9 * self.generator.random(len(middle))
            edges = np.quantile(along[used], np.linspace(0, 1, workers + 1)[1:-1])
            self.owner[:] = np.searchsorted(edges, along)
        free = np.flatnonzero(~used)
        shares = []
        for me in range(workers):
            mine = free[me::workers]
            self.owner[mine] = me
            spare = np.empty(len(self.owner) + 1, np.int64)
            spare[: len(mine)] = mine
            shares.append(Share(self.owner, me, spare, len(mine)))
        return shares


@dataclass(frozen=True)
class Schedule:
    """When to stop and how hot to anneal; temperatures as of `ruin_and_recreate`.

    A cooling from the hottest to the coldest finds a good partition. What is left is local: spells at a low
    temperature, each from the best partition, of which every part that becomes better is kept (`cross`).
    """

    seconds: float | None = None
    iterations: int | None = None
    hottest: float = 0.35
    coldest: float = 0.01
    simmering: float = 0.03


def follow(
    descent: Descent,
    schedule: Schedule,
    on_best: Callable[[Labels], object],
    halted: Callable[[], bool] = lambda: False,
) -> bool:
    """Improve until the schedule ends or is halted; False if by the clock. `on_best` receives every new best."""
    clock = Clock(schedule.seconds, halted)
    enough = ROUGH_SAVING if schedule.iterations else SWEEP_SAVING
    for _ in range(MOST_SWEEPS):
        before = descent.total
        for _ in descent.sweep():
            if clock.over:
                break
        if descent.settle():
            on_best(descent.best)
        if clock.over:
            return False
        if descent.total > before * (1 - enough):
            break
    if schedule.iterations is not None:
        _by_rounds(descent, schedule, schedule.iterations, clock, on_best)
        return not clock.over
    if schedule.seconds is not None:
        _by_time(descent, schedule, clock, on_best)
        return False
    length, quiet = ROUNDS_PER_CLASS * descent.n_classes, 0
    while quiet < QUIET_CYCLES and not clock.over:
        before = descent.best_price
        _by_rounds(descent, schedule, length, clock, on_best)
        quiet = 0 if descent.best_price < before * (1 - CYCLE_SAVING) else quiet + 1
        length *= 2
    return True


def _temperature(schedule: Schedule, share: float) -> float:
    """Falls geometrically from hottest to coldest while the share of work done rises from 0 to 1."""
    return float(schedule.hottest * (schedule.coldest / schedule.hottest) ** share)


def _periods(rounds: float, n_classes: int) -> int:
    return int(max(1, min(PERIODS, rounds // (PERIOD_ROUNDS * n_classes))))


def _by_rounds(
    descent: Descent, schedule: Schedule, rounds: int, clock: Clock, on_best: Callable[[Labels], object]
) -> None:
    """Periods of cooling and simmering whose steps are counted, not timed: the same for the same seed."""
    periods = _periods(rounds, descent.n_classes)
    for period in range(periods):
        length = rounds // periods + (period < rounds % periods)
        _period_by_rounds(descent, schedule, length, clock, on_best)


def _period_by_rounds(
    descent: Descent, schedule: Schedule, rounds: int, clock: Clock, on_best: Callable[[Labels], object]
) -> None:
    descent.back_to_best()
    cooling = int(rounds * COOLING)
    done = unsettled = since_best = 0
    while done < rounds and not clock.over:
        hot = done < cooling
        spell = SPELL * descent.n_classes
        at_once = max(1, min(ROUNDS_AT_ONCE, cooling // STEPS if hot else spell // LOOKS))
        at_once = min(at_once, (cooling if hot else rounds) - done)
        descent.anneal(at_once, _temperature(schedule, done / cooling) if hot else schedule.simmering)
        done += at_once
        unsettled += at_once
        since_best += 0 if hot else at_once
        # settling takes time linear in n, so it waits for as much work
        if unsettled >= descent.price.n * SETTLE_ROUNDS or done >= rounds or clock.over:
            unsettled = 0
            if descent.settle():
                on_best(descent.best)
            if done >= cooling and (hot or since_best >= spell):
                since_best = 0
                descent.back_to_best()


def _by_time(descent: Descent, schedule: Schedule, clock: Clock, on_best: Callable[[Labels], object]) -> None:
    """A quick cooling, then periods of cooling and simmering that share the time."""
    assert schedule.seconds is not None
    pace = Pace(descent, clock, on_best)
    _cool_by_time(descent, schedule, clock, pace, clock.spent + QUICK * (schedule.seconds - clock.spent))
    periods = _periods(pace.rounds_in(schedule.seconds - clock.spent), descent.n_classes)
    for left in range(periods, 0, -1):
        began = clock.spent
        end = began + (schedule.seconds - began) / left
        _cool_by_time(descent, schedule, clock, pace, began + COOLING * (end - began))
        while clock.spent < end and not clock.over:
            descent.back_to_best()
            spell = SPELL * descent.n_classes
            while spell > 0 and clock.spent < end and not clock.over:
                temperature = schedule.simmering if pace.can_cool(end - began) else 0.0
                spell -= pace.step(temperature, most=max(1, SPELL * descent.n_classes // LOOKS))
            pace.settle()


def _cool_by_time(descent: Descent, schedule: Schedule, clock: Clock, pace: Pace, end: float) -> None:
    """One cooling, from the best partition, that ends at a given time."""
    descent.back_to_best()
    began = clock.spent
    length = max(end - began, 1e-6)
    while (share := (clock.spent - began) / length) < 1 and not clock.over:
        pace.step(_temperature(schedule, share) if pace.can_cool(length) else 0.0)
    pace.settle()


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
