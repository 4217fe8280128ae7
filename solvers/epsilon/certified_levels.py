"""Levels of entropy for tables too large for every class: a partition and a proven bound for each.

The bound of a level E is the least over the ways to share E out between the attributes. A range of ways is bounded by
`gibbs_bound` and halved, the weakest first. Levels are bounded upwards, each with the duals of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf

import numpy as np

from optmodels import registry
from optmodels.price import Floats, Price
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run
from optmodels.structures import EntropyLevels, Priced, compiled_price
from solvers.epsilon.class_counts import Needs
from solvers.epsilon.gibbs_bound import Bound, least_price
from solvers.epsilon.gibbs_pricing import Kinds
from solvers.epsilon.least_size import least_size
from solvers.epsilon.level_partitions import LevelPartition, LevelPartitions

_MOST_RECORDS = 2_000
_MOST_NUMERIC = 3
_SEARCH_SHARE = 0.2  # of the time, for partitions
_SEARCH_SECONDS = 0.05  # a record, at most over all levels, for partitions
_BOUND_SECONDS = 0.3  # a record and level, for bounds, where there is no time limit
_EXACT_SHARE = 0.8  # of a level's time, for the exact solver's least loss
_FIRST_SHARE = 0.4  # of a level's time, for all ways to share at once
_NARROW = 1e-3  # bits: a range of ways is not halved further
_SAFE = 1e-9  # relative: sums of many duals carry their rounding
_EQUAL = 1e-9  # bits


@dataclass(frozen=True)
class CertifiedLevel:
    """No partition with at least this entropy loses less than `bound`; `found` is the best known."""

    entropy: float
    bound: float
    found: LevelPartition


def applies(problem: Problem) -> bool:
    """Whether the price is a spread in few enough coordinates and the table is neither too small nor too large."""
    priced = problem.structure(Priced)
    price = None if priced is None else priced.compiled
    if price is None or problem.structure(EntropyLevels) is None:
        return False
    return price.name == "spread" and price.numeric.shape[1] <= _MOST_NUMERIC and price.n <= _MOST_RECORDS


def certified_levels(problem: Problem, levels: int, solver: str, run: Run) -> Iterator[CertifiedLevel]:
    """From the least loss to the most entropy, in about so many evenly spaced levels.

    The least loss is also asked of the exact solver, whose bound is stronger where classes are small.
    """
    most = float(problem.require(EntropyLevels).most.sum())
    partitions = _partitions(problem, levels, run)
    first = partitions.best(0.0)
    if first is None:
        return
    seconds = _seconds_of_a_level(problem, levels, run)
    exact = registry.solver(solver)().solve(
        problem, time_limit=max(_EXACT_SHARE * seconds, 0.1), seed=run.seed, start=first.labels
    )
    if exact.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    if exact.labels is not None:
        partitions.offer(exact.labels)
    chosen = partitions.front(np.linspace(first.entropy, most, levels))
    bounds = LevelBounds(problem, run)
    least = exact.bound or 0.0
    for place, found in enumerate(chosen):
        entropy = 0.0 if place == 0 else found.entropy - _EQUAL
        seconds = _seconds_of_a_level(problem, len(chosen) - place, run)
        least = max(least, bounds.least_loss(entropy, found.loss, seconds))
        yield CertifiedLevel(entropy, least, found)


def _seconds_of_a_level(problem: Problem, levels: int, run: Run) -> float:
    return max(0.0, run.remaining / levels) if run.time_limit is not None else _BOUND_SECONDS * problem.n


def _partitions(problem: Problem, levels: int, run: Run) -> LevelPartitions:
    most = float(problem.require(EntropyLevels).most.sum())
    partitions = LevelPartitions(problem, run.seed)
    partitions.offer(np.zeros(problem.n, np.int64))
    limit = _SEARCH_SECONDS * problem.n
    each = (limit if run.time_limit is None else min(limit, _SEARCH_SHARE * run.remaining)) / levels
    partitions.look(0.0, each)
    first = partitions.best(0.0)
    if first is not None:
        for target in np.linspace(first.entropy, most, levels)[-2:0:-1]:
            if run.expired:
                break
            run.report(f"partitions with entropy {target:.3f}")
            partitions.look(float(target), each)
    return partitions


class LevelBounds:
    """Bounds of one level after the other, upwards: what was proven of a lower one holds of a higher one too."""

    def __init__(self, problem: Problem, run: Run) -> None:
        priced = problem.require(Priced)
        price = compiled_price(priced)
        self._most, self._run = problem.require(EntropyLevels).most, run
        self._k, self._scale = problem.test.k, priced.scale
        self._kinds = Kinds.of(price, problem.test.of_records)  # a bound, then, of what counts people as well
        self._known = Bound(-inf, _nearest_costs(self._kinds, price, self._k))
        self._everyone = price.total(np.zeros(price.n, np.int64))

    def least_loss(self, entropy: float, loss: float, seconds: float) -> float:
        """A bound on the loss of any partition with at least this entropy, one with this loss being known."""
        began, ticket = self._run.seconds, count()
        most = self._most
        low = max(0.0, entropy - float(most[1:].sum()))
        high = max(low, min(float(most[0]), entropy))
        if 2 * self._needs(low, high, entropy).k > self._kinds.groups.counts.sum():
            return self._everyone / self._scale  # there can be only one class
        open_ranges = [(self._known.price, next(ticket), low, high, self._known)]
        share, whole, closed = _FIRST_SHARE * seconds, True, inf
        enough = loss * self._scale

        def spent() -> float:
            return self._run.seconds - began

        while open_ranges and open_ranges[0][0] < enough and spent() < seconds and not self._run.expired:
            price, _, low, high, bound = heappop(open_ranges)
            needs = self._needs(low, high, entropy)
            over = self._clock(min(share, seconds - spent()))
            if 2 * needs.k > self._kinds.groups.counts.sum():
                better = Bound(self._everyone, bound.duals)
            else:
                better = least_price(self._kinds, needs, bound.duals, enough, enough, over)
            if whole:
                self._known, whole, share = better, False, 0.15 * seconds
            price = max(price, better.price)
            if len(most) != 2 or high - low <= _NARROW or price >= enough:
                closed = min(closed, price)
                continue
            middle = 0.5 * (low + high)
            for part in ((low, middle), (middle, high)):
                heappush(open_ranges, (price, next(ticket), *part, better))
        proven = min([closed, *(price for price, *_ in open_ranges)])
        return max(0.0, proven / self._scale * (1 - _SAFE))

    def _clock(self, seconds: float) -> Callable[[], bool]:
        """Whether so many seconds, or the run's, have passed from now on."""
        until = self._run.seconds + seconds
        return lambda: self._run.seconds > until or self._run.expired

    def _needs(self, low: float, high: float, entropy: float) -> Needs:
        """What every class needs when the first attribute's least entropy lies in a range."""
        rest = [max(0.0, entropy - high - float(self._most[1:].sum() - most)) for most in self._most[1:]]
        needs = Needs(np.array([low, *rest]), entropy, self._k)
        return needs._replace(k=least_size(self._kinds.whole, needs))


def _nearest_costs(kinds: Kinds, price: Price, k: int) -> Floats:
    """Duals that no class of k or more pays less than: half the mean distance to a record's k nearest, itself included.

    A class of m costs at least 1/2m times the distances of its ordered pairs, which does not fall as m grows.
    """
    near = np.empty(price.n)
    for i in range(price.n):
        distances = ((price.numeric - price.numeric[i]) ** 2).sum(axis=1)
        distances += (price.codes != price.codes[i]) @ price.code_weights
        near[i] = np.partition(distances, k - 1)[:k].sum() / (2 * k)
    return near[np.unique(kinds.groups.of_record, return_index=True)[1]]
