"""Shortest augmenting paths on the network record -> (centre, value) -> centre -> pool: the compiled kernels.

Nodes are numbered: (centre i, value v) is i * V + v, centre i is m * V + i, the pool is m * V + m. The pool
takes what centres hold beyond their least size, so that every bound is met by equalities alone. Records are
not nodes: each sits in the list of its (centre, value) node and is an arc to every other centre it knows.

A *pseudoflow* satisfies all capacities and complementary slackness with the potentials, but some nodes hold
too much and some too little. Each round runs Dijkstra from all nodes in excess at once, lowers potentials,
and sends one unit along every tree path that reached a node in need and crosses no other such path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

DONE = 0
MORE = 1
STUCK = 2  # no known arc leaves the nodes reached: `work.seen` tells which these are


class Bounds(NamedTuple):
    """What the centres accept; a count c of a value costs slope * max(0, c - threshold), and is at most cap."""

    least: Ints  # (m)
    most: Ints  # (m)
    cap: Ints  # (m, V)
    threshold: Floats  # (m, V)
    slope: Floats  # (m, V)


class Arcs(NamedTuple):
    """The arcs known so far: record j may go to targets[starts[j]:starts[j + 1]]."""

    starts: Ints
    targets: Indices
    costs: Floats


class State(NamedTuple):
    """The pseudoflow and the potentials."""

    value: Indices  # (n) value of each record
    home: Indices  # (n) centre of each record
    home_cost: Floats  # (n)
    head: Indices  # (m * V) first record of each (centre, value)
    after: Indices  # (n) doubly linked lists of records
    before: Indices  # (n)
    inside: Ints  # (m, V) flow (centre, value) -> centre
    spare: Ints  # (m) flow centre -> pool
    excess: Ints  # (nodes)
    potential: Floats  # (nodes)


class Work(NamedTuple):
    """Scratch space of the shortest-path rounds."""

    distance: Floats
    parent: Indices
    via: Indices  # record on the tree arc into a node, or -1
    root: Indices
    place: Indices  # position in the heap, -1 outside
    seen: NDArray[np.uint8]  # 0 unknown, 1 in the heap, 2 settled, 3 on a path of this round
    heap: Indices
    settled: Indices


def workspace(n_nodes: int) -> Work:
    """Scratch space for a network of so many nodes."""
    return Work(
        np.empty(n_nodes),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.zeros(n_nodes, np.uint8),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
    )


@njit(cache=True, inline="always")
def marginal(bounds: Bounds, centre: int, value: int, count: int) -> float:
    """What the `count`-th record of a value adds to a centre's penalty."""
    threshold = bounds.threshold[centre, value]
    if count <= threshold:
        return 0.0
    return bounds.slope[centre, value] * min(1.0, count - threshold)


@njit(cache=True, inline="always")
def _rise(work: Work, place: int, node: int) -> None:
    heap, distance = work.heap, work.distance
    key = distance[node]
    while place > 0:
        above = (place - 1) >> 1
        other = heap[above]
        if distance[other] <= key:
            break
        heap[place] = other
        work.place[other] = place
        place = above
    heap[place] = node
    work.place[node] = place


@njit(cache=True)
def _pop(work: Work, size: int) -> int:
    heap, distance = work.heap, work.distance
    top = heap[0]
    size -= 1
    if size > 0:
        node = heap[size]
        key = distance[node]
        place = 0
        while True:
            child = 2 * place + 1
            if child >= size:
                break
            if child + 1 < size and distance[heap[child + 1]] < distance[heap[child]]:
                child += 1
            if distance[heap[child]] >= key:
                break
            heap[place] = heap[child]
            work.place[heap[place]] = place
            place = child
        heap[place] = node
        work.place[node] = place
    return top


@njit(cache=True, inline="always")
def _reach(work: Work, size: int, source: int, node: int, length: float, record: int) -> int:
    """Offer a tree arc into a node that is not settled; returns the new heap size."""
    if work.seen[node] == 0:
        work.seen[node] = 1
        work.distance[node] = length
        place = size
        size += 1
    elif length < work.distance[node]:
        work.distance[node] = length
        place = work.place[node]
    else:
        return size
    work.parent[node] = source
    work.via[node] = record
    work.root[node] = work.root[source]
    _rise(work, place, node)
    return size


@njit(cache=True)
def _scan(bounds: Bounds, arcs: Arcs, state: State, work: Work, node: int, size: int) -> int:
    """Offer every residual arc out of a settled node."""
    m, n_values = bounds.cap.shape
    potential, seen = state.potential, work.seen
    here = work.distance[node]
    base = here + potential[node]
    if node < m * n_values:
        centre, value = node // n_values, node % n_values
        up = m * n_values + centre
        if seen[up] < 2 and state.inside[centre, value] < bounds.cap[centre, value]:
            step = marginal(bounds, centre, value, state.inside[centre, value] + 1)
            size = _reach(work, size, node, up, max(here, base + step - potential[up]), -1)
        record = state.head[node]
        while record >= 0:
            left = base - state.home_cost[record]
            for arc in range(arcs.starts[record], arcs.starts[record + 1]):
                target = arcs.targets[arc] * n_values + value
                if seen[target] < 2:
                    length = max(here, left + arcs.costs[arc] - potential[target])
                    if seen[target] == 0 or length < work.distance[target]:
                        size = _reach(work, size, node, target, length, record)
            record = state.after[record]
        return size
    pool = m * n_values + m
    if node < pool:
        centre = node - m * n_values
        for value in range(n_values):
            target = centre * n_values + value
            if seen[target] < 2 and state.inside[centre, value] > 0:
                step = -marginal(bounds, centre, value, state.inside[centre, value])
                size = _reach(work, size, node, target, max(here, base + step - potential[target]), -1)
        if seen[pool] < 2 and state.spare[centre] < bounds.most[centre] - bounds.least[centre]:
            size = _reach(work, size, node, pool, max(here, base - potential[pool]), -1)
        return size
    for centre in range(m):
        target = m * n_values + centre
        if seen[target] < 2 and state.spare[centre] > 0:
            size = _reach(work, size, node, target, max(here, base - potential[target]), -1)
    return size


@njit(cache=True, inline="always")
def move(state: State, n_values: int, record: int, centre: int, cost: float) -> None:
    """Take a record out of its class and put it into another one; excesses are left to the caller."""
    value = state.value[record]
    before, after = state.before[record], state.after[record]
    if before >= 0:
        state.after[before] = after
    else:
        state.head[state.home[record] * n_values + value] = after
    if after >= 0:
        state.before[after] = before
    node = centre * n_values + value
    first = state.head[node]
    state.head[node] = record
    state.before[record] = -1
    state.after[record] = first
    if first >= 0:
        state.before[first] = record
    state.home[record] = centre
    state.home_cost[record] = cost


@njit(cache=True)
def _send(bounds: Bounds, arcs: Arcs, state: State, work: Work, sink: int) -> bool:
    """Send a unit to `sink` along its tree path unless an earlier path of this round is in the way."""
    m, n_values = bounds.cap.shape
    root = work.root[sink]
    if state.excess[root] <= 0:
        return False
    node = sink
    while node != root:
        if work.seen[node] == 3:
            return False
        record, source = work.via[node], work.parent[node]
        # Two paths may leave one root, but not with the same record nor through a full arc.
        if record >= 0 and state.home[record] * n_values + state.value[record] != source:
            return False
        node = source
    node = sink
    while node != root:
        work.seen[node] = 3
        record, source = work.via[node], work.parent[node]
        if record >= 0:
            centre = node // n_values
            cost = 0.0
            for arc in range(arcs.starts[record], arcs.starts[record + 1]):
                if arcs.targets[arc] == centre:
                    cost = arcs.costs[arc]
            move(state, n_values, record, centre, cost)
        elif source < m * n_values:
            state.inside[source // n_values, source % n_values] += 1
        elif node < m * n_values:
            state.inside[node // n_values, node % n_values] -= 1
        elif source < m * n_values + m:
            state.spare[source - m * n_values] += 1
        else:
            state.spare[node - m * n_values] -= 1
        node = source
    state.excess[root] -= 1
    state.excess[sink] += 1
    return True


@njit(cache=True)
def _round(bounds: Bounds, arcs: Arcs, state: State, work: Work, share: float) -> tuple[int, int]:
    """One Dijkstra from all excess nodes and the augmentations it allows: (excess left, units sent)."""
    excess, seen, root = state.excess, work.seen, work.root
    seen[:] = 0
    size = 0
    left = 0
    for node in range(len(excess)):
        if excess[node] > 0:
            left += excess[node]
            seen[node] = 1
            work.distance[node] = 0.0
            root[node] = node
            work.parent[node] = -1
            work.via[node] = -1
            work.heap[size] = node
            work.place[node] = size
            size += 1
    if size == 0:
        return 0, 0
    wanted = max(1, int(share * size))
    found = 0
    n_settled = 0
    limit = 0.0
    while size > 0:
        node = _pop(work, size)
        size -= 1
        seen[node] = 2
        limit = work.distance[node]
        work.settled[n_settled] = node
        n_settled += 1
        if excess[node] < 0:
            found += 1
            if found >= wanted:
                break
        size = _scan(bounds, arcs, state, work, node, size)
    if found == 0:
        return left, 0
    for index in range(n_settled):
        node = work.settled[index]
        state.potential[node] -= limit - work.distance[node]
    sent = 0
    for index in range(n_settled):
        node = work.settled[index]
        if excess[node] < 0 and _send(bounds, arcs, state, work, node):
            sent += 1
    return left - sent, sent


@njit(cache=True)
def advance(
    bounds: Bounds, arcs: Arcs, state: State, work: Work, share: float, effort: int
) -> tuple[int, int, int]:
    """Rounds until no excess is left or the effort is spent: (DONE, MORE or STUCK; excess left; rounds)."""
    rounds = 0
    left = 0
    while rounds < effort:
        left, sent = _round(bounds, arcs, state, work, share)
        rounds += 1
        if left == 0:
            return DONE, 0, rounds
        if sent == 0:
            return STUCK, left, rounds
    return MORE, left, rounds


@njit(cache=True)
def settle(bounds: Bounds, state: State) -> None:
    """Let every list of records flow as far as capacities and zero reduced costs allow, from nothing."""
    m, n_values = bounds.cap.shape
    pool = m * n_values + m
    wanted = len(state.home)
    for centre in range(m):
        up = m * n_values + centre
        arrived = 0
        for value in range(n_values):
            node = centre * n_values + value
            held = 0
            record = state.head[node]
            while record >= 0:
                held += 1
                record = state.after[record]
            free = np.int64(min(bounds.cap[centre, value], max(0.0, np.floor(bounds.threshold[centre, value]))))
            state.inside[centre, value] = min(held, free)
            state.excess[node] = held - state.inside[centre, value]
            arrived += state.inside[centre, value]
        spare = min(max(0, arrived - bounds.least[centre]), bounds.most[centre] - bounds.least[centre])
        state.spare[centre] = spare
        state.excess[up] = arrived - bounds.least[centre] - spare
        state.excess[pool] += spare
        wanted -= bounds.least[centre]
    state.excess[pool] -= wanted


@njit(cache=True)
def slack_potentials(bounds: Bounds, state: State) -> None:
    """Where an arc has room left, make its reduced cost exactly non-negative: what is corrected is rounding."""
    m, n_values = bounds.cap.shape
    potential = state.potential
    pool = m * n_values + m
    for centre in range(m):
        up = m * n_values + centre
        if state.spare[centre] < bounds.most[centre] - bounds.least[centre]:
            potential[up] = max(potential[up], potential[pool])
        for value in range(n_values):
            if state.inside[centre, value] < bounds.cap[centre, value]:
                node = centre * n_values + value
                step = marginal(bounds, centre, value, state.inside[centre, value] + 1)
                potential[node] = max(potential[node], potential[up] - step)
