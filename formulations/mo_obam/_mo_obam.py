"""MO-OBAM (Wei et al. 2024, 2025): information loss against the entropy of sensitive attributes, under k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from formulations._pyomo.spread_problem import SpreadProblem
from formulations.mo_obam.least_loss import loss_share, nearest_loss
from optmodels.conditions import TOLERANCE
from optmodels.errors import InputError, finite, unknown, whole
from optmodels.objectives import Objective, least_entropies
from optmodels.partition import Labels
from optmodels.price import Floats, spread
from optmodels.problem import Formulation, JudgedOtherwise, View, whole_price
from optmodels.structures import Centroids, ClassCount, EntropyLevels, Parts, Score, Structure
from optmodels.table import Table
from optmodels.table.role_types import Scaling

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from formulations._pyomo.partition_model import PartitionModel

Scalarisation = Literal["bi", "lambda", "normalised"]
GammaIn = Literal["both", "assignment"]

# No table has so much entropy, and 2 to the power of much more is no number.
_MOST_BITS = 64.0

LOSS = Objective("loss", "min", "squared deviations and mismatches, as a share of those of one class", worst=1.0)
SCORE = Objective("score", "min", "loss, or its share, less lam times the entropy, or its share", worst=1.0)
ENTROPY = Objective(
    "entropy", "max", "bits: sum over sensitive attributes of the least entropy of a class", 0.0, quantity="entropy"
)


@dataclass(frozen=True)
class MoObam(Formulation):
    """Minimise the information loss IL and maximise the entropy f2, the sum of the classes' least entropies in bits.

    `objective` says what is optimised: 'bi' has both objectives (a solver of one minimises the loss), 'lambda' the
    score IL - lam * f2, and 'normalised' the score (1 - MIN(IL)/IL) - lam * f2/MAX(f2). MAX(f2) is the entropy of
    the whole table, which no partition exceeds. MIN(IL) is `least_loss`, or else a bound below any loss: every
    record with its k - 1 nearest. A loss at or below it counts as a share of 0.

    Classes have at least `k` records, and `n_clusters` fixes their number; `gamma` (the weight of a categorical
    mismatch) and `scaling` replace the table's, with `gamma_in='assignment'` only where records join the nearest
    centroid, while the loss keeps the table's gamma, as in the authors' program; `least_entropy` gives bounds in bits,
    one for each sensitive attribute.

    >>> import pandas as pd
    >>> from optmodels import Table
    >>> people = pd.DataFrame({"age": [20, 21, 22, 60], "illness": ["flu", "cold", "flu", "cold"]})
    >>> table = Table(people, quasi={"age": "numeric"}, sensitive="illness")
    >>> problem = MoObam(k=2).build(table)
    >>> {name: round(value, 4) for name, value in problem.evaluate([0, 0, 1, 1]).values.items()}
    {'loss': 0.6322, 'entropy': 1.0}
    """

    name: ClassVar[str] = "mo-obam"
    summary: ClassVar[str] = "information loss against entropy of the sensitive attributes, under k"

    k: int
    n_clusters: int | None = None
    gamma: float | None = None
    gamma_in: GammaIn = "both"
    scaling: Scaling | None = None
    objective: Scalarisation = "bi"
    lam: float = 1.0
    least_loss: float | None = None
    least_entropy: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in get_args(Scalarisation):
            raise unknown("objective", self.objective, get_args(Scalarisation))
        if self.gamma_in not in get_args(GammaIn):
            raise unknown("place for gamma", self.gamma_in, get_args(GammaIn))
        if self.n_clusters is not None:
            whole("n_clusters", self.n_clusters, 1)
        finite("lam", self.lam, "it is what a bit of entropy is worth")
        if self.least_loss is not None:
            finite("least_loss", self.least_loss, "it is set against losses", positive=True)

    def build(self, table: Table, seed: int = 0) -> MoObamProblem | ScalarisedProblem:
        """The problem of this table; nothing is drawn, so the seed does not matter.

        Raises:
            InputError: the table has no sensitive attribute, or `least_entropy` does not fit its attributes.
        """
        parts = MoObamProblem(table, self)
        return parts if self.objective == "bi" else ScalarisedProblem(parts, self)


class MoObamProblem(SpreadProblem):
    """Loss and entropy of one table, with least entropies where they are asked for."""

    objectives = (LOSS, ENTROPY)

    def __init__(self, table: Table, formulation: MoObam) -> None:
        if not table.sensitive:
            raise InputError(
                "MO-OBAM weighs information loss against the entropy of sensitive attributes, and the table has none: "
                "name at least one column as sensitive, or use the formulation 'microaggregation'."
            )
        self.formulation: MoObam = formulation
        least = _checked(formulation.least_entropy, table)
        conditions = formulation.conditions(formulation.k, least_entropies=_as_l(least, table))
        near = spread(table.rescaled(scaling=formulation.scaling, gamma=formulation.gamma))
        apart = formulation.gamma is not None and formulation.gamma_in == "assignment"
        price = spread(table.rescaled(scaling=formulation.scaling)) if apart else near
        self.nearness = (
            near if apart else None
        )  # where records join the nearest centroid otherwise than they are priced
        super().__init__(
            table, formulation, conditions, price, price_scale=whole_price(price), n_classes=formulation.n_clusters
        )
        self.most_entropies = self.least_entropies(np.zeros(table.n, np.int64))

    def structures(self) -> Iterator[Structure]:
        """A price for each class, and losses under levels of entropy."""
        yield from super().structures()
        yield EntropyLevels(self.most_entropies, self.least_entropies)

    def _centroids(self) -> Centroids:
        own = super()._centroids()
        return own if self.nearness is None else Centroids(self.nearness, self.test, self.n_classes)

    def values(self, labels: Labels) -> dict[str, float]:
        """The loss and the entropy of a partition."""
        return {**super().values(labels), "entropy": float(self.least_entropies(labels).sum())}

    def least_entropies(self, labels: Labels) -> Floats:
        """The least entropy of a class, in bits, for each sensitive attribute."""
        return least_entropies(self.table, labels)

    def impossible(self) -> str | None:
        """No partition beats the whole table's entropy: its own is at least the least of any partition's classes."""
        if self.suppression.most:
            return super().impossible()
        asked = self.test.entropies / log(2)
        for name, least, most in zip(self.table.sensitive, asked, self.most_entropies, strict=True):
            if least > most + TOLERANCE:
                return f"{least:.6g} bits of '{name}' cannot hold: the whole table has {most:.6g}, no partition more."
        return super().impossible()

    def to_pyomo(self, total_entropy: float | None = None) -> View[pyo.ConcreteModel]:
        """The partition model that minimises the loss; with `total_entropy` the epsilon-constrained one.

        There the entropy, summed over attributes, is at least so many bits, in whatever shares; levels of entropy are
        held by Gibbs cuts, added lazily (`view.cuts`).
        """
        if total_entropy is None:
            return super().to_pyomo()
        finite("total_entropy", total_entropy, "it is a number of bits")
        from formulations.mo_obam.scalarised_model import epsilon_model

        return epsilon_model(self.mixed_model(), total_entropy)

    def mixed_model(self) -> PartitionModel:
        """The partition model in which a class larger than 2k - 1 may be worth its loss, for its entropy."""
        from formulations._pyomo.partition_model import PartitionModel

        largest = None if self.n_classes is None else self.largest
        return PartitionModel(
            self.price, self.test, price_scale=self.price_scale, n_classes=self.n_classes, largest=largest
        )

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The same problem for some of the records; what entropy they can reach is their own."""
        part = super().restricted(rows, classes)
        part.most_entropies = part.least_entropies(np.zeros(part.n, np.int64))
        part.nearness = None if self.nearness is None else self.nearness.take(rows)
        return part

    def with_entropy(self, least: Sequence[float]) -> Self:
        """The same problem with a least entropy in bits for each sensitive attribute."""
        bits = _checked(least, self.table)
        assert bits is not None
        bounded = super().with_entropy(bits.tolist())
        bounded.formulation = replace(self.formulation, least_entropy=tuple(bits.tolist()))
        return bounded


class ScalarisedProblem(JudgedOtherwise):
    """One score of loss and entropy, to be minimised."""

    objectives = (SCORE, LOSS, ENTROPY)

    original: MoObamProblem

    def __init__(self, original: MoObamProblem, formulation: MoObam) -> None:
        super().__init__(original)
        self.lam = formulation.lam
        self.most_entropy = float(original.most_entropies.sum()) or 1.0
        self.least_loss: float | None = None
        if formulation.objective == "normalised":
            self.least_loss = formulation.least_loss or self.nearest_loss()
            if not self.least_loss > 0:
                raise InputError(
                    f"Every record has {formulation.k - 1} others equal to it, so the least conceivable loss is 0 and "
                    "the normalised score is not defined: give least_loss > 0, or use objective='lambda'."
                )

    def structures(self) -> Iterator[Structure]:
        """A score, and of its parts what is true of any objective."""
        yield Score(self.score, least_loss=self.nearest_loss)
        yield Parts(stand_in="the score that the whole table would have if its other records were like these")
        yield from (found for found in self.original.structures() if isinstance(found, (Centroids, ClassCount)))

    def values(self, labels: Labels) -> dict[str, float]:
        """The score of a partition, and what it is made of."""
        parts = self.original.values(labels)
        return {"score": self.score(parts["loss"], parts["entropy"]), **parts}

    def score(self, loss: float, entropy: float) -> float:
        """The score of a loss and an entropy: it never falls with the loss nor rises with the entropy."""
        if self.least_loss is None:
            return loss - self.lam * entropy
        return loss_share(loss, self.least_loss) - self.lam * entropy / self.most_entropy

    def nearest_loss(self) -> float:
        """A loss that no partition is below, by every record's nearest."""
        return nearest_loss(self.original.price, self.conditions.k) / self.original.price_scale

    def _of_kept(self, labels: Labels, missing: int) -> tuple[dict[str, float], dict[str, int]]:
        parts, violations = self.original._of_kept(labels, missing)
        return {"score": self.score(parts["loss"], parts["entropy"]), **parts}, violations

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The score that all records would have, were they all as these are."""
        part = self._copy()
        part.original = self.original.restricted(rows, classes)
        part.original.price_scale = self.original.price_scale * len(rows) / self.n
        part.table, part.test = part.original.table, part.original.test
        return part

    def lacks_pyomo(self) -> str | None:
        """The partition model grows with the cube of the records."""
        return self.original.lacks_pyomo()

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The partition model with free levels of entropy, held by Gibbs cuts, and the score as its objective."""
        from formulations.mo_obam.scalarised_model import lambda_model, normalised_model

        core = self.original.mixed_model()
        if self.least_loss is None:
            return lambda_model(core, self.lam)
        return normalised_model(core, self.lam, self.least_loss, self.most_entropy)


def _as_l(bits: Floats | None, table: Table) -> dict[str, float] | None:
    """Entropies in bits as entropy l's by attribute."""
    if bits is None:
        return None
    return dict(zip(table.sensitive, (2.0 ** np.minimum(bits, _MOST_BITS)).tolist(), strict=True))


def _checked(least: Sequence[float] | None, table: Table) -> Floats | None:
    if least is None:
        return None
    if len(least) != len(table.sensitive):
        raise InputError(
            f"least_entropy needs one number of bits for each sensitive attribute ({', '.join(table.sensitive)}), "
            f"not {list(least)!r}."
        )
    for name, bits in zip(table.sensitive, least, strict=True):
        finite(f"The least entropy of '{name}'", bits)
    return np.array([float(bits) for bits in least])
