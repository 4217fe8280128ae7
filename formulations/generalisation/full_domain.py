"""Full-domain generalisation: one level of its hierarchy for each attribute, the same for every record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import Conditions
from optmodels.errors import RefusedError
from optmodels.objectives import Objective
from optmodels.partition import LEFT_OUT, Labels
from optmodels.problem import Formulation, Problem, View
from optmodels.release import Method
from optmodels.structures import Lattice, Structure
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    import pyomo.environ as pyo


Measure = Literal["ncp", "levels"]
_MEANINGS: dict[Measure, str] = {
    "ncp": "weighted mean NCP of the released cells",
    "levels": "weighted mean of the level used over the height of its hierarchy",
}


class FullDomainProblem(Problem):
    """Everybody released on the lowest levels on which every class of a partition is equal.

    A partition stands for these levels; classes that they make equal are one in the release, and keep their conditions
    together as they do apart.
    """

    release_method: ClassVar[Method] = "hierarchy"

    def __init__(
        self, table: Table, formulation: Formulation, conditions: Conditions, measure: Measure = "ncp"
    ) -> None:
        super().__init__(table, formulation, conditions)
        self.objectives = (Objective("loss", "min", _MEANINGS[measure], 1.0),)
        hierarchies = [table.hierarchy(name) for name in table.quasi]
        self.leaves = np.column_stack([table.leaf_codes(name) for name in table.quasi])
        self.nodes = tuple(tree.nodes for tree in hierarchies)
        self.node_costs = tuple(
            table.weights[name] * _shares_lost(tree, measure)
            for name, tree in zip(table.quasi, hierarchies, strict=True)
        )
        self.scale = table.records_in_all * sum(table.weights.values()) or 1.0

    def structures(self) -> Iterator[Structure]:
        """A lattice of levels, beside what every problem has."""
        price = self.left_out_price * self.scale
        yield Lattice(self.leaves, self.nodes, self.node_costs, self.test, self.scale, self.suppression.most, price)
        yield from super().structures()

    def levels(self, labels: Labels) -> NDArray[np.int64]:
        """(quasi,) the levels that a partition stands for; records that are left out have no say."""
        kept = np.flatnonzero(labels != LEFT_OUT)
        trees = [self.table.hierarchy(name) for name in self.table.quasi]
        return np.array([tree.common_level(labels[kept], self.leaves[kept, j]).max() for j, tree in enumerate(trees)])

    def values(self, labels: Labels) -> dict[str, float]:
        """What records released on the partition's levels lose."""
        kept = np.flatnonzero(labels != LEFT_OUT)
        total = 0.0
        for j, level in enumerate(self.levels(labels).tolist()):
            total += float(self.node_costs[j][self.nodes[j][self.leaves[kept, j], level]].sum())
        return {"loss": total / self.scale}

    def _of_kept(self, labels: Labels, missing: int) -> tuple[dict[str, float], dict[str, int]]:
        return self._with_left_out(self.values(labels), missing), self.violations(labels)

    def _usual_price(self) -> float:
        return sum(self.table.weights.values()) / self.scale  # a suppressed cell tells nothing

    def release_levels(self, classes: Labels) -> NDArray[np.int64]:
        """(classes, quasi) the levels that all classes are released on, the same for everybody."""
        return np.tile(self.levels(classes), (int(classes.max()) + 1, 1))

    def release_notes(self, classes: Labels) -> tuple[Mapping[str, float] | None, dict[str, object]]:
        """The levels by name."""
        return None, {"levels": dict(zip(self.table.quasi, self.levels(classes).tolist(), strict=True))}

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
        return generalisation_model(
            self.leaves, self.nodes, costs, self.test, same_levels=True, suppression=self.suppression
        )

    def pyomo_leaves_out(self) -> bool:
        """The view counts those who are left out."""
        return True


def _shares_lost(tree: Hierarchy, measure: Measure) -> NDArray[np.float64]:
    """What each node of a hierarchy loses, of 1: nothing for a value itself, all for what tells nothing."""
    if measure == "levels":
        return np.asarray(tree.node_levels / max(tree.nodes.shape[1] - 1, 1), np.float64)
    return np.asarray((tree.leaf_counts - 1) / max(len(tree.values) - 1, 1), np.float64)
