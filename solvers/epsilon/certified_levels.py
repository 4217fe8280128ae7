"""Bounds of levels of entropy for tables too large for every class: losses that no partition of a level is below.

The bound of a level E is the least over the ways to share E out between the attributes. A range of ways is bounded by
`gibbs_bound` and halved, the weakest first. Every level can be gone on with whenever there is time for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from math import floor, inf

import numpy as np

from optmodels.partition import Labels, canonical, class_sizes
from optmodels.price import Floats, Price
from optmodels.problem import Problem
from optmodels.solver import Run
from optmodels.structures import EntropyLevels, Priced, compiled_price
from solvers.epsilon.class_counts import Needs
from solvers.epsilon.gibbs_bound import EXACT, ROUGH, Column, Fields, GibbsBound, least_price
from solvers.epsilon.gibbs_pricing import Kinds
from solvers.epsilon.least_size import least_size, most_of_all, seconds_for

_MOST_RECORDS = 2_000
_MOST_NUMERIC = 3
_RANGE_SHARE = 0.4  # of the time a level is given, for one range of ways to share
_SIZES_SHARE = 0.1  # of the time that is left, for finding out what sizes of classes allow
_FEW_BITS = 0.02  # a range of ways that is hardly wider is bounded exactly
_NARROW = 1e-3  # bits: a range of ways is not halved further
_SAFE = 1e-9  # relative: sums of many duals carry their rounding
_EQUAL = 1e-9  # bits
_OFF = 0.2  # of a range: how far from its ends it is halved


def applies(problem: Problem) -> bool:
    """Whether the price is a spread in few enough coordinates and the table is neither too small nor too large."""
    priced = problem.structure(Priced)
    price = None if priced is None else priced.compiled
    if price is None or problem.structure(EntropyLevels) is None:
        return False
    return price.name == "spread" and price.numeric.shape[1] <= _MOST_NUMERIC and price.n <= _MOST_RECORDS


@dataclass(order=True)
class _Range:
    """Ways to share a level: the first attribute's least entropy, from low to high, and what is proven of them."""

    price: float
    ticket: int
    low: float = field(compare=False)
    high: float = field(compare=False)
    bound: GibbsBound = field(compare=False)


class LevelBounds:
    """Bounds of levels: what was proven of one holds of a higher one too, and its duals are a beginning there."""

    def __init__(self, problem: Problem, run: Run) -> None:
        priced = problem.require(Priced)
        price = compiled_price(priced)
        self.most, self.run = problem.require(EntropyLevels).most, run
        self.k, self.scale = problem.test.k, priced.scale
        self.n_classes = priced.n_classes
        self.kinds = Kinds.of(price, problem.test.of_records)  # a bound, then, of what counts people as well
        self.known = GibbsBound(-inf, _nearest_costs(self.kinds, price, self.k))
        self.everyone = price.total(np.zeros(price.n, np.int64))
        self.fields: Fields = {}
        self._proven: list[tuple[Needs, GibbsBound]] = []
        self._columns: list[tuple[float, Column]] = []

    def learn(self, labels: Labels, entropy: float) -> None:
        """Take in the classes of a partition with this entropy: they steer the duals of all levels up to it."""
        found = canonical(labels)
        of_kind = self.kinds.groups.of_record
        for c in range(len(class_sizes(found))):
            members = np.bincount(of_kind[found == c], minlength=len(self.kinds.groups.counts)).astype(np.float64)
            self._columns.append((entropy, (self.kinds.cost(members), members)))

    def columns(self, entropy: float) -> Iterable[Column]:
        """The classes that were learnt of partitions with at least this entropy."""
        return [column for at, column in self._columns if at >= entropy - _EQUAL]

    def remember(self, needs: Needs, bound: GibbsBound) -> None:
        """Keep what was proven of classes with these needs."""
        self._proven.append((needs, GibbsBound(bound.price, bound.duals)))

    def proven(self, needs: Needs) -> GibbsBound:
        """The best bound of those of looser needs, of whatever level: it holds under these needs too."""
        looser = (
            bound for other, bound in self._proven if (other.least <= needs.least).all() and other.total <= needs.total
        )
        return max(looser, key=lambda bound: bound.price, default=self.known)

    def level(self, entropy: float) -> LevelProof:
        """A proof for partitions with at least this entropy, of which nothing is done yet."""
        return LevelProof(self, entropy)

    def least_loss(self, entropy: float, loss: float, seconds: float) -> float:
        """A bound on the loss of any partition with at least this entropy, one with this loss being known."""
        proof = self.level(entropy)
        proof.advance(loss, seconds)
        return proof.bound

    def clock(self, seconds: float) -> Callable[[], bool]:
        """Whether so many seconds, or the run's, have passed from now on."""
        until = self.run.seconds + seconds
        return lambda: self.run.seconds > until or self.run.expired

    def needs(self, low: float, high: float, entropy: float) -> Needs:
        """What every class needs when the first attribute's least entropy lies in a range."""
        rest = [max(0.0, entropy - high - float(self.most[1:].sum() - most)) for most in self.most[1:]]
        needs = Needs(np.array([low, *rest]), entropy, self.k)
        most = self._most_of_all
        return needs if most is None else needs._replace(k=least_size(self.kinds.whole, needs, most))

    @cached_property
    def _most_of_all(self) -> Floats | None:
        """What sizes of classes allow; not found out where that would take much of the time that is left."""
        left = self.run.remaining if self.run.time_limit is not None else inf
        whole = self.kinds.whole
        return most_of_all(whole) if seconds_for(whole) < _SIZES_SHARE * left else None


class LevelProof:
    """A bound of one level that rises with the time it is given."""

    def __init__(self, bounds: LevelBounds, entropy: float) -> None:
        self.entropy, self._bounds = entropy, bounds
        most = bounds.most
        low = max(0.0, entropy - float(most[1:].sum()))
        high = max(low, min(float(most[0]), entropy))
        self._ticket = count()
        self._closed, self._open = inf, [_Range(0.0, next(self._ticket), low, high, bounds.known)]
        self._fresh = True
        if self._one_class(bounds.needs(low, high, entropy)):
            self._closed, self._open = bounds.everyone, []

    @property
    def price(self) -> float:
        """No partition of this level costs less."""
        return min([self._closed, *(one.price for one in self._open)])

    @property
    def bound(self) -> float:
        """No partition of this level loses less."""
        return max(0.0, self.price / self._bounds.scale * (1 - _SAFE))

    @property
    def done(self) -> bool:
        """Whether more time would be of no use."""
        return not self._open or self._open[0].price >= self._closed

    def advance(self, loss: float, seconds: float) -> None:
        """Raise the bound for about so many seconds, or until it proves this loss of a known partition the least."""
        bounds, enough = self._bounds, loss * self._bounds.scale
        until = bounds.run.seconds + seconds
        while not self.done and self._open[0].price < enough and not bounds.run.expired:
            left = until - bounds.run.seconds
            if left <= 0:
                return
            self._raise(heappop(self._open), enough, bounds.clock(min(_RANGE_SHARE * seconds, left)))

    def _raise(self, ways: _Range, enough: float, over: Callable[[], bool]) -> None:
        """Bound a range of ways to share, and halve it."""
        bounds = self._bounds
        needs = bounds.needs(ways.low, ways.high, self.entropy)
        better = bounds.proven(needs)
        start = better if better.price > ways.price else ways.bound
        if self._one_class(needs):
            better = GibbsBound(bounds.everyone, start.duals)
        elif better.price < enough:
            found = least_price(
                bounds.kinds, needs, start, enough, enough, over, bounds.columns(self.entropy), bounds.n_classes,
                bounds.fields, ROUGH if ways.high - ways.low > _FEW_BITS else EXACT,
            )  # fmt: skip
            bounds.remember(needs, found)
            better = replace(max(better, found, key=lambda bound: bound.price), columns=found.columns)
        if self._fresh:
            bounds.known, self._fresh = GibbsBound(-inf, better.duals), False
        price = max(ways.price, better.price)
        whole = len(bounds.most) != 2 or ways.high - ways.low <= _NARROW
        if whole and price < enough and over():  # cut short: it can go on from its duals
            heappush(self._open, _Range(price, next(self._ticket), ways.low, ways.high, better))
            return
        if whole or price >= enough:
            self._closed = min(self._closed, price)
            return
        middle = _middle(ways.low, ways.high, float(bounds.most[0]))
        for low, high in ((ways.low, middle), (middle, ways.high)):
            heappush(self._open, _Range(price, next(self._ticket), low, high, better))

    def _one_class(self, needs: Needs) -> bool:
        return bool(2 * needs.k > self._bounds.kinds.groups.counts.sum())


def _middle(low: float, high: float, most: float) -> float:
    """Where to halve a range, about: the same places at every level, so that what was proven there is of use.

    >>> _middle(0.0, 1.0, 1.0), _middle(0.3, 1.0, 1.0), _middle(0.45, 0.7, 1.0)
    (0.5, 0.5, 0.625)
    """
    least, step = low + _OFF * (high - low), most
    while (place := (floor(least / step) + 1) * step) > high - _OFF * (high - low):
        step /= 2
    return place


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
