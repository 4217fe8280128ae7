"""The exact model of generalisation: which combination of hierarchy nodes each record is released as.

Records released as one combination are one class, on the levels of its nodes, so that partition and levels are chosen
together. Equal records are counted, not told apart. Entropy is completed lazily by Gibbs cuts.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, product
from math import prod

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from formulations._pyomo.condition_rows import ConditionRows, EntropyCuts
from optmodels.conditions import TOLERANCE, ClassTest
from optmodels.partition import LEFT_OUT, Labels, canonical, class_sizes, group_rows, members
from optmodels.problem import View
from optmodels.problem.patience import still_wanted
from optmodels.suppression import NOBODY, Suppression

# One integer variable for every different record and combination of levels.
MOST_VARIABLES = 50_000

Nodes = tuple[int, ...]
Levels = tuple[int, ...]


def too_large(leaves: NDArray[np.int32], nodes: tuple[NDArray[np.int32], ...]) -> str | None:
    """Why the model of these records and hierarchies is not built, or None."""
    combinations = prod(one.shape[1] for one in nodes)
    different = len(np.unique(leaves, axis=0))
    if different * combinations <= MOST_VARIABLES:
        return None
    return (
        f"{different:,} different records on {combinations:,} combinations of levels make "
        f"{different * combinations:,} variables; the model is built up to {MOST_VARIABLES:,}."
    )


def generalisation_model(
    leaves: NDArray[np.int32],
    nodes: tuple[NDArray[np.int32], ...],
    node_costs: tuple[NDArray[np.float64], ...],
    test: ClassTest,
    most_disclosure: float | None = None,
    *,
    same_levels: bool = False,
    suppression: Suppression = NOBODY,
) -> View[pyo.ConcreteModel]:
    """The model that minimises the cost of nodes over all ways to release the records that pass the test.

    With `same_levels` everybody is released on one combination of levels. Who is left out is in none.
    """
    model = GeneralisationModel(leaves, nodes, node_costs, test, most_disclosure, same_levels, suppression)
    return View(model.native, model.decode, model.encode, model.entropy.add if model.entropy.active else None)


class GeneralisationModel:
    """x[r, g] records of kind r are released as combination g, which is used (y) by none or by at least k.

    out[r] of them are left out.
    """

    def __init__(
        self,
        leaves: NDArray[np.int32],
        nodes: tuple[NDArray[np.int32], ...],
        node_costs: tuple[NDArray[np.float64], ...],
        test: ClassTest,
        most_disclosure: float | None,
        same_levels: bool = False,
        suppression: Suppression = NOBODY,
    ) -> None:
        self.leaves, self.nodes, self.test, self.same_levels = leaves, nodes, test, same_levels
        secrets = [] if test.only_size and most_disclosure is None else [*test.codes.T]
        self.kinds = group_rows([*leaves.T, *secrets])  # alike in everything that matters
        self.counts = class_sizes(self.kinds)
        self.rows, self.starts = members(self.kinds)
        self.first = self.rows[self.starts[:-1]]
        costs, held = self._combinations(node_costs)
        pairs = [(r, g) for g, kinds in enumerate(held) for r in kinds]
        self.held = held
        self.native = model = pyo.ConcreteModel("generalisation")
        model.x = pyo.Var(pairs, domain=pyo.NonNegativeIntegers, bounds=lambda _, r, g: (0, int(self.counts[r])))
        model.y = pyo.Var(range(len(held)), domain=pyo.Binary)
        homes: dict[int, list[int]] = defaultdict(list)
        for r, g in pairs:
            homes[r].append(g)
        kinds = range(len(self.counts))
        away = min(suppression.most, len(leaves))
        model.out = pyo.Var(
            kinds, domain=pyo.NonNegativeIntegers, bounds=lambda _, r: (0, min(away, int(self.counts[r])))
        )
        model.most_out = pyo.Constraint(expr=sum(model.out.values()) <= away)
        model.everyone = pyo.Constraint(
            kinds, rule=lambda _, r: sum(model.x[r, g] for g in homes[r]) + model.out[r] == int(self.counts[r])
        )
        model.opened = pyo.Constraint(pairs, rule=lambda _, r, g: model.x[r, g] <= int(self.counts[r]) * model.y[g])
        model.size = pyo.Constraint(range(len(held)), rule=lambda _, g: self._size(g) >= test.k * model.y[g])
        classes = range(len(held))
        self.conditions = ConditionRows(model, test, classes, self._count, self._size, lambda g: model.y[g])
        self.entropy = EntropyCuts(model, test, classes, self._count)
        if most_disclosure is not None:
            self._bound_disclosure(most_disclosure)
        if same_levels:
            every = sorted(set(self.on_levels))
            model.on_levels = pyo.Var(every, domain=pyo.Binary)
            model.one_for_all = pyo.Constraint(expr=sum(model.on_levels.values()) == 1)
            model.on_these = pyo.Constraint(classes, rule=lambda _, g: model.y[g] <= model.on_levels[self.on_levels[g]])
        paid = sum(costs[g] * model.x[r, g] for r, g in pairs)
        model.distortion = pyo.Objective(expr=paid + suppression.price * sum(model.out.values()))

    def _combinations(self, node_costs: tuple[NDArray[np.float64], ...]) -> tuple[list[float], list[tuple[int, ...]]]:
        """Cost and kinds of each combination of nodes that may be of use, and where each combination is.

        Too few records below it, or the same ones below a cheaper combination: it is of none, unless levels are the
        same for all.
        """
        cheapest: dict[tuple[Levels | None, tuple[int, ...]], float] = {}
        for levels in product(*(range(one.shape[1]) for one in self.nodes)):
            below: dict[Nodes, list[int]] = defaultdict(list)
            still_wanted()
            for r, row in enumerate(self.first):
                below[self._as_nodes(row, levels)].append(r)
            for combination, kinds in below.items():
                cost = float(sum(costs[node] for costs, node in zip(node_costs, combination, strict=True)))
                key = (levels if self.same_levels else None, tuple(kinds))
                enough = self.counts[kinds].sum() >= self.test.k
                if enough and (key not in cheapest or cost < cheapest[key]):
                    cheapest[key] = cost
        self.place = {key: g for g, key in enumerate(cheapest)}
        self.on_levels = [levels for levels, _ in cheapest if levels is not None]
        return [*cheapest.values()], [kinds for _, kinds in cheapest]

    def _as_nodes(self, row: int, levels: tuple[int, ...]) -> Nodes:
        return tuple(int(one[self.leaves[row, j], levels[j]]) for j, one in enumerate(self.nodes))

    def _bound_disclosure(self, most: float) -> None:
        """most_frequent[g] is at least the number of records of any one sensitive value in g."""
        model = self.native
        model.most_frequent = pyo.Var(range(len(self.held)), domain=pyo.NonNegativeReals)
        model.frequent = pyo.ConstraintList()
        for g in range(len(self.held)):
            for place in self._values:
                count = self._count(g, place)
                if not isinstance(count, int):
                    model.frequent.add(count <= model.most_frequent[g])
        model.disclosure = pyo.Constraint(
            expr=sum(model.most_frequent.values())
            <= (most + TOLERANCE) * (int(self.counts.sum()) - sum(model.out.values()))
        )

    @property
    def _values(self) -> range:
        """The places of sensitive values; people, if they are counted, come after them."""
        return range(int(self.test.starts[self.test.people]))  # the last start, where none are

    def _count(self, g: int, place: int) -> pyo.Expression | int:
        """How many records released as g have the sensitive value at this place."""
        having = [r for r in self.held[g] if place in self.test.codes[self.first[r]]]
        return sum(self.native.x[r, g] for r in having) if having else 0

    def _size(self, g: int) -> pyo.Expression:
        """How many records are released as g."""
        still_wanted()
        return sum(self.native.x[r, g] for r in self.held[g])

    def decode(self, model: pyo.ConcreteModel) -> Labels:
        """The classes of a solved model; which of equal records goes where does not matter."""
        labels = np.zeros(len(self.leaves), np.int64)
        dealt = self.starts[:-1].copy()
        for (r, g), variable in model.x.items():
            number = round(pyo.value(variable, exception=False) or 0.0)
            labels[self.rows[dealt[r] : dealt[r] + number]] = g
            dealt[r] += number
        for r, variable in model.out.items():
            number = round(pyo.value(variable, exception=False) or 0.0)
            labels[self.rows[dealt[r] : dealt[r] + number]] = LEFT_OUT
        return canonical(labels)

    def encode(self, labels: Labels) -> bool:
        """Write a partition into the model: every class as the cheapest combination that covers it, if all have one."""
        model = self.native
        for variable in (*model.x.values(), *model.y.values()):
            variable.set_value(0)
        away = np.bincount(self.kinds[labels == LEFT_OUT], minlength=len(self.counts))
        for r, variable in model.out.items():
            variable.set_value(int(away[r]))
        order, starts = members(labels)
        classes = [order[low:high] for low, high in pairwise(starts)]
        levels = [self._equal_from(rows) for rows in classes]
        if self.same_levels:
            levels = [tuple(map(max, zip(*levels, strict=True)))] * len(classes)
            for combination, chosen in model.on_levels.items():
                chosen.set_value(int(combination == levels[0]))
        for rows, on in zip(classes, levels, strict=True):
            g = self._covering(rows, on)
            if g is None:  # too few records are below it for any class
                return False
            model.y[g].set_value(1)
            for r, number in zip(*np.unique(self.kinds[rows], return_counts=True), strict=True):
                model.x[int(r), g].set_value(model.x[int(r), g].value + int(number))
        self.conditions.encode()
        if hasattr(model, "most_frequent"):
            for g, variable in model.most_frequent.items():
                counts = [self._count(g, place) for place in self._values]
                variable.set_value(max(pyo.value(count) for count in counts))
        return True

    def _equal_from(self, rows: NDArray[np.int64]) -> Levels:
        """The lowest levels on which some records are equal."""
        leaves = self.leaves[rows]
        # equal on a level, equal on all above: as many levels are too low as there are with differences
        return tuple(
            int((one[leaves[:, j]] != one[leaves[0, j]]).any(axis=0).sum()) for j, one in enumerate(self.nodes)
        )

    def _covering(self, rows: NDArray[np.int64], levels: Levels) -> int | None:
        combination = self._as_nodes(int(rows[0]), levels)
        below = [r for r, row in enumerate(self.first) if self._as_nodes(int(row), levels) == combination]
        return self.place.get((levels if self.same_levels else None, tuple(below)))
