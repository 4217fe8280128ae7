"""An objective: a quantity with a plain name, and which way is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from optmodels.partition import Labels

Sense = Literal["min", "max"]
Measure = Callable[[Labels], float]


@dataclass(frozen=True)
class Objective:
    """A quantity to be made small or large, known by a plain name.

    `worst` is a value that no partition is worse than, where one is known beforehand. `measure` computes the
    quantity from labels 0..C-1; without it the problem that has the objective does. `quantity` says that it is the one
    of this name in `optmodels.objectives` (with a threshold after an @ where it has one), so that solvers know how to
    hold it.
    """

    name: str
    sense: Sense = "min"
    meaning: str = ""
    worst: float | None = None
    measure: Measure | None = field(default=None, repr=False, compare=False)
    quantity: str | None = field(default=None, kw_only=True)

    def worse(self, value: float, than: float) -> float:
        """By how much `value` is worse than `than`; negative when it is better."""
        return value - than if self.sense == "min" else than - value
