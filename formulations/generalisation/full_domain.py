"""Full-domain generalisation: one level of its hierarchy for each attribute, the same for every record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import Conditions
from optmodels.metrics.loss import generalisation_levels
from optmodels.objectives import Objective
from optmodels.partition import Labels
from optmodels.problem import Formulation, Problem
from optmodels.release import Method, Release
from optmodels.release import release as make_release
from optmodels.structures import Lattice, Structure
from optmodels.table import Table

if TYPE_CHECKING:
    pass


class FullDomainProblem(Problem):
    """Everybody released on the lowest levels on which every class of a partition is equal.

    A partition stands for these levels; classes that they make equal are one in the release, and keep their conditions
    together as they do apart.
    """

    objectives = (Objective("loss", "min", "weighted mean NCP of the released cells", 1.0),)
    release_method: ClassVar[Method] = "hierarchy"

    def __init__(self, table: Table, formulation: Formulation, conditions: Conditions) -> None:
        super().__init__(table, formulation, conditions)
        hierarchies = [table.hierarchy(name) for name in table.quasi]
        self.leaves = np.column_stack([table.leaf_codes(name) for name in table.quasi])
        self.nodes = tuple(tree.nodes for tree in hierarchies)
        self.node_costs = tuple(
            table.weights[name] * (tree.leaf_counts - 1) / max(len(tree.values) - 1, 1)
            for name, tree in zip(table.quasi, hierarchies, strict=True)
        )
        self.scale = table.records_in_all * sum(table.weights.values()) or 1.0

    def structures(self) -> Iterator[Structure]:
        """A lattice of levels, beside what every problem has."""
        yield Lattice(self.leaves, self.nodes, self.node_costs, self.test, self.scale)
        yield from super().structures()

    def levels(self, labels: Labels) -> NDArray[np.int64]:
        """(quasi,) the levels that a partition stands for."""
        return generalisation_levels(self.table, labels).max(axis=0)

    def values(self, labels: Labels) -> dict[str, float]:
        """What records released on the partition's levels lose."""
        total = 0.0
        for j, level in enumerate(self.levels(labels).tolist()):
            total += float(self.node_costs[j][self.nodes[j][self.leaves[:, j], level]].sum())
        return {"loss": total / self.scale}

    def release(self, labels: NDArray[np.integer[Any]], *, method: Method | None = None) -> Release:
        """The table with everybody on the same levels, audited."""
        if method not in (None, "hierarchy"):
            return super().release(labels, method=method)
        classes = self.check(labels)
        levels = self.levels(classes)
        everyone = np.tile(levels, (int(classes.max()) + 1, 1))
        named = dict(zip(self.table.quasi, levels.tolist(), strict=True))
        return make_release(
            self.table,
            classes,
            promise=self.conditions,
            method="hierarchy",
            levels=everyone,
            provenance={
                "formulation": self.formulation.name,
                "parameters": self.formulation.to_dict(),
                "levels": named,
            },
        )

    def lacks_pyomo(self) -> str | None:
        """Different records times combinations of levels must be few enough."""
        from formulations._pyomo.generalisation_model import too_large

        return too_large(self.leaves, self.nodes)

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """Which combination of nodes each record is released as, all of them on the same levels."""
        from formulations._pyomo.generalisation_model import generalisation_model

        if reason := self.lacks_pyomo():
            raise RefusedError(f"There is no Pyomo view: {reason}")
        costs = tuple(costs / self.scale for costs in self.node_costs)
        return generalisation_model(self.leaves, self.nodes, costs, self.test, same_levels=True)
