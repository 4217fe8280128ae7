"""Plain microaggregation: classes of at least k records that stay as close as possible to their centroid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from formulations._pyomo.spread_problem import SpreadProblem
from optmodels.price import spread
from optmodels.problem import Formulation, whole_price
from optmodels.table import Table


@dataclass(frozen=True)
class Microaggregation(Formulation):
    """Minimise SSE + gamma * mismatches, as a share of what one class would lose, under class-wise conditions.

    A class has at least `k` records. Distances are taken in the table's scaling; gamma and the weights are the table's
    too. With numeric quasi-identifiers only and standard scaling the loss is the classical SSE/SST.

    >>> import pandas as pd
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 21, 22, 60, 61, 62]}), quasi={"age": "numeric"})
    >>> problem = Microaggregation(k=3).build(table)
    >>> problem.evaluate([0, 0, 0, 1, 1, 1]).values
    {'loss': 0.0016638935108153079}
    """

    name: ClassVar[str] = "microaggregation"
    summary: ClassVar[str] = "SSE + gamma * mismatches under k and conditions on sensitive values"

    k: int

    def build(self, table: Table, seed: int = 0) -> SpreadProblem:
        """The microaggregation problem of this table; nothing is drawn, so the seed does not matter."""
        price = spread(table)
        return SpreadProblem(table, self, self.conditions(self.k), price, price_scale=whole_price(price))
