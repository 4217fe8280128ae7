"""The solver `lattice`: levels ruled out by what leaving out adds, until none is left that could be better."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.partition import LEFT_OUT, Labels, class_sizes, group_rows
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from optmodels.structures import Lattice, Structure
from solvers.lattice.grouping import Groupings, Levels
from solvers.lattice.leaving import leaving, only_counts

MOST_COMBINATIONS = 4_000_000  # of levels that are held at once
_BETWEEN = 20  # looks between proofs


@dataclass(frozen=True)
class LatticeSearch(Solver):
    """The best levels for everybody, proven: combinations of levels are a lattice, in which costs and groups only grow.

    What records cost on their levels never falls on the way up, and is the price where nobody is left out. Who is in
    too small a group on some levels is so on all levels below: leaving them out adds at least as much there. So every
    combination that is looked at bounds all below it, and none is left at the end that could cost less than the best.

    Under k and distinct l, of records or of people, the answer is optimal, and so it is where nobody may be left out.
    Other conditions a class may meet without some of its records; whole classes are left out, the bound holds for all
    ways, and a gap may stay. So it is where leaving out costs less than a record can: those who cost most are.

    >>> import pandas as pd
    >>> from formulations import Generalisation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 21, 60], "sex": list("ffff")}), quasi={"age": "numeric",
    ...     "sex": "categorical"})
    >>> best = LatticeSearch().solve(Generalisation(k=2, scheme="full-domain").build(table))
    >>> best.status, best.labels
    (<Status.OPTIMAL: 'optimal'>, array([0, 1, 0, 1]))
    """

    name: ClassVar[str] = "lattice"
    summary: ClassVar[str] = "one level of its hierarchy for each attribute, the best of all combinations, proven"
    exact: ClassVar[bool] = True
    needs: ClassVar[tuple[type[Structure], ...]] = (Lattice,)
    leaves_out: ClassVar[bool] = True

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """The best levels are proven, unless classes could be mended by leaving out some of their records."""
        lattice = problem.require(Lattice)
        return not front and (lattice.most_left_out == 0 or (only_counts(lattice.test) and lattice.cheaper_to_keep))

    def search(self, problem: Problem, run: Run) -> None:
        """Climb down from the top, then look at whatever could still be better."""
        _Search(problem.require(Lattice), run).follow()


class Looked(NamedTuple):
    """What leaving out adds to the costs of some levels, and at least adds there and on all levels below."""

    added: float
    least: float


class _Search:
    """Combinations of levels as an array with an axis for each attribute, and what each costs at least."""

    def __init__(self, lattice: Lattice, run: Run) -> None:
        self.lattice, self.run = lattice, run
        self.groupings = Groupings(lattice)
        self.level_costs = lattice.level_costs()
        self.top: Levels = tuple(len(costs) - 1 for costs in self.level_costs)
        self.bottom: Levels = (0,) * len(self.top)
        self.looked: dict[Levels, Looked] = {}
        self.best = inf
        self.quick = lattice.test.only_size and (lattice.most_left_out == 0 or lattice.cheaper_to_keep)

    def follow(self) -> None:
        """Offer ever better levels; prove what is proven."""
        run = self.run
        if self.look(self.top).least == inf:
            return
        self.raise_bottom()
        self._prove(self.floor(self.bottom) + self.look(self.top).least)
        self.climb_down()
        sizes = [high - low + 1 for low, high in zip(self.bottom, self.top, strict=True)]
        run.details["combinations"] = prod(sizes)
        if prod(sizes) > MOST_COMBINATIONS:
            run.details["remark"] = f"more than {MOST_COMBINATIONS:,} combinations of levels are not all looked at"
        elif not run.expired:
            self.rule_out(sizes)
        run.details["looked_at"] = len(self.looked)

    def floor(self, levels: Levels) -> float:
        """What levels cost where nobody is left out: no more is needed, and no less is possible."""
        return float(sum(costs[level] for costs, level in zip(self.level_costs, levels, strict=True)))

    def look(self, levels: Levels) -> Looked:
        """What leaving out adds at these levels, infinite where too many would be; what is better is offered."""
        if levels in self.looked:
            return self.looked[levels]
        found, out = self._quickly(levels) if self.quick else self._whole(levels)
        cost = self.floor(levels) + found.added
        if cost < self.best:
            if self._offer(levels, cost, out):
                self.best = cost
            else:  # two groups that share a hash looked like one, or nobody would be left
                found = Looked(inf, found.least)
        self.looked[levels] = found
        return found

    def _quickly(self, levels: Levels) -> tuple[Looked, NDArray[np.bool_] | None]:
        """The same where whoever need not be left out is not, and nothing but sizes is asked for."""
        cut = self.groupings.cut(levels)
        added = cut.records * self.lattice.left_out_price - cut.costs
        added = added if cut.records <= self.lattice.most_left_out else inf
        return Looked(added, added), None

    def _whole(self, levels: Levels) -> tuple[Looked, NDArray[np.bool_]]:
        found = leaving(self.lattice, self._groups(levels), self._costs(levels))
        return Looked(found.added, found.least), found.records

    def _groups(self, levels: Levels) -> Labels:
        lattice = self.lattice
        columns = [
            nodes[:, level][lattice.leaves[:, j]]
            for j, (nodes, level) in enumerate(zip(lattice.nodes, levels, strict=True))
        ]
        return group_rows(columns)

    def _costs(self, levels: Levels) -> Floats:
        lattice = self.lattice
        total = np.zeros(lattice.n)
        for j, level in enumerate(levels):
            total += lattice.node_costs[j][lattice.nodes[j][:, level][lattice.leaves[:, j]]]
        return total

    def _offer(self, levels: Levels, cost: float, out: NDArray[np.bool_] | None) -> bool:
        """Whether the incumbent is then as good as the levels promise.

        It may have been before: where nobody has a value that a higher level would join, the judge knew the lower one.
        """
        groups = self._groups(levels)
        if out is None:
            out = (class_sizes(groups) < self.lattice.test.k)[groups] & (self.lattice.most_left_out > 0)
        if out.all():
            return False
        self.run.offer(np.where(out, LEFT_OUT, groups))
        value = self.run.value
        return value is not None and value * self.lattice.scale <= cost + 1e-9 * max(abs(cost), 1.0)

    def _prove(self, cost: float) -> None:
        self.run.prove(max(min(cost, self.best), 0.0) / self.lattice.scale)

    def raise_bottom(self) -> None:
        """Levels below which an attribute cannot stay even where all others are at the top."""
        lowest = []
        for j, high in enumerate(self.top):
            level = high
            while level > 0 and self.look((*self.top[:j], level - 1, *self.top[j + 1 :])).least < inf:
                level -= 1
            lowest.append(level)
        self.bottom = tuple(lowest)

    def climb_down(self) -> None:
        """From the top, always down the step that saves most, while there is one."""
        at = self.top
        while not self.run.expired:
            below = [(*at[:j], at[j] - 1, *at[j + 1 :]) for j in range(len(at)) if at[j] > self.bottom[j]]
            costs = [self.floor(levels) + self.look(levels).added for levels in below]
            if not costs or min(costs) == inf:
                return
            if min(costs) >= self.floor(at) + self.look(at).added and self.lattice.most_left_out == 0:
                return
            at = below[int(np.argmin(costs))]

    def rule_out(self, sizes: list[int]) -> None:
        """Look at combinations that may be better, the highest first, until there is none."""
        floors = np.zeros(sizes)
        below = np.ones(sizes)  # how many combinations each one bounds
        for j, (low, costs) in enumerate(zip(self.bottom, self.level_costs, strict=True)):
            shape = [-1 if axis == j else 1 for axis in range(len(sizes))]
            floors += costs[low:].reshape(shape)
            below *= np.arange(1, sizes[j] + 1).reshape(shape)
        bounds = np.full(sizes, -inf)
        for levels, found in self.looked.items():
            self._bound(floors, bounds, levels, found.least)
        waiting: list[float] = []
        while not self.run.expired:
            hair = 1e-12 * max(self.best, 1.0)
            open_ones = np.flatnonzero(bounds.ravel() < self.best - hair)
            if not len(open_ones):
                self._prove(min([self.best, *waiting]))
                return
            self._prove(min([float(bounds.ravel()[open_ones].min()), *waiting]))
            self.run.report("combinations looked at", done=len(self.looked), total=None)
            for place in open_ones[np.argsort(-below.ravel()[open_ones], kind="stable")[:_BETWEEN]].tolist():
                if bounds.ravel()[place] >= self.best - hair:
                    continue
                places = np.unravel_index(place, sizes)
                levels = tuple(int(at) + low for at, low in zip(places, self.bottom, strict=True))
                found = self.look(levels)
                self._bound(floors, bounds, levels, found.least)
                bounds.ravel()[place] = inf
                if found.least < found.added - hair:  # some of a group left out, or others, might cost less
                    waiting.append(float(floors.ravel()[place]) + found.least)
                if self.run.expired:
                    break
        self.run.stop = Stop.TIME

    def _bound(self, floors: Floats, bounds: Floats, levels: Levels, least: float) -> None:
        """What leaving out adds here at least it adds on all levels below."""
        inside = tuple(slice(0, level - low + 1) for level, low in zip(levels, self.bottom, strict=True))
        if any(part.stop <= 0 for part in inside):
            return
        np.maximum(bounds[inside], floors[inside] + least, out=bounds[inside])
