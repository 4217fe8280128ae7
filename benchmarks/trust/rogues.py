"""Solvers that misbehave, of the kind that a package of somebody else may bring along."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.trust.outcome import KEPT, kept
from formulations import Microaggregation
from optmodels.errors import OptmodelsError
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.testing import brute_force, small_table


@dataclass(frozen=True)
class Rogue(Solver):
    """Does one thing wrong."""

    name: ClassVar[str] = "rogue"
    summary: ClassVar[str] = "misbehaves"
    how: str = ""

    def search(self, problem: Problem, run: Run) -> None:
        nonsense: dict[str, Any] = {
            "too few labels": np.zeros(problem.n - 1, np.int64),
            "labels that are no numbers": np.full(problem.n, np.nan),
            "classes of one": np.arange(problem.n),
            "nothing left in": np.full(problem.n, -1),
            "no array": "abc",
            "negative classes": np.arange(problem.n) - 5,
        }
        match self.how:
            case "raises":
                raise ValueError("a solver's own mistake")
            case "raises after an answer":
                run.offer(np.zeros(problem.n, np.int64))
                raise RuntimeError("a solver's own mistake")
            case "claims too much":
                run.offer(np.zeros(problem.n, np.int64))
                run.prove(1e30)
            case "calls it infeasible":
                run.offer(np.zeros(problem.n, np.int64))
                run.infeasible("it says so")
            case "claims not a number":
                run.offer(np.zeros(problem.n, np.int64))
                run.prove(float("nan"))
            case "hangs":
                run.offer(np.zeros(problem.n, np.int64))
                time.sleep(60.0)
            case "hangs in a loop":
                run.offer(np.zeros(problem.n, np.int64))
                end = time.monotonic() + 60.0
                while time.monotonic() < end:
                    pass
            case how:
                run.offer(nonsense[how])


HOWS = (
    *("too few labels", "labels that are no numbers", "classes of one", "nothing left in", "no array"),
    *("negative classes", "raises", "raises after an answer", "claims too much", "calls it infeasible"),
    *("claims not a number", "hangs", "hangs in a loop"),
)


def outcomes(limit: float) -> Iterator[tuple[str, str, float | None]]:
    """What each came to, and by how many seconds beyond its limit where that is what is asked."""
    problem = Microaggregation(k=2).build(small_table(7))
    best = brute_force(problem)
    assert best is not None
    for how in HOWS:
        hangs = how.startswith("hangs")
        began = time.monotonic()
        said = KEPT
        try:
            found = Rogue(how=how).solve(problem, time_limit=limit / 4 if hangs else limit)
        except (OptmodelsError, ValueError, TypeError, RuntimeError, AssertionError) as error:
            said = kept(bool(str(error)), "an error without a word")
        else:
            if found.labels is not None:
                judged = problem.evaluate(found.labels)
                said = kept(judged.feasible and dict(judged.values) == dict(found.values), "not the judge's values")
            if found.bound is not None and not found.bound <= best[1].values[problem.target.name] * (1 + 1e-9):
                said = f"a bound of {found.bound!r}"
        yield f"a solver: {how}", said, time.monotonic() - began - limit / 4 if hangs else None
