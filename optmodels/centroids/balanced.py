"""Matrices of centres as decisions where classes have bounds on sizes and values: records go to them at least cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.centroids.exchanges import Bounded, bounded, exchanged
from optmodels.centroids.kernel import AlsoMeasured, measure_all
from optmodels.centroids.space import CentroidSpace, Decoded
from optmodels.conditions import ClassTest
from optmodels.flow import Bounds, Flow
from optmodels.flow.flow import sizes_only
from optmodels.flow.pricing import ArcCosts
from optmodels.parallel import threads
from optmodels.partition import Labels, canonical
from optmodels.price import Floats
from optmodels.structures import Assignment, Centroids


@dataclass(frozen=True, eq=False)
class BalancedSpace(CentroidSpace):
    """A decision's partition is the cheapest assignment to its centres that keeps sizes and bounds on values.

    Where that is a network all of them are feasible. What is beyond a network is kept by exchanges of records after it.
    What a partition costs is measured around the means of its classes, not around the centres that led to it.

    >>> import pandas as pd
    >>> from formulations import Aminifar
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 21, 22, 23, 60, 61]}), quasi={"age": "numeric"})
    >>> problem = Aminifar(k=3, centres="free").build(table)
    >>> space = BalancedSpace.of(problem.require(Centroids), problem.require(Assignment))
    >>> space.labels(np.array([20.0, 60.0]))  # 23 is nearer to 20, but three are there already
    array([0, 0, 0, 1, 1, 1])
    """

    at_once: ClassVar[int] = 8

    assignment: Assignment = field(kw_only=True)

    @classmethod
    def of(cls, centroids: Centroids, assignment: Assignment) -> BalancedSpace:
        """The space of a problem: one centre for each of its classes."""
        return cls(centroids.price, centroids.test, len(assignment.least), fixed=True, assignment=assignment)

    @cached_property
    def _network(self) -> tuple[NDArray[np.int32], Bounds]:
        return self.assignment.network()

    @cached_property
    def _bounded(self) -> Bounded:
        return bounded(self.assignment)

    def decode(self, decisions: Floats, asked: AlsoMeasured | None = None, *, mend: bool = True) -> Decoded:
        """The cheapest assignments to the centres of flat decisions, one per row, measured."""
        grain = self._fine
        with threads() as pool:
            assigned = list(pool.map(self._assigned, self.matrices(decisions).numeric))
        homes = [home for home, _ in assigned]
        labels = np.empty((len(homes), self.price.n), np.int32)
        labels[:, grain.unit_of] = homes
        found = measure_all(grain.units, self.test, asked or AlsoMeasured(np.zeros(0), False), labels, self.n_centroids)
        found.prices[:] = [np.inf if self.halt[0] else self.assignment.distance(canonical(home)) for home in homes]
        np.maximum(found.missing, [broken for _, broken in assigned], out=found.missing)
        return Decoded(grain, found)

    def settling(self, decision: Floats) -> Iterator[Labels]:
        """The partition of a decision, then that of its classes' means and so on, as long as each is better."""
        least = np.inf
        while True:
            labels = self.labels(decision)
            if self.halt[0] and least < np.inf:
                return
            value = self.assignment.distance(labels)
            if not value < least:
                return
            yield labels
            least, decision = value, self.decision(labels)

    def exchanged(self, labels: Labels, test: ClassTest, kicks: int, trials: int) -> Labels | None:
        """A partition near this one whose classes meet further conditions, by exchanges of records; None without one.

        Where no exchange helps, up to `kicks` are made at random; after so many `trials`, or halted, it is given up.
        """
        centres = self.decision(labels).reshape(self.n_centroids, -1)
        found, broken = exchanged(
            test, self._bounded, self.assignment.points, centres, labels, kicks, trials, halt=self.halt
        )
        return None if broken else canonical(found)

    def _assigned(self, centres: Floats) -> tuple[Labels, int]:
        """The class of each record, and how many classes break something: none where assigning is a network."""
        value, bounds = self._network
        costs = self.assignment.arc_costs(centres)
        flow = Flow(costs, value, bounds, self.halt)
        if self.assignment.no_network is not None:
            if not flow.finish():  # what a network can hold may be in the way of what it cannot
                flow = Flow(costs, np.zeros_like(value), sizes_only(bounds.least, bounds.most), self.halt)
                flow.finish()
            if flow.halted:
                return self._as_far_as(flow)
            return exchanged(self.test, self._bounded, self.assignment.points, centres, flow.home, halt=self.halt)
        if not flow.finish():
            raise AssertionError("sizes and bounds that were found possible cannot be met")
        if flow.halted:
            return self._as_far_as(flow)
        return (flow.home if self.assignment.bounds_at is None else self._sized(costs, flow.home)), 0

    def _as_far_as(self, flow: Flow) -> tuple[Labels, int]:
        """What a flow that was given up has come to: an assignment that may keep the bounds, or nothing."""
        return np.maximum(flow.placed, 0), int((flow.placed < 0).any() or self.assignment.no_network is not None)

    def _sized(self, costs: ArcCosts, home: Labels) -> Labels:
        """An assignment that keeps the bounds of its classes' own sizes: these or, if need be, equal ones."""
        n, m = self.price.n, self.n_centroids
        sizes = np.bincount(home, minlength=m)
        equal = np.full(m, n // m), np.full(m, -(-n // m))
        for least, most in ((sizes, sizes), equal):
            flow = Flow(costs, *self.assignment.network(least, most), self.halt)
            if flow.finish() and not flow.halted:
                return flow.home
        return home
