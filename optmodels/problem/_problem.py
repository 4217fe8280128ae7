"""Formulation -> Problem: what is optimised, stated once, with the structures that solvers may exploit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import InputError, RefusedError, unknown
from optmodels.markup import notebook
from optmodels.metrics.loss import attribute_losses
from optmodels.objectives import ENTROPY, OWN, QUANTITIES, SUPPRESSED, Objective, least_entropies, objective_named
from optmodels.partition import LEFT_OUT, Labels
from optmodels.price import geometry
from optmodels.problem.judge import Judge
from optmodels.problem.view import View
from optmodels.release import Method, Release, Suppressed
from optmodels.release import release as make_release
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

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from optmodels.centroids.pymoo_problem import CentroidProblem

Kind = TypeVar("Kind", bound=Structure)

# No table has so much entropy, and 2 to the power of much more is no number.
_MOST_BITS = 64.0


class Problem(Judge):
    """A formulation on a table: the only judge of objective values and of violations."""

    release_method: ClassVar[Method] = "centroid"

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

    def release(
        self, labels: NDArray[np.integer[Any]], *, method: Method | None = None, suppressed: Suppressed = "drop"
    ) -> Release:
        """The table recoded by a partition, audited against this problem's conditions.

        Records that are left out are dropped, or with `suppressed="star"` are rows that say nothing.
        """
        classes = self.check(labels)
        own = method in (None, self.release_method)
        loss, facts = self.release_notes(classes) if own else (None, {})
        return make_release(
            self.table,
            classes,
            promise=self.conditions,
            method=method or self.release_method,
            suppressed=suppressed,
            levels=self.release_levels(classes) if own else None,
            loss=loss,
            provenance={"formulation": self.formulation.name, "parameters": self.formulation.to_dict(), **facts},
        )

    def release_levels(self, classes: Labels) -> NDArray[np.int64] | None:
        """(classes, quasi) the levels of hierarchies that classes are released on, in models that choose them."""
        return None

    def release_notes(self, classes: Labels) -> tuple[Mapping[str, float] | None, dict[str, object]]:
        """What else a model has to say with a release: about its loss, and about how it was made."""
        return None, {}

    def attribute_losses(self, labels: NDArray[np.integer[Any]]) -> dict[str, float]:
        """What the release of a partition loses of each quasi-identifier, of what one class of everybody would lose."""
        classes = self.check(labels)
        kept = np.flatnonzero(classes != LEFT_OUT)
        part = self.table if len(kept) == self.n else self.table.part(kept)
        losses = attribute_losses(part, classes[kept], self.release_method, levels=self.release_levels(classes))
        return {name: loss + (self.n - len(kept)) / self.n for name, loss in losses.items()}

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
        yield Parts(self._part, stand_in=f"the {self.target.name} of its own records")

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
        return self.require(Parts).restricted(rows, None)

    def _part(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Problem:
        part = self.formulation.build(self.table.part(rows))
        if self.formulation.suppress:
            part._left_out_price = self.left_out_price
            part.conditions = replace(part.conditions, suppress=self.conditions.suppress)
        return part

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


def released(
    problem: Problem, labels: NDArray[np.integer[Any]], method: Method | None, suppressed: Suppressed
) -> Release:
    """The release of a partition; a model with a way of its own to release need not know of records left out."""
    if suppressed == "drop":
        return problem.release(labels, method=method)
    return problem.release(labels, method=method, suppressed=suppressed)


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
        return score.parts.with_objectives(*names)  # without its score it is the problem that the score is made from
    return ChosenObjectives(problem, [_objective(problem, name) for name in names])


def _objective(problem: Problem, name: str) -> Objective:
    own = {objective.name: objective for objective in (problem.target, *problem.objectives)}
    if name in own:
        return own[name]
    if name == OWN:
        return replace(problem.target, name=OWN)
    if name.partition("@")[0] not in QUANTITIES:
        raise unknown("objective", name, {OWN, *own, *QUANTITIES})
    if name == SUPPRESSED:
        if not problem.suppression.most:
            raise InputError(
                f"No record may be left out, so that '{SUPPRESSED}' is always 0: allow some with suppress=0.05, or "
                "choose another objective."
            )
        return replace(objective_named(name, problem.table), worst=float(problem.suppression.most))
    return objective_named(name, problem.table)


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
                    yield self._assigned(found)
                case Parts():
                    yield self._parts(found)
                case ClassCount() | Construction():
                    yield found
            if isinstance(found, Priced) and self.keeps_target and self._against_entropy:
                yield EntropyLevels(
                    least_entropies(self.table, np.zeros(self.n, np.int64)),
                    lambda labels: least_entropies(self.table, labels),
                    self.original.with_entropy,
                )

    @property
    def _against_entropy(self) -> bool:
        return len(self.objectives) == 2 and self.objectives[1].quantity == ENTROPY

    def _scales(self, scales: Mapping[str, float]) -> dict[str, float]:
        named = {objective.name: self._own_name(objective) for objective in self.objectives}
        return {name: scales[own] for name, own in named.items() if own is not None and own in scales}

    def _assigned(self, found: Assignment) -> Assignment:
        recentred = found.recentred
        if recentred is None or not self.keeps_target:
            return replace(found, recentred=None, is_target=found.is_target and self.keeps_target)
        return replace(found, recentred=lambda labels: recentred(labels).with_objectives(*self._names))

    def _parts(self, found: Parts) -> Parts:
        if self.keeps_target:  # its own target the model judges itself, with less work
            return replace(found, pooled=None)

        def restricted(rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Problem:
            part = found.restricted(rows, classes)
            part.table = self.original.table.part(rows)  # closeness is to the whole table
            return part.with_objectives(*self._names)

        return Parts(restricted, stand_in=f"the {self.target.name} of its own records")

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
