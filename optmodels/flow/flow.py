"""Records to centres at least cost under size bounds and caps: the driver of the flow's kernels."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

import numpy as np
from numpy.typing import NDArray

from optmodels.flow.greedy import mean_cost, place_greedily
from optmodels.flow.paths import (
    DONE,
    STUCK,
    Arcs,
    Bounds,
    Floats,
    FlowState,
    Indices,
    Ints,
    advance,
    fit_potentials,
    move,
    workspace,
)
from optmodels.flow.pricing import ArcCosts, Cheapest, Halted, Prices, centres_share, cheapest_arcs, with_arcs
from optmodels.flow.scaling import queue_for, refine, restart
from optmodels.halting import Flag, lowered
from optmodels.kernels import kernel

# Reduced costs this small, relative to the largest cost, are rounding.
_ROUNDING = 1e-12
# Up to so many centres, every record knows all its arcs from the beginning and paths alone are fast.
_ALL = 64
# Arcs of least cost that each record starts with, and that it may gain in one pricing.
_FIRST = 12
_MORE = 8
_CLOSER = 256
# Cost scaling: tolerances as fractions of the mean cost, each phase's a fraction of the one before.
_COARSE, _FINE, _FACTOR = 0.5, 1e-4, 0.2
# A phase ends when only one node in so many still holds excess: augmenting paths are better at those.
_FEW = 50
# It ends, too, when a spell of steps leaves more than this share of the excess.
_STALLED = 0.8
# Pricing between phases stops once it changes the best arc of fewer records than this share.
_SETTLED = 0.01
# A phase is repeated with its new arcs as long as the bound rises by more than this share of all costs.
_REPEAT = 0.05
# Steps of scaling, and augmenting paths, between two moments at which a run may be interrupted.
_STEPS, _PATHS = 2_000, 200


class Flow:
    """A least-cost assignment in the making; `finish` solves it, `steps` does so with pauses.

    >>> costs = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 9.0], [4.0, 4.0]])
    >>> halves = sizes_only([2, 2], [2, 2])
    >>> flow = Flow(lambda rows, centres: costs[np.ix_(rows, centres)], np.zeros(4, np.int32), halves)
    >>> flow.finish()
    True
    >>> flow.home.tolist(), flow.cost, flow.bound
    ([0, 1, 0, 1], 9.0, 9.0)

    Attributes:
        placed: an assignment that meets the bounds, found greedily (-1 for records that found no room) and
            replaced by the cheapest one over the known arcs whenever that is complete.
        bound: no assignment costs less.
        feasible: False once it is proven that the bounds cannot be met.

    Once the flag `halt` is raised it is given up, and what is known so far stays.
    """

    def __init__(self, arc_costs: ArcCosts, value: Indices, bounds: Bounds, halt: Flag | None = None) -> None:
        self.n, (self.m, self.n_values) = len(value), bounds.cap.shape
        self.bounds = bounds
        self.bound = -np.inf
        self.tolls: Floats | None = None  # what each centre charges, where sizes are all that is bounded
        self.paths = self.pricings = 0
        self.feasible = bool(bounds.least.sum() <= self.n <= bounds.most.sum() and (bounds.floor <= bounds.cap).all())
        self._arc_costs = arc_costs
        self._halt = lowered() if halt is None else halt
        self._value = np.ascontiguousarray(value, np.int32)
        self._complete = self.m <= _ALL
        self.placed = np.full(self.n, -1, np.int64)
        self._arcs = Arcs(np.zeros(self.n + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))
        try:
            self._prepare()
        except Halted:
            self._halt[0] = 1

    def _prepare(self) -> None:
        """Find the first arcs of every record, and an assignment that keeps the bounds."""
        bounds = self.bounds
        found = self._cheapest(np.zeros((self.n_values, self.m)), self.m if self._complete else _FIRST)
        targets = np.concatenate([part.targets for part in found])
        costs = np.concatenate([part.costs for part in found])
        known = Arcs(np.arange(self.n + 1) * targets.shape[1], targets.ravel(), costs.ravel())
        self.placed, self._arcs = place_greedily(self._arc_costs, self._value, bounds, known, self._halt)
        # What a record pays in an assignment that meets the bounds: the scale of prices.
        self._typical = mean_cost(self._arcs, self.placed)
        self._tolerance = _ROUNDING * float(np.abs(costs).max(initial=0.0))
        self._state = _begin(self._value, targets[:, 0], costs[:, 0], self.m, self.n_values)
        self._work = workspace(self.m * self.n_values + self.m + 1)
        restart(bounds, self._arcs, self._state)

    @property
    def home(self) -> NDArray[np.int64]:
        """The centre of each record; meets the bounds once a solve over the known arcs is complete."""
        return self._state.home.astype(np.int64)

    @property
    def cost(self) -> float:
        """The cost of the present assignment, with its penalties."""
        over = np.maximum(0.0, self._state.inside - self.bounds.threshold)
        return fsum(self._state.home_cost) + fsum((self.bounds.slope * over)[self.bounds.slope > 0])

    @property
    def n_arcs(self) -> int:
        """How many arcs are held."""
        return len(self._arcs.targets)

    @property
    def halted(self) -> bool:
        """Whether it was given up."""
        return bool(self._halt[0])

    def finish(self) -> bool:
        """Solve to proven optimality, unless halted; False where the bounds cannot be met."""
        for _ in self.steps():
            pass
        return self.feasible

    def steps(self) -> Iterator[str]:
        """Solve to proven optimality, saying at least about once a second what is being done."""
        try:
            yield from self._steps()
        except Halted:
            return

    def _steps(self) -> Iterator[str]:
        if self._halt[0]:
            return
        if self.feasible and not self._complete:
            yield from self._scale()
        while self.feasible:
            yield from self._augment()
            if not self.feasible:
                return
            self.placed = self.home
            if self.price() == 0:
                return
            yield f"optimal over {self.n_arcs} arcs"

    def price(self) -> int:
        """Look at every arc: raise the bound, add the arcs that would pay; returns how many records gain."""
        prices = self._prices()
        self.pricings += 1
        found = self._cheapest(prices.pair, 1 if self._complete else _MORE)
        least = fsum(np.concatenate([part.reduced[:, 0] for part in found]))
        bound = least + centres_share(self.bounds, prices, self.n)
        if bound > self.bound:
            self.bound = bound
            self.tolls = prices.pair[0] - prices.pool if self.n_values == 1 else None
        gaining = self._admit([self._paying(part) for part in found])
        if 0 < gaining <= _SETTLED * self.n and not self._complete:
            self._look_closer(found, prices)
        return gaining

    def _look_closer(self, found: list[Cheapest], prices: Prices) -> None:
        """Give many more arcs to the few records all of whose arcs found would pay: they would ask again and again."""
        rows = np.concatenate([part.rows[part.targets[:, -1] >= 0] for part in found])
        closer = self._cheapest(prices.pair, _CLOSER, rows)
        for part in closer:
            part.targets[:, :_MORE] = -1  # these have been added already
        self._arcs = with_arcs(self._arcs, closer)

    def _scale(self) -> Iterator[str]:
        """Bring the potentials near their optimum."""
        state, queue = self._state, queue_for(self._state)
        nearest = float(np.abs(state.home_cost).mean())
        tolerance, gaining, steps = _COARSE * max(self._typical, nearest), self.n, max(_STEPS, self.n)
        while tolerance > _FINE * nearest:
            excess = state.excess.clip(0).sum()
            while True:
                left = refine(self.bounds, self._arcs, state, queue, tolerance, self.m // _FEW, steps)
                yield f"scaling, tolerance {tolerance:.3g}"
                before, excess = excess, state.excess.clip(0).sum()
                if left > 0 or excess > _STALLED * before:
                    break
            fit_potentials(self.bounds, state, True)
            restart(self.bounds, self._arcs, state)
            known = self.bound
            if gaining > _SETTLED * self.n:
                gaining = self.price()
                restart(self.bounds, self._arcs, state)
            if self.bound - known <= _REPEAT * max(self._typical, nearest) * self.n:
                tolerance *= _FACTOR

    def _augment(self) -> Iterator[str]:
        """Shortest paths until every bound is met at least cost over the known arcs."""
        code = -1
        while code != DONE and self.feasible:
            code, used = advance(self.bounds, self._arcs, self._state, self._work, _PATHS)
            self.paths += used
            if code == STUCK:
                self._open_ways_out()
            yield f"{self.paths} augmenting paths"

    def _cheapest(self, prices: Floats, count: int, rows: Ints | None = None) -> list[Cheapest]:
        everyone = np.arange(self.n) if rows is None else rows
        return cheapest_arcs(self._arc_costs, everyone, self._value, prices, count, self._halt)

    def _prices(self) -> Prices:
        pairs = self.m * self.n_values
        # Rounding in a potential counts once per unit of capacity in the bound: remove it where flow is free.
        fit_potentials(self.bounds, self._state, False)
        potential = self._state.potential
        pair = -potential[:pairs].reshape(self.m, self.n_values)
        return Prices(np.ascontiguousarray(pair.T), -potential[pairs : pairs + self.m], -float(potential[-1]))

    def _admit(self, found: list[Cheapest]) -> int:
        """Add arcs, and move records along arcs that beat their present one; returns how many records gain."""
        gaining = 0
        self._arcs = with_arcs(self._arcs, found)
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
        """Give every record in a node reached from an excess its cheapest arcs to nodes not reached.

        Where there is no such node, the nodes reached are too small for the records that must be in them.
        """
        reached = self._work.seen[: self.m * self.n_values].astype(bool)
        rows = np.flatnonzero(reached[self._state.home * self.n_values + self._value])
        prices = self._prices().pair
        prices[reached.reshape(self.m, self.n_values).T] = np.inf
        found = self._cheapest(prices, _MORE, rows)
        self.feasible = any((part.targets >= 0).any() for part in found)
        if self.feasible:
            self._admit(found)


def sizes_only(least: NDArray[np.int64] | list[int], most: NDArray[np.int64] | list[int]) -> Bounds:
    """Bounds on class sizes alone.

    >>> sizes_only([2, 2], [3, 3]).cap.tolist()
    [[3], [3]]
    """
    low, high = np.asarray(least, np.int64), np.asarray(most, np.int64)
    nothing = np.zeros((len(low), 1))
    return Bounds(low, high, nothing.astype(np.int64), high[:, None].copy(), nothing + np.inf, nothing)


def _begin(value: Indices, home: Indices, home_cost: Floats, m: int, n_values: int) -> FlowState:
    n, nodes = len(value), m * n_values + m + 1
    state = FlowState(
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


@kernel
def _fill_lists(state: FlowState, n_values: int) -> None:
    for record in range(len(state.home)):
        node = state.home[record] * n_values + state.value[record]
        first = state.head[node]
        state.after[record] = first
        if first >= 0:
            state.before[first] = record
        state.head[node] = record


@kernel
def _present(state: FlowState, rows: Ints, n_values: int) -> Floats:
    """The reduced costs of the arcs that records use now."""
    now = np.empty(len(rows))
    for index, record in enumerate(rows):
        node = state.home[record] * n_values + state.value[record]
        now[index] = state.home_cost[record] - state.potential[node]
    return now


@kernel
def _reassign(state: FlowState, n_values: int, rows: Ints, targets: Indices, costs: Floats) -> None:
    for index, record in enumerate(rows):
        value = state.value[record]
        state.excess[state.home[record] * n_values + value] -= 1
        state.excess[targets[index] * n_values + value] += 1
        move(state, n_values, record, targets[index], costs[index])
