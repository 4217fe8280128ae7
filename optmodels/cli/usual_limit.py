"""How long a command takes where nobody said: about a minute, and it says how to give it more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optmodels.solver import Solver

USUAL_SECONDS = 60.0
_COUNTS = ("evaluations", "iterations")  # options of solvers that end by what they count


def usual_limit(solver: Solver, given: float | None) -> float | None:
    """The time limit: as given, or a minute for solvers that would go on for as long as they are let.

    Solvers that count their work end by themselves, and with the same answer for the same seed: a clock would take
    that from them.
    """
    if given is not None or solver.name == "blocks":
        return given
    options = solver.options()
    counted = any(getattr(solver, name, None) is not None for name in _COUNTS)
    of_its_own = "evaluations" in options and solver.name != "auto"
    return None if counted or of_its_own else USUAL_SECONDS


def said(given: float | None, stop: str) -> str:
    """What to tell of a run that ended because its minute was over; nothing of others."""
    if given is not None or stop != "time":
        return ""
    return (
        f"It was stopped after {USUAL_SECONDS:g} seconds, as no time limit was given: --time-limit 600 gives it ten "
        "minutes."
    )
