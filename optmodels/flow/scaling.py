"""Good potentials fast: cost scaling by push and relabel, with tolerances that shrink from phase to phase.

Nothing here needs to be exact: whatever potentials come out, `restart` makes a pseudoflow that satisfies
complementary slackness with them, and augmenting paths finish the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.flow.paths import Arcs, Bounds, Floats, FlowState, Ints, marginal, move, push
from optmodels.kernels import kernel, part


@kernel
def restart(bounds: Bounds, arcs: Arcs, state: FlowState) -> int:
    """The pseudoflow that satisfies complementary slackness with the potentials; returns its excess."""
    m, n_values = bounds.cap.shape
    potential = state.potential
    pool = m * n_values + m
    held = np.zeros((m, n_values), np.int64)
    for record in range(len(state.home)):
        value = state.value[record]
        node = state.home[record] * n_values + value
        best, best_arc = state.home_cost[record] - potential[node], -1
        for arc in range(arcs.starts[record], arcs.starts[record + 1]):
            key = arcs.costs[arc] - potential[arcs.targets[arc] * n_values + value]
            if key < best:
                best, best_arc = key, arc
        if best_arc >= 0:
            move(state, n_values, record, arcs.targets[best_arc], arcs.costs[best_arc])
        held[state.home[record], value] += 1
    state.excess[pool] = -len(state.home)
    for centre in range(m):
        up = m * n_values + centre
        arrived = 0
        for value in range(n_values):
            node = centre * n_values + value
            low, high = _range_inside(bounds, centre, value, potential[node] - potential[up])
            inside = min(max(held[centre, value], low), high)
            state.inside[centre, value] = inside
            state.excess[node] = held[centre, value] - inside
            arrived += inside
        room = bounds.most[centre] - bounds.least[centre]
        difference = potential[up] - potential[pool]
        spare = room if difference < 0 else 0
        if difference == 0:
            spare = min(max(0, arrived - bounds.least[centre]), room)
        state.spare[centre] = spare
        state.excess[up] = arrived - bounds.least[centre] - spare
        state.excess[pool] += spare + bounds.least[centre]
    total = 0
    for node in range(pool + 1):
        total += max(0, state.excess[node])
    return total


@part
def _range_inside(bounds: Bounds, centre: int, value: int, difference: float) -> tuple[int, int]:
    """The least and greatest flows (centre, value) -> centre whose units all have the right reduced cost."""
    floor, cap = bounds.floor[centre, value], bounds.cap[centre, value]
    free = np.int64(min(float(cap), max(float(floor), np.floor(bounds.threshold[centre, value]))))
    low = high = int(floor)
    for first, last in ((floor, free), (free, min(cap, free + 1)), (min(cap, free + 1), cap)):
        if last > first:
            reduced = difference + marginal(bounds, centre, value, int(last))
            if reduced < 0:
                low = int(last)
            if reduced <= 0:
                high = int(last)
    return low, high


class Queue(NamedTuple):
    """Nodes waiting to be relieved of their excess, first in first out, and scratch space for their arcs."""

    nodes: Ints
    waiting: NDArray[np.uint8]
    ends: Ints  # (2): where the first is, and how many there are
    keys: Floats
    targets: Ints
    records: Ints
    costs: Floats


def queue_for(state: FlowState) -> Queue:
    """An empty queue for a network in this state."""
    nodes, most = len(state.excess), len(state.home) + len(state.spare) + 1
    return Queue(
        np.empty(nodes, np.int64),
        np.zeros(nodes, np.uint8),
        np.zeros(2, np.int64),
        np.empty(most),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most),
    )


@part
def _enqueue(queue: Queue, node: int) -> None:
    if queue.waiting[node] == 0:
        queue.waiting[node] = 1
        queue.nodes[(queue.ends[0] + queue.ends[1]) % len(queue.nodes)] = node
        queue.ends[1] += 1


@kernel
def refine(bounds: Bounds, arcs: Arcs, state: FlowState, queue: Queue, tolerance: float, few: int, effort: int) -> int:
    """Push and relabel until few nodes hold excess or the effort is spent; returns the steps not used.

    The last units would wander for long where the nearest need is far: augmenting paths take them there at once.
    """
    queue.waiting[:] = 0
    queue.ends[:] = 0
    for node in range(len(state.excess)):
        if state.excess[node] > 0:
            _enqueue(queue, node)
    while queue.ends[1] > few and effort > 0:
        node = queue.nodes[queue.ends[0]]
        queue.ends[0] = (queue.ends[0] + 1) % len(queue.nodes)
        queue.ends[1] -= 1
        queue.waiting[node] = 0
        while state.excess[node] > 0:
            effort -= 1
            if not _discharge(bounds, arcs, state, queue, tolerance, node):
                break
    return effort


@part
def _discharge(bounds: Bounds, arcs: Arcs, state: FlowState, queue: Queue, tolerance: float, node: int) -> bool:
    """Send excess along the arcs of least reduced cost, lowering the node's potential below what they need.

    All of the excess leaves after one look at the node's arcs: a node may begin with thousands of records.
    """
    potential = state.potential
    found = _ways_out(bounds, arcs, state, queue, node)
    if found == 0:
        return False
    last = np.inf
    if state.excess[node] == 1:
        last = _follow(bounds, state, queue, node, np.argmin(queue.keys[:found]))
    else:
        for way in np.argsort(queue.keys[:found]):
            last = _follow(bounds, state, queue, node, way)
            # An arc between centre, value and pool may take more at its next price: what costs more has to wait.
            if state.excess[node] == 0 or queue.records[way] < 0:
                break
    if last + potential[node] >= 0:
        potential[node] = -last - tolerance
    return True


@part
def _follow(bounds: Bounds, state: FlowState, queue: Queue, node: int, way: int | np.intp) -> float:
    """Send what one way out takes at its present price; returns its key."""
    target, record = queue.targets[way], queue.records[way]
    amount = 1 if record >= 0 else min(state.excess[node], _room(bounds, state, node, target))
    push(bounds, state, node, target, record, queue.costs[way], amount)
    if state.excess[target] > 0:
        _enqueue(queue, target)
    return float(queue.keys[way])


@part
def _room(bounds: Bounds, state: FlowState, source: int, target: int) -> int:
    """How many units an arc between a value, its centre and the pool takes at its present price."""
    m, n_values = bounds.cap.shape
    pool = m * n_values + m
    if source == pool:
        return int(state.spare[target - m * n_values])
    if target == pool:
        centre = source - m * n_values
        return int(bounds.most[centre] - bounds.least[centre] - state.spare[centre])
    pair = min(source, target)
    centre, value = pair // n_values, pair % n_values
    inside = state.inside[centre, value]
    above = inside - bounds.floor[centre, value]
    if bounds.slope[centre, value] > 0:
        free = np.int64(bounds.threshold[centre, value])
        if source == pair:
            return max(1, int(min(free, bounds.cap[centre, value]) - inside))
        return 1 if inside > free else int(above)
    return int(bounds.cap[centre, value] - inside) if source == pair else int(above)


@part
def _ways_out(bounds: Bounds, arcs: Arcs, state: FlowState, queue: Queue, node: int) -> int:
    """List the residual arcs out of a node, the best of each record; a key is a reduced cost but for the node's own."""
    m, n_values = bounds.cap.shape
    potential = state.potential
    pool = m * n_values + m
    found = 0
    if node < m * n_values:
        centre, value = node // n_values, node % n_values
        up = m * n_values + centre
        if state.inside[centre, value] < bounds.cap[centre, value]:
            step = marginal(bounds, centre, value, state.inside[centre, value] + 1)
            found = _list(queue, found, step - potential[up], up, -1, 0.0)
        record = state.head[node]
        while record >= 0:
            best, best_arc = np.inf, -1
            for arc in range(arcs.starts[record], arcs.starts[record + 1]):
                key = arcs.costs[arc] - potential[arcs.targets[arc] * n_values + value]
                if key < best and arcs.targets[arc] != centre:
                    best, best_arc = key, arc
            if best_arc >= 0:
                target = arcs.targets[best_arc] * n_values + value
                found = _list(queue, found, best - state.home_cost[record], target, record, arcs.costs[best_arc])
            record = state.after[record]
    elif node < pool:
        centre = node - m * n_values
        if state.spare[centre] < bounds.most[centre] - bounds.least[centre]:
            found = _list(queue, found, -potential[pool], pool, -1, 0.0)
        for value in range(n_values):
            if state.inside[centre, value] > bounds.floor[centre, value]:
                step = marginal(bounds, centre, value, state.inside[centre, value])
                pair = centre * n_values + value
                found = _list(queue, found, -step - potential[pair], pair, -1, 0.0)
    else:
        for centre in range(m):
            if state.spare[centre] > 0:
                up = m * n_values + centre
                found = _list(queue, found, -potential[up], up, -1, 0.0)
    return found


@part
def _list(queue: Queue, found: int, key: float, target: int, record: int, cost: float) -> int:
    queue.keys[found] = key
    queue.targets[found] = target
    queue.records[found] = record
    queue.costs[found] = cost
    return found + 1
