"""Classes to centres, one to one, at least total cost."""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from optmodels.flow.auction import bid, match_rest, release_dear
from optmodels.flow.cells import cheapest_centres, classes_of, in_cells, pair_costs
from optmodels.flow.distances import CODES, Floats, Ints, Metric, class_distances
from optmodels.flow.paths import Arcs
from optmodels.flow.pricing import Cheapest, with_arcs
from optmodels.parallel import cores, threads

# The dense method is cubic, but faster up to this many classes.
_DENSE = 1000
# Arcs that each class and each centre begins with, and that a class may gain in one pricing.
_NEAREST, _NEAREST_OF_CENTRE, _MORE = 12, 24, 16
# The nearest may be so much farther than the nearest there are: what they miss is priced out.
_ROUGHLY = 2.0
# Where fewer classes than this share pay more, they gain as many: they would ask again and again.
_FEW, _CLOSER = 0.02, 256
# Tolerances of the auction, as shares of what a class pays at its nearest centre.
_TOLERANCES = (0.5, 0.1, 0.02, 0.004)
# Arcs that shortest paths may look at, for a second or two; later ones look at so many times as many as the first.
_MOST_LOOKS, _LATER_LOOKS = 90_000_000, 100
# Reduced costs this small, relative to the largest cost, are rounding.
_ROUNDING = 1e-12
_SHARE = 256  # classes that one thread looks at in one go


def cheapest_matching(
    points: Floats, columns: Floats, metric: Metric, order: Ints, starts: Ints
) -> tuple[NDArray[np.int64], float]:
    """The centre of each class and the total cost; classes and centres are as in `class_distances`, as many of both.

    It costs least where it takes no more than a set amount of work, as it does with up to a thousand classes, or with
    tens of thousands that mostly lie near a centre of their own. Beyond that it is the best that was found, the same
    whenever it is asked for: a way to give each class a centre, though there may be a cheaper one.

    >>> both = np.array([0, 1, 2, 3]), np.array([0, 2, 4])
    >>> points = np.array([[0.0], [1.0], [7.0], [9.0]])
    >>> cheapest_matching(points, np.array([[8.0, 2.0]]), "manhattan", *both)
    (array([1, 0]), 5.0)
    """
    m = columns.shape[1]
    if m <= _DENSE:
        costs = class_distances(points, columns, metric, order, starts)
        _, centres = linear_sum_assignment(costs)
        return centres.astype(np.int64), float(costs[np.arange(m), centres].sum())
    matching = _Matching(points, columns, metric, order, starts)
    while matching.worth_it and matching.price_out():
        matching.solve()
    return matching.found, matching.cost


class _Matching:
    """The cheapest matching over the arcs known so far, and the arcs that would still pay at its prices."""

    def __init__(self, points: Floats, columns: Floats, metric: Metric, order: Ints, starts: Ints) -> None:
        m = self.m = columns.shape[1]
        self._classes, self._columns, self._metric = classes_of(points, order, starts), columns, CODES[metric]
        self._cells = in_cells(columns.T)
        self.home, self._owner, self._prices = np.full(m, -1), np.full(m, -1), np.zeros(m)
        self._looks, self.worth_it = 0, True
        self._looked_at = np.full(m, -np.inf)  # what no arc of a class costs less than, whatever prices become
        self.found, rows, targets = self._first_arcs(1 if metric == "manhattan" else 2)
        self.cost = fsum(self._costs(self.found))
        costs = pair_costs(self._classes, columns, self._metric, rows, targets)
        self._arcs = Arcs(np.searchsorted(rows, np.arange(m + 1)), targets.astype(np.int32), costs)
        self._rounding = _ROUNDING * float(costs.max())
        typical = float(np.minimum.reduceat(costs, self._arcs.starts[:-1]).mean())
        for share in _TOLERANCES:
            self.home[:], self._owner[:] = -1, -1
            bid(self._arcs, self._prices, self.home, self._owner, share * typical)
        self.solve()
        self.worth_it &= _LATER_LOOKS * self._looks < _MOST_LOOKS

    def solve(self) -> None:
        """Match those that would rather have another centre, and those that have none, unless it is too much work."""
        least = release_dear(self._arcs, self._prices, self.home, self._owner, self._rounding)
        looks = match_rest(self._arcs, self._prices, self.home, self._owner, least, _MOST_LOOKS - self._looks)
        if looks < 0:
            raise AssertionError("the arcs hold a matching from the beginning")
        self._looks += looks
        self.worth_it = self._looks < _MOST_LOOKS
        if (self.home >= 0).all() and (cost := fsum(self._costs(self.home))) < self.cost:
            self.found, self.cost = self.home.copy(), cost

    def price_out(self) -> bool:
        """Look at all arcs of the classes that pay more than when they were looked at; whether any would pay.

        Prices only rise: whoever pays no more than before has not missed anything.
        """
        pays = self._costs(self.home) + self._prices[self.home]
        rows = np.flatnonzero(pays > self._looked_at + self._rounding)
        found = self._cheaper(rows, pays[rows] - self._rounding)
        self._looked_at[rows] = pays[rows]
        for part in found:
            self._looked_at[part.rows] = np.minimum(pays[part.rows], part.reduced[:, 0])
        self._arcs = with_arcs(self._arcs, found)
        return any((part.targets >= 0).any() for part in found)

    def _costs(self, centres: Ints) -> Floats:
        """What the classes cost with these centres, prices apart."""
        costs: Floats = pair_costs(self._classes, self._columns, self._metric, np.arange(self.m), centres)
        return costs

    def _cheaper(self, rows: Ints, below: Floats) -> list[Cheapest]:
        """The arcs of least reduced cost of some classes, of those below what is given for each."""
        count = min(self.m, _CLOSER if len(rows) < _FEW * self.m else _MORE)

        def searched(first: int) -> Cheapest:
            share = slice(first, first + _SHARE)
            chosen = rows[share]
            targets = np.empty((len(chosen), count), np.int32)
            costs, reduced = np.empty(targets.shape), np.empty(targets.shape)
            result = targets, costs, reduced
            cheapest_centres(self._classes, self._cells, self._metric, self._prices, chosen, below[share], *result)
            return Cheapest(chosen, *result)

        with threads() as pool:
            return list(pool.map(searched, range(0, len(rows), _SHARE)))

    def _first_arcs(self, norm: int) -> tuple[Ints, Ints, Ints]:
        """A matching, and arcs, classes and centres: its own, so that there always is one, and the nearest of both."""
        means, centres, everyone = self._classes.means, self._columns.T, np.arange(self.m)
        some, more = min(_NEAREST, self.m), min(_NEAREST_OF_CENTRE, self.m)
        near = np.asarray(cKDTree(centres).query(means, k=some, p=norm, eps=_ROUGHLY, workers=cores())[1], np.int64)
        near_centre = cKDTree(means).query(centres, k=more, p=norm, eps=_ROUGHLY, workers=cores())[1]
        matching = self._any_matching(near)
        pairs = np.unique(
            np.concatenate(
                [
                    np.repeat(everyone, some) * self.m + near.ravel(),
                    near_centre.ravel() * self.m + np.repeat(everyone, more),
                    everyone * self.m + matching,
                ]
            )
        )
        return matching, pairs // self.m, pairs % self.m

    def _any_matching(self, near: Ints) -> Ints:
        """Each class with the first of its near centres that is free; the others in order along the widest side."""
        matched, taken = np.full(self.m, -1), np.zeros(self.m, bool)
        for c, choices in enumerate(near.tolist()):
            centre = next((centre for centre in choices if not taken[centre]), -1)
            if centre >= 0:
                matched[c], taken[centre] = centre, True
        rest, free = np.flatnonzero(matched < 0), np.flatnonzero(~taken)
        axis = int(np.ptp(self._columns, axis=1).argmax())
        along, side = self._classes.means[rest, axis], self._columns[axis, free]
        matched[rest[np.argsort(along, kind="stable")]] = free[np.argsort(side, kind="stable")]
        return matched
