"""Dealing strata to classes: proportional shares of every stratum, classes of equal size, neighbours together.

A stratum of m records gives each of e classes floor(m/e) or ceil(m/e) of them, in their order, and classes differ in
size by one at most. What floor(m/e) leaves over, a stratum gives to as many classes, one each: that is a matrix of
zeros and ones with given sums of rows and columns. Filled column by column it always comes out, as long as a stratum is
served at the latest when it has a record left for every class to come.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.partition import Labels, members

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def deal(order: Labels, strata: Labels, codes: Codes, shares: Floats, k: int, reach: float) -> Labels:
    """Classes of at least k records, for records in an order of similarity.

    Args:
        order: the records, similar ones close to each other.
        strata: the stratum of each record, 0..S-1.
        codes: (S, s) the place of each stratum's sensitive values in `shares`.
        shares: the table's distributions of all sensitive attributes, one after the other.
        k: the least size of a class.
        reach: among how many times as many nearest strata as it needs a class chooses those whose values it lacks.

    >>> deal(np.arange(6), np.array([0, 1, 0, 1, 0, 1]), np.array([[0], [1]]), np.array([0.5, 0.5]), 2, 1.0)
    array([0, 0, 1, 1, 2, 2])
    """
    along = strata[order]
    queue, first = members(along)
    labels = np.empty(len(order), np.int64)
    labels[order] = _deal(queue, first, along, codes, shares, len(order) // k, reach)
    return labels


@njit(cache=True, nogil=True)
def _deal(queue, first, stratum_at, codes, shares, e, reach):  # type: ignore[no-untyped-def]
    """The class of each place in the order; stratum s waits at the places queue[first[s]:first[s + 1]]."""
    n, n_strata, s_attributes = queue.size, first.size - 1, codes.shape[1]
    class_at = np.empty(n, np.int64)
    head = first[:-1].copy()  # where each stratum has come to in the queue
    sizes = first[1:] - first[:-1]
    quota = sizes // e
    steady = np.flatnonzero(quota)  # strata of which every class gets some
    left = sizes - quota * e  # what a stratum gives beyond its quota, one to a class
    n_left = left.sum()
    # Strata by the class at which they have to be served at the latest, as linked lists.
    last = e - left
    due, after, before = np.full(e + 1, -1, np.int64), np.full(n_strata, -1, np.int64), np.full(n_strata, -1, np.int64)
    waiting = np.flatnonzero(left)
    for s in waiting:
        _link(due, after, before, last[s], s)
    # A heap of strata by the place of their next record; places that were true once are corrected when they come up.
    heap, n_heap = np.empty(n_strata, np.int64), waiting.size
    heap[:n_heap] = queue[head[waiting]]
    for i in range(n_heap // 2 - 1, -1, -1):
        _sift_down(heap, n_heap, i)
    lacking = np.empty(shares.size)
    served = np.full(n_strata, -1, np.int64)
    near = np.empty(n_strata, np.int64)
    for c in range(e):
        size = n * (c + 1) // e - n * c // e
        lacking[:] = size * shares
        for s in steady:
            for _ in range(quota[s]):
                class_at[queue[head[s]]] = c
                head[s] += 1
            for j in range(s_attributes):
                lacking[codes[s, j]] -= quota[s]
        wanted = n_left * (c + 1) // e - n_left * c // e
        while due[c] >= 0:
            s = due[c]
            _serve(s, c, queue, head, class_at, left, last, due, after, before, served, codes, lacking)
            wanted -= 1
        n_near, n_aside = 0, 0
        most = max(wanted, int(np.ceil(reach * wanted)))
        while n_near < most and n_heap > 0:
            place = heap[0]
            s = stratum_at[place]
            if left[s] > 0 and place != queue[head[s]]:
                heap[0] = queue[head[s]]
                _sift_down(heap, n_heap, 0)
                continue
            n_heap -= 1
            heap[0] = heap[n_heap]
            _sift_down(heap, n_heap, 0)
            if left[s] == 0:
                continue
            if served[s] == c:  # it was due; it waits at the end of `near` until the class is full
                n_aside += 1
                near[n_strata - n_aside] = s
            else:
                near[n_near] = s
                n_near += 1
        for picked in range(wanted):
            best, gain = 0, -np.inf
            for a in range(n_near):
                s, lacks = near[a], 0.0
                if served[s] == c:
                    continue
                if picked == 0:  # who has waited longest is always served, so nobody falls behind
                    best = a
                    break
                for j in range(s_attributes):
                    lacks += min(max(lacking[codes[s, j]], -1.0), 1.0)
                if lacks > gain:
                    best, gain = a, lacks
            _serve(near[best], c, queue, head, class_at, left, last, due, after, before, served, codes, lacking)
        for a in range(n_near + n_aside):
            s = near[a] if a < n_near else near[n_strata - 1 - (a - n_near)]
            if left[s] > 0:
                heap[n_heap] = queue[head[s]]
                n_heap += 1
                _sift_up(heap, n_heap - 1)
    return class_at


@njit(cache=True, nogil=True)
def _serve(s, c, queue, head, class_at, left, last, due, after, before, served, codes, lacking):  # type: ignore[no-untyped-def]
    """Give the next record of stratum s to class c."""
    class_at[queue[head[s]]] = c
    head[s] += 1
    served[s] = c
    for j in range(codes.shape[1]):
        lacking[codes[s, j]] -= 1.0
    _unlink(due, after, before, last[s], s)
    left[s] -= 1
    last[s] += 1
    if left[s] > 0:
        _link(due, after, before, last[s], s)


@njit(cache=True, nogil=True)
def _link(due, after, before, at, s):  # type: ignore[no-untyped-def]
    after[s], before[s] = due[at], -1
    if due[at] >= 0:
        before[due[at]] = s
    due[at] = s


@njit(cache=True, nogil=True)
def _unlink(due, after, before, at, s):  # type: ignore[no-untyped-def]
    if before[s] >= 0:
        after[before[s]] = after[s]
    else:
        due[at] = after[s]
    if after[s] >= 0:
        before[after[s]] = before[s]


@njit(cache=True, nogil=True)
def _sift_down(heap, size, i):  # type: ignore[no-untyped-def]
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[i] <= heap[child]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


@njit(cache=True, nogil=True)
def _sift_up(heap, i):  # type: ignore[no-untyped-def]
    while i > 0 and heap[(i - 1) // 2] > heap[i]:
        parent = (i - 1) // 2
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent
