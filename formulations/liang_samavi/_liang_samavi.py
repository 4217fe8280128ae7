"""Liang and Samavi 2020: generalisation intervals of least total width under k-anonymity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from optmodels.errors import RefusedError, finite, unknown
from optmodels.objectives import Objective
from optmodels.price import Price, extent
from optmodels.problem import Formulation, PricedProblem, View
from optmodels.release import Method
from optmodels.table import Table

if TYPE_CHECKING:
    import pyomo.environ as pyo


@dataclass(frozen=True)
class LiangSamavi(Formulation):
    """Minimise the sum over records and attributes of weight * (width of the released interval)/(range).

    Categorical attributes, left open in the paper, count by NCP: (distinct values in the class - 1) /
    (values in the domain - 1). `weights` replace the table's, name by name. Conditions beyond k go beyond the paper:
    solvers of classes with a price hold them, its pairwise model does not.

    >>> import pandas as pd
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 21, 22, 60, 61, 70]}), quasi={"age": "numeric"})
    >>> problem = LiangSamavi(k=3).build(table)
    >>> round(problem.evaluate([0, 0, 0, 1, 1, 1]).values["loss"], 6)
    0.72
    """

    name: ClassVar[str] = "liang-samavi"
    summary: ClassVar[str] = "total width of the released intervals (loss metric, NCP) under k"

    k: int
    weights: Mapping[str, float] | None = None

    def build(self, table: Table, seed: int = 0) -> LiangSamaviProblem:
        """The problem of this table; nothing is drawn, so the seed does not matter."""
        for name, weight in (self.weights or {}).items():
            if name not in table.quasi:
                raise unknown("quasi-identifier", name, table.quasi)
            finite(f"The weight of '{name}'", weight)
        price = extent(table.rescaled(weights=self.weights))
        return LiangSamaviProblem(table, self, self.conditions(self.k), price)


class LiangSamaviProblem(PricedProblem):
    """Interval generalisation of one table; the loss is in the paper's units, a sum over all cells."""

    objectives = (Objective("loss", "min", "sum of the released intervals' shares of their ranges"),)
    release_method: ClassVar[Method] = "interval"
    price: Price

    def lacks_pyomo(self) -> str | None:
        """The pairwise model has rows for every pair of records, and none for sensitive values."""
        from formulations.liang_samavi.interval_model import too_large

        if not self.test.only_size:
            return f"the pairwise model knows of no condition but k, and {self.conditions.describe()} is asked for."
        return too_large(self.price)

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The paper's pairwise big-M model, kept as the declarative reference: its relaxation is nearly worthless."""
        from formulations.liang_samavi.interval_model import interval_model

        if reason := self.lacks_pyomo():
            raise RefusedError(f"There is no Pyomo view: {reason} Use 'columns'.")
        return interval_model(self.price, self.test.k, self.suppression)

    def pyomo_leaves_out(self) -> bool:
        """The view has a variable for every record that is left out."""
        return True
