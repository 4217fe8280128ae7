"""Good potentials fast: cost scaling by push and relabel, with tolerances that shrink from phase to phase.

Nothing here needs to be exact: whatever potentials come out, `restart` makes a pseudoflow that satisfies
complementary slackness with them, and augmenting paths finish the work.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from optmodels.flow.paths import Arcs, Bounds, Ints, State, marginal, move, push


@njit(cache=True)
def consistent(bounds: Bounds, state: State) -> None:
    """Shift potentials of centres and values so that flow strictly between its limits has reduced cost zero."""
    m, n_values = bounds.cap.shape
    potential = state.potential
    pool = m * n_values + m
    for centre in range(m):
        up = m * n_values + centre
        if state.spare[centre] < bounds.most[centre] - bounds.least[centre]:
            potential[up] = max(potential[up], potential[pool])
        if state.spare[centre] > 0:
            potential[up] = min(potential[up], potential[pool])
        for value in range(n_values):
            node = centre * n_values + value
            inside = state.inside[centre, value]
            if inside < bounds.cap[centre, value]:
                step = marginal(bounds, centre, value, inside + 1)
                potential[node] = max(potential[node], potential[up] - step)
            if inside > 0:
                step = marginal(bounds, centre, value, inside)
                potential[node] = min(potential[node], potential[up] - step)


@njit(cache=True)
def restart(bounds: Bounds, arcs: Arcs, state: State) -> int:
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


@njit(cache=True)
def _range_inside(bounds: Bounds, centre: int, value: int, difference: float) -> tuple[int, int]:
    """The least and greatest flows (centre, value) -> centre whose units all have the right reduced cost."""
    cap = bounds.cap[centre, value]
    free = np.int64(min(float(cap), max(0.0, np.floor(bounds.threshold[centre, value]))))
    low = high = 0
    for first, last in ((0, free), (free, min(cap, free + 1)), (min(cap, free + 1), cap)):
        if last > first:
            reduced = difference + marginal(bounds, centre, value, last)
            if reduced < 0:
                low = last
            if reduced <= 0:
                high = last
    return low, high


@njit(cache=True)
def refine(
    bounds: Bounds, arcs: Arcs, state: State, tolerance: float, floor: float, queue: Ints, queued: Ints, effort: int
) -> tuple[int, int]:
    """Push and relabel until no excess is left or the effort is spent: (steps not used, nodes given up).

    A node whose potential falls below `floor` has no way out over the known arcs and is given up.
    """
    nodes = len(state.excess)
    first = last = 0
    for node in range(nodes):
        queued[node] = 0
        if state.excess[node] > 0:
            queue[last] = node
            queued[node] = 1
            last += 1
    waiting = last
    given_up = 0
    last %= nodes
    while waiting > 0 and effort > 0:
        node = queue[first]
        first = (first + 1) % nodes
        waiting -= 1
        queued[node] = 0
        while state.excess[node] > 0 and effort > 0:
            effort -= 1
            target = _discharge(bounds, arcs, state, tolerance, node)
            if target < 0 or state.potential[node] < floor:
                given_up += 1
                break
            if state.excess[target] > 0 and queued[target] == 0:
                queue[last] = target
                last = (last + 1) % nodes
                waiting += 1
                queued[target] = 1
    return effort, given_up


@njit(cache=True)
def _discharge(bounds: Bounds, arcs: Arcs, state: State, tolerance: float, node: int) -> int:
    """Send one unit along the arc of least reduced cost, lowering the node's potential until that is negative."""
    m, n_values = bounds.cap.shape
    potential = state.potential
    pool = m * n_values + m
    best, target, with_record, with_cost = np.inf, -1, -1, 0.0
    if node < m * n_values:
        centre, value = node // n_values, node % n_values
        up = m * n_values + centre
        if state.inside[centre, value] < bounds.cap[centre, value]:
            best = marginal(bounds, centre, value, state.inside[centre, value] + 1) - potential[up]
            target = up
        record = state.head[node]
        while record >= 0:
            home, home_cost = state.home[record], state.home_cost[record]
            for arc in range(arcs.starts[record], arcs.starts[record + 1]):
                other = arcs.targets[arc]
                key = arcs.costs[arc] - home_cost - potential[other * n_values + value]
                if key < best and other != home:
                    best, target, with_record, with_cost = key, other * n_values + value, record, arcs.costs[arc]
            record = state.after[record]
    elif node < pool:
        centre = node - m * n_values
        if state.spare[centre] < bounds.most[centre] - bounds.least[centre]:
            best, target = -potential[pool], pool
        for value in range(n_values):
            if state.inside[centre, value] > 0:
                pair = centre * n_values + value
                key = -marginal(bounds, centre, value, state.inside[centre, value]) - potential[pair]
                if key < best:
                    best, target = key, pair
    else:
        for centre in range(m):
            up = m * n_values + centre
            if state.spare[centre] > 0 and -potential[up] < best:
                best, target = -potential[up], up
    if target < 0:
        return -1
    if best + potential[node] >= 0:
        potential[node] = -best - tolerance
    push(bounds, state, node, target, with_record, with_cost)
    return target
