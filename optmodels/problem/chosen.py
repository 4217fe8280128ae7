"""A problem judged by objectives chosen by name, with as much of its structure as still speaks the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import InputError, RefusedError, unknown
from optmodels.objectives import OWN, QUANTITIES, Objective, measured
from optmodels.partition import Labels
from optmodels.problem._problem import (
    Centroids,
    ClassAdditive,
    Divisible,
    FixedCentres,
    FreeCentres,
    Generalised,
    Problem,
    Scalarised,
    SelfTuned,
    View,
)
from optmodels.release import Method, Release

if TYPE_CHECKING:
    import pyomo.environ as pyo

# Structure that is about the target alone: shown to solvers only while the target stays what it was.
_OF_THE_TARGET = (ClassAdditive, FixedCentres, Generalised, Scalarised)


def rejudged(problem: Problem, names: Sequence[str]) -> Problem:
    """The problem judged by the objectives of these names: its own, or quantities measured in any table."""
    if not names:
        raise InputError("Name at least one objective.")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"The objective '{name}' is named twice.")
    if list(names) == [objective.name for objective in problem.objectives]:
        return problem
    if isinstance(problem, Scalarised) and problem.target.name not in names:
        return problem.parts.with_objectives(*names)  # without its score it is the problem that the score is made from
    return Rejudged(problem, [_objective(problem, name) for name in names])


def _objective(problem: Problem, name: str) -> Objective:
    own = {objective.name: objective for objective in (problem.target, *problem.objectives)}
    if name in own:
        return own[name]
    if name == OWN:
        return replace(problem.target, name=OWN)
    if name.partition("@")[0] not in QUANTITIES:
        raise unknown("objective", name, {OWN, *own, *QUANTITIES})
    return measured(name, problem.table)


def _members(protocol: type) -> set[str]:
    """The attributes and methods that a protocol asks for."""
    named = (name for base in protocol.__mro__ for name in (*getattr(base, "__annotations__", ()), *vars(base)))
    return {name for name in named if not name.startswith("_")}


class Rejudged(Problem):
    """The same table, model and conditions under other objectives; the first is what a single answer is best in.

    Solvers that exploit a model's structure optimise the model's own target. So this problem shows them that
    structure only where its first objective is that target; otherwise they refuse it instead of
    minimising the wrong thing. Pieces of both objectives of a model (`EntropyBounded`) are never shown: a front
    that is exact for a model's two objectives says nothing of others. What remains in any case is the way from
    centroids to partitions.
    """

    def __init__(self, original: Problem, objectives: Sequence[Objective]) -> None:
        super().__init__(original.table, original.formulation, original.conditions)
        self.original = original
        self.objectives = tuple(objectives)
        self.test = original.test
        if isinstance(original, Centroids):
            self._show(_members(FreeCentres if isinstance(original, FreeCentres) else Centroids))
        if isinstance(original, ClassAdditive):  # a price is a price; which class sizes suffice depends on the target
            self._show(_members(ClassAdditive) - {"largest"})
        if isinstance(original, Scalarised) and isinstance(original.parts, ClassAdditive):
            self.price_scale = original.parts.price_scale
        if isinstance(original, SelfTuned):  # candidates stay what they are, whatever they are judged by
            self._show(_members(SelfTuned))
        if isinstance(original, Divisible):
            self.stand_in = original.stand_in if self.keeps_target else f"the {self.target.name} of its own records"
            self.restricted = self._restricted
        for structure in _OF_THE_TARGET:
            if self.keeps_target and isinstance(original, structure):
                self._show(_members(structure))
        if isinstance(self, FixedCentres):
            self.recentred = self._recentred

    def __reduce__(self) -> tuple[Any, ...]:
        # Ways to measure a table cannot be sent to other processes; the names of the objectives can.
        return rejudged, (self.original, self._names)

    @property
    def _names(self) -> list[str]:
        return [objective.name for objective in self.objectives]

    def _restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Problem:
        """A part of the model, judged as this problem is; its own target the model judges itself, with less work."""
        assert isinstance(self.original, Divisible)
        part = self.original.restricted(rows, classes)
        if self.keeps_target:
            return part
        part.table = self.original.table.part(rows)  # closeness is to the whole table
        return part.with_objectives(*self._names)

    def _show(self, names: Iterable[str]) -> None:
        # On the instance and not on the class: a protocol is met by having its members.
        for name in names:
            setattr(self, name, getattr(self.original, name))

    @property
    def keeps_target(self) -> bool:
        """Whether the first objective is what the model itself optimises."""
        return self._own_name(self.target) == self.original.target.name

    def _own_name(self, objective: Objective) -> str | None:
        """What the model calls the objective; None for one that it does not know."""
        if objective.measure is not None:
            return None
        known = [own.name for own in self.original.objectives]
        return objective.name if objective.name in known else self.original.target.name

    def values(self, labels: Labels) -> dict[str, float]:
        """The values of the chosen objectives, and of no others."""
        own_names = [self._own_name(objective) for objective in self.objectives]
        own = self.original.values(labels) if any(own_names) else {}
        return {
            objective.name: objective.measure(labels) if objective.measure is not None else own[str(own_name)]
            for objective, own_name in zip(self.objectives, own_names, strict=True)
        }

    def violations(self, labels: Labels) -> dict[str, int]:
        """The violations of the model itself."""
        return self.original.violations(labels)

    def impossible(self) -> str | None:
        """Why the model itself has no solution, or None."""
        return self.original.impossible()

    def with_objectives(self, *names: str) -> Problem:
        """The model itself under other objectives."""
        return self.original.with_objectives(*names)

    def release(self, labels: NDArray[np.integer[Any]], *, method: Method | None = None) -> Release:
        """The table recoded by a partition, in the model's own way."""
        return self.original.release(labels, method=method)

    def _recentred(self, labels: Labels) -> Problem:
        assert isinstance(self.original, FixedCentres)
        return self.original.recentred(labels).with_objectives(*self._names)

    def lacks_pyomo(self) -> str | None:
        """The model's Pyomo view minimises the model's own target."""
        if self.keeps_target:
            return self.original.lacks_pyomo()
        own = self.original.target.name
        return f"its Pyomo view optimises '{own}' and '{self.target.name}' is asked for: name '{own}' first."

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The model's own view, as long as its target is the first objective."""
        if not self.keeps_target:
            raise RefusedError(f"The formulation '{self.formulation.name}' is judged otherwise: {self.lacks_pyomo()}")
        return self.original.to_pyomo()
