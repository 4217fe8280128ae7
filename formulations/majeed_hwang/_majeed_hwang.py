"""Majeed and Hwang 2023: generalisation through hierarchies by attributes' usefulness and classes' uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from formulations.majeed_hwang.forest import usefulness
from optmodels.conditions import TOLERANCE
from optmodels.errors import InputError, RefusedError, finite, unknown, whole
from optmodels.metrics import risk
from optmodels.metrics.privacy import entropies
from optmodels.objectives import Objective
from optmodels.partition import LEFT_OUT, Labels, canonical, class_sizes, group_rows, histograms
from optmodels.price import geometry
from optmodels.problem import Formulation, Problem, View
from optmodels.release import Method
from optmodels.structures import Centroids, Levels, Parts, Structure
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    import pyomo.environ as pyo

LevelRule = Literal["flexible", "least"]
# Thresholds that are tried where the best is asked for; with one sensitive flag there are hardly more.
_MOST_THRESHOLDS = 256

# No table has so uncertain a class, and 2 to the power of much more is no number.
_MOST_BITS = 64.0


@dataclass(frozen=True)
class MajeedHwang(Formulation):
    """Minimise the distortion DM (equation 18) and the probabilistic disclosure PD of what is released, under k.

    A class is released through hierarchies; those that the table lacks are built from its columns. The usefulness of
    quasi-identifiers, summing to 100, is found by a forest of `trees`, or given as `weights`. `levels` says how a
    class is generalised:

    - 'flexible', as published: a class whose sensitive values are uncertain by more than `threshold` bits (T_U) stays
      on low levels, any other goes to high ones, and a more useful attribute stays lower than a less useful one. With
      threshold=None it is the smallest with which the disclosure of the release is at most `most_disclosure`; of more
      than 256 candidates, classes' different uncertainties, 256 evenly spread ones are looked at.
    - 'least': on the lowest levels at which it is equal. Then levels are chosen by the partition: to generalise a class
      until it looks like another is to merge the two, and `threshold` is the uncertainty that every class must have.

    `most_disclosure` bounds the disclosure of the whole release. `tried` is how many attributes a tree of the forest
    looks at in a node (the paper's mtry, 4 on Adult; by default the root of their number), and `rebuilt` grows the
    trees again on shuffled values, as the paper's text has it, where by default they are asked about shuffled ones.

    >>> import pandas as pd
    >>> from optmodels import Table
    >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "sex": list("ffmm"), "illness": ["flu", "cold", "flu", "flu"]})
    >>> table = Table(people, quasi={"age": "numeric", "sex": "categorical"}, sensitive="illness")
    >>> problem = MajeedHwang(k=2, weights={"age": 1, "sex": 3}).build(table)
    >>> problem.evaluate([0, 0, 1, 1]).values
    {'distortion': 225.0, 'disclosure': 0.75}
    >>> problem.release([0, 0, 1, 1]).frame["sex"].tolist()
    ['*', '*', 'f', 'f']
    """

    name: ClassVar[str] = "majeed-hwang"
    summary: ClassVar[str] = "distortion and disclosure of generalisation by usefulness and uncertainty, under k"

    k: int
    threshold: float | None = 0.0
    levels: LevelRule = "flexible"
    most_disclosure: float | None = None
    trees: int = 100
    weights: Mapping[str, float] | None = None
    tried: int | None = None
    rebuilt: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels not in get_args(LevelRule):
            raise unknown("levels", str(self.levels), get_args(LevelRule))
        whole("trees", self.trees, 2, "usefulness is a mean over trees by its deviation")
        if self.tried is not None:
            whole("tried", self.tried, 1, "a tree looks at one attribute at least")
        if self.threshold is not None:
            finite("threshold", self.threshold, "it is an entropy in bits")
        elif self.levels == "least" or self.most_disclosure is None:
            raise InputError(
                "threshold=None asks for the best threshold of levels='flexible', which is the smallest that keeps "
                "most_disclosure: give most_disclosure, or a threshold in bits."
            )
        if self.most_disclosure is not None:
            finite("most_disclosure", self.most_disclosure, "it is a probability")
            if self.most_disclosure > 1:
                raise InputError(f"most_disclosure is a probability and at most 1, not {self.most_disclosure!r}.")

    def build(self, table: Table, seed: int = 0) -> MajeedHwangProblem:
        """The problem of this table; the seed grows the forest, when its weights are first asked for.

        Raises:
            InputError: the table has no sensitive attribute, or `weights` do not fit its quasi-identifiers.
        """
        return MajeedHwangProblem(table, self, seed)


class MajeedHwangProblem(Problem):
    """Distortion and disclosure of one table's partitions, each class generalised as the formulation says."""

    release_method: ClassVar[Method] = "hierarchy"
    _whole: MajeedHwangProblem | None = None  # what this is a part of

    def __init__(self, table: Table, formulation: MajeedHwang, seed: int) -> None:
        if not table.sensitive:
            raise InputError(
                "Usefulness and uncertainty are about sensitive attributes and the table has none: name at least one "
                "column as sensitive."
            )
        self.formulation: MajeedHwang = formulation
        self.seed = seed
        self.least_levels = formulation.levels == "least"
        self.most_disclosure = formulation.most_disclosure
        bits = min(formulation.threshold or 0.0, _MOST_BITS) if self.least_levels else 0.0
        uncertain = dict.fromkeys(table.sensitive, float(2.0**bits)) if bits > 0 else None
        conditions = formulation.conditions(formulation.k, least_entropies=uncertain)
        super().__init__(table.with_hierarchies(), formulation, conditions)
        self.objectives = _objectives(self.n)
        if formulation.weights is not None:
            _check_weights(formulation.weights, table.quasi)
        hierarchies = [self.table.hierarchy(name) for name in self.table.quasi]
        self.leaves = np.column_stack([self.table.leaf_codes(name) for name in self.table.quasi])
        self.nodes = tuple(hierarchy.nodes for hierarchy in hierarchies)
        # What is written alike is one value in a release, on whatever levels it stands.
        texts = [[str(label) for label in hierarchy.labels] for hierarchy in hierarchies]
        self._written = [np.unique(labels, return_inverse=True)[1] for labels in texts]
        self._written_once = all(map(_written_once, hierarchies))

    def structures(self) -> Iterator[Structure]:
        """Levels of hierarchies, parts, and places of records where attributes count alike."""
        yield Levels(
            leaves=self.leaves,
            nodes=self.nodes,
            least_levels=self.least_levels,
            most_disclosure=self.most_disclosure,
            test=self.test,
            costs=self.level_costs,
        )
        yield Centroids(geometry(self.table), self.test, sufficient=self.most_disclosure is None)
        yield Parts(stand_in=self.stand_in)

    @cached_property
    def usefulness(self) -> dict[str, float]:
        """The weight of each quasi-identifier in the whole table; they sum to 100."""
        if self._whole is not None:
            return self._whole.usefulness
        given = self.formulation.weights
        if given is None:
            model = self.formulation
            found = usefulness(self.table, trees=model.trees, seed=self.seed, tried=model.tried, rebuilt=model.rebuilt)
        else:
            found = np.array([given[name] for name in self.table.quasi], np.float64)
            found *= 100 / found.sum()
        return dict(zip(self.table.quasi, found.tolist(), strict=True))

    def level_costs(self) -> tuple[NDArray[np.float64], ...]:
        """For each quasi-identifier, what a record on each level of its hierarchy adds to the distortion."""
        return tuple(
            weight * np.arange(nodes.shape[1]) / max(nodes.shape[1] - 1, 1)
            for weight, nodes in zip(self.usefulness.values(), self.nodes, strict=True)
        )

    def values(self, labels: Labels) -> dict[str, float]:
        """The distortion of a partition, and the disclosure of its release."""
        levels = self.levels(labels)
        cells = np.column_stack([costs[levels[:, j]] for j, costs in enumerate(self.level_costs())])
        distortion = float(class_sizes(labels) @ cells.sum(axis=1))
        return {"distortion": distortion, "disclosure": self._disclosure(labels, levels)}

    def violations(self, labels: Labels) -> dict[str, int]:
        """Classes that break a condition, and whether the release discloses too much."""
        broken = super().violations(labels)
        if self.most_disclosure is not None:
            reached = self._disclosure(labels, self.levels(labels))
            broken["disclosure"] = int(reached > self.most_disclosure + TOLERANCE)
        return broken

    def prepare(self) -> None:
        """Grow the forests that weights of attributes come from: they belong to the model, not to its solution."""
        _ = self.usefulness

    def impossible(self) -> str | None:
        """No release discloses less than one in which everyone looks the same."""
        everyone = np.zeros(self.n, np.int64)
        least = risk.disclosure([histograms(everyone, codes) for codes in self.table.sensitive_codes.T])
        if self.most_disclosure is not None and not self.suppression.most and least > self.most_disclosure + TOLERANCE:
            return (
                f"most_disclosure={self.most_disclosure:g} cannot hold: where everyone looks the same, the most "
                f"frequent sensitive value is still right for {least:.6g} of all records."
            )
        return super().impossible()

    def uncertainties(self, labels: Labels) -> NDArray[np.float64]:
        """The entropy of the sensitive attribute in each class, in bits; of several the least."""
        least: NDArray[np.float64] = np.minimum.reduce(
            [entropies(histograms(labels, codes)) for codes in self.table.sensitive_codes.T]
        )
        return least

    def levels(self, labels: Labels) -> NDArray[np.int64]:
        """(classes, quasi) the levels on which classes are released; labels run from 0 to C-1."""
        common = self._common_levels(labels)
        if self.least_levels:
            return common
        return self._flexible(common, self.uncertainties(labels), self.threshold(labels))

    def _common_levels(self, labels: Labels) -> NDArray[np.int64]:
        hierarchies = [self.table.hierarchy(name) for name in self.table.quasi]
        return np.column_stack([one.common_level(labels, self.leaves[:, j]) for j, one in enumerate(hierarchies)])

    def threshold(self, labels: Labels) -> float:
        """The threshold T_U in bits: as given, or the smallest that keeps the disclosure within its bound.

        Where none does, it is the one that discloses least. Distortion never falls as it rises.
        """
        if self.formulation.threshold is not None:
            return self.formulation.threshold
        assert self.most_disclosure is not None
        common, uncertain = self._common_levels(labels), self.uncertainties(labels)
        known = np.concatenate([[-1.0], np.unique(uncertain.round(12)) + TOLERANCE])  # -1: no class is too certain
        if len(known) > _MOST_THRESHOLDS:
            known = known[np.linspace(0, len(known) - 1, _MOST_THRESHOLDS).astype(np.int64)]
        best, least = 0.0, np.inf
        for threshold in known.tolist():
            reached = self._disclosure(labels, self._flexible(common, uncertain, threshold))
            if reached < least:
                best, least = threshold, reached
            if reached <= self.most_disclosure + TOLERANCE:
                return float(threshold)
        return float(best)

    def _flexible(
        self, common: NDArray[np.int64], uncertain: NDArray[np.float64], threshold: float
    ) -> NDArray[np.int64]:
        """The published rule: the lower or the upper half of each hierarchy, and the more useful the lower in it."""
        places = np.argsort(np.argsort([-weight for weight in self.usefulness.values()], kind="stable"))
        share = places / max(len(places) - 1, 1)
        highest = np.array([nodes.shape[1] - 1 for nodes in self.nodes])
        low = np.rint(share * (highest // 2)).astype(np.int64)
        high = highest - np.rint((1 - share) * (highest // 2)).astype(np.int64)
        wanted = np.where((uncertain > threshold)[:, None], low, high)
        used: NDArray[np.int64] = np.maximum(common, wanted)
        return used

    def released_classes(self, labels: Labels, levels: NDArray[np.int64]) -> Labels:
        """The classes as they are in the release, where classes that are written alike are one."""
        anyone = np.empty((len(levels), self.leaves.shape[1]), self.leaves.dtype)
        anyone[labels] = self.leaves
        columns = [self._written[j][nodes[anyone[:, j], levels[:, j]]] for j, nodes in enumerate(self.nodes)]
        return canonical(group_rows(columns)[labels])

    def _disclosure(self, labels: Labels, levels: NDArray[np.int64]) -> float:
        released = self.released_classes(labels, levels)
        return risk.disclosure([histograms(released, codes) for codes in self.table.sensitive_codes.T])

    def release_levels(self, classes: Labels) -> NDArray[np.int64]:
        """(classes, quasi) the levels that classes are released on; records that are left out have no say."""
        return self._of_released(classes).levels(classes[classes != LEFT_OUT])

    def release_notes(self, classes: Labels) -> tuple[Mapping[str, float] | None, dict[str, object]]:
        """Distortion and disclosure; what attributes are useful for, and the threshold that was chosen."""
        facts: dict[str, object] = {"usefulness": self.usefulness}
        if not self.least_levels:
            facts["threshold"] = self._of_released(classes).threshold(classes[classes != LEFT_OUT])
        return self.evaluate(classes).values, facts

    def _of_released(self, classes: Labels) -> MajeedHwangProblem:
        kept = classes != LEFT_OUT
        return self if kept.all() else self.restricted(np.flatnonzero(kept))

    def with_disclosure(self, most: float) -> MajeedHwangProblem:
        """The same problem with a bound on the disclosure of the whole release."""
        return self._revised(replace(self.formulation, most_disclosure=float(most)))

    @property
    def stand_in(self) -> str | None:
        """Distortion is a sum over classes, unless all of them hang together by a threshold that is chosen."""
        if self.formulation.threshold is not None:
            return None
        return "the distortion of its own records with the threshold that is best for them"

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> MajeedHwangProblem:
        """The same problem for some of the records, with the whole table's hierarchies and usefulness.

        Where every part keeps `most_disclosure` the whole does: it discloses their mean, or less where classes of
        different parts look alike.
        """
        part = self._copy()
        part._whole = self._whole or self
        part.table, part.test, part.leaves = self.table.take(rows), self.test.take(rows), self.leaves[rows]
        part.objectives = _objectives(len(rows))
        return part

    def __getstate__(self) -> dict[str, Any]:
        # A part goes to other processes with the weights of the whole, and without the whole.
        alone = {} if self._whole is None else {"usefulness": self.usefulness, "_whole": None}
        return {**self.__dict__, **alone}

    def _revised(self, formulation: MajeedHwang) -> MajeedHwangProblem:
        other = MajeedHwangProblem(self.table, formulation, self.seed)
        other.usefulness = self.usefulness  # one forest is enough
        return other

    def lacks_pyomo(self) -> str | None:
        """Levels must be free to be chosen, and records times combinations of levels few enough."""
        from formulations._pyomo.generalisation_model import too_large

        if not self.least_levels:
            return "levels='flexible' follow the published rule and leave nothing to choose: use levels='least'."
        if self.most_disclosure is not None and not self._written_once:
            return "different nodes of a hierarchy have one label, so what looks the same in a release is not linear."
        return too_large(self.leaves, self.nodes)

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """Which combination of nodes each record is released as: least levels, k and uncertainty by combination."""
        from formulations._pyomo.generalisation_model import generalisation_model

        if reason := self.lacks_pyomo():
            raise RefusedError(f"There is no Pyomo view: {reason}")
        levels = [self.table.hierarchy(name).node_levels for name in self.table.quasi]
        node_costs = tuple(costs[own] for costs, own in zip(self.level_costs(), levels, strict=True))
        return generalisation_model(
            self.leaves, self.nodes, node_costs, self.test, self.most_disclosure, suppression=self.suppression
        )

    def pyomo_leaves_out(self) -> bool:
        """The view counts those who are left out."""
        return True


def _objectives(n: int) -> tuple[Objective, ...]:
    return (
        Objective("distortion", "min", "usefulness times level used / highest level, over all cells", 100.0 * n),
        Objective("disclosure", "min", "mean of the largest share of one sensitive value in a released class", 1.0),
    )


def _written_once(hierarchy: Hierarchy) -> bool:
    """Whether no two nodes with different values below them have the same label."""
    parents, counts = hierarchy.parents, hierarchy.leaf_counts
    only_child = (parents >= 0) & (counts[parents] == counts)
    distinct = np.delete(hierarchy.labels, np.unique(parents[only_child]))
    return len({str(label) for label in distinct}) == len(distinct)


def _check_weights(weights: Mapping[str, float], quasi: tuple[str, ...]) -> None:
    for name in weights:
        if name not in quasi:
            raise unknown("quasi-identifier", name, quasi)
    for name in quasi:
        if name not in weights:
            raise InputError(f"weights has none for the quasi-identifier '{name}': give every one a weight.")
        finite(f"The weight of '{name}'", weights[name])
    if not sum(weights.values()) > 0:
        raise InputError("All weights are 0: give at least one quasi-identifier a positive weight.")
