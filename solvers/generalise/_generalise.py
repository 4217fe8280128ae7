"""Levels chosen by optimisation: every record as low in the hierarchies as k and the other conditions allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels import registry
from optmodels.conditions import TOLERANCE, ClassTest, fewest_values
from optmodels.errors import whole
from optmodels.front import ParetoFront
from optmodels.partition import Labels, class_sizes, group_rows, histograms, members
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import FrontSolver, Run
from optmodels.structures import Levels, Structure
from solvers.generalise.by_prices import improve_by_prices
from solvers.generalise.climbing import Climb
from solvers.generalise.merging import Merging

# Combinations of levels that are gone through one by one; of more than these so many on ways from bottom to top.
MOST_COMBINATIONS = 20_000
_FEWER_COMBINATIONS = 2_000
# What records may be made to pay that are called back to a higher level, as a share of what those who call them would
# pay at the top.
_GENEROSITIES = (0.0, 0.02, 0.05, 0.1, 0.3, 1.0)
_TYPICAL_GENEROSITIES = (0.05, 0.3)
# Partitions that are kept on the way from one to where merging hides nothing more.
_STOPS = 20
# Sensitive values counted in classes, 8 bytes each, that are kept at once.
_MOST_COUNTS = 500_000_000
# Records up to which a front is also sought exactly, point by point.
_EXACT_RECORDS = 24


@dataclass(frozen=True)
class Generalise(FrontSolver):
    """Combinations of levels from cheap to dear: records that are enough to be a class on one stay there.

    Records that are too few wait for the next combination, or call back records of classes that can spare them. Where
    classes are on the lowest levels at which they are equal, these have prices, and local search goes on from the
    better of this and of the cheapest classes first. The bound is what every record costs on the cheapest combination
    on which k records with it are equal. Beyond 20,000 combinations only some ways from the lowest to the highest are
    gone, and the bound is what every record costs with the k - 1 others that are nearest.

    To disclose less, everyone starts from a higher combination, or classes with different most frequent values are
    merged; a front is made of `floors` such combinations and of merging, and of few records it is also found exactly in
    its Pyomo view.

    >>> import pandas as pd
    >>> from formulations import MajeedHwang
    >>> from optmodels import Table
    >>> people = pd.DataFrame({"age": [20, 61, 21, 60], "illness": ["flu", "flu", "cold", "cold"]})
    >>> table = Table(people, quasi={"age": "numeric"}, sensitive="illness")
    >>> Generalise().solve(MajeedHwang(k=2, levels="least").build(table)).labels
    array([0, 1, 0, 1])
    """

    name: ClassVar[str] = "generalise"
    summary: ClassVar[str] = "every record on the lowest levels of hierarchies at which enough are equal; with a bound"
    needs: ClassVar[tuple[type[Structure], ...]] = (Levels,)

    floors: int = 60

    def __post_init__(self) -> None:
        whole("floors", self.floors, 2, "a front has two ends")

    def cannot(self, problem: Problem) -> str | None:
        """It needs few enough sensitive values to count."""
        values, classes = int(problem.test.starts[-1]), problem.n // problem.test.k + 1
        if not problem.test.only_size and values * classes * len(_GENEROSITIES) > _MOST_COUNTS:
            return (
                f"it counts {values:,} sensitive values in up to {classes:,} classes, more than fit into memory: put "
                "the values into bins, or use 'usefulness'."
            )
        return None

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """The front of few records is found exactly, where the model can be posed for every disclosure."""
        return front and _has_exact_front(problem)

    def search(self, problem: Problem, run: Run) -> None:
        """Offer classes for every generosity; while they disclose too much, merged ones and higher floors."""
        levels = problem.require(Levels)
        stairs = Stairs(levels)
        for labels in stairs.climb(problem.test, run, prove=True):
            if not run.offer(labels) and levels.most_disclosure is not None:
                _offer_merged(levels, levels.most_disclosure, labels, run)
        if levels.least_levels and levels.most_disclosure is None:
            improve_by_prices(levels, run, prove=not stairs.all)
        if levels.most_disclosure is not None:
            for floor in stairs.floors(self.floors):
                if run.expired or (run.value is not None and stairs.costs[floor] * problem.n >= run.value):
                    break
                for labels in stairs.climb(problem.test, run, floor=floor):
                    run.offer(labels)
        if run.labels is None:
            run.offer(np.zeros(problem.n, np.int64))

    def explore(self, problem: Problem, run: Run) -> None:
        """Classes above ever higher floors, and the exact front of few records."""
        levels = problem.require(Levels)
        stairs = Stairs(levels)
        for labels in stairs.climb(problem.test, run):
            run.keep(labels)
        for point in ParetoFront.of(problem, run.front).points[:1]:
            for labels in _merged(levels, point.require(), run):
                run.keep(labels)
        for floor in stairs.floors(self.floors):
            if run.expired:
                break
            for labels in stairs.climb(problem.test, run, floor=floor):
                run.keep(labels)
        run.keep(np.zeros(problem.n, np.int64))
        if _has_exact_front(problem) and not run.expired:
            before = len(run.front)
            complete = run.details["complete"] = _exact_front(problem, levels, run)
            if complete:
                run.forget(before)


class Stairs:
    """All combinations of levels from cheap to dear, of equal cost the lower levels first."""

    def __init__(self, levels: Levels) -> None:
        level_costs = levels.costs()
        self.all = prod(map(len, level_costs)) <= MOST_COMBINATIONS
        if self.all:
            combinations = np.array(list(product(*(range(len(costs)) for costs in level_costs))), np.int64)
        else:
            combinations = _ways_up(level_costs)
        costs = np.sum([costs[combinations[:, j]] for j, costs in enumerate(level_costs)], axis=0)
        order = np.lexsort([combinations.sum(axis=1), costs])
        self.combinations: NDArray[np.int64] = combinations[order]
        self.costs: NDArray[np.float64] = costs[order]
        self.nodes = levels.nodes
        self.inverse = group_rows(list(levels.leaves.T))
        self.distinct = np.empty((int(self.inverse.max()) + 1, levels.leaves.shape[1]), levels.leaves.dtype)
        self.distinct[self.inverse] = levels.leaves

    def floors(self, most: int) -> list[int]:
        """So many combinations above the lowest, evenly over all of them."""
        places = np.linspace(1, len(self.costs) - 1, min(most, len(self.costs) - 1))
        return np.unique(places.round().astype(np.int64)).tolist() if len(self.costs) > 1 else []

    def keys(self, levels: NDArray[np.int64]) -> Labels:
        """Equal for records that are equal on a combination of levels."""
        columns = [nodes[self.distinct[:, j], levels[j]] for j, nodes in enumerate(self.nodes)]
        return np.asarray(group_rows(columns)[self.inverse])

    def climb(self, test: ClassTest, run: Run, *, floor: int | None = None, prove: bool = False) -> Iterator[Labels]:
        """Classes that meet a test, on no lower levels than the floor's; one partition for every generosity.

        With `prove` the bound goes to the run. Where the time is over before all combinations have been seen, who is
        still without a class goes to the top.
        """
        above = (self.combinations >= self.combinations[floor or 0]).all(axis=1)
        steps: list[int] = np.flatnonzero(above).tolist()
        generosities = _GENEROSITIES if floor is None else _TYPICAL_GENEROSITIES
        climbs = [Climb(len(self.inverse), test, share, float(self.costs[-1])) for share in generosities]
        if prove and self.all:
            self._prove(test, run)
        for place, step in enumerate(steps):
            if run.expired:
                break
            equal = members(self.keys(self.combinations[step]))
            waiting = [one.step(*equal, float(self.costs[step])) for one in climbs]
            run.report(f"{sum(one.n_classes for one in climbs)} classes", done=place + 1, total=len(steps))
            if not any(waiting):
                break
        for one in climbs:
            yield one.finished()

    def _prove(self, test: ClassTest, run: Run) -> None:
        """Every record costs at least as much as the cheapest combination that a class with it could be on."""
        least = np.full(len(self.inverse), inf)
        for levels, cost in zip(self.combinations, self.costs.tolist(), strict=True):
            if run.expired:
                return
            least[np.isinf(least) & _possible(self.keys(levels), test)] = cost
            if not np.isinf(least).any():
                run.prove(float(least.sum()))
                return


def _ways_up(level_costs: tuple[NDArray[np.float64], ...]) -> NDArray[np.int64]:
    """Combinations on random ways from the lowest to the highest, step by step; cheap steps tend to come first."""
    draw = np.random.default_rng(0)
    steps = [
        (j, costs[level] - costs[level - 1]) for j, costs in enumerate(level_costs) for level in range(1, len(costs))
    ]
    found = {(0,) * len(level_costs): None}
    most_paid = max((paid for _, paid in steps), default=0.0) or 1.0
    while len(found) < _FEWER_COMBINATIONS:
        at = np.zeros(len(level_costs), np.int64)
        late = draw.random() * np.array([paid for _, paid in steps]) / most_paid + draw.random(len(steps))
        for place in np.argsort(late).tolist():
            at[steps[place][0]] += 1  # the next level of that attribute, whichever step it was
            found.setdefault(tuple(at.tolist()))
    return np.array(list(found), np.int64)


def _possible(keys: Labels, test: ClassTest) -> NDArray[np.bool_]:
    """For each record whether it could be in a class with some of those that have its key."""
    enough = class_sizes(keys) >= test.k
    for j in range(len(test.entropy)):
        needed = fewest_values(test, j)
        if needed > 1:
            enough &= np.diff(histograms(keys, test.codes[:, j] - test.starts[j]).starts) >= needed
    return np.asarray(enough[keys])


def _merged(levels: Levels, labels: Labels, run: Run) -> Iterator[Labels]:
    """Ever coarser partitions that disclose ever less, some on the way to where merging hides nothing more."""
    merging = Merging(levels, labels)
    begin, everyone = merging.right, int(merging.counts.sum(axis=0).max())
    wanted = np.linspace(begin, everyone, _STOPS + 1)[1:].tolist()
    for _ in merging.steps():
        if run.expired:
            return
        if merging.right <= wanted[0]:
            wanted = [goal for goal in wanted[1:] if goal < merging.right] or [-1]
            yield merging.labels()
            run.report(f"merged down to a disclosure of {merging.right / len(labels):.4f}")
    yield merging.labels()


def _offer_merged(levels: Levels, most: float, labels: Labels, run: Run) -> None:
    """Offer a partition merged until it discloses little enough, unless merging cannot do that."""
    merging = Merging(levels, labels)
    for _ in merging.steps():
        if run.expired:
            return
        if merging.right <= (most + TOLERANCE) * len(labels):
            run.offer(merging.labels())
            return


def _has_exact_front(problem: Problem) -> bool:
    """Whether records are few, and the two objectives the model's own, the second of which it can bound."""
    own = [objective.name for objective in problem.objectives] == ["distortion", "disclosure"]
    return problem.n <= _EXACT_RECORDS and own and problem.lacks_pyomo() is None


def _exact_front(problem: Problem, levels: Levels, run: Run) -> bool:
    """The least distortion for every disclosure, from lax to strict; whether all of them were found.

    An attacker's guess is right or wrong about each record, so the next smaller disclosure is at least a record less.
    """
    exact = registry.solver("milp")()
    most = 1.0 if levels.most_disclosure is None else levels.most_disclosure
    while not run.expired:
        limit = None if run.remaining == inf else max(run.remaining, 0.01)
        best = exact.solve(problem.with_disclosure(most), time_limit=limit)
        if best.status is Status.INFEASIBLE:
            return True
        if best.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if best.status is not Status.OPTIMAL or best.labels is None:
            break
        point = run.keep(best.labels, best.value)
        if point is None:
            break
        reached = point.values[problem.objectives[1].name]
        run.report(f"exact: {len(run.front)} points", front={"points": len(run.front)})
        most = reached - 0.5 / problem.n
    run.stop = Stop.TIME
    return False
