"""Formulation -> Problem: what is optimised, stated once, with the structures that solvers may exploit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import Conditions
from optmodels.errors import InputError, RefusedError
from optmodels.markup import notebook
from optmodels.objectives import ENTROPY, Objective, least_entropies
from optmodels.partition import Labels
from optmodels.price import geometry
from optmodels.problem.parameters import Parameters
from optmodels.problem.releasing import Releasing, released
from optmodels.problem.view import View
from optmodels.release import Method, Release, Suppressed
from optmodels.report.words import plain
from optmodels.structures import (
    Assignment,
    Centroids,
    ClassCount,
    Construction,
    EntropyLevels,
    Lattice,
    Levels,
    Parts,
    Priced,
    Score,
    Structure,
)
from optmodels.table import Table

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from optmodels.centroids.pymoo_problem import CentroidProblem

Kind = TypeVar("Kind", bound=Structure)

# No table has so much entropy, and 2 to the power of much more is no number.
_MOST_BITS = 64.0


@dataclass(frozen=True, kw_only=True)
class Formulation(Parameters, ABC):
    """A published model with its parameters; subclasses are frozen dataclasses without hidden state."""

    @abstractmethod
    def build(self, table: Table, seed: int = 0) -> Problem:
        """The problem this model poses for a table; `seed` matters only where the model draws centres."""


class Problem(Releasing):
    """A formulation on a table: the only judge of objective values and of violations."""

    formulation: Formulation

    def __init__(self, table: Table, formulation: Formulation, conditions: Conditions) -> None:
        super().__init__(table, formulation, conditions)

    def with_objectives(self, *names: str) -> Problem:
        """The same problem judged by objectives of these names; the first is the one that a single answer is best in.

        Names are those of the problem's own objectives, 'loss' for its own target whatever that is called, and those
        in `optmodels.objectives`: entropy, linkage (or linkage@0.075), homogeneity, closeness,
        variational, classes, suppressed, and utility (or utility@rf) for tables with a target.
        """
        return judged_by(self, names)

    def with_entropy(self, least: Sequence[float]) -> Self:
        """The same problem with a least entropy in bits for each sensitive attribute, beside what was asked for."""
        bits, names = np.asarray(least, np.float64), self.table.sensitive
        bounded = copy(self)
        asked = self.formulation.conditions(self.conditions.k)
        own = np.log([asked.of(name).entropy_l or 1.0 for name in names])
        effective = dict(zip(names, (2.0 ** np.minimum(bits, _MOST_BITS)).tolist(), strict=True))
        bounded.conditions = self.formulation.conditions(self.conditions.k, least_entropies=effective)
        bounded.test = self.test.with_entropies(np.maximum(bits * log(2), own))
        return bounded

    def _repr_html_(self) -> str:
        facts = {
            "formulation": self.formulation.name,
            "parameters": plain({key: value for key, value in self.formulation.to_dict().items() if value is not None}),
            "conditions": self.conditions.describe(),
            "objectives": ", ".join(f"{one.name} ({one.sense})" for one in self.objectives),
        }
        return notebook(f"Problem of {self.n:,} records", facts)

    def structures(self) -> Iterator[Structure]:
        """What solvers may know of the problem beyond its judge; models with more to say add to it.

        Any problem has this much: records lie where the table has them, and a part of the records poses the same
        problem, built anew from its formulation and measured as the whole is.
        """
        yield Centroids(geometry(self.table), self.test, sufficient=type(self).violations is Problem.violations)
        yield Parts(stand_in=f"the {self.target.name} of its own records")

    def structure(self, kind: type[Kind]) -> Kind | None:
        """What is known of the problem in this regard, or None."""
        return next((found for found in self.structures() if isinstance(found, kind)), None)

    def require(self, kind: type[Kind]) -> Kind:
        """What is known of the problem in this regard.

        Raises:
            RefusedError: nothing is; solvers that need it say so before they search.
        """
        found = self.structure(kind)
        if found is None:
            raise RefusedError(f"'{self.formulation.name}' cannot be solved in this way: {kind.absent}")
        return found

    def part(self, rows: NDArray[np.int64]) -> Problem:
        """The same problem for some of the records, measured as the whole is; as many of them may be left out."""
        self.require(Parts)
        return self.restricted(rows)

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Problem:
        """What `Parts` says there is: the problem of some records, and of prescribed classes those with these numbers.

        Unless a model knows better it is built anew.
        """
        part = self.formulation.build(self.table.part(rows))
        if self.formulation.suppress:
            part._left_out_price = self.left_out_price
            part.conditions = replace(part.conditions, suppress=self.conditions.suppress)
        return part

    def recentred(self, labels: Labels) -> Problem | None:
        """The same problem around the means of a partition's classes, where an `Assignment` is to given centres."""
        return None

    def better_than(self, quantity: str, value: float) -> Problem | None:
        """The same problem where every class is better than that in a quantity that its `Assignment` has `held`."""
        return None

    def with_disclosure(self, most: float) -> Problem:
        """The same problem with a bound on the disclosure, where it has `Levels`."""
        raise RefusedError(f"The disclosure of '{self.formulation.name}' has no bound: {Levels.absent}")

    def unscored(self) -> Problem:
        """The problem of the loss and the entropy that a `Score` is made of."""
        raise RefusedError(f"'{self.formulation.name}' is no score of anything: {Score.absent}")

    def lacks_pyomo(self) -> str | None:
        """Why `to_pyomo` would refuse, found without building the model, or None."""
        return f"{type(self).__name__} has no Pyomo view." if type(self).to_pyomo is Problem.to_pyomo else None

    def pyomo_leaves_out(self) -> bool:
        """Whether the Pyomo view decides who is left out, where some may be; else it puts everybody into a class."""
        return False

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The model as a Pyomo ConcreteModel that any Pyomo solver can solve.

        Raises:
            RefusedError: there is no such model, or it would be too large; `lacks_pyomo` says so beforehand.
        """
        raise RefusedError(f"The formulation '{self.formulation.name}' has no Pyomo view.")

    def to_pymoo(self, n_centroids: int | None = None, *, mend: bool = True) -> View[CentroidProblem]:
        """The problem as a pymoo Problem over matrices of centroids, which any pymoo algorithm can minimise.

        `native.operators` are operators made for it. `n_centroids` is the most classes a decision can have where their
        number is free. Without `mend` records only join their nearest centroid, and conditions are constraints.

        Raises:
            RefusedError: it is asked for without mending, and nearest centroids are not what the problem is about.
        """
        if self.structure(Assignment) is not None and not mend:
            raise RefusedError(
                f"The formulation '{self.formulation.name}' has no pymoo view without mending: nearest centres hardly "
                "ever have classes of the right sizes. Leave out mend=False."
            )
        from optmodels.centroids.pymoo_problem import CentroidProblem

        native = CentroidProblem(self, n_centroids, mend=mend)
        return View(native, native.labels)


def judged_by(problem: Problem, names: Sequence[str]) -> Problem:
    """The problem judged by the objectives of these names: its own, or quantities measured in any table."""
    if not names:
        raise InputError("Name at least one objective.")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"The objective '{name}' is named twice.")
    if list(names) == [objective.name for objective in problem.objectives]:
        return problem
    score = problem.structure(Score)
    if score is not None and problem.target.name not in names:
        return problem.unscored().with_objectives(*names)  # without its score it is what the score is made from
    return ChosenObjectives(problem, [problem.objective(name) for name in names])


class JudgedOtherwise(Problem):
    """The table, model, conditions and releases of another problem, `original`, judged by other numbers."""

    def __init__(self, original: Problem) -> None:
        super().__init__(original.table, original.formulation, original.conditions)
        self.original, self.test = original, original.test
        self.release_method = original.release_method  # type: ignore[misc]

    def violations(self, labels: Labels) -> dict[str, int]:
        """The violations of the original."""
        return self.original.violations(labels)

    def prepare(self) -> None:
        """What the original has to know."""
        self.original.prepare()

    def impossible(self) -> str | None:
        """Why the original has no solution, or None."""
        return self.original.impossible()

    def unscored(self) -> Problem:
        """The original, where there is a score made of what it asks for."""
        return self.original

    def allowing(self, most: int) -> Self:
        """The same problem, and its original, in which so many records may be left out."""
        other = super().allowing(most)
        other.original = self.original.allowing(most)
        return other

    def with_entropy(self, least: Sequence[float]) -> Self:
        """The same problem, and its original, with least entropies."""
        other = super().with_entropy(least)
        other.original = self.original.with_entropy(least)
        return other

    @property
    def left_out_price(self) -> float:
        """What it adds to the original's target; quantities have their own way to count who is left out."""
        return self.original.left_out_price

    def release(
        self, labels: NDArray[np.integer[Any]], *, method: Method | None = None, suppressed: Suppressed = "drop"
    ) -> Release:
        """The table recoded by a partition, in the original's own way."""
        return released(self.original, labels, method, suppressed)

    def attribute_losses(self, labels: NDArray[np.integer[Any]]) -> dict[str, float]:
        """What that release loses of each quasi-identifier."""
        return self.original.attribute_losses(labels)


class ChosenObjectives(JudgedOtherwise):
    """The same table, model and conditions under other objectives; the first is what a single answer is best in.

    Of the model's structures it has those that are still true. Those about the target are, where the first objective is
    the model's own target. Levels of entropy are true where the second of two is the entropy, whatever the model: that
    of a class is a condition.
    """

    def __init__(self, original: Problem, objectives: Sequence[Objective]) -> None:
        super().__init__(original)
        self.objectives = tuple(objectives)

    def __reduce__(self) -> tuple[Any, ...]:
        # Ways to measure a table cannot be sent to other processes; the names of the objectives can.
        return judged_by, (self.original, self._names)

    @property
    def _names(self) -> list[str]:
        return [objective.name for objective in self.objectives]

    @property
    def keeps_target(self) -> bool:
        """Whether the first objective is what the model itself optimises."""
        return self._own_name(self.target) == self.original.target.name

    def _own_name(self, objective: Objective) -> str | None:
        """What the model calls the objective; None for one that it does not know."""
        known = [own.name for own in (self.original.target, *self.original.objectives)]
        if objective.name in known:
            return objective.name
        return None if objective.measure is not None else self.original.target.name

    def structures(self) -> Iterator[Structure]:
        """Those of the model that are true under these objectives."""
        for found in self.original.structures():
            match found:
                case Priced() | Levels() | Lattice() if self.keeps_target:
                    yield found
                case Score() if self.keeps_target:
                    yield replace(found, alone=False)
                case Centroids():
                    yield replace(found, scales=self._scales(found.scales))
                case Assignment():
                    yield replace(found, is_target=found.is_target and self.keeps_target)
                case Parts() if self.keeps_target:  # its own target the model judges itself, with less work
                    yield replace(found, pooled=None)
                case Parts():
                    yield Parts(stand_in=f"the {self.target.name} of its own records")
                case ClassCount() | Construction():
                    yield found
            if isinstance(found, Priced) and self.keeps_target and self._against_entropy:
                yield EntropyLevels(
                    least_entropies(self.table, np.zeros(self.n, np.int64)),
                    lambda labels: least_entropies(self.table, labels),
                )

    @property
    def _against_entropy(self) -> bool:
        return len(self.objectives) == 2 and self.objectives[1].quantity == ENTROPY

    def _scales(self, scales: Mapping[str, float]) -> dict[str, float]:
        named = {objective.name: self._own_name(objective) for objective in self.objectives}
        return {name: scales[own] for name, own in named.items() if own is not None and own in scales}

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Problem:
        """The model's own part, and unless it is judged by the model's own target one judged as the whole is."""
        part = self.original.restricted(rows, classes)
        if self.keeps_target:
            return part
        part.table = self.original.table.part(rows)  # closeness is to the whole table
        return part.with_objectives(*self._names)

    def recentred(self, labels: Labels) -> Problem | None:
        """The model around other centres, judged as this is."""
        moved = self.original.recentred(labels) if self.keeps_target else None
        return None if moved is None else moved.with_objectives(*self._names)

    def better_than(self, quantity: str, value: float) -> Problem | None:
        """The model itself, with a bound on the quantity."""
        return self.original.better_than(quantity, value)

    def with_disclosure(self, most: float) -> Problem:
        """The model itself, with a bound on the disclosure."""
        return self.original.with_disclosure(most)

    def unscored(self) -> Problem:
        """What the model's score is made of."""
        return self.original.unscored()

    def values(self, labels: Labels) -> dict[str, float]:
        """The values of the chosen objectives, and of no others."""
        return self._chosen(self.original.values, labels)

    def _chosen(self, values: Callable[[Labels], Mapping[str, float]], labels: Labels) -> dict[str, float]:
        asked = {objective: self._own_name(objective) for objective in self.objectives}
        own = values(labels) if any(o.measure is None for o in self.objectives) else {}
        return {
            objective.name: objective.measure(labels) if objective.measure is not None else own[str(own_name)]
            for objective, own_name in asked.items()
        }

    def _of_kept(self, labels: Labels, missing: int) -> tuple[dict[str, float], dict[str, int]]:
        values, violations = self.original._of_kept(labels, missing)
        return self._chosen(lambda _: values, labels), violations

    def with_objectives(self, *names: str) -> Problem:
        """The model itself under other objectives."""
        return self.original.with_objectives(*names)

    def lacks_pyomo(self) -> str | None:
        """The model's Pyomo view minimises the model's own target."""
        if self.keeps_target:
            return self.original.lacks_pyomo()
        own = self.original.target.name
        return f"its Pyomo view optimises '{own}' and '{self.target.name}' is asked for: name '{own}' first."

    def pyomo_leaves_out(self) -> bool:
        """Whether the model's own view decides who is left out."""
        return self.original.pyomo_leaves_out()

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The model's own view, as long as its target is the first objective."""
        if not self.keeps_target:
            raise RefusedError(f"The formulation '{self.formulation.name}' is judged otherwise: {self.lacks_pyomo()}")
        return self.original.to_pyomo()
