"""MASS (Thammanna Gowda et al. 2026): multi-attribute stratified sampling, k chosen by what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from formulations.mass.candidate_builder import CandidateBuilder, levels_of
from formulations.mass.floors import Floors
from formulations.mass.get_anonymized import GetAnonymized
from formulations.mass.optimizer import Optimizer
from formulations.mass.recall import LEAST_RECORDS, Recall
from formulations.mass.sensitive_mix import SensitiveMix
from formulations.mass.similar_order import Order
from optmodels.conditions import Conditions
from optmodels.errors import InputError, unknown, whole
from optmodels.metrics.loss import general_loss_metric
from optmodels.metrics.utility import Protocol
from optmodels.objectives import Objective
from optmodels.partition import LEFT_OUT, Labels
from optmodels.price import geometry
from optmodels.problem import Formulation, Problem
from optmodels.release import Method
from optmodels.structures import Candidate, Centroids, Construction, Parts, PartValues, Structure
from optmodels.table import Table

CLASSIFIERS = ("lr", "dt", "rf", "svm-rbf", "knn", "gb", "nb")
_TYPICAL_K = 10


@dataclass(frozen=True)
class Mass(Formulation):
    """Minimise (privacy loss + information loss) / recall over partitions that mirror the table's sensitive values.

    - `k`: the least size of a class, and the one that is answered; without it every k from 2 to 4 * l_v is tried, l_v
      the largest number of values of a sensitive attribute, and the best is taken. Conditions are what
      every class keeps beyond k, if everybody in one class would: classes that do not, swap records or are joined.
    - `bins`: numeric sensitive attributes with more values are put into so many bins, for strata and distances.
    - `order`, `reach`: see `GetAnonymized`. `floors`: from how far records may come so that each of e classes has its
      share of every value, of n_v records: `near` is from neighbours; `diverse` makes sure of as many different values
      as have n_v >= e; `present` of these very values; `full` of floor(n_v/e) to ceil(n_v/e) records of each, as far as
      that is possible; `auto` is `full` where one attribute's values are parts of another's, else `diverse`.
    - `predict`: the column that classifiers predict; the table's target unless given, or else the sensitive attribute
      of fewest values. `positive`: of two levels the one that recall is about, the rarer one unless given; over
      more than two it is averaged.
    - `classifiers`: by name, those of the paper unless given; with none no recall is measured.
    - `splits`: how often rows are split into those to learn from and those to be asked about. `sample`: of a larger
      table so many records, drawn by the seed, take part in this.

    >>> from optmodels.datasets.synthetic import health_like
    >>> problem = Mass(k=5, classifiers=()).build(health_like(1000, l_v=7))
    >>> [candidate.k for candidate in problem.candidates()], problem.l_v
    ([5], 7)
    """

    name: ClassVar[str] = "mass"
    summary: ClassVar[str] = (
        "privacy loss, information loss and recall of classes dealt from strata of sensitive values"
    )

    k: int | None = None
    bins: int = 5
    order: Order = "auto"
    reach: float = 2.0
    floors: Floors = "auto"
    predict: str | None = None
    positive: str | None = None
    classifiers: tuple[str, ...] = CLASSIFIERS
    splits: int = 1
    sample: int = 4000

    def build(self, table: Table, seed: int = 0) -> MassProblem:
        """The problem of this table; the seed draws the sample and the splits that recall is measured on."""
        whole(
            "sample", self.sample, LEAST_RECORDS, "fewer cannot be split into some to learn from and some to ask about"
        )
        conditions = self.conditions(2 if self.k is None else self.k)
        mix = SensitiveMix(table, self.bins)
        typical = self.k or _TYPICAL_K
        anonymize = GetAnonymized(
            table, order=self.order, reach=self.reach, typical_k=typical, floors=self.floors, mix=mix
        )
        # what classifiers of a release recall is a matter of the whole table
        recall = self._recall(table, mix, seed) if table.n == table.records_in_all else None
        return MassProblem(table, self, conditions, anonymize, recall)

    def pooled(self, parts: Sequence[PartValues]) -> dict[str, float]:
        """The values of all records from those of parts: privacy loss is a mean over classes, loss over records."""
        values = {
            name: float(np.average([part.values[name] for part in parts], weights=weights))
            for name, weights in (
                ("privacy_loss", [part.classes for part in parts]),
                ("loss", [part.records for part in parts]),
            )
        }
        reached = {"l": min(part.values["l"] for part in parts), "t": max(part.values["t"] for part in parts)}
        return {**values, "score": Optimizer.score(values), **reached}

    def _recall(self, table: Table, mix: SensitiveMix, seed: int) -> Recall | None:
        if not self.classifiers:
            return None
        protocol = Protocol(
            self.classifiers,
            ("recall", "accuracy"),
            splits=self.splits,
            seed=seed,
            positive=self.positive,
            categories="codes",
            jobs=1,
        )
        if self.predict is not None and self.predict not in table.frame.columns:
            raise unknown("column of the table to predict", self.predict, map(str, table.frame.columns))
        column = self.predict or table.target
        if column is not None:
            return Recall(table, column, protocol, self.sample)
        sizes = {name: size for name, size in zip(mix.names, mix.sizes, strict=True) if size > 1}
        if not sizes:
            return None
        try:
            return Recall(table, min(sizes, key=sizes.__getitem__), protocol, self.sample)
        except InputError:
            if self.positive is not None:
                raise
            return None  # nobody asked for this column: where it cannot be predicted there is no recall


class MassProblem(Problem):
    """MASS on one table: three objectives, or two where no recall is measured, and the score made of them.

    Values beyond the objectives: `score`, which a single answer is best in; `recall`; and the `l` (fewest distinct
    values) and `t` (largest distance) that the worst class reaches.
    """

    release_method: ClassVar[Method] = "interval"

    def __init__(
        self, table: Table, formulation: Mass, conditions: Conditions, anonymize: GetAnonymized, recall: Recall | None
    ) -> None:
        super().__init__(table, formulation, conditions)
        self.formulation: Mass = formulation
        self.anonymize = anonymize
        self.recall = recall
        self.fixed_k = formulation.k
        meaning = "mean distance of sensitive attributes in a class from the table"
        self.objectives = (
            Objective("privacy_loss", "min", meaning, 1.0, self._privacy_loss),
            Objective("loss", "min", "general loss metric", 1.0, self._loss),
        )
        if recall is not None:
            meaning = f"share of '{recall.predict}' that classifiers of the release do not find"
            self.objectives += (Objective("recall_loss", "min", meaning, 1.0, self._recall_loss),)

    def structures(self) -> Iterator[Structure]:
        """Candidates of its own, one for each k, and parts whose values are pooled."""
        yield Construction(self.fixed_k, self.levels, self.candidates, self.remarks)
        yield Centroids(geometry(self.table), self.test)
        stand_in = "privacy loss + loss of its own records; recall is a matter of the whole table"
        yield Parts(stand_in=stand_in, pooled=self.formulation.pooled)

    def _privacy_loss(self, labels: Labels) -> float:
        return self.anonymize.mix.of(labels).privacy_loss

    def _loss(self, labels: Labels) -> float:
        kept = np.flatnonzero(labels != LEFT_OUT)
        if len(kept) == self.n:
            return general_loss_metric(self.table, labels)
        share = general_loss_metric(self.table.part(kept), labels[kept]) * len(kept) / self.n
        return share + (self.n - len(kept)) * self.left_out_price

    def _recall_loss(self, labels: Labels) -> float:
        assert self.recall is not None
        return 1 - self.recall.of(labels)

    @property
    def l_v(self) -> int:
        """The largest number of values of a sensitive attribute."""
        return self.anonymize.mix.l_v

    @property
    def levels(self) -> range:
        """The values of k that are tried, from the one that is promised."""
        return levels_of(self.anonymize, self.conditions.k)

    @cached_property
    def target(self) -> Objective:
        """What a single answer is best in: the Optimizer's score."""
        return Objective("score", "min", "(privacy loss + loss) / recall")

    def candidates(
        self, levels: Sequence[int] | None = None, halted: Callable[[], bool] = lambda: False
    ) -> Iterator[Candidate]:
        """A partition for each k, made when it is asked for: the fixed one, or every level that is tried."""
        usual = self.levels if self.fixed_k is None else (self.fixed_k,)
        return iter(CandidateBuilder(self.anonymize, usual if levels is None else levels, halted, self.test))

    def _usual_price(self) -> float:
        """A record that is left out loses all of its cells; prices are in units of the loss, which the score has."""
        return 1.0 / self.n

    def _of_kept(self, labels: Labels, missing: int) -> tuple[dict[str, float], dict[str, int]]:
        return self.values(labels), self.violations(labels)

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> MassProblem:
        """The same problem for some of the records, against the mix and the ranges of all of them; without recall."""
        anonymize = self.anonymize.restricted(rows)
        part = MassProblem(anonymize.table, self.formulation, self.conditions, anonymize, None)
        part.test = self.test.take(rows)
        if self.conditions.suppress:
            part._left_out_price = self.left_out_price * self.n / len(rows)  # its loss is a mean over fewer records
        return part

    def values(self, labels: Labels) -> dict[str, float]:
        """PL, IL and, where classifiers are asked, 1 - R, with the score and the l and t that are reached."""
        mix = self.anonymize.mix.of(labels)
        values = {"privacy_loss": mix.privacy_loss, "loss": self._loss(labels)}
        if self.recall is not None:
            recall = self.recall.of(labels)
            values |= {"recall_loss": 1 - recall, "recall": recall}
        return values | {"score": Optimizer.score(values), "l": float(mix.l), "t": mix.t}

    def remarks(self) -> dict[str, object]:
        """What a report should say of how the values came about."""
        order, _ = self.anonymize.line
        remarks: dict[str, object] = {"l_v": self.l_v, "strata": len(self.anonymize.mix.stratum_codes), "order": order}
        if self.recall is None:
            return remarks | {"predicted": None}
        rows, levels = np.size(self.recall.rows), self.recall.target.levels
        return remarks | {
            "predicted": self.recall.predict,
            "positive": levels[self.recall.target.positive] if len(levels) == 2 else None,
            "classifiers": list(self.recall.ensemble),
            "recall_records": int(rows),
            "recall_original": self.recall.baseline,
        }
