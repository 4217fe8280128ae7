"""How long the rest of a study will take, from the runs made so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


class TimeLeft:
    """The seconds of runs by solver: some solvers take a thousand times as long as others.

    What a solver's warm-up takes is the least of its runs: the first ones compile what all others find compiled.

    >>> left = TimeLeft(["quick", "quick", "slow", "slow"])
    >>> left.ended("quick", {"build_seconds": 1.0, "warm_up_seconds": 90.0, "seconds": 1.0})
    >>> left.ended("quick", {"build_seconds": 1.0, "warm_up_seconds": 1.0, "seconds": 3.0})
    >>> left.ended("slow", {"seconds": 40.0})
    >>> left.remaining(places=2)
    20.0
    """

    def __init__(self, solvers: Iterable[str]) -> None:
        self._left = Counter(solvers)
        self._work: dict[str, list[float]] = {}
        self._warm_up: dict[str, float] = {}

    def ended(self, solver: str, record: Mapping[str, Any]) -> None:
        """A run of this solver has ended."""
        self._left[solver] -= 1
        work = (record.get("build_seconds") or 0.0) + (record.get("seconds") or 0.0)
        self._work.setdefault(solver, []).append(work)
        warm_up = record.get("warm_up_seconds") or 0.0
        self._warm_up[solver] = min(warm_up, self._warm_up.get(solver, warm_up))

    def remaining(self, places: int) -> float | None:
        """Seconds until all runs are made, so many at a time, or None while nothing is known."""
        if not self._work:
            return None
        each = {solver: sum(work) / len(work) + self._warm_up[solver] for solver, work in self._work.items()}
        usual = sum(each.values()) / len(each)  # of a solver that has made no run yet
        return sum(count * each.get(solver, usual) for solver, count in self._left.items()) / places
