"""Shortest augmenting paths on the network record -> (centre, value) -> centre -> pool: the compiled kernels.

Nodes are numbered: (centre i, value v) is i * V + v, centre i is m * V + i, the pool is m * V + m. The pool
takes what centres hold beyond their least size, so that every bound is met by equalities alone. Records are
not nodes: each sits in the list of its (centre, value) node and is an arc to every other centre it knows.

A *pseudoflow* satisfies all capacities and complementary slackness with the potentials, but some nodes hold
too much and some too little. Each step sends a unit from a node in excess along a shortest path, by reduced
costs, to a node in need, and lowers potentials so that complementary slackness stays. With potentials close to
optimal (see `scaling`) a step looks only at a small neighbourhood.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.flow.heap import pop, rise
from optmodels.kernels import kernel, part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

DONE = 0
MORE = 1
STUCK = 2  # no known arc leaves the nodes reached: `work.seen` tells which these are


class Bounds(NamedTuple):
    """What the centres accept: from floor to cap of a value, and a count c costs slope * max(0, c - threshold)."""

    least: Ints  # (m)
    most: Ints  # (m)
    floor: Ints  # (m, V)
    cap: Ints  # (m, V)
    threshold: Floats  # (m, V)
    slope: Floats  # (m, V)


class Arcs(NamedTuple):
    """The arcs known so far: record j may go to targets[starts[j]:starts[j + 1]]."""

    starts: Ints
    targets: Indices
    costs: Floats


class FlowState(NamedTuple):
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
    place: Indices  # position in the heap, -1 outside
    seen: NDArray[np.uint8]  # 0 unknown, 1 in the heap, 2 settled
    heap: Indices
    settled: Indices


def workspace(n_nodes: int) -> Work:
    """Scratch space for a network of so many nodes."""
    return Work(
        np.empty(n_nodes),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.zeros(n_nodes, np.uint8),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
    )


@part
def marginal(bounds: Bounds, centre: int, value: int, count: int) -> float:
    """What the `count`-th record of a value adds to a centre's penalty."""
    threshold = bounds.threshold[centre, value]
    if count <= threshold:
        return 0.0
    return float(bounds.slope[centre, value] * min(1.0, count - threshold))


@part
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
    rise(work.heap, work.place, work.distance, place, node)
    return size


@part
def _scan(bounds: Bounds, arcs: Arcs, state: FlowState, work: Work, node: int, size: int) -> int:
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
            if seen[target] < 2 and state.inside[centre, value] > bounds.floor[centre, value]:
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


@part
def move(state: FlowState, n_values: int, record: int, centre: int, cost: float) -> None:
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


@part
def push(bounds: Bounds, state: FlowState, source: int, node: int, record: int, cost: float, amount: int) -> None:
    """Move units along a residual arc: one record, or flow between a (centre, value), its centre and the pool."""
    m, n_values = bounds.cap.shape
    if record >= 0:
        move(state, n_values, record, node // n_values, cost)
    elif source < m * n_values:
        state.inside[source // n_values, source % n_values] += amount
    elif node < m * n_values:
        state.inside[node // n_values, node % n_values] -= amount
    elif source < m * n_values + m:
        state.spare[source - m * n_values] += amount
    else:
        state.spare[node - m * n_values] -= amount
    state.excess[source] -= amount
    state.excess[node] += amount


@part
def _augment(bounds: Bounds, arcs: Arcs, state: FlowState, work: Work, source: int) -> bool:
    """Send one unit from `source` along a shortest path to a node in need; False if none can be reached."""
    n_values = bounds.cap.shape[1]
    work.seen[source] = 1
    work.distance[source] = 0.0
    work.heap[0] = source
    work.place[source] = 0
    size, n_settled, sink = 1, 0, -1
    while size > 0:
        node = pop(work.heap, work.place, work.distance, size)
        size -= 1
        work.seen[node] = 2
        work.settled[n_settled] = node
        n_settled += 1
        if state.excess[node] < 0:
            sink = node
            break
        size = _scan(bounds, arcs, state, work, node, size)
    if sink < 0:
        return False
    limit = work.distance[sink]
    for index in range(n_settled):
        node = work.settled[index]
        state.potential[node] -= limit - work.distance[node]
        work.seen[node] = 0
    for index in range(size):
        work.seen[work.heap[index]] = 0
    node = sink
    while node != source:
        record, parent = work.via[node], work.parent[node]
        cost = 0.0
        if record >= 0:
            for arc in range(arcs.starts[record], arcs.starts[record + 1]):
                if arcs.targets[arc] == node // n_values:
                    cost = arcs.costs[arc]
        push(bounds, state, parent, node, record, cost, 1)
        node = parent
    return True


@kernel(nogil=True)
def advance(bounds: Bounds, arcs: Arcs, state: FlowState, work: Work, effort: int) -> tuple[int, int]:
    """Shortest augmenting paths until no excess is left or the effort is spent: (DONE, MORE or STUCK; paths)."""
    work.seen[:] = 0
    paths = 0
    for node in range(len(state.excess)):
        while state.excess[node] > 0:
            if paths == effort:
                return MORE, paths
            if not _augment(bounds, arcs, state, work, node):
                return STUCK, paths
            paths += 1
    return DONE, paths


@kernel
def fit_potentials(bounds: Bounds, state: FlowState, both: bool) -> None:
    """Where an arc has room left, make its reduced cost exactly non-negative: what is corrected is rounding.

    With `both` also non-positive where its flow can go back, so that it is zero strictly between the limits.
    """
    m, n_values = bounds.cap.shape
    potential = state.potential
    pool = m * n_values + m
    for centre in range(m):
        up = m * n_values + centre
        if state.spare[centre] < bounds.most[centre] - bounds.least[centre]:
            potential[up] = max(potential[up], potential[pool])
        if both and state.spare[centre] > 0:
            potential[up] = min(potential[up], potential[pool])
        for value in range(n_values):
            node = centre * n_values + value
            inside = state.inside[centre, value]
            if inside < bounds.cap[centre, value]:
                step = marginal(bounds, centre, value, inside + 1)
                potential[node] = max(potential[node], potential[up] - step)
            if both and inside > bounds.floor[centre, value]:
                step = marginal(bounds, centre, value, inside)
                potential[node] = min(potential[node], potential[up] - step)
