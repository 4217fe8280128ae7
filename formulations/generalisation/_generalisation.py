"""Generalisation through hierarchies: classes released as nodes of trees, with the least loss of certainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from formulations.generalisation.full_domain import FullDomainProblem, Measure
from optmodels.errors import InputError, RefusedError, finite, unknown
from optmodels.objectives import Objective
from optmodels.price import Price, hierarchy
from optmodels.problem import Formulation, PricedProblem, Problem, View
from optmodels.release import Method
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    import pyomo.environ as pyo

Scheme = Literal["local", "cells", "full-domain"]


@dataclass(frozen=True)
class Generalisation(Formulation):
    """Minimise the mean NCP of what is released through hierarchies, under k and any other conditions.

    The NCP of a cell is (leaves below the released node - 1)/(leaves - 1); numbers and ordinals without a hierarchy
    are released as intervals and count (width of the interval)/(range), categories without one are kept or suppressed.
    `weights` replace the table's, name by name, and the loss is the weighted mean over all cells: 0 for the table as it
    is, 1 for a table that tells nothing.

    - scheme='local': every class is released as nodes of its own, the lowest that cover it.
    - scheme='cells': values are kept or suppressed, cell by cell, whatever hierarchies there are; the loss is the
      weighted share of cells that are. Who differs from k others in one attribute loses this cell, together with at
      least k - 1 others who lose the same one, so that k holds among equal rows of the release.
    - scheme='full-domain': everybody is released on the same levels, one for each attribute; numbers and ordinals
      without a hierarchy get one of five levels. Weighted it is the WFDA baseline of Majeed and Hwang.

    `measure` is what a released cell loses, 'ncp' as above or, on the same levels for everybody, 'levels': the level
    used over the height of its hierarchy, as in Sweeney's precision and in Majeed and Hwang's distortion.

    >>> import pandas as pd
    >>> from optmodels import Hierarchy, Table
    >>> jobs = Hierarchy(["nurse", "doctor", "cook", "waiter"], [["health", "health", "kitchen", "kitchen"]])
    >>> people = pd.DataFrame({"job": ["nurse", "cook", "doctor", "waiter"]})
    >>> table = Table(people, quasi={"job": "categorical"}, hierarchies={"job": jobs})
    >>> problem = Generalisation(k=2).build(table)
    >>> problem.evaluate([0, 1, 0, 1]).values
    {'loss': 0.3333333333333333}
    >>> problem.release([0, 1, 0, 1]).frame["job"].tolist()
    ['health', 'health', 'kitchen', 'kitchen']
    """

    name: ClassVar[str] = "generalisation"
    summary: ClassVar[str] = "mean NCP of classes released through hierarchies, under k and other conditions"

    k: int
    scheme: Scheme = "local"
    weights: Mapping[str, float] | None = None
    measure: Measure = "ncp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scheme not in get_args(Scheme):
            raise unknown("scheme", str(self.scheme), get_args(Scheme))
        if self.measure not in get_args(Measure):
            raise unknown("measure", str(self.measure), get_args(Measure))
        if self.measure == "levels" and self.scheme != "full-domain":
            raise InputError(
                "measure='levels' is about the same levels for everybody: say scheme='full-domain'. Levels of each "
                "class's own are the distortion of 'majeed-hwang' with levels='least'."
            )

    def build(self, table: Table, seed: int = 0) -> Problem:
        """The problem of this table; nothing is drawn, so the seed does not matter."""
        for name, weight in (self.weights or {}).items():
            if name not in table.quasi:
                raise unknown("quasi-identifier", name, table.quasi)
            finite(f"The weight of '{name}'", weight)
        weighted = table.rescaled(weights=self.weights)
        if self.scheme == "full-domain":
            return FullDomainProblem(weighted.with_hierarchies(), self, self.conditions(self.k), self.measure)
        weighted = weighted.with_stars() if self.scheme == "cells" else weighted.with_hierarchies(["categorical"])
        price = hierarchy(weighted)
        everything = table.records_in_all * sum(weighted.weights.values())
        return LocalProblem(weighted, self, self.conditions(self.k), price, price_scale=everything or 1.0)


class LocalProblem(PricedProblem):
    """Every class released as the lowest nodes that cover it; the loss is the weighted mean of the cells' NCP."""

    objectives = (Objective("loss", "min", "weighted mean NCP of the released cells", 1.0),)
    release_method: ClassVar[Method] = "hierarchy"
    price: Price

    def _usual_price(self) -> float:
        return sum(self.table.weights.values()) / self.price_scale  # a suppressed cell tells nothing

    def lacks_pyomo(self) -> str | None:
        """Every attribute needs nodes to be released as, and the combinations of levels must be few enough."""
        from formulations._pyomo.generalisation_model import too_large

        bare = [name for name in self.table.quasi if name not in self.table.hierarchies]
        if bare:
            return f"'{bare[0]}' is released as intervals, which are no nodes: give it a hierarchy."
        return too_large(self._leaves(), tuple(tree.nodes for tree in self._trees()))

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """Which combination of nodes each record is released as; those of one combination are a class."""
        from formulations._pyomo.generalisation_model import generalisation_model

        if reason := self.lacks_pyomo():
            raise RefusedError(f"There is no Pyomo view: {reason} Use 'columns'.")
        costs = tuple(
            np.float64(self.table.weights[name] / (max(len(tree.values) - 1, 1) * self.price_scale))
            * (tree.leaf_counts - 1)
            for name, tree in zip(self.table.quasi, self._trees(), strict=True)
        )
        nodes = tuple(tree.nodes for tree in self._trees())
        return generalisation_model(self._leaves(), nodes, costs, self.test, suppression=self.suppression)

    def pyomo_leaves_out(self) -> bool:
        """The view counts those who are left out."""
        return True

    def _trees(self) -> list[Hierarchy]:
        return [self.table.hierarchy(name) for name in self.table.quasi]

    def _leaves(self) -> NDArray[np.int32]:
        return np.column_stack([self.table.leaf_codes(name) for name in self.table.quasi])
