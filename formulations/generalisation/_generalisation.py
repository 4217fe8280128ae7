"""Generalisation through hierarchies: classes released as nodes of trees, with the least loss of certainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from optmodels.errors import finite, unknown
from optmodels.objectives import Objective
from optmodels.price import Price, hierarchy
from optmodels.problem import Formulation, PricedProblem, Problem
from optmodels.release import Method
from optmodels.table import Table

if TYPE_CHECKING:
    pass

Scheme = Literal["local", "full-domain"]


@dataclass(frozen=True)
class Generalisation(Formulation):
    """Minimise the mean NCP of what is released through hierarchies, under k and any other conditions.

    The NCP of a cell is (leaves below the released node - 1)/(leaves - 1); numbers and ordinals without a hierarchy
    are released as intervals and count (width of the interval)/(range), categories without one are kept or suppressed.
    `weights` replace the table's, name by name, and the loss is the weighted mean over all cells: 0 for the table as it
    is, 1 for a table that tells nothing.

    - scheme='local': every class is released as nodes of its own, the lowest that cover it.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scheme not in get_args(Scheme):
            raise unknown("scheme", str(self.scheme), get_args(Scheme))

    def build(self, table: Table, seed: int = 0) -> Problem:
        """The problem of this table; nothing is drawn, so the seed does not matter."""
        for name, weight in (self.weights or {}).items():
            if name not in table.quasi:
                raise unknown("quasi-identifier", name, table.quasi)
            finite(f"The weight of '{name}'", weight)
        weighted = table.rescaled(weights=self.weights).with_hierarchies(["categorical"])
        price = hierarchy(weighted)
        everything = table.records_in_all * sum(weighted.weights.values())
        return LocalProblem(weighted, self, self.conditions(self.k), price, price_scale=everything or 1.0)


class LocalProblem(PricedProblem):
    """Every class released as the lowest nodes that cover it; the loss is the weighted mean of the cells' NCP."""

    objectives = (Objective("loss", "min", "weighted mean NCP of the released cells", 1.0),)
    release_method: ClassVar[Method] = "hierarchy"
    price: Price
