"""Floors and ceilings per sensitive value, kept by swaps of records between classes.

Of a value that n_v records have, each of e classes should get floor(n_v/e) or ceil(n_v/e). Strata dealt in proportion
do that for every combination of values, and so for a single attribute; of several attributes a value is spread over
many small strata, of which a class may get too many or too few. Classes then swap records, neighbours first, as long
as that brings values closer to their floors and ceilings; a value that a class lacks altogether counts most.

What swaps can reach:

- Where one attribute's values are parts of another's, everything: whenever a class is below a floor and another above
  it, or beyond a ceiling and another below it, they have two records whose exchange mends that and harms nothing. (Of
  the value in question take a part that the second class has more of, and a part of that, down to a stratum; against
  it, within the smallest set of values where there is one, a stratum that the first class has more of.)
- Where attributes cross, nearly everything as a rule; for three of them floors and ceilings may exclude each other.

Swaps over long distances cost information. `Floors` says what they are worth:

- `near`: none; only neighbours swap.
- `diverse`: a class has as many different values of every attribute as there are enough records of for everybody
  (n_v >= e), whichever they are: from classes not too far away, or else it is joined with the next.
- `present`: a class has every value that there are enough records of, from wherever they come.
- `full`: floors and ceilings, from wherever records come.
- `auto`: `full` where attributes are nested, or there is but one; else `diverse`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import unknown
from optmodels.kernels import kernel, part
from optmodels.partition import group_rows

Numbers = NDArray[np.int64]
Places = NDArray[np.uint32]  # unsigned: numba then has no negative places to think of

Floors = Literal["auto", "near", "diverse", "present", "full"]

LACKED = 1 << 20  # what it costs a class to lack a value of which there are enough records for everybody
BELOW, ABOVE = 2, 1  # what a record too few and one too many of a value costs
NEIGHBOURS = 2  # on either side, with which every class swaps
ROUNDS = 2  # of swaps among neighbours
LARGE = 64  # records beyond the quotas, from which on any swap will do that is for the better


class BoundsBeyondQuotas(NamedTuple):
    """How many records with a value a class should have beyond the quotas that every class gets of every stratum."""

    codes: Places  # (strata, attributes) the place of each value among all of them
    least: Numbers
    most: Numbers
    enough: NDArray[np.bool_]  # whether there are enough records for everybody, and quotas do not see to it
    quotas: Numbers  # how many records with a value every class gets anyway
    attribute: Numbers  # of each value
    diverse: Numbers  # (attributes) of how many values there are enough records for everybody

    @classmethod
    def of(cls, codes: Numbers, sizes: Numbers, n_values: int, classes: int) -> BoundsBeyondQuotas:
        """For strata of these sizes."""
        quotas, counts, attribute = np.zeros((3, n_values), np.int64)
        for j, column in enumerate(codes.T):
            np.add.at(quotas, column, sizes // classes)
            np.add.at(counts, column, sizes)
            attribute[column] = j
        least, most = counts // classes - quotas, -(-counts // classes) - quotas
        diverse = np.bincount(attribute[counts >= classes], minlength=codes.shape[1])
        enough = (least > 0) & (quotas == 0)
        return cls(np.ascontiguousarray(codes, np.uint32), least, most, enough, quotas, attribute, diverse)


class SwapBench(NamedTuple):
    """Room to work in: a few classes at hand, and what it would change if two of them gave away their records.

    Of a class at hand there are three rows: how many records it has with each value, what one more costs, and one less.
    """

    rows: Numbers  # (classes at hand, 3, values)
    given: Numbers  # (records, attributes and the sum of what is for the better)
    taken: Numbers

    @classmethod
    def of(cls, bounds: BoundsBeyondQuotas, most_records: int) -> SwapBench:
        """For classes of so many records beyond the quotas."""
        given, taken = np.zeros((2, most_records, bounds.codes.shape[1] + 1), np.int64)
        return cls(np.zeros((NEIGHBOURS + 1, 3, len(bounds.least)), np.int64), given, taken)


def checked_floors(floors: str) -> None:
    """Nothing if that is one of them."""
    if floors not in get_args(Floors):
        raise unknown("worth of floors", str(floors), get_args(Floors))


def nested(codes: Numbers) -> bool:
    """Whether the attributes can be ordered so that each value of one is a part of a value of the next.

    >>> nested(np.array([[0, 3], [1, 3], [2, 4]])), nested(np.array([[0, 3], [0, 4], [1, 4]]))
    (True, False)
    """
    columns = sorted(codes.T, key=lambda column: -len(np.unique(column)))
    return all(group_rows(pair).max() + 1 == len(np.unique(pair[0])) for pair in pairwise(columns))


@kernel(nogil=True)
def even_out(held: Places, classes: int, bounds: BoundsBeyondQuotas, bench: SwapBench, begin: int, end: int) -> None:
    """Swaps among neighbours of the classes from `begin` to `end`, and with those just before them."""
    window = NEIGHBOURS + 1
    for _ in range(ROUNDS):
        loaded = max(begin - NEIGHBOURS, 0)
        for c in range(loaded, end):
            last = min(c + NEIGHBOURS, end - 1)
            while loaded <= last:
                load(held, classes, loaded, bounds, bench.rows[loaded % window])
                loaded += 1
            for d in range(c + 1, last + 1):
                while swap(held, classes, c, d, bounds, bench, bench.rows[c % window], bench.rows[d % window]):
                    pass


@part
def load(held: Places, classes: int, c: int, bounds: BoundsBeyondQuotas, row: Numbers) -> None:
    """Have class c at hand."""
    count(held, classes, c, bounds, row)
    price(bounds, row)


@part(forceinline=True)
def count(held: Places, classes: int, c: int, bounds: BoundsBeyondQuotas, row: Numbers) -> None:
    """How many records class c has with each value, beyond the quotas."""
    codes = bounds.codes
    row[0, :] = 0
    for i in range(held.size * c // classes, held.size * (c + 1) // classes):
        for j in range(codes.shape[1]):
            row[0, codes[held[i], j]] += 1


@part(forceinline=True)
def price(bounds: BoundsBeyondQuotas, row: Numbers) -> None:
    """What one more and one less of each value costs a class that has so many."""
    least, most, enough = bounds.least, bounds.most, bounds.enough
    for v in range(least.size):
        row[1, v] = _step(row[0, v], least[v], most[v], enough[v])
        row[2, v] = -_step(row[0, v] - 1, least[v], most[v], enough[v])


@part(forceinline=True)
def _step(count: int, least: int, most: int, enough: bool) -> int:
    """What one more record with a value costs a class that has so many; it never falls as they become more."""
    if count < least:
        return -LACKED if enough and count == 0 else -BELOW
    return 0 if count < most else ABOVE


@part
def swap(
    held: Places,
    classes: int,
    c: int,
    d: int,
    bounds: BoundsBeyondQuotas,
    bench: SwapBench,
    mine: Numbers,
    theirs: Numbers,
) -> bool:
    """Exchange the two records of classes c and d, both at hand, for which that is best; whether there were two."""
    n, codes, given, taken = held.size, bounds.codes, bench.given, bench.taken
    c_begin, d_begin, s = n * c // classes, n * d // classes, codes.shape[1]
    n_mine, n_theirs = n * (c + 1) // classes - c_begin, n * (d + 1) // classes - d_begin
    best_given = _weigh(held, c_begin, n_mine, codes, mine, theirs, given)
    best_taken = _weigh(held, d_begin, n_theirs, codes, theirs, mine, taken)
    best, best_x, best_y = 0, -1, -1
    if best_given + best_taken == 0:
        return False
    for x in range(n_mine):
        if given[x, s] + best_taken >= best:
            continue
        out = held[c_begin + x]
        for y in range(n_theirs):
            if given[x, s] + taken[y, s] >= best:
                continue
            back, change = held[d_begin + y], 0
            for j in range(s):
                if codes[out, j] != codes[back, j]:
                    change += given[x, j] + taken[y, j]
            if change < best and not _has(held, d_begin, n_theirs, out) and not _has(held, c_begin, n_mine, back):
                best, best_x, best_y = change, x, y
        if best < 0 and n_mine > LARGE:
            break
    if best == 0:
        return False
    out, back = held[c_begin + best_x], held[d_begin + best_y]
    held[c_begin + best_x], held[d_begin + best_y] = back, out
    for j in range(s):
        mine[0, codes[out, j]] -= 1
        theirs[0, codes[out, j]] += 1
        mine[0, codes[back, j]] += 1
        theirs[0, codes[back, j]] -= 1
    for j in range(2 * s):
        v = codes[out, j] if j < s else codes[back, j - s]
        least, most, enough = bounds.least[v], bounds.most[v], bounds.enough[v]
        for row in (mine, theirs):
            row[1, v] = _step(row[0, v], least, most, enough)
            row[2, v] = -_step(row[0, v] - 1, least, most, enough)
    return True


@part(forceinline=True)
def _weigh(held: Places, begin: int, size: int, codes: Places, giver: Numbers, taker: Numbers, change: Numbers) -> int:
    """What it changes in both classes to give each record away; the best sum over values of what is for the better."""
    best = 0
    for x in range(size):
        stratum, total = held[begin + x], 0
        for j in range(codes.shape[1]):
            v = codes[stratum, j]
            change[x, j] = giver[2, v] + taker[1, v]
            total += min(change[x, j], 0)
        change[x, codes.shape[1]] = total
        best = min(best, total)
    return best


@part(forceinline=True)
def _has(held: Places, begin: int, size: int, stratum: int) -> bool:
    """Whether a class has a record of the stratum beyond the quota; two would be more than its share."""
    found = False
    for i in range(begin, begin + size):
        found |= held[i] == stratum
    return found
