"""What models that price classes by their spread share: the partition model as their Pyomo view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optmodels.price import Price
from optmodels.problem import PricedProblem, View
from optmodels.suppression import NOBODY

if TYPE_CHECKING:
    import pyomo.environ as pyo


class SpreadProblem(PricedProblem):
    """A priced problem whose classes cost their squared deviations from the mean and mismatches with the mode."""

    price: Price

    def lacks_pyomo(self) -> str | None:
        """The partition model grows with the cube of the records."""
        from formulations._pyomo.partition_model import too_large

        return too_large(self.n)

    def pyomo_leaves_out(self) -> bool:
        """Conditions beyond k are rows of every record's class, and one that is left out has none."""
        return self.test.only_size

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The partition model, minimising the loss; least entropies are held by Gibbs cuts, added lazily.

        Free centroids make the loss nonlinear in memberships; by pairs and class sizes it is linear and exact, and
        the model stays polynomial where one column for each possible class would not.
        """
        from formulations._pyomo.partition_model import partition_model

        return partition_model(
            self.price,
            self.test,
            price_scale=self.price_scale,
            n_classes=self.n_classes,
            largest=self.largest,
            suppression=self.suppression if self.pyomo_leaves_out() else NOBODY,
        )
