"""All classes that are worth more than they cost, or nearly so: looked for in floating point, judged in fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from optmodels.verifier.class_prices import ClassPrices, Floats

MOST_LISTED = 300_000  # classes priced one by one
MOST_STEPS = 1_000_000  # of a search, where there are more or where they are put together
_HAIR = 1e-11  # of what is added up: far more than rounding makes of it

Class = tuple[int, ...]


class TooManyError(Exception):
    """There are more classes than this verifier looks at."""


def reduced(prices: ClassPrices, duals: list[Fraction], rows: Class) -> Fraction:
    """What a class costs beyond the duals of its records."""
    return prices.exactly(rows) - sum(duals[i] for i in rows)


def below(prices: ClassPrices, duals: list[Fraction], size: int, ceiling: Fraction) -> dict[Class, Fraction]:
    """Every class of this size that costs less than the duals of its records and the ceiling, with its reduced cost.

    Raises:
        TooManyError: they cannot all be looked at.
    """
    n, rough = len(duals), np.array([float(dual) for dual in duals])
    hair = _HAIR * (size * float(np.abs(rough).max()) + abs(float(ceiling)))
    limit = float(ceiling) + hair
    if comb(n, size) <= MOST_LISTED:
        some = np.array(list(combinations(range(n), size)), np.int64).reshape(-1, size)
    else:
        steps = _Steps()
        some = np.array(
            sorted({rows for seed in range(n) for rows in _around(prices, rough, size, limit, seed, steps)}), np.int64
        ).reshape(-1, size)
    near = some[~(prices.roughly(some) - rough[some].sum(axis=1) >= limit)]  # also where that overflows
    costs = {tuple(rows): reduced(prices, duals, tuple(rows)) for rows in near.tolist()}
    return {rows: cost for rows, cost in costs.items() if cost < ceiling}


class _Steps:
    """How many steps were taken, which are not to be too many."""

    taken = 0

    def take(self) -> None:
        self.taken += 1
        if self.taken > MOST_STEPS:
            raise TooManyError


def _around(prices: ClassPrices, duals: Floats, size: int, limit: float, seed: int, steps: _Steps) -> Iterator[Class]:
    """Classes in whose middle this record may be: half of all pairs' shares are size/2 times those with the medoid.

    So a member t adds at least key_t = size/2 * apart(seed, t) - dual_t; of the others the least keys are added.
    """
    everyone = np.arange(len(duals))
    row = prices.apart(np.array([seed]), everyone, size)[0]
    key = 0.5 * size * row - duals
    key[seed] = np.inf
    rest = float(np.sort(key)[: size - 2].sum()) - duals[seed]
    near = np.flatnonzero(key < limit - rest)
    near = near[np.argsort(key[near], kind="stable")]
    if len(near) < size - 1:
        return
    inside, keys = prices.apart(near, near, size), key[near]
    np.fill_diagonal(inside, np.inf)
    nearest = np.hstack([np.zeros((len(near), 1)), np.cumsum(np.sort(inside, axis=1)[:, : size - 1], axis=1)])
    np.fill_diagonal(inside, 0.0)

    def grow(chosen: list[int], first: int, cost: float, star: float, joined: Floats) -> Iterator[Class]:
        """`cost` of those chosen by their pairs, `star` by their keys; `joined`, what each other one would add."""
        steps.take()
        left = size - 1 - len(chosen)
        adds = joined[first:]
        if left == 1:
            for at in np.flatnonzero(cost + adds < limit).tolist():
                yield tuple(sorted([seed, *near[chosen].tolist(), int(near[first + at])]))
            return
        if len(adds) < left:
            return
        if cost + np.partition(adds + 0.5 * nearest[first:, left - 1], left - 1)[:left].sum() >= limit:
            return
        for at in range(first, len(near) - left + 1):
            if star + keys[at : at + left].sum() >= limit:
                return
            yield from grow([*chosen, at], at + 1, cost + joined[at], star + keys[at], joined + inside[at])

    yield from grow([], 0, -duals[seed], -duals[seed], row[near] - duals[near])


def cheaper_cover(
    found: dict[Class, Fraction],
    n: int,
    budget: Fraction,
    k: int,
    alone: dict[int, Fraction],
    most: int,
    count: int | None,
) -> list[Class] | None:
    """Classes that hold every record once, up to `most` of them left out, and cost less than the budget; or None.

    `alone` is the reduced cost of leaving out each record, `count` the number of classes where that is given.

    Raises:
        TooManyError: there are too many ways to put classes together.
    """
    steps = _Steps()
    worst = min([Fraction(0), *found.values(), *alone.values()])
    holding: list[list[tuple[Fraction, int, Class]]] = [[] for _ in range(n)]
    for rows, cost in sorted(found.items(), key=lambda one: one[1]):
        for i in rows:
            holding[i].append((cost, sum(1 << j for j in rows), rows))
    order = sorted(range(n), key=lambda i: len(holding[i]))  # those with the fewest ways first

    def cover(left: int, budget: Fraction, out: int, chosen: list[Class]) -> list[Class] | None:
        steps.take()
        if not left:
            return chosen if budget > 0 and count in (None, len(chosen)) else None
        spare = budget - worst * (left.bit_count() // (1 if alone else k) - 1)
        record = next(i for i in order if left >> i & 1)
        for cost, mask, rows in holding[record]:
            if cost >= spare:
                break
            if mask & left == mask and (done := cover(left & ~mask, budget - cost, out, [*chosen, rows])) is not None:
                return done
        if out and alone[record] < spare:
            return cover(left & ~(1 << record), budget - alone[record], out - 1, chosen)
        return None

    return cover((1 << n) - 1, budget, most, [])
