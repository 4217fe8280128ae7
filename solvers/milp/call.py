"""One call of a MILP solver: what it is given, whom it tells on the way, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from optmodels.solution import Stop
from optmodels.solver import Run

if TYPE_CHECKING:
    import pyomo.environ as pyo


@dataclass(frozen=True)
class Call:
    """A model for a MILP solver.

    `found` is called with each solution in the model's variables and says whether that has changed the model, so that
    to go on proving would be about the old one; `bounded` is called with each bound.
    """

    model: pyo.ConcreteModel
    solver: str  # 'highs', or a name that Pyomo knows
    gap: float  # that is close enough
    log: str | Path | None
    warm: bool  # whether the model's variables hold a solution to start from
    run: Run
    found: Callable[[], bool]
    bounded: Callable[[float], None]


@dataclass(frozen=True)
class Outcome:
    """How a call ended; solutions and bounds have been reported on the way."""

    stop: Stop = Stop.CONVERGED
    infeasible: bool = False
    nodes: int = 0
