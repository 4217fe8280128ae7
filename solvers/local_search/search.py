"""How a search goes on: sweeps down to a local optimum, then annealed ruin and recreate, by workers side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optmodels.conditions import ClassTest
from optmodels.halting import raised_when
from optmodels.partition import Labels, canonical
from optmodels.price import Price
from solvers.local_search.clock import Clock, TimedSteps
from solvers.local_search.construct import make_feasible
from solvers.local_search.descents import descent_for
from solvers.local_search.improving import Improving

MOST_SWEEPS = 50
SWEEP_SAVING = 1e-4  # a sweep that saves less than this share ends the first descent
ROUGH_SAVING = 1e-2  # the same where counted rounds of ruin and recreate follow, which save more for their time
STEPS = 200  # least number of temperatures of one cooling
FEW_STEPS = 50  # the same where so few rounds are to be made that going from step to step would take most of the time
ROUNDS_AT_ONCE = 2_000
ROUNDS_BETWEEN_LOOKS = 0.25  # rounds per record between two looks at the whole partition
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
    descent: Improving,
    schedule: Schedule,
    on_best: Callable[[Labels], object],
    halted: Callable[[], bool] = lambda: False,
) -> bool:
    """Improve until the schedule ends or is halted; False if by the clock. `on_best` receives every new best."""
    clock = Clock(schedule.seconds, halted)
    with raised_when(lambda: clock.over, descent.halt):
        return _follow(descent, schedule, clock, on_best)


def _follow(descent: Improving, schedule: Schedule, clock: Clock, on_best: Callable[[Labels], object]) -> bool:
    enough = ROUGH_SAVING if schedule.iterations else SWEEP_SAVING
    for _ in range(MOST_SWEEPS):
        before = descent.total
        for _ in descent.sweep():
            if clock.over:
                break
        if descent.keep_better():
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
    descent: Improving, schedule: Schedule, rounds: int, clock: Clock, on_best: Callable[[Labels], object]
) -> None:
    """Periods of cooling and simmering whose steps are counted, not timed: the same for the same seed."""
    periods = _periods(rounds, descent.n_classes)
    for period in range(periods):
        length = rounds // periods + (period < rounds % periods)
        _period_by_rounds(descent, schedule, length, clock, on_best)


def _period_by_rounds(
    descent: Improving, schedule: Schedule, rounds: int, clock: Clock, on_best: Callable[[Labels], object]
) -> None:
    descent.back_to_best()
    cooling = int(rounds * COOLING)
    done = unseen = since_best = 0
    while done < rounds and not clock.over:
        hot = done < cooling
        spell = SPELL * descent.n_classes
        at_once = max(1, min(ROUNDS_AT_ONCE, cooling // STEPS if hot else spell // LOOKS))
        at_once = min(at_once, (cooling if hot else rounds) - done)
        descent.anneal(at_once, _temperature(schedule, done / cooling) if hot else schedule.simmering)
        done += at_once
        unseen += at_once
        since_best += 0 if hot else at_once
        # a look takes time linear in n, so it waits for as much work
        if unseen >= descent.price.n * ROUNDS_BETWEEN_LOOKS or done >= rounds or clock.over:
            unseen = 0
            if descent.keep_better():
                on_best(descent.best)
            if done >= cooling and (hot or since_best >= spell):
                since_best = 0
                descent.back_to_best()


def _by_time(descent: Improving, schedule: Schedule, clock: Clock, on_best: Callable[[Labels], object]) -> None:
    """A quick cooling, then periods of cooling and simmering that share the time."""
    assert schedule.seconds is not None
    steps = TimedSteps(descent, clock, on_best)
    _cool_by_time(descent, schedule, clock, steps, clock.spent + QUICK * (schedule.seconds - clock.spent))
    periods = _periods(steps.rounds_in(schedule.seconds - clock.spent), descent.n_classes)
    for left in range(periods, 0, -1):
        began = clock.spent
        end = began + (schedule.seconds - began) / left
        _cool_by_time(descent, schedule, clock, steps, began + COOLING * (end - began))
        while clock.spent < end and not clock.over:
            descent.back_to_best()
            spell = SPELL * descent.n_classes
            while spell > 0 and clock.spent < end and not clock.over:
                temperature = schedule.simmering if steps.can_cool(end - began) else 0.0
                spell -= steps.step(temperature, most=max(1, SPELL * descent.n_classes // LOOKS))
            steps.keep_better()


def _cool_by_time(descent: Improving, schedule: Schedule, clock: Clock, steps: TimedSteps, end: float) -> None:
    """One cooling, from the best partition, that ends at a given time."""
    descent.back_to_best()
    began = clock.spent
    length = max(end - began, 1e-6)
    while (share := (clock.spent - began) / length) < 1 and not clock.over:
        steps.step(_temperature(schedule, share) if steps.can_cool(length) else 0.0)
    steps.keep_better()


def improve(
    price: Price, test: ClassTest, labels: Labels, *, n_classes: int | None = None, seconds: float, seed: int
) -> Labels:
    """A feasible partition no worse than the given feasible one, after about so many seconds.

    A given partition that is not feasible is repaired first; if that fails it is returned as it is.

    >>> import numpy as np
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
    descent = descent_for(price, test, start, n_classes=n_classes, seed=seed)
    follow(descent, Schedule(seconds=seconds), lambda found: None)
    return canonical(descent.best)
