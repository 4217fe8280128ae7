"""What solvers may know of a problem beyond its judge: small facts that a problem has, or has not.

`problem.structure(Priced)` is a fact or None. Solvers say which facts they need and which they cannot cope with
(`Solver.needs`, `Solver.rejects`); the sentences by which they refuse are the kinds' own, so that one declaration is
the refusal, the tables of what takes what, and the candidates of 'auto'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.errors import RefusedError
from optmodels.flow.distances import Metric, distances
from optmodels.flow.flow import sizes_only
from optmodels.flow.paths import Bounds
from optmodels.partition import Labels
from optmodels.price import Floats, PlainPrice, Price
from optmodels.suppression import NOBODY, Suppression

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Structure:
    """A fact about a problem; each kind says why a solver that needs it, or cannot cope with it, refuses."""

    title: ClassVar[str]  # what a table of solvers calls it
    absent: ClassVar[str]
    present: ClassVar[str] = ""
    usual: ClassVar[bool] = False  # whether any problem has it that does not say otherwise


@dataclass(frozen=True, eq=False)
class Priced(Structure):
    """The target is to be made small, a sum of class prices over `scale`, and each class meets the conditions alone.

    `largest` is a class size that some optimal partition never exceeds, or None where no such size is known.
    `suppression` is how many records may be left out, and what each adds to the target.
    """

    title: ClassVar[str] = "a price for each class"
    absent: ClassVar[str] = "its target is no sum of prices of classes."

    price: Price | PlainPrice
    test: ClassTest
    scale: float = 1.0
    n_classes: int | None = None
    largest: int | None = None
    suppression: Suppression = NOBODY

    @property
    def n(self) -> int:
        """Number of records."""
        return self.price.n

    @property
    def left_out_price(self) -> float:
        """What leaving out a record costs, in the units of class prices."""
        return self.suppression.price * self.scale

    @property
    def compiled(self) -> Price | None:
        """The price as arrays for compiled kernels; None where it is a plain function."""
        return self.price if isinstance(self.price, Price) else None


def compiled_price(priced: Priced) -> Price:
    """The price as arrays, for kernels that know no other.

    Raises:
        RefusedError: it is a plain function.
    """
    if priced.compiled is None:
        raise RefusedError("This needs a compiled price, and the model's is a plain function.")
    return priced.compiled


@dataclass(frozen=True, eq=False)
class Centroids(Structure):
    """Where records lie, so that they can join the nearest of any centres; every problem has it from its table.

    `price` is a spread in this geometry. `scales` names the objectives that are nothing but its total, each with
    what the total is divided by. `sufficient` says that classes which meet the test, in the number prescribed, keep all
    that the problem asks for; what else may be broken only the judge knows.
    """

    title: ClassVar[str] = "places of records"
    absent: ClassVar[str] = "its records have no places, so that none is near another."
    usual: ClassVar[bool] = True

    price: Price
    test: ClassTest
    n_classes: int | None = None
    scales: Mapping[str, float] = field(default_factory=dict)
    sufficient: bool = True


@dataclass(frozen=True, eq=False)
class ClassCount(Structure):
    """The number of classes is prescribed."""

    title: ClassVar[str] = "a prescribed number of classes"
    absent: ClassVar[str] = "the number of its classes is not prescribed."
    present: ClassVar[str] = "its number of classes is prescribed, and this solver finds its own: leave it free."

    n: int


@dataclass(frozen=True, eq=False)
class Assignment(Structure):
    """Records are assigned to centres, one for each class, under bounds on sizes and on sensitive values.

    Each bounded attribute puts its records into groups; a class holds `floors` of a group at least and `caps` at most,
    and pays slopes * max(0, count - thresholds) for its count. Attributes without bounds have no place here. Where
    floors and caps of a class depend on its size, those here hold for all its sizes, and `bounds_at` gives those for
    given least and most sizes; `beyond_bounds` is what is asked for that is no bound, in words. `centres` are fixed, or
    None where they are chosen as well. `distance` is the model's own value of a partition; `is_target` says whether
    that is what is asked for. `held` are quantities that the worst class sets: `problem.better_than` poses the problem
    with every class better in one of them. Fixed centres are moved by `problem.recentred`.
    """

    title: ClassVar[str] = "records assigned to centres"
    absent: ClassVar[str] = "it has no centres that records are assigned to."
    present: ClassVar[str] = "its classes have bounds on their sizes, or on values, that this solver knows nothing of."

    least: NDArray[np.int64]  # size bounds of each class
    most: NDArray[np.int64]
    groups: NDArray[np.int32]  # (n, s): the group of each record, per bounded attribute
    floors: tuple[NDArray[np.int64], ...]  # per attribute (classes, groups): fewest records of a group in a class
    caps: tuple[NDArray[np.int64], ...]  # per attribute (classes, groups): most records of a group in a class
    thresholds: tuple[Floats, ...]  # per attribute (classes, groups)
    slopes: tuple[Floats, ...]  # per attribute (classes, groups); 0 where the cap is hard
    points: Floats  # of the records, where centres are
    metric: Metric
    distance: Callable[[Labels], float]
    centres: Floats | None = None
    is_target: bool = True
    bounds_at: Callable[[Rows, Rows], tuple[tuple[Rows, ...], tuple[Rows, ...]]] | None = None
    beyond_bounds: str | None = None
    held: tuple[str, ...] = ()

    @property
    def no_network(self) -> str | None:
        """Why assigning is no network flow, or None."""
        if len(self.caps) > 1:
            return "bounds on two sensitive attributes at once are no network: bound one of them."
        return None if self.beyond_bounds is None else f"{self.beyond_bounds}, so this is no network."

    def arc_costs(self, centres: Floats) -> Callable[[Rows, Rows], Floats]:
        """The cost of putting each of some records with each of some of these centres, as a dense block."""
        columns = np.ascontiguousarray(centres.T)

        def costs(rows: Rows, chosen: Rows) -> Floats:
            everything = len(chosen) == columns.shape[1] and bool((chosen == np.arange(len(chosen))).all())
            some = columns if everything else np.ascontiguousarray(columns[:, chosen])
            return distances(self.points[rows], some, self.metric)

        return costs

    def network(self, least: Rows | None = None, most: Rows | None = None) -> tuple[NDArray[np.int32], Bounds]:
        """The group of each record and the bounds of each class, of all its sizes or of these, as those of a flow."""
        n = len(self.points)
        low = self.least if least is None else least
        high = np.minimum(self.most if most is None else most, n)
        if not self.caps:
            return np.zeros(n, np.int32), sizes_only(low, high)
        all_sizes = self.bounds_at is None or (least is None and most is None)
        floors, caps = (self.floors, self.caps) if self.bounds_at is None or all_sizes else self.bounds_at(low, high)
        fitting = np.minimum(caps[0], high[:, None])
        bounds = Bounds(low, high, floors[0], fitting, self.thresholds[0], self.slopes[0])
        return np.ascontiguousarray(self.groups[:, 0]), bounds


@dataclass(frozen=True, eq=False)
class Levels(Structure):
    """Classes are released as nodes of hierarchies, and the target is what records on the nodes' levels cost.

    `problem.with_disclosure` poses the problem with another bound on the disclosure.
    """

    title: ClassVar[str] = "levels of hierarchies"
    absent: ClassVar[str] = "its classes are not released through hierarchies, as those of 'majeed-hwang' are."

    leaves: NDArray[np.int32]  # (n, quasi): the leaf of each record in each hierarchy
    nodes: tuple[NDArray[np.int32], ...]  # per quasi-identifier (leaves, levels): the node of each leaf on each level
    least_levels: bool  # whether a class is on the lowest levels at which it is equal; else on these at least
    most_disclosure: float | None  # bounds the disclosure of the whole release
    test: ClassTest
    costs: Callable[[], tuple[Floats, ...]]  # for each quasi-identifier what a record on each level costs; never falls

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.leaves)


@dataclass(frozen=True, eq=False)
class Lattice(Structure):
    """Everybody is released on the same levels, one for each attribute, and pays for the nodes that these make.

    What a record pays never falls from level to level.
    """

    title: ClassVar[str] = "one level for each attribute"
    absent: ClassVar[str] = "it does not release everybody on the same levels, as 'generalisation' by full domain does."

    leaves: NDArray[np.int32]  # (n, quasi): the leaf of each record in each hierarchy
    nodes: tuple[NDArray[np.int32], ...]  # per quasi-identifier (leaves, levels): the node of each leaf on each level
    node_costs: tuple[Floats, ...]  # per quasi-identifier what a record released as each node pays
    test: ClassTest
    scale: float  # that what all pay is divided by
    most_left_out: int = 0
    left_out_price: float = 0.0  # in the units of what nodes cost

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.leaves)

    @property
    def dearest(self) -> float:
        """What no record pays more than, on whatever levels."""
        return float(sum(costs.max() for costs in self.node_costs))

    @property
    def cheaper_to_keep(self) -> bool:
        """Whether leaving out a record never costs less than keeping it."""
        return self.left_out_price >= self.dearest * (1 - 1e-12)

    def level_costs(self) -> tuple[Floats, ...]:
        """For each quasi-identifier what all records pay on each of its levels."""
        return tuple(
            costs[nodes[self.leaves[:, j]]].sum(axis=0)
            for j, (nodes, costs) in enumerate(zip(self.nodes, self.node_costs, strict=True))
        )


@dataclass(frozen=True, eq=False)
class Score(Structure):
    """One score `of` a loss and an entropy, which are those of `problem.unscored()`.

    It never falls with the loss nor rises with the entropy.

    `alone` says that the score is all that is asked for, so that the front of its parts holds the best of it;
    `least_loss` is a loss that no partition is below, quickly found whatever the number of records.
    """

    title: ClassVar[str] = "a score of loss and entropy"
    absent: ClassVar[str] = "it has no score made of a loss and an entropy."

    of: Callable[[float, float], float]
    alone: bool = True
    least_loss: Callable[[], float] = lambda: 0.0


@dataclass(frozen=True, eq=False)
class EntropyLevels(Structure):
    """Two objectives, a loss and an entropy; the loss can be minimised under least entropies of each attribute.

    `problem.with_entropy` poses the problem with these.
    """

    title: ClassVar[str] = "loss under levels of entropy"
    absent: ClassVar[str] = "its objectives are not a loss and an entropy, as those of 'mo-obam' are."

    most: Floats  # bits, per sensitive attribute: no partition has more
    least_of: Callable[[Labels], Floats]  # the least entropy of a class, in bits, for each sensitive attribute


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition that a model proposes for one k; where it was halted, only a share is as the model would have it."""

    k: int
    labels: Labels
    share: float = 1.0


MakeCandidates = Callable[[Sequence[int] | None, Callable[[], bool]], Iterator[Candidate]]


@dataclass(frozen=True, eq=False)
class Construction(Structure):
    """The model makes partitions itself, one for each k, and its target tells which of them is best.

    `candidates` makes a partition for each of some k, or without any for those that a single answer is chosen from,
    when it is asked for; once halted, the one under way is completed in whatever way takes little time. `remarks` is
    what a report should say of how values came about.
    """

    title: ClassVar[str] = "candidates of its own"
    absent: ClassVar[str] = "it makes no partitions of its own, as 'mass' does."

    fixed_k: int | None  # the only k that a single answer is wanted for, or any
    levels: Sequence[int]  # every k that is worth trying
    candidates: MakeCandidates
    remarks: Callable[[], dict[str, object]]


@dataclass(frozen=True)
class PartValues:
    """What a partition of a part of the records is worth, measured as the whole is."""

    values: Mapping[str, float]
    records: int
    classes: int


Pooled = Callable[[Sequence[PartValues]], dict[str, float]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts(Structure):
    """Partitions of parts of the records make a partition of all of them.

    A part is measured as the whole is: its scaling and the distribution that t compares with are the whole table's,
    and a class that meets the conditions in a part meets them in the whole. `problem.restricted` poses the problem for
    some of the records. `stand_in` says what a part optimises where the whole's target is no sum over parts, and is
    None where it is one. `pooled` makes the values of all records from those of parts, where they follow from them
    though they are no sum.
    """

    title: ClassVar[str] = "parts that can be solved alone"
    absent: ClassVar[str] = "it cannot be posed for some of the records."
    usual: ClassVar[bool] = True

    stand_in: str | None = None
    pooled: Pooled | None = None


KINDS: tuple[type[Structure], ...] = (
    Priced, Centroids, ClassCount, Assignment, Levels, Lattice, Score, EntropyLevels, Construction, Parts,
)  # fmt: skip
