"""Solving for a wish: values of objectives that an answer should have, or come nearest to.

Where every objective has a wished value, the answer is the one by the augmented achievement function: the objective
that falls short most, as a share of what was wished, is made as good as it can be, and a little of all of them breaks
ties, so that no partition is better in every objective. Where only some have one, their values are limits: these are
met first, or come nearest to, and then the other objectives are made good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import InputError, is_finite, unknown
from optmodels.objectives import OWN, QUANTITIES, Objective
from optmodels.partition import Labels
from optmodels.problem._problem import JudgedOtherwise, Problem
from optmodels.structures import Centroids, ClassCount, EntropyLevels, Parts, Score, Structure

ACHIEVEMENT = Objective(
    "achievement",
    "min",
    "by how much the wish is missed, as a share of it; negative where all is better than was wished",
)
_ALL = 1e-3  # the weight of all objectives together, beside the one that falls short most
_MISSED = 1e3  # what missing a limit costs more than anything that can be gained by it
_HAIR = 1e-9  # values this close, relatively, are the same


@dataclass(frozen=True)
class Wish:
    """Values that objectives should have, or better ones; made by `Wish.of`, which looks whether they make sense.

    >>> loss, entropy = Objective("loss"), Objective("entropy", "max", worst=0.0)
    >>> wish = Wish({"loss": 0.01, "entropy": 1.2})
    >>> wish.kept_by((loss, entropy), {"loss": 0.01, "entropy": 1.3})
    True
    >>> round(wish.shortfall((loss, entropy), {"loss": 0.015, "entropy": 1.3}), 6)
    0.5
    """

    values: Mapping[str, float]

    @classmethod
    def of(cls, values: Mapping[str, float], names: list[str]) -> Wish:
        """The wish, if all that is wished are numbers for some of these objectives.

        Raises:
            InputError: there is nothing wished, or no such objective, or something that is no number.
        """
        if not values:
            raise InputError("The wish is empty: name an objective and its value, as in loss=0.01,entropy=1.2.")
        for name, value in values.items():
            if name not in names:
                raise unknown("objective", name, names)
            if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)) or not is_finite(value):
                raise InputError(f"What is wished of '{name}' must be a finite number, not {value!r}.")
        return cls({name: float(value) for name, value in values.items()})

    def kept_by(self, objectives: tuple[Objective, ...], values: Mapping[str, float]) -> bool:
        """Whether values are as good as was wished."""
        return self.shortfall(objectives, values) <= _HAIR

    def shortfall(self, objectives: tuple[Objective, ...], values: Mapping[str, float]) -> float:
        """By how much the worst of the wished objectives falls short, as a share of the wish; 0 if none does."""
        return max(0.0, *self._missing(objectives, values))

    def achievement(self, objectives: tuple[Objective, ...], values: Mapping[str, float]) -> float:
        """What is to be made small: it never falls when an objective gets worse."""
        missing = self._missing(objectives, values)
        if len(missing) == len(objectives):
            return max(missing) + _ALL * sum(missing)
        others = [one.worse(values[one.name], 0.0) / _size(one) for one in objectives if one.name not in self.values]
        short = max(missing)
        return sum(others) + (0.0 if short <= _HAIR else _MISSED * (1.0 + short))

    def _missing(self, objectives: tuple[Objective, ...], values: Mapping[str, float]) -> list[float]:
        """By how much each wished objective falls short, as a share of what was wished; negative if it is better."""
        wished = [(one, self.values[one.name]) for one in objectives if one.name in self.values]
        return [one.worse(values[one.name], wish) / (abs(wish) or _size(one)) for one, wish in wished]


def _size(objective: Objective) -> float:
    """What an objective is measured by where nothing is wished of it, or 0: its worst value, or 1."""
    return abs(objective.worst or 0.0) or 1.0


def wished(problem: Problem, wish: Mapping[str, float]) -> WishedProblem:
    """The problem of coming nearest to a wish; objectives that the problem has not are added to its own.

    `loss` is what the problem itself makes small, whatever it is called.

    Raises:
        InputError: there is no such objective, or the wish makes no sense.
    """
    if OWN in wish and OWN not in (objective.name for objective in problem.objectives):
        wish = {problem.target.name if name == OWN else name: value for name, value in wish.items()}
    score = problem.structure(Score)
    if score is not None and problem.target.name not in wish:
        problem = problem.unscored()
    own = [objective.name for objective in problem.objectives]
    further = [name for name in wish if name not in own]
    for name in further:
        if name.partition("@")[0] not in QUANTITIES:
            raise unknown("objective", name, {*own, *QUANTITIES})
    parts = problem.with_objectives(*own, *further) if further else problem
    return WishedProblem(parts, Wish.of(wish, [*own, *further]))


class WishedProblem(JudgedOtherwise):
    """One number, how far a partition is from a wish, to be made small; the original is the problem without it."""

    def __init__(self, original: Problem, wish: Wish) -> None:
        super().__init__(original)
        self.wish = wish
        self.objectives = (ACHIEVEMENT, *original.objectives)

    def structures(self) -> Iterator[Structure]:
        """A score, where the wish is of a loss and an entropy, and of its parts what is true of any objective."""
        if self.original.structure(EntropyLevels) is not None and len(self.original.objectives) == 2:
            yield Score(self._of)
        yield Parts(stand_in="how far its own records are from the wish")
        yield from (found for found in self.original.structures() if isinstance(found, (Centroids, ClassCount)))

    def _of(self, first: float, second: float) -> float:
        names = [objective.name for objective in self.original.objectives]
        return self.wish.achievement(self.original.objectives, dict(zip(names, (first, second), strict=True)))

    def values(self, labels: Labels) -> dict[str, float]:
        """How far from the wish a partition is, and its values."""
        return self._with_achievement(self.original.values(labels))

    def _with_achievement(self, values: dict[str, float]) -> dict[str, float]:
        return {ACHIEVEMENT.name: self.wish.achievement(self.original.objectives, values), **values}

    def _of_kept(self, labels: Labels, missing: int) -> tuple[dict[str, float], dict[str, int]]:
        values, violations = self.original._of_kept(labels, missing)
        return self._with_achievement(values), violations

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> WishedProblem:
        """The same wish for some of the records."""
        return WishedProblem(self.original.restricted(rows, classes), self.wish)

    def __reduce__(self) -> tuple[object, ...]:
        return WishedProblem, (self.original, self.wish)
