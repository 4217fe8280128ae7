"""Formulation -> Problem: what is optimised, stated once, with the structure that solvers may exploit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, Conditions
from optmodels.errors import InputError, RefusedError
from optmodels.objectives import Objective as Objective
from optmodels.partition import Labels, canonical
from optmodels.price import Price
from optmodels.problem.formulation import Formulation
from optmodels.release import Method, Release
from optmodels.release import release as make_release
from optmodels.table import Table

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from optmodels.centroids.pymoo_problem import CentroidProblem
    from optmodels.flow import Metric

Native = TypeVar("Native")


@dataclass(frozen=True)
class Evaluation:
    """What a partition is worth: objective values by name, and how many classes break each condition."""

    values: Mapping[str, float]
    violations: Mapping[str, int]

    @property
    def feasible(self) -> bool:
        """Whether no condition is broken."""
        return not any(self.violations.values())


@dataclass(frozen=True)
class View(Generic[Native]):
    """A native model of another library, and the way back from its solution to class labels.

    `encode` writes a partition into the model's variables, as a warm start, and says whether the model has a
    place for it (a model that leaves out classes never needed has none for some). `cuts` is for models that
    are completed lazily: it adds what the model's present values violate and says how much that was, so
    the model is solved when it has been solved to a solution at which `cuts` returns 0.
    """

    native: Native
    decode: Callable[[Any], Labels]
    encode: Callable[[Labels], bool] | None = None
    cuts: Callable[[Any], int] | None = None


class Problem(ABC):
    """A formulation on a table: the only judge of objective values and of violations."""

    objectives: tuple[Objective, ...]
    release_method: ClassVar[Method] = "centroid"

    def __init__(self, table: Table, formulation: Formulation, conditions: Conditions) -> None:
        self.table = table
        self.formulation = formulation
        self.conditions = conditions
        self.test: ClassTest = conditions.compile(table)

    @property
    def n(self) -> int:
        """Number of records."""
        return self.table.n

    @property
    def target(self) -> Objective:
        """The objective that single-objective solvers optimise: the first."""
        return self.objectives[0]

    def with_objectives(self, *names: str) -> Problem:
        """The same problem judged by objectives of these names; the first is the one that a single answer is best in.

        Names are those of the problem's own objectives, 'loss' for its own target whatever that is called, and those
        in `optmodels.objectives`: entropy, linkage (or linkage@0.075), homogeneity, closeness, classes, and
        utility (or utility@rf) for tables with a target.
        """
        from optmodels.problem.chosen import rejudged

        return rejudged(self, names)

    def reference(self) -> dict[str, float]:
        """For each objective the worst value there is, the corner from which hypervolumes are measured.

        Where it is not known of the objective itself, it is the value of everyone in one class.
        """
        together = self.values(np.zeros(self.n, np.int64)) if any(o.worst is None for o in self.objectives) else {}
        return {o.name: together[o.name] if o.worst is None else o.worst for o in self.objectives}

    @abstractmethod
    def values(self, labels: Labels) -> dict[str, float]:
        """The objective values of a partition whose labels run from 0 to C-1."""

    def violations(self, labels: Labels) -> dict[str, int]:
        """How many classes break each condition; labels run from 0 to C-1."""
        return self.conditions.violations(self.test, labels)

    def evaluate(self, labels: NDArray[np.integer[Any]]) -> Evaluation:
        """Objective values and violations of a partition, from the table alone."""
        canonical_labels = self.check(labels)
        return Evaluation(self.values(canonical_labels), self.violations(canonical_labels))

    def check(self, labels: NDArray[np.integer[Any]]) -> Labels:
        """The labels renumbered 0..C-1, or an error that says why they are not a partition."""
        array = np.asarray(labels)
        if array.shape != (self.n,) or not np.issubdtype(array.dtype, np.integer):
            raise InputError(
                f"A partition of this table is {self.n} whole numbers, one class label per record, "
                f"not an array of {array.dtype} with shape {array.shape}."
            )
        return canonical(array)

    def impossible(self) -> str | None:
        """Why no partition can satisfy the conditions, or None when that is not known."""
        return self.conditions.impossible(self.table)

    def release(self, labels: NDArray[np.integer[Any]], *, method: Method | None = None) -> Release:
        """The table recoded by a partition, audited against this problem's conditions."""
        provenance = {"formulation": self.formulation.name, "parameters": self.formulation.to_dict()}
        return make_release(
            self.table,
            self.check(labels),
            promise=self.conditions,
            method=method or self.release_method,
            provenance=provenance,
        )

    def lacks_pyomo(self) -> str | None:
        """Why `to_pyomo` would refuse, found without building the model, or None."""
        return f"{type(self).__name__} has no Pyomo view." if type(self).to_pyomo is Problem.to_pyomo else None

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The model as a Pyomo ConcreteModel that any Pyomo solver can solve.

        Raises:
            RefusedError: there is no such model, or it would be too large; `lacks_pyomo` says so beforehand.
        """
        raise RefusedError(f"The formulation '{self.formulation.name}' has no Pyomo view.")

    def lacks_pymoo(self) -> str | None:
        """Why `to_pymoo` would refuse, or None."""
        if not isinstance(self, Centroids) or self.price.name != "spread":
            return "it needs a model with classes around centroids, such as 'mo-obam' or 'microaggregation'."
        if isinstance(self, FreeCentres) and len(self.caps) > 1:
            return (
                "caps on two sensitive attributes at once are no network, so records cannot be assigned to centres "
                "at least cost: cap one attribute."
            )
        return None

    def to_pymoo(self, n_centroids: int | None = None, *, mend: bool = True) -> View[CentroidProblem]:
        """The model as a pymoo Problem over matrices of centroids, which any pymoo algorithm can minimise.

        `native.operators` are operators made for it. `n_centroids` is the most classes a decision can have where their
        number is free. Without `mend` records only join their nearest centroid, and conditions are constraints.

        Raises:
            RefusedError: classes of this model are not made around centroids; `lacks_pymoo` says so beforehand.
        """
        if reason := self.lacks_pymoo():
            raise RefusedError(f"The formulation '{self.formulation.name}' has no pymoo view: {reason}")
        if isinstance(self, FreeCentres) and not mend:
            raise RefusedError(
                f"The formulation '{self.formulation.name}' has no pymoo view without mending: nearest centres hardly "
                "ever have classes of the right sizes. Leave out mend=False."
            )
        from optmodels.centroids.pymoo_problem import CentroidProblem

        native = CentroidProblem(self, n_centroids, mend=mend)
        return View(native, native.labels)


@runtime_checkable
class ClassAdditive(Protocol):
    """The target is a sum of class prices, and each class meets the conditions alone."""

    price: Price
    test: ClassTest
    price_scale: float  # target value = total price / price_scale
    n_classes: int | None  # a required number of classes, or any

    @property
    def largest(self) -> int | None:
        """A class size that some optimal partition never exceeds, or None where no such size is known."""


@runtime_checkable
class Divisible(Protocol):
    """Partitions of parts of the records make a partition of all of them.

    A part is measured as the whole is: its scaling and the distribution that t compares with are the whole table's, and
    a class that meets the conditions in a part meets them in the whole. Where the number of classes is prescribed, they
    are shared out over parts along with the records.
    """

    stand_in: str | None  # what a part optimises where the whole's target is no sum over parts; None where it is

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Problem:
        """The same problem for some of the records, and of prescribed classes for those with these numbers."""


@dataclass(frozen=True)
class PartValues:
    """What a partition of a part of the records is worth, measured as the whole is."""

    values: Mapping[str, float]
    records: int
    classes: int


@runtime_checkable
class Pooling(Protocol):
    """A formulation whose values of all records follow from those of parts, though they are no sum of them."""

    def pooled(self, parts: Sequence[PartValues]) -> dict[str, float]:
        """The values of all records."""


@runtime_checkable
class Separable(ClassAdditive, Divisible, Protocol):
    """The target's value is the sum of what it is in parts of the records.

    All records of a part as one class meet the conditions exactly if some partition of the part does: distinct
    values and entropy do not fall, nor does the distance from the table grow, as classes are joined.
    """


@runtime_checkable
class BoundedClasses(Protocol):
    """Classes have size bounds and laminar caps, and pay penalties.

    Each capped attribute puts its records into groups; a class may hold `caps` of a group at most, and pays
    slopes * max(0, count - thresholds) for its count. Attributes without caps have no place here.
    """

    least: NDArray[np.int64]  # size bounds of each class
    most: NDArray[np.int64]
    groups: NDArray[np.int32]  # (n, s): the group of each record, per capped attribute
    caps: tuple[NDArray[np.int64], ...]  # per attribute (classes, groups): most records of a group in a class
    thresholds: tuple[NDArray[np.float64], ...]  # per attribute (classes, groups)
    slopes: tuple[NDArray[np.float64], ...]  # per attribute (classes, groups); 0 where the cap is hard


@runtime_checkable
class FixedCentres(BoundedClasses, Protocol):
    """The target is a sum of arc costs record -> centre, one centre for each class, plus penalties."""

    centres: NDArray[np.float64]
    points: NDArray[np.float64]  # records, where centres are

    def arc_costs(self, rows: NDArray[np.int64], centres: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cost of putting each of `rows` with each of `centres`, as a dense block."""

    def recentred(self, labels: Labels) -> Problem:
        """The same problem around the means of the classes of a partition."""


@runtime_checkable
class EntropyBounded(Protocol):
    """Two objectives, a loss and an entropy; the loss can be minimised under least entropies of each attribute."""

    most_entropies: NDArray[np.float64]  # bits, per sensitive attribute: no partition has more

    def least_entropies(self, labels: Labels) -> NDArray[np.float64]:
        """The least entropy of a class, in bits, for each sensitive attribute."""

    def with_entropy(self, least: Sequence[float]) -> Problem:
        """The same problem with a least entropy in bits for each sensitive attribute."""


@runtime_checkable
class Scalarised(Protocol):
    """One score made of the loss and the entropy of `parts`."""

    parts: Problem

    def score(self, loss: float, entropy: float) -> float:
        """The score: it never falls with the loss nor rises with the entropy."""


@runtime_checkable
class Centroids(Protocol):
    """A partition can be decoded from a matrix of centroids: every record joins one that is near."""

    price: Price
    test: ClassTest
    n_classes: int | None


@runtime_checkable
class FreeCentres(BoundedClasses, Centroids, Protocol):
    """Centres are chosen as well: any matrix of them becomes a partition, records going to them at least cost.

    The price only says where records lie; the target is the distance of records to the means of their classes, plus
    penalties.
    """

    metric: Metric

    def distance(self, labels: Labels) -> float:
        """The target's value of a partition whose labels run from 0 to C-1."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition that a model proposes for one k; where it was halted, only a share is as the model would have it."""

    k: int
    labels: Labels
    share: float = 1.0


@runtime_checkable
class SelfTuned(Protocol):
    """The model makes partitions itself, one for each k, and its target tells which of them is best."""

    fixed_k: int | None  # the only k that a single answer is wanted for, or any

    @property
    def levels(self) -> Sequence[int]:
        """Every k that is worth trying."""

    def candidates(
        self, levels: Sequence[int] | None = None, halted: Callable[[], bool] = lambda: False
    ) -> Iterator[Candidate]:
        """A partition for each k, made when it is asked for; without levels those a single answer is chosen from.

        Once halted, the one under way is completed in whatever way takes little time.
        """

    def remarks(self) -> dict[str, object]:
        """What a report should say of how values came about."""


@runtime_checkable
class Generalised(Protocol):
    """Classes are released as nodes of hierarchies, and the target is what records on the nodes' levels cost."""

    leaves: NDArray[np.int32]  # (n, quasi): the leaf of each record in each hierarchy
    nodes: tuple[NDArray[np.int32], ...]  # per quasi-identifier (leaves, levels): the node of each leaf on each level
    least_levels: bool  # whether a class is on the lowest levels at which it is equal; else on these at least
    most_disclosure: float | None  # bounds the second objective, the disclosure of the whole release
    test: ClassTest

    def level_costs(self) -> tuple[NDArray[np.float64], ...]:
        """For each quasi-identifier, what one record on each level costs; it never falls."""

    def with_disclosure(self, most: float) -> Problem:
        """The same problem with a bound on the disclosure."""


class PricedProblem(Problem):
    """A problem whose target is the total price of its classes: the common ground of class-additive models."""

    def __init__(
        self,
        table: Table,
        formulation: Formulation,
        conditions: Conditions,
        price: Price,
        *,
        price_scale: float = 1.0,
        n_classes: int | None = None,
    ) -> None:
        super().__init__(table, formulation, conditions)
        self.price = price
        self.price_scale = price_scale
        self.n_classes = n_classes

    objectives: tuple[Objective, ...] = (Objective("loss", "min", "total price of the classes"),)
    stand_in: str | None = None

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The same problem for some of the records, in the whole table's scaling and against its distribution."""
        part = copy(self)
        part.n_classes = self.n_classes if classes is None else len(classes)
        part.table = self.table.take(rows)
        part.price = self.price.take(rows)
        part.test = self.test.take(rows)
        return part

    @property
    def largest(self) -> int | None:
        """2k - 1 where only size matters: splitting a larger class never costs more."""
        if self.n_classes is not None:
            return self.n - self.test.k * (self.n_classes - 1)
        return 2 * self.test.k - 1 if self.test.only_size else None

    def values(self, labels: Labels) -> dict[str, float]:
        """The loss of a partition."""
        return {"loss": self.price.total(labels) / self.price_scale}

    def violations(self, labels: Labels) -> dict[str, int]:
        """Broken conditions, and by how much the number of classes is off where it is fixed."""
        broken = super().violations(labels)
        if self.n_classes is not None:
            broken["classes"] = abs(int(labels.max()) + 1 - self.n_classes)
        return broken

    def impossible(self) -> str | None:
        """Why no partition can satisfy the conditions and the number of classes, or None."""
        if self.n_classes is not None and self.n_classes * self.test.k > self.n:
            return (
                f"{self.n_classes} classes of at least {self.test.k} records need {self.n_classes * self.test.k} "
                f"records and the table has {self.n}: lower k or the number of classes."
            )
        return super().impossible()


def whole_price(price: Price) -> float:
    """The price of everyone in one class, as a scale for losses; 1 where there is nothing to lose."""
    return price.of(np.arange(price.n)) or 1.0
