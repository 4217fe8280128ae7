"""A bound where exact pricing is out of reach: the price of every pair of records is split between the two.

Let W be the pairwise bound on the price of classes of the least size k. In a class C every record i pays
sum over j in C of (W_ij / 2 + s_ij) with s antisymmetric, so that the payments of a class add up to W(C) whatever s
is. A record pays at least for its k-1 cheapest partners; the sum of that over all records is a first bound
(`_split_alone`), raised by moving payment from records that are not chosen by the partners they choose.

The second stage prices classes around a seed, their member of lowest rank. With duals on the records, a class {s} + R
costs at least

    - dual_s + sum over i in R of (W_si - dual_i + the k-2 cheapest payments of i in a split that is the seed's own)

so the k-1 smallest terms bound it; duals and all splits climb together by subgradients.

Larger classes need no pricing: the k-subsets of a class of m records cost k/m of its price on average, at most. So
a partition averages to a fractional one into classes of k records, n/k of them in all, and at most one for each seed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from optmodels.parallel import threads
from solvers.columns.instance import Floats, Instance, Ints
from solvers.columns.split_kernels import Refined, SplitShares, pay_nearest, price_seeds, shift_unanswered, split_evenly

_LEAST_SIZE = 3
_MOST_RECORDS = 3_000  # matrices of all pairs, and of the candidates' pairs of every record
_CANDIDATES = 60
_CHUNKS = 16
_QUANTUM = 2.0**-28  # of the most expensive pair

_ALONE_PACE = 0.5
_ALONE_STEPS = 100  # as many must raise the bound
_ALONE_GAIN = 0.004  # by this share of the goal, or the second stage takes over

_HOPE = 0.97  # of the incumbent's price: what the bound is believed to reach
_PACE = 0.12  # of the duals
_SPLIT_PACE = 0.7  # of the seeds' own splits
_PATIENCE = 15  # steps that must raise the bound
_GAIN = 1e-4  # by this share, or the pace is lowered
_WARM_UP = 60  # steps in which the bound may first fall
_SLOWER = 0.7
_SLOWEST = 1e-4

Proved = Callable[[float], None]
Expired = Callable[[], bool]


def applies(instance: Instance) -> bool:
    """Whether classes and table have sizes that this bound is made for."""
    if instance.n_classes is not None and instance.n_classes * (instance.smallest + 1) < instance.n:
        return False  # classes are larger than k on average
    return instance.smallest >= _LEAST_SIZE and 2 * instance.smallest <= instance.n <= _MOST_RECORDS


def split_bound(
    instance: Instance, goal: float, proved: Proved, expired: Expired, *, first_stage_only: bool = False
) -> None:
    """Report ever better lower bounds on every partition's price; `goal` is the incumbent's."""
    pairs = instance.pair_bound(instance.smallest).distance[np.ix_(instance.type_of, instance.type_of)]
    pairs = np.ascontiguousarray(pairs)
    with threads() as pool:
        payments, shift = _split_alone(pool, pairs, instance.smallest, goal, proved, expired)
        if not first_stage_only and not expired():
            shares = _shares(pairs, shift, payments, instance.smallest)
            _Ascent(pool, shares, payments, instance.smallest, _HOPE * goal).climb(proved, expired)


def _split_alone(
    pool: ThreadPoolExecutor, pairs: Floats, size: int, goal: float, proved: Proved, expired: Expired
) -> tuple[Floats, Floats]:
    """The first stage: what every record pays at least, and the split behind it."""
    n = len(pairs)
    shift = np.zeros_like(pairs)
    partners = np.zeros((n, size - 1), np.int64)
    payments = np.zeros(n)
    chunks = np.array_split(np.arange(n), _CHUNKS)
    best = before = 0.0
    pace = _ALONE_PACE
    steps = failures = 0
    while True:
        list(pool.map(lambda rows: pay_nearest(pairs, shift, rows, partners, payments), chunks))
        bound = float(payments.sum())
        proved(bound)
        failures = 0 if bound > best else failures + 1
        if failures == _PATIENCE:
            pace, failures = _SLOWER * pace, 0
        best = max(best, bound)
        steps += 1
        if steps % _ALONE_STEPS == 0:
            if best - before < _ALONE_GAIN * goal:
                break
            before = best
        if expired() or bound >= goal or not shift_unanswered(shift, partners, pace * (goal - bound)):
            break
    return payments, shift


def _shares(pairs: Floats, shift: Floats, payments: Floats, size: int) -> SplitShares:
    n = len(pairs)
    share = 0.5 * pairs + shift
    np.fill_diagonal(share, np.inf)
    nearest = np.argsort(share, axis=1, kind="stable")[:, : n - 1].astype(np.int64)
    paid = np.take_along_axis(share, nearest, axis=1)
    # Isolated records come first: as seeds, what they cost with others is counted in full.
    rank = np.empty(n, np.int64)
    rank[np.argsort(-payments, kind="stable")] = np.arange(n)
    return SplitShares(pairs, shift, nearest, paid, paid[:, : size - 2].sum(axis=1), rank)


class _Ascent:
    """The second stage: duals and the seeds' own splits climb together."""

    def __init__(self, pool: ThreadPoolExecutor, shares: SplitShares, payments: Floats, size: int, hope: float) -> None:
        n = len(payments)
        self.pool = pool
        self.shares = shares
        self.hope = hope
        self.n_classes = n / size
        # The bound does not change when all duals do alike; at this height a class is believed to cost 0 at least.
        self.duals = payments + (hope - payments.sum()) / n
        keys = shares.pairs - self.duals + shares.least
        keys[shares.rank[None, :] < shares.rank[:, None]] += np.abs(keys).max() + 1.0
        np.fill_diagonal(keys, np.inf)
        candidates = np.argsort(keys, axis=1, kind="stable")[:, : min(_CANDIDATES, n - 1)].astype(np.int64)
        room = np.empty((n, candidates.shape[1], candidates.shape[1]), np.int32)
        self.refined = Refined(candidates, room, _QUANTUM * max(float(shares.pairs.max()), 1e-300))
        self.values = np.empty(n)
        self.chosen = np.zeros((n, size - 1), np.int64)
        # A mixture of seeds of low and of high rank in every chunk: those of high rank have few candidates.
        self.chunks = [np.arange(start, n, _CHUNKS) for start in range(min(_CHUNKS, n))]
        list(pool.map(lambda seeds: split_evenly(self.shares, self.refined, seeds), self.chunks))

    def climb(self, proved: Proved, expired: Expired) -> None:
        """Take steps until they are too small to matter or the time is over."""
        pace, before, recent, steps = _PACE, -np.inf, -np.inf, 0
        while pace > _SLOWEST:
            bound, direction = self._evaluate(_SPLIT_PACE * (pace / _PACE) ** 0.5)
            if expired():
                return
            proved(bound)
            recent = max(recent, bound)
            steps += 1
            if steps % _PATIENCE == 0:
                pace = pace if recent > before + _GAIN * self.hope else _SLOWER * pace
                before, recent = max(recent, before if steps > _WARM_UP else -np.inf), -np.inf
            length = float(direction @ direction)
            if length == 0 or bound >= self.hope:
                return
            self.duals = self.duals + pace * (self.hope - bound) / length * direction

    def _evaluate(self, pace: float) -> tuple[float, Floats]:
        """The bound at the present duals and splits, and how far each record is from being covered once."""

        def work(seeds: Ints) -> None:
            price_seeds(self.shares, self.refined, self.duals, seeds, pace, self.values, self.chosen)

        list(self.pool.map(work, self.chunks))
        left = self.n_classes
        bound = float(self.duals.sum())
        missing = np.ones(len(self.duals))
        for s in np.argsort(self.values, kind="stable"):
            times = min(left, 1.0)
            bound += times * float(self.values[s])
            missing[s] -= times
            missing[self.chosen[s]] -= times
            left -= times
            if left <= 0:
                break
        return bound, missing
