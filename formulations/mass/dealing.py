"""Dealing strata to classes: proportional shares of every stratum, classes of equal size, neighbours together.

A stratum of m records gives each of e classes floor(m/e) or ceil(m/e) of them, in their order, and classes differ in
size by one at most. What floor(m/e) leaves over, a stratum gives to as many classes, one each: that is a matrix of
zeros and ones with given sums of rows and columns. Filled column by column it always comes out, as long as a stratum is
served at the latest when it has a record left for every class to come.

What a class gets beyond quotas it may then exchange for that of others, for the sake of floors and ceilings per value:
see `floors`. In the end every stratum gives its records in their order to the classes that have a share of it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.mass.diversity import diversify, joined
from formulations.mass.fetching import fetch
from formulations.mass.floors import BoundsBeyondQuotas, Floors, Places, SwapBench, even_out, nested
from optmodels.kernels import copy_into, kernel, part
from optmodels.partition import Labels, members

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

CLASSES_AT_ONCE = 20_000  # between two looks whether to halt: some hundredths of a second


class Strata(NamedTuple):
    """Strata that wait to be dealt; stratum s stands at the places queue[head[s]:] of the order, up to its end.

    Those that have records beyond their quota are linked in lists by the class at which they are due.
    """

    queue: Numbers
    head: Numbers  # where each stratum has come to in the queue
    quota: Numbers  # what every class gets of it
    left: Numbers  # what it still gives beyond its quota, one to a class
    due: Numbers  # the class at which it must be served at the latest
    first_due: Numbers  # for each class the first stratum that is due there, -1 for none
    after: Numbers
    before: Numbers
    served: Numbers  # the last class that got one beyond the quota
    codes: Numbers  # (strata, attributes) the place of each value in the table's distributions


class Desk(NamedTuple):
    """What dealing keeps at hand from class to class, so that it can pause between two of them.

    The heap has strata by the place of their next record; places that were true once are corrected when they come up.
    """

    held: Places  # the strata of the records beyond the quotas, class after class
    heap: Numbers
    filled: Numbers  # (1) how much of the heap
    near: Numbers
    lacking: Floats  # how many more records with a value the class would need to mirror the table


class DealtStrata(NamedTuple):
    """The class of each record, and how many of the classes are as they should be: all, unless it was halted."""

    labels: Labels
    classes: int
    wanted: int


def deal(
    order: Labels,
    strata: Labels,
    codes: Numbers,
    shares: Floats,
    k: int,
    reach: float,
    halted: Callable[[], bool] = lambda: False,
    floors: Floors = "auto",
) -> DealtStrata:
    """Classes of at least k records, for records in an order of similarity.

    Args:
        order: the records, similar ones close to each other.
        strata: the stratum of each record, 0..S-1.
        codes: (S, s) the place of each stratum's sensitive values in `shares`.
        shares: the table's distributions of all sensitive attributes, one after the other.
        k: the least size of a class.
        reach: among how many times as many nearest strata as it needs a class chooses those whose values it lacks.
        halted: asked every so many classes; once it is so, the records that are left become classes in their order.
        floors: what it is worth that every class has its share of every value; see the module `floors`.

    >>> deal(np.arange(6), np.array([0, 1, 0, 1, 0, 1]), np.array([[0], [1]]), np.array([0.5, 0.5]), 2, 1.0)
    DealtStrata(labels=array([0, 0, 1, 1, 2, 2]), classes=3, wanted=3)
    """
    n, along = len(order), strata[order]
    e = n // k
    queue, first = members(along)
    sizes = np.diff(first)
    left = sizes % e
    waiting = Strata(
        queue=queue,
        head=first[:-1].copy(),
        quota=sizes // e,
        left=left,
        due=e - left,
        first_due=np.full(e + 1, -1, np.int64),
        after=np.full(len(sizes), -1, np.int64),
        before=np.full(len(sizes), -1, np.int64),
        served=np.full(len(sizes), -1, np.int64),
        codes=codes,
    )
    n_left = int(left.sum())
    desk = Desk(
        np.empty(n_left, np.uint32),
        np.empty(len(sizes), np.int64),
        np.zeros(1, np.int64),
        np.empty(len(sizes), np.int64),
        np.empty(len(shares)),
    )
    if codes.shape[1] == 1:
        floors = "near"  # strata are values, and dealt as they should be
    elif floors == "auto":
        floors = "full" if nested(codes) else "diverse"
    bounds = BoundsBeyondQuotas.of(codes, sizes, len(shares), e)
    bench = SwapBench.of(bounds, -(-n_left // e))
    _begin(waiting, desk)
    steady = np.flatnonzero(waiting.quota)
    dealt, evening = 0, None
    with ThreadPoolExecutor(1) as evener:  # classes are evened out while the next ones are dealt
        while dealt < e and not (dealt and halted()):
            last = min(dealt + CLASSES_AT_ONCE, e)
            _deal(waiting, steady, along, n * shares, e, reach, desk, dealt, last)
            if evening is not None:
                evening.result()
            evening = evener.submit(_even, desk.held, e, bounds, bench, floors, dealt, last)
            dealt = last
        if evening is not None:
            evening.result()
    done = dealt
    if dealt == e and floors in ("present", "full"):
        wanting = fetch(desk.held, e, bounds, bench, floors == "full", halted)
        done = max(e - wanting, 0) if halted() else e
    class_at = _handed_out(desk.held, queue, first[:-1].copy(), waiting.quota, steady, e, dealt)
    if dealt < e:
        ends = n * np.arange(dealt, e + 1) // e
        class_at[class_at < 0] = np.repeat(np.arange(dealt, e), np.diff(ends))
    labels = np.empty(n, np.int64)
    labels[order] = class_at
    if floors != "diverse":
        return DealtStrata(labels, done, e)
    number = joined(desk.held, e, bounds, bench, dealt)
    return DealtStrata(number[labels], int(number[dealt - 1]) + 1, int(number[-1]) + 1)


def _even(
    held: Places, e: int, bounds: BoundsBeyondQuotas, bench: SwapBench, floors: Floors, begin: int, end: int
) -> None:
    if bounds.codes.shape[1] > 1:
        even_out(held, e, bounds, bench, begin, end)
    if floors == "diverse":
        diversify(held, e, bounds, bench, begin, end)


@kernel(nogil=True)
def _begin(strata: Strata, desk: Desk) -> None:
    """Link the strata that have records beyond their quota, and put them into the heap."""
    waiting = np.flatnonzero(strata.left)
    for s in waiting:
        _link(strata, s)
    n_heap = waiting.size
    copy_into(desk.heap, strata.queue[strata.head[waiting]])
    for i in range(n_heap // 2 - 1, -1, -1):
        _sift_down(desk.heap, n_heap, i)
    desk.filled[0] = n_heap


@kernel(nogil=True)
def _deal(
    strata: Strata,
    steady: Numbers,
    stratum_at: Labels,
    counts: Floats,
    e: int,
    reach: float,
    desk: Desk,
    begin: int,
    end: int,
) -> None:
    """Deal the classes from `begin` up to `end`."""
    n, n_left, n_strata = stratum_at.size, desk.held.size, strata.left.size
    held, heap, near, lacking = desk.held, desk.heap, desk.near, desk.lacking
    n_heap = desk.filled[0]
    for c in range(begin, end):
        copy_into(lacking, (n * (c + 1) // e - n * c // e) / n * counts)
        for s in steady:
            _give_quota(strata, s, lacking)
        at, wanted = n_left * c // e, n_left * (c + 1) // e - n_left * c // e
        while strata.first_due[c] >= 0:
            held[at] = _give_one(strata, strata.first_due[c], c, lacking)
            at, wanted = at + 1, wanted - 1
        n_near, n_aside, most = 0, 0, max(wanted, int(np.ceil(reach * wanted)))
        while n_near < most and n_heap > 0:
            s = stratum_at[heap[0]]
            if strata.left[s] > 0 and heap[0] != strata.queue[strata.head[s]]:
                heap[0] = strata.queue[strata.head[s]]
                _sift_down(heap, n_heap, 0)
                continue
            n_heap -= 1
            heap[0] = heap[n_heap]
            _sift_down(heap, n_heap, 0)
            if strata.left[s] > 0 and strata.served[s] == c:  # it was due: at the end of `near` until the class is full
                n_aside += 1
                near[n_strata - n_aside] = s
            elif strata.left[s] > 0:
                near[n_near] = s
                n_near += 1
        if wanted > 0:
            held[at] = _give_one(strata, near[0], c, lacking)  # who has waited longest, so that nobody falls behind
        for i in range(1, wanted):
            held[at + i] = _give_one(strata, _most_lacking(strata, near[:n_near], c, lacking), c, lacking)
        for a in range(n_near + n_aside):
            s = near[a] if a < n_near else near[n_strata - 1 - (a - n_near)]
            if strata.left[s] > 0:
                heap[n_heap] = strata.queue[strata.head[s]]
                _sift_up(heap, n_heap)
                n_heap += 1
    desk.filled[0] = n_heap


@part(forceinline=True)
def _most_lacking(strata: Strata, near: Numbers, c: int, lacking: Floats) -> int:
    """Of the strata that class c was not yet served from, the one whose values it lacks most; the nearest of equals."""
    best, most = -1, -np.inf
    for s in near:
        if strata.served[s] != c:
            lacks = 0.0
            for j in range(strata.codes.shape[1]):
                lacks += min(max(lacking[strata.codes[s, j]], -1.0), 1.0)
            if lacks > most:
                best, most = s, lacks
    return best


@part(forceinline=True)
def _give_quota(strata: Strata, s: int, lacking: Floats) -> None:
    strata.head[s] += strata.quota[s]
    for j in range(strata.codes.shape[1]):
        lacking[strata.codes[s, j]] -= strata.quota[s]


@part(forceinline=True)
def _give_one(strata: Strata, s: int, c: int, lacking: Floats) -> int:
    """Give the next record of stratum s to class c, beyond the quota."""
    strata.head[s] += 1
    strata.served[s] = c
    for j in range(strata.codes.shape[1]):
        lacking[strata.codes[s, j]] -= 1.0
    _unlink(strata, s)
    strata.left[s] -= 1
    strata.due[s] += 1
    if strata.left[s] > 0:
        _link(strata, s)
    return s


@kernel(nogil=True)
def _handed_out(
    held: Places, queue: Numbers, head: Numbers, quota: Numbers, steady: Numbers, e: int, dealt: int
) -> Labels:
    """The class of each place in the order: every stratum gives its records in their order; -1 for none yet."""
    class_at = np.full(queue.size, -1, np.int64)
    for c in range(dealt):
        for s in steady:
            for _ in range(quota[s]):
                class_at[queue[head[s]]] = c
                head[s] += 1
        for i in range(held.size * c // e, held.size * (c + 1) // e):
            class_at[queue[head[held[i]]]] = c
            head[held[i]] += 1
    return class_at


@part(forceinline=True)
def _link(strata: Strata, s: int | np.intp) -> None:
    first = strata.first_due[strata.due[s]]
    strata.after[s], strata.before[s] = first, -1
    if first >= 0:
        strata.before[first] = s
    strata.first_due[strata.due[s]] = s


@part(forceinline=True)
def _unlink(strata: Strata, s: int) -> None:
    if strata.before[s] >= 0:
        strata.after[strata.before[s]] = strata.after[s]
    else:
        strata.first_due[strata.due[s]] = strata.after[s]
    if strata.after[s] >= 0:
        strata.before[strata.after[s]] = strata.before[s]


@part(forceinline=True)
def _sift_down(heap: Numbers, size: int, i: int) -> None:
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[i] <= heap[child]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


@part(forceinline=True)
def _sift_up(heap: Numbers, i: int) -> None:
    while i > 0 and heap[(i - 1) // 2] > heap[i]:
        parent = (i - 1) // 2
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent
