"""The judge of partitions: objective values, violations, and what leaving out records costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, Conditions
from optmodels.errors import InputError, unknown
from optmodels.objectives import OWN, QUANTITIES, SUPPRESSED, Objective, objective_named
from optmodels.partition import LEFT_OUT, Labels, canonical
from optmodels.problem.evaluation import Evaluation
from optmodels.problem.parameters import Parameters
from optmodels.suppression import NOBODY, Suppression, left_out
from optmodels.table import Table


class Judge(ABC):
    """What partitions of a table are worth, and which conditions they break: the half of a problem that judges."""

    objectives: tuple[Objective, ...]
    _left_out_price: float | None = None

    def __init__(self, table: Table, formulation: Parameters, conditions: Conditions) -> None:
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

    def objective(self, name: str) -> Objective:
        """The objective of this name: one of its own, or a quantity that is measured in any table."""
        own = {objective.name: objective for objective in (self.target, *self.objectives)}
        if name in own:
            return own[name]
        if name == OWN:
            return replace(self.target, name=OWN)
        if name.partition("@")[0] not in QUANTITIES:
            raise unknown("objective", name, {OWN, *own, *QUANTITIES})
        if name == SUPPRESSED:
            if not self.suppression.most:
                raise InputError(
                    f"No record may be left out, so that '{SUPPRESSED}' is always 0: allow some with suppress=0.05, or "
                    "choose another objective."
                )
            return replace(objective_named(name, self.table), worst=float(self.suppression.most))
        return objective_named(name, self.table)

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
        """Objective values and violations of a partition, from the table alone.

        A record with the label `LEFT_OUT` is in no class: it adds its price to the target, and where more are left out
        than may be, that is the violation 'suppressed'.
        """
        return self._judged(self.check(labels))

    def _judged(self, labels: Labels) -> Evaluation:
        missing = left_out(labels)
        if missing:
            values, violations = self._of_kept(labels, missing)
        else:
            values, violations = self.values(labels), self.violations(labels)
        if missing or self.conditions.suppress:
            violations = {**violations, "suppressed": max(0, missing - self.suppression.most)}
        return Evaluation(values, violations)

    def _of_kept(self, labels: Labels, missing: int) -> tuple[dict[str, float], dict[str, int]]:
        """Values and violations where records are left out: those of the others' part, and the price of these.

        Models whose own `values` and `violations` take such labels need no part.
        """
        kept = np.flatnonzero(labels != LEFT_OUT)
        if not kept.size:
            raise InputError("All records are left out: there is nothing to release.")
        part = self.part(kept)
        return self._with_left_out(part.values(labels[kept]), missing), part.violations(labels[kept])

    def _with_left_out(self, values: dict[str, float], missing: int) -> dict[str, float]:
        sign = 1.0 if self.target.sense == "min" else -1.0
        name = self.target.name
        return {**values, name: values[name] + sign * missing * self.left_out_price} if name in values else values

    @property
    def suppression(self) -> Suppression:
        """How many records may be left out, and what each of them costs."""
        if not self.conditions.suppress:
            return NOBODY
        return Suppression.of_share(self.conditions.suppress, self.n, self.left_out_price)

    @property
    def left_out_price(self) -> float:
        """What leaving out a record adds to the target: as given, or what one costs where all are in one class.

        Parts of a problem have the price of the whole.
        """
        if self._left_out_price is None:
            given = self.formulation.suppression_price
            self._left_out_price = self._usual_price() if given is None else float(given)
        return self._left_out_price

    def _usual_price(self) -> float:
        return max(0.0, self.values(np.zeros(self.n, np.int64))[self.target.name] / self.n)

    def with_left_out_price(self, price: float) -> Self:
        """The same problem in which leaving out a record adds this much to the target: what it does in the whole."""
        other = copy(self)
        other._left_out_price = price
        return other

    def _copy(self) -> Self:
        """A copy to be made a part of: leaving out a record costs there what it costs here."""
        if self.conditions.suppress:
            _ = self.left_out_price
        return copy(self)

    @abstractmethod
    def part(self, rows: NDArray[np.int64]) -> Judge:
        """The same problem for some of the records, measured as the whole is; as many of them may be left out."""

    def allowing(self, most: int) -> Self:
        """The same problem in which so many records may be left out, at the same price."""
        other = self._copy()
        other.conditions = replace(self.conditions, suppress=most / self.n)
        return other

    def check(self, labels: NDArray[np.integer[Any]]) -> Labels:
        """The labels renumbered 0..C-1, or an error that says why they are not a partition; `LEFT_OUT` stays."""
        array = np.asarray(labels)
        if array.shape != (self.n,) or not np.issubdtype(array.dtype, np.integer):
            raise InputError(
                f"A partition of this table is {self.n} whole numbers, one class label per record, "
                f"not an array of {array.dtype} with shape {array.shape}."
            )
        return canonical(array)

    def prepare(self) -> None:  # noqa: B027 (most have nothing to prepare)
        """Find out what takes a while and must be known before anything is judged.

        Solvers ask for it before their time runs.
        """

    def impossible(self) -> str | None:
        """Why no partition can satisfy the conditions, or None when that is not known."""
        return self.conditions.impossible(self.table, self.suppression.most)
