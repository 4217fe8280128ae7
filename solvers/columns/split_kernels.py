"""The kernels of `split_bound`: what records pay at least when the price of every pair is split between its two.

The seeds' own splits are whole multiples of a small quantum, rounded down: sums are exact, so the payments for a pair
never add up to more than its price however often payment was moved to and fro.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from solvers.columns.instance import Floats, Ints

Quanta = NDArray[np.int32]

NEVER = np.int32(2**31 - 1)  # what a record pays for itself, or for one that the seed cannot have
_MOST = 2**30  # payments beyond this are not moved any further


class SplitShares(NamedTuple):
    """The split that all seeds share: record i pays pairs[i, j] / 2 + shift[i, j] for being with j."""

    pairs: Floats  # (n, n): what a pair in one class costs at least
    shift: Floats  # (n, n): antisymmetric
    nearest: Ints  # (n, some): the records cheapest for each, ascending
    payments: Floats  # what it pays for those
    least: Floats  # (n): the size - 2 smallest payments together
    rank: Ints  # (n): a class is searched from its member of lowest rank


class Refined(NamedTuple):
    """Each seed's own split of the pairs among some of its candidates."""

    candidates: Ints  # (n, c)
    payments: Quanta  # (n, c, c): what one candidate pays for another
    quantum: float


@part
def _keep(values: Floats | Ints, names: Ints, count: int, value: float | np.int64, name: int) -> int:
    """Insert into the ascending list of the smallest values if there is place; how many it holds then."""
    if count < len(values):
        place = count
        count += 1
    elif value < values[count - 1]:
        place = count - 1
    else:
        return count
    while place > 0 and values[place - 1] > value:
        values[place], names[place] = values[place - 1], names[place - 1]
        place -= 1
    values[place], names[place] = value, name
    return count


@kernel(nogil=True)
def pay_nearest(pairs: Floats, shift: Floats, rows: Ints, partners: Ints, totals: Floats) -> None:
    """For each of `rows` the cheapest partners, as many as `partners` has columns, and what they cost it."""
    best = np.empty(partners.shape[1])
    for i in rows:
        count = 0
        for j in range(len(pairs)):
            if j != i:
                count = _keep(best, partners[i], count, 0.5 * pairs[i, j] + shift[i, j], j)
        totals[i] = best.sum()


@part
def _contains(names: Ints, name: int | np.intp) -> bool:
    found = False
    for other in names:
        found = found or other == name
    return found


@kernel
def shift_unanswered(shift: Floats, partners: Ints, amount: float) -> bool:
    """Let records pay more for partners that do not choose them too, `amount` in all; False if there are none."""
    n, q = partners.shape
    unanswered = 0
    for i in range(n):
        for x in range(q):
            unanswered += not _contains(partners[partners[i, x]], i)
    if unanswered == 0:
        return False
    step = amount / unanswered
    for i in range(n):
        for x in range(q):
            j = partners[i, x]
            if not _contains(partners[j], i):
                shift[i, j] += step
                shift[j, i] -= step
    return True


@part
def in_quanta(value: float, quantum: float) -> int:
    """Rounded down."""
    return int(np.floor(value / quantum))


@kernel(nogil=True)
def split_evenly(shares: SplitShares, refined: Refined, seeds: Ints) -> None:
    """Begin the seeds' own splits with the common one."""
    for s in seeds:
        for a in range(refined.candidates.shape[1]):
            _enter(shares, refined, s, a)


@part
def _enter(shares: SplitShares, refined: Refined, s: int, a: int | np.intp) -> None:
    """Split the pairs of the candidate in place `a` as all seeds do."""
    candidates, payments = refined.candidates[s], refined.payments[s]
    t, lowest = candidates[a], shares.rank[s]
    for b in range(len(candidates)):
        j = candidates[b]
        if a == b or shares.rank[t] <= lowest or shares.rank[j] <= lowest:
            payments[a, b] = payments[b, a] = NEVER
        else:
            half, shift = 0.5 * shares.pairs[t, j], shares.shift[t, j]
            payments[a, b] = in_quanta(half + shift, refined.quantum)
            payments[b, a] = in_quanta(half - shift, refined.quantum)


@kernel(nogil=True)
def price_seeds(
    shares: SplitShares, refined: Refined, duals: Floats, seeds: Ints, pace: float, values: Floats, chosen: Ints
) -> None:
    """A bound on the reduced cost of the classes of each seed, and the records that attain it.

    With a positive pace the seeds' own splits take a step towards a bound of 0, and records that are chosen
    without being candidates become candidates.
    """
    n, c = len(duals), refined.candidates.shape[1]
    others = chosen.shape[1]
    place = np.full(n, -1, np.int64)
    costs = np.empty(c)
    partners = np.empty((c, others - 1), np.int64)
    best = np.empty(others)
    for s in seeds:
        candidates = refined.candidates[s]
        for a in range(c):
            place[candidates[a]] = a
        count = 0
        for t in range(n):
            if shares.rank[t] > shares.rank[s] and place[t] < 0:
                cost = shares.pairs[s, t] - duals[t] + shares.least[t]
                count = _keep(best, chosen[s], count, cost, t)
        for a in range(c):
            t = candidates[a]
            costs[a] = np.inf
            if shares.rank[t] > shares.rank[s]:
                paid = _pay_partners(shares, refined, place, s, a, partners[a])
                costs[a] = shares.pairs[s, t] - duals[t] + paid
                count = _keep(best, chosen[s], count, costs[a], t)
        values[s] = np.inf if count < others else best.sum() - duals[s]
        if pace > 0 and values[s] < 0:
            _step(refined.payments[s], partners, place, chosen[s], -pace * values[s] / refined.quantum)
            _take_up(shares, refined, s, place, chosen[s], costs)
        for a in range(c):
            place[candidates[a]] = -1


@part
def _pay_partners(shares: SplitShares, refined: Refined, place: Ints, s: int, a: int, partners: Ints) -> float:
    """What candidate a pays at least for the others but s; `partners` receives their places, -1 for the rest."""
    t, lowest = refined.candidates[s, a], shares.rank[s]
    wanted = len(partners)
    best = np.full(wanted, np.int64(NEVER))
    partners[:] = -1
    count = 0
    for x in range(shares.nearest.shape[1]):
        j = shares.nearest[t, x]
        if place[j] < 0 and shares.rank[j] > lowest:
            best[count] = in_quanta(shares.payments[t, x], refined.quantum)
            count += 1
            if count == wanted:
                break
    payments = refined.payments[s, a]
    for b in range(len(payments)):
        if payments[b] < best[wanted - 1]:
            _keep(best, partners, wanted, np.int64(payments[b]), b)
    if best[wanted - 1] == NEVER:
        return np.inf
    total: float = best.sum() * refined.quantum
    return total


@part
def _step(payments: Quanta, partners: Ints, place: Ints, chosen: Ints, amount: float) -> None:
    """Let the chosen pay more for candidates that are not chosen or do not answer, `amount` in all."""
    inside = np.zeros(len(payments), np.bool_)
    for t in chosen:
        if place[t] >= 0:
            inside[place[t]] = True
    unanswered = 0
    for a in np.flatnonzero(inside):
        for b in partners[a]:
            unanswered += b >= 0 and not (inside[b] and _contains(partners[b], a))
    if unanswered == 0:
        return
    step = np.int32(min(amount / unanswered, _MOST / 4))
    for a in np.flatnonzero(inside):
        for b in partners[a]:
            if b < 0 or (inside[b] and _contains(partners[b], a)):
                continue
            if payments[a, b] < _MOST and payments[b, a] > -_MOST:
                payments[a, b] += step
                payments[b, a] -= step


@part
def _take_up(shares: SplitShares, refined: Refined, s: int, place: Ints, chosen: Ints, costs: Floats) -> None:
    """Chosen records that are no candidates replace the most expensive ones that are."""
    candidates = refined.candidates[s]
    for t in chosen:
        if place[t] >= 0:
            continue
        worst = np.argmax(costs)
        costs[worst] = -np.inf
        place[candidates[worst]] = -1
        candidates[worst] = t
        place[t] = worst
        _enter(shares, refined, s, worst)
