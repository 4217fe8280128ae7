"""Records to centres at least cost under size bounds and caps: sparse arcs, paths, pricing, certificate."""

from __future__ import annotations

from math import fsum
from time import perf_counter

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.flow.greedy import place_greedily
from optmodels.flow.paths import (
    DONE,
    STUCK,
    Arcs,
    Bounds,
    Floats,
    Indices,
    Ints,
    State,
    advance,
    move,
    slack_potentials,
    workspace,
)
from optmodels.flow.pricing import ArcCosts, Cheapest, Prices, centres_share, cheapest_arcs, with_arcs
from optmodels.flow.scaling import consistent, queue_for, refine, restart

# Reduced costs this small, relative to the largest cost, are rounding.
_ROUNDING = 1e-12
# Up to so many centres, every record knows all its arcs from the beginning.
_ALL = 64
# Arcs of least cost that each record starts with, and that it may gain in one pricing.
_FIRST = 12
_MORE = 8
# Cost scaling: tolerances as fractions of the mean cost, each phase's a fraction of the one before.
_COARSE, _FINE, _FACTOR = 0.5, 1e-4, 0.2


class Flow:
    """A least-cost assignment in the making: `advance` until no excess is left, `price` until no arc is missing.

    >>> costs = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 9.0], [4.0, 4.0]])
    >>> flow = Flow(lambda rows, centres: costs[np.ix_(rows, centres)], np.zeros(4, np.int32), sizes_only([2, 2], [2, 2]))
    >>> flow.finish()
    True
    >>> flow.home.tolist(), flow.cost, flow.bound
    ([0, 1, 0, 1], 9.0, 9.0)
    """

    def __init__(self, arc_costs: ArcCosts, value: Indices, bounds: Bounds) -> None:
        self.n, (self.m, self.n_values) = len(value), bounds.cap.shape
        self.bounds = bounds
        self.bound = -np.inf
        self.left = self.n  # units of excess
        self.paths = self.pricings = 0
        self.feasible = True
        self.trace = []
        self._arc_costs = arc_costs
        self._work = workspace(self.m * self.n_values + self.m + 1)
        self._complete = self.m <= _ALL
        found = self._cheapest(np.zeros((self.n_values, self.m)), self.m if self._complete else _FIRST)
        targets = np.concatenate([part.targets for part in found])
        costs = np.concatenate([part.costs for part in found])
        starts = np.arange(self.n + 1, dtype=np.int64) * targets.shape[1]
        self.arcs = Arcs(starts, targets.ravel(), costs.ravel())
        self.greedy, self.arcs = place_greedily(arc_costs, value, bounds, self.arcs)
        self._state = _begin(np.ascontiguousarray(value, np.int32), targets[:, 0], costs[:, 0], self.m, self.n_values)
        self._tolerance = _ROUNDING * float(np.abs(costs).max(initial=0.0))
        self.left = restart(self.bounds, self.arcs, self._state)

    @property
    def home(self) -> NDArray[np.int64]:
        """The centre of each record."""
        return self._state.home.astype(np.int64)

    @property
    def cost(self) -> float:
        """The cost of the assignment, with its penalties; meaningful once no excess is left."""
        over = np.maximum(0.0, self._state.inside - self.bounds.threshold)
        return fsum(self._state.home_cost) + fsum((self.bounds.slope * over)[self.bounds.slope > 0])

    def scale(self, coarse: float = _COARSE, fine: float = _FINE) -> None:
        """Bring the potentials near their optimum over the known arcs."""
        state = self._state
        mean = float(np.abs(state.home_cost).mean())
        queue = queue_for(state)
        tolerance = coarse * mean
        gain = self.n
        reach = 4 * float(np.abs(self.arcs.costs).max())
        while tolerance >= fine * mean:
            effort = 1_000_000_000
            floor = float(state.potential.min()) - reach
            left, given_up = refine(self.bounds, self.arcs, state, queue, tolerance, floor, effort)
            steps = effort - left
            consistent(self.bounds, state)
            self.left = restart(self.bounds, self.arcs, state)
            if (given_up or gain > 0.01 * self.n) and not self._complete:
                gain = self.price()
                self.left = restart(self.bounds, self.arcs, state)
            self.trace.append((tolerance, steps, self.left, given_up, gain, self.bound, len(self.arcs.targets), perf_counter()))
            if not given_up:
                tolerance *= _FACTOR

    def advance(self, effort: int) -> bool:
        """So many augmenting paths; True once every bound is met at least cost over the known arcs."""
        while effort > 0 and self.feasible:
            code, used = advance(self.bounds, self.arcs, self._state, self._work, effort)
            effort -= used
            self.left -= used
            self.paths += used
            if code == DONE:
                return True
            if code == STUCK:
                self._open_ways_out()
        return False

    def price(self) -> int:
        """Look at every arc: raise the bound, add the arcs that would pay; returns how many records gain."""
        prices = self._prices()
        self.pricings += 1
        found = self._cheapest(prices.pair, 1 if self._complete else _MORE)
        least = fsum(np.concatenate([part.reduced[:, 0] for part in found]))
        self.bound = max(self.bound, least + centres_share(self.bounds, prices, self.n))
        return self._admit([self._paying(part) for part in found])

    def finish(self) -> bool:
        """Solve to proven optimality; False where the bounds cannot be met."""
        while True:
            while not self.advance(1000):
                if not self.feasible:
                    return False
            if self.price() == 0:
                return True

    def _cheapest(self, prices: Floats, count: int, rows: Ints | None = None) -> list[Cheapest]:
        value = self._state.value if hasattr(self, "_state") else np.zeros(self.n, np.int32)
        rows = np.arange(self.n) if rows is None else rows
        return list(cheapest_arcs(self._arc_costs, rows, value, prices, count))

    def _prices(self) -> Prices:
        pairs = self.m * self.n_values
        # Rounding in a potential counts once per unit of capacity in the bound: remove it where flow is free.
        slack_potentials(self.bounds, self._state)
        potential = self._state.potential
        pair = -potential[:pairs].reshape(self.m, self.n_values)
        return Prices(np.ascontiguousarray(pair.T), -potential[pairs : pairs + self.m], -float(potential[-1]))

    def _admit(self, found: list[Cheapest]) -> int:
        """Add arcs, and move records along arcs that beat their present one; returns how many records gain."""
        gaining = 0
        self.arcs = with_arcs(self.arcs, found)
        for part in found:
            now = _present(self._state, part.rows, self.n_values)
            better = part.reduced[:, 0] < now - self._tolerance
            gaining += int(better.sum())
            _reassign(self._state, self.n_values, part.rows[better], part.targets[better, 0], part.costs[better, 0])
        return gaining

    def _paying(self, part: Cheapest) -> Cheapest:
        """Only the arcs that beat a record's present one."""
        now = _present(self._state, part.rows, self.n_values)
        part.targets[part.reduced >= now[:, None] - self._tolerance] = -1
        return part

    def _open_ways_out(self) -> None:
        """Give every record in a node reached from an excess its cheapest arcs to nodes not reached."""
        pairs = self.m * self.n_values
        reached = self._work.seen[:pairs].astype(bool)
        rows = np.flatnonzero(reached[self._state.home * self.n_values + self._state.value])
        prices = self._prices().pair.copy()
        prices[reached.reshape(self.m, self.n_values).T] = np.inf
        found = self._cheapest(prices, _MORE, rows)
        self.feasible = any((part.targets >= 0).any() for part in found)
        if self.feasible:
            self._admit(found)


def _begin(value: Indices, home: Indices, home_cost: Floats, m: int, n_values: int) -> State:
    n, nodes = len(value), m * n_values + m + 1
    state = State(
        value,
        home.astype(np.int32),
        home_cost.astype(np.float64),
        np.full(m * n_values, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros((m, n_values), np.int64),
        np.zeros(m, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes),
    )
    _fill_lists(state, n_values)
    return state


@njit(cache=True)
def _fill_lists(state: State, n_values: int) -> None:
    for record in range(len(state.home)):
        node = state.home[record] * n_values + state.value[record]
        first = state.head[node]
        state.after[record] = first
        if first >= 0:
            state.before[first] = record
        state.head[node] = record


@njit(cache=True)
def _present(state: State, rows: Ints, n_values: int) -> Floats:
    """The reduced costs of the arcs that records use now."""
    now = np.empty(len(rows))
    for index, record in enumerate(rows):
        node = state.home[record] * n_values + state.value[record]
        now[index] = state.home_cost[record] - state.potential[node]
    return now


@njit(cache=True)
def _reassign(state: State, n_values: int, rows: Ints, targets: Indices, costs: Floats) -> None:
    for index, record in enumerate(rows):
        value = state.value[record]
        state.excess[state.home[record] * n_values + value] -= 1
        state.excess[targets[index] * n_values + value] += 1
        move(state, n_values, record, targets[index], costs[index])


def sizes_only(least: NDArray[np.int64] | list[int], most: NDArray[np.int64] | list[int]) -> Bounds:
    """Bounds on class sizes alone."""
    low, high = np.asarray(least, np.int64), np.asarray(most, np.int64)
    return Bounds(low, high, high[:, None].copy(), np.full((len(low), 1), np.inf), np.zeros((len(low), 1)))
