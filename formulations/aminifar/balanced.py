"""What Aminifar's problems have in common, wherever their centres lie: sizes, bounds, and what breaks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from math import ceil, exp, log
from typing import Self

import numpy as np
from numpy.typing import NDArray

from formulations.aminifar.capped import ShareBounds, bounded_attributes
from formulations.aminifar.possible import cannot_hold, cannot_hold_together, conditions_cannot_hold
from formulations.aminifar.value_bounds import ValueBounds, without
from formulations.aminifar.whole_records import Sizes
from optmodels.conditions import TOLERANCE, ClassTest, Conditions, TDistance
from optmodels.flow import Metric
from optmodels.objectives import Objective
from optmodels.partition import Labels, class_sizes
from optmodels.price import Price
from optmodels.problem import Formulation, Problem
from optmodels.structures import Assignment, Centroids, ClassCount, Parts, Structure
from optmodels.suppression import Suppression
from optmodels.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Objectives that t bounds in every class, with the distance that each is about.
_CLOSENESS: dict[str, TDistance] = {"closeness": "emd", "variational": "variational"}
# Beyond what counts as equal: a level that is this much better is another one.
_MORE = 2 * TOLERANCE


class BalancedProblem(Problem):
    """A given number of classes with bounds on their sizes and on what they hold of a sensitive value.

    The conditions of a sensitive attribute with two values are bounds on its counts, and so are all that look at each
    value alone; `beyond_bounds` names those that are not. Bounds that depend on the size of a class, where that may
    vary, hold for all of its sizes in `floors` and `caps`; `sized` says that for some size they could be closer, and
    `bounds_at` gives what they are for given sizes.
    """

    objectives = (Objective("distance", "min", "distance of records to their centres, plus penalties"),)
    stand_in: str | None = None
    centres: Floats | None = None

    def __init__(
        self,
        table: Table,
        formulation: Formulation,
        conditions: Conditions,
        points: Floats,
        m: int,
        *,
        metric: Metric,
        shares: ShareBounds,
        exact: bool,
    ) -> None:
        super().__init__(table, formulation, conditions)
        n = table.n
        self.points, self.metric, self.shares, self.exact = points, metric, shares, exact
        self.further: tuple[Conditions, ...] = ()
        fewest = n - Suppression.of_share(conditions.suppress, n).most
        self.least = np.full(m, max(fewest // m, conditions.k) if exact else conditions.k, np.int64)
        self.most = np.full(m, ceil(n / m) if exact else n, np.int64)
        self._bind()

    def _bind(self) -> None:
        """Find the bounds that alpha, floor and the conditions put on every class."""
        n, m, tests = self.n, len(self.least), self._tests
        self.capped = capped = bounded_attributes(self.table, tests, Sizes(self.least, self.most), self.shares)
        self.groups = np.column_stack([np.zeros((n, 0), np.int32), *(cap.groups for cap in capped)]).astype(np.int32)
        self.floors, self.caps = self.bounds_at(self.least, self.most)
        self.thresholds = tuple(np.tile(cap.threshold, (m, 1)) for cap in capped)
        self.slopes = tuple(np.tile(cap.slope, (m, 1)) for cap in capped)
        self.sized = any(cap.conditions.varies(int(self.least[0]), int(self.most[0])) for cap in capped)
        self.beyond_bounds = _beyond_bounds(self.table, tests)

    @property
    def _tests(self) -> tuple[ClassTest, ...]:
        return self.test, *(conditions.compile(self.table) for conditions in self.further)

    def better_than(self, quantity: str, value: float) -> Self | None:
        """The same problem where every class is better than that in a quantity of `held`; None where none can be."""
        stricter = _stricter(quantity, value)
        if stricter is None:
            return None
        other = copy(self)
        other.further = (*self.further, stricter)
        other._bind()
        return other

    @property
    def held(self) -> tuple[str, ...]:
        """The quantities that are the worst class's, so that a condition on every class holds them."""
        # The entropy of several attributes is a sum, in which one class may be the worst of each.
        return {0: (), 1: (*_CLOSENESS, "entropy")}.get(len(self.table.sensitive), tuple(_CLOSENESS))

    @property
    def unbounded_test(self) -> ClassTest:
        """The conditions on those attributes of which floors and caps do not say all."""
        least, most = int(self.least[0]), int(self.most[0])
        said = (ValueBounds(self.test, attribute=j) for j in range(len(self.table.sensitive)))
        covered = [j for j, bounds in enumerate(said) if not (bounds.unbounded or bounds.varies(least, most))]
        return without(self.test, covered)

    def bounds_at(self, least: Ints, most: Ints) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
        """The floors and the caps of classes whose sizes are bounded so, per bounded attribute (classes, groups)."""
        ranges, place = np.unique(np.column_stack([least, most]), axis=0, return_inverse=True)
        found = [[cap.over(*sizes) for sizes in ranges.tolist()] for cap in self.capped]
        floors = tuple(np.array([between.low for between in of_cap])[place.ravel()] for of_cap in found)
        return floors, tuple(np.array([between.high for between in of_cap])[place.ravel()] for of_cap in found)

    def structures(self) -> Iterator[Structure]:
        """Records assigned to centres, given or not, as many as there are classes."""
        m = len(self.least)
        yield self.assignment()
        yield ClassCount(m)
        price = Price("spread", self.points, np.zeros((self.n, 0), np.int32), np.zeros(0))
        yield Centroids(price, self.test, m, {"distance": 1.0})  # what decoding to the assignment's bounds measures
        yield Parts(stand_in=self.stand_in)

    def assignment(self) -> Assignment:
        """The bounds of the classes, and what a partition's distance is."""
        return Assignment(
            least=self.least,
            most=self.most,
            groups=self.groups,
            floors=self.floors,
            caps=self.caps,
            thresholds=self.thresholds,
            slopes=self.slopes,
            points=self.points,
            metric=self.metric,
            distance=lambda labels: self.values(labels)["distance"],
            centres=self.centres,
            bounds_at=self.bounds_at if self.sized else None,
            beyond_bounds=self.beyond_bounds,
            held=self.held,
        )

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The same problem for some of the records and some of the classes, with the sizes and caps of the whole."""
        chosen = np.arange(len(self.least)) if classes is None else classes
        part = self._copy()
        vars(part).pop("_cannot_hold", None)  # what was found out of the whole
        part.table, part.test = self.table.take(rows), self.test.take(rows)
        part.points, part.groups = self.points[rows], self.groups[rows]
        part.capped = tuple(cap.restricted(rows) for cap in self.capped)
        part.least, part.most = self.least[chosen], self.most[chosen]
        part.floors, part.caps = (tuple(each[chosen] for each in bounds) for bounds in (self.floors, self.caps))
        part.thresholds, part.slopes = (
            tuple(each[chosen] for each in penalties) for penalties in (self.thresholds, self.slopes)
        )
        return part

    def _usual_price(self) -> float:
        """The mean distance where all are in one class; what soft caps would charge for that is another matter."""
        everyone = np.zeros(self.n, np.int64)
        return (self.values(everyone)[self.target.name] - self.penalties(everyone)) / self.n

    def penalties(self, labels: Labels) -> float:
        """What classes pay for holding more of a value than a soft cap allows."""
        return sum(cap.penalties(labels) for cap in self.capped)

    def violations(self, labels: Labels) -> dict[str, int]:
        """Classes that break a condition, too many or too few, of a wrong size, above a hard cap or below a floor."""
        sizes = class_sizes(labels)
        over, under = np.zeros(len(sizes), bool), np.zeros(len(sizes), bool)
        for cap in self.capped:
            over |= cap.exceeded(labels)
            under |= cap.lacking(labels)
        wrong = (sizes < self.least[0]) | (sizes > self.most[0])
        broken = {
            **super().violations(labels),
            "classes": abs(len(sizes) - len(self.least)),
            "sizes": int(wrong.sum()),
            "cap": int(over.sum()),
        }
        if self.shares.floor is not None:
            broken["floor"] = int(under.sum())
        for conditions, test in zip(self.further, self._tests[1:], strict=True):
            for name, amount in conditions.violations(test, labels).items():
                broken[name] = max(broken.get(name, 0), amount)
        return broken

    def impossible(self) -> str | None:
        """An alpha too small to hold all records of a value, a floor too high, or a condition, with what works.

        Nothing else can be in the way of one or two bounded attributes; more of them may be in each other's.
        """
        return super().impossible() or (None if self.suppression.most else self._cannot_hold)

    @cached_property
    def _cannot_hold(self) -> str | None:
        sizes, shares = Sizes(self.least, self.most), self.shares
        if reason := cannot_hold(self.capped, sizes, shares.alpha, shares.floor):
            return reason
        if reason := conditions_cannot_hold(self.conditions, self.test, self.table, sizes):
            return reason
        by_alpha = shares.alpha is not None and not shares.soft
        asked = f"alpha={shares.alpha:g}" if by_alpha else self.conditions.describe()
        return cannot_hold_together(self.capped, sizes, asked, by_alpha=by_alpha)


def _stricter(quantity: str, value: float) -> Conditions | None:
    """What is better than a value of a quantity, as a condition on every class; None if nothing can be."""
    if quantity == "entropy":
        return Conditions(entropy_l=exp(value * log(2) + _MORE))
    return Conditions(t=value - _MORE, t_distance=_CLOSENESS[quantity]) if value > _MORE else None


def _beyond_bounds(table: Table, tests: Sequence[ClassTest]) -> str | None:
    """The conditions that are no bounds on the counts of each value, in words, or None."""
    for j, name in enumerate(table.sensitive):
        bounds = ValueBounds(*tests, attribute=j)
        if bounds.unbounded:
            what = " and ".join(bounds.unbounded)
            values = f"which has {bounds.n_values} values"
            return f"{what} of '{name}', {values}, is no bound on how many of each a class holds"
    if any(test.people >= 0 for test in tests):
        return f"k people ('{table.roles.person}') is no bound on how many records of each a class holds"
    return None
