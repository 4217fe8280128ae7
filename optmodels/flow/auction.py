"""One to one over the arcs known: an auction for good prices, shortest paths from there for the exact optimum.

Classes bid for centres; a centre's price rises by what a bidder would lose by the second best, and by the tolerance.
What comes out is exact whatever the prices are at first: they only decide how much is left for the paths.
"""

from __future__ import annotations

import numpy as np

from optmodels.flow.heap import pop, rise
from optmodels.flow.paths import Arcs, Floats, Ints
from optmodels.kernels import kernel

_MOST_BIDS = 100  # for each class in one phase: the paths see to the rest


@kernel(nogil=True)
def bid(arcs: Arcs, price: Floats, home: Ints, owner: Ints, tolerance: float) -> None:
    """Let classes without a centre bid until all have one, within the tolerance of the best for them."""
    m = len(price)
    queue = np.empty(m, np.int64)
    head = waiting = 0
    for c in range(m):
        if home[c] < 0:
            queue[waiting] = c
            waiting += 1
    bids = 0
    while waiting > 0 and bids < _MOST_BIDS * m:
        bids += 1
        c = queue[head]
        head = (head + 1) % m
        waiting -= 1
        best, second, centre = np.inf, np.inf, -1
        for arc in range(arcs.starts[c], arcs.starts[c + 1]):
            key = arcs.costs[arc] + price[arcs.targets[arc]]
            if key < best:
                best, second, centre = key, best, arcs.targets[arc]
            elif key < second:
                second = key
        price[centre] += tolerance + (second - best if second < np.inf else 0.0)
        former = owner[centre]
        if former >= 0:
            home[former] = -1
            queue[(head + waiting) % m] = former
            waiting += 1
        owner[centre], home[c] = c, centre


@kernel(nogil=True)
def release_dear(arcs: Arcs, price: Floats, home: Ints, owner: Ints, rounding: float) -> Floats:
    """Take their centre from classes that another one would cost less; returns what each pays at least."""
    least = np.empty(len(price))
    for c in range(len(price)):
        pays = np.inf
        least[c] = np.inf
        for arc in range(arcs.starts[c], arcs.starts[c + 1]):
            key = arcs.costs[arc] + price[arcs.targets[arc]]
            least[c] = min(least[c], key)
            if arcs.targets[arc] == home[c]:
                pays = key
        if home[c] >= 0 and pays > least[c] + rounding:
            owner[home[c]] = -1
            home[c] = -1
    return least


@kernel(nogil=True)
def match_rest(arcs: Arcs, price: Floats, home: Ints, owner: Ints, least: Floats, most: int) -> int:
    """Give every class without a centre one by a shortest path; the whole is then the cheapest.

    Returns how many arcs were looked at: more than `most` if it was given up, -1 if a class can have no centre.
    """
    m, looks = len(price), 0
    far, via, place = np.empty(m), np.empty(m, np.int64), np.empty(m, np.int64)
    seen, heap, reached = np.zeros(m, np.uint8), np.empty(m, np.int64), np.empty(m, np.int64)
    for beginning in range(m):
        if home[beginning] >= 0:
            continue
        c, base, count, size, free = beginning, 0.0, 0, 0, -1
        while True:
            looks += int(arcs.starts[c + 1] - arcs.starts[c])
            for arc in range(arcs.starts[c], arcs.starts[c + 1]):
                centre = int(arcs.targets[arc])
                length = base + arcs.costs[arc] + price[centre] - least[c]
                if seen[centre] == 2 or (seen[centre] == 1 and length >= far[centre]):
                    continue
                if seen[centre] == 0:
                    seen[centre] = 1
                    reached[count] = centre
                    place[centre] = size
                    count += 1
                    size += 1
                far[centre], via[centre] = length, c
                rise(heap, place, far, place[centre], centre)
            if size == 0:
                return -1
            centre = pop(heap, place, far, size)
            size -= 1
            seen[centre] = 2
            if owner[centre] < 0:
                free = centre
                break
            c, base = owner[centre], far[centre]
        for index in range(count):
            centre = reached[index]
            if seen[centre] == 2:
                price[centre] += far[free] - far[centre]
                if owner[centre] >= 0:
                    least[owner[centre]] += far[free] - far[centre]
            seen[centre] = 0
        least[beginning] += far[free]
        centre = free
        while True:
            c = via[centre]
            owner[centre] = c
            home[c], centre = centre, home[c]
            if c == beginning:
                break
        if looks > most:
            return looks
    return looks
