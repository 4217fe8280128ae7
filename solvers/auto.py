"""The solver for those who do not want to choose: picks by structure, size and time, and says what and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optmodels import registry
from optmodels.problem import ClassAdditive, FixedCentres, Problem, Scalarised
from optmodels.solver import Run, Solver

# A judgement from runs of columns on 1,000 records and of local search on 300,000; benchmarks/scaling.py measures it.
_COLUMNS_RECORDS = 3_000
_LOCAL_SEARCH_RECORDS = 1_000_000


@dataclass(frozen=True)
class Auto(Solver):
    """Exact where size or structure allows it, a heuristic where not; the choice is in the solution's details."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "picks a solver from structure and size, and says what it picked and why"

    def refuses(self, problem: Problem) -> str | None:
        """Whatever the solver it would pick refuses."""
        return registry.solver(choice(problem)[0])().refuses(problem)

    def search(self, problem: Problem, run: Run) -> None:
        """Let the chosen solver search on the same run."""
        name, reason = choice(problem)
        run.details.update(chosen=name, because=reason)
        run.report(f"auto picked {name}: {reason}")
        run.solver = name
        registry.solver(name)().search(problem, run)


def choice(problem: Problem) -> tuple[str, str]:
    """The solver to use, and why."""
    if isinstance(problem, FixedCentres):
        if len(problem.caps) <= 1:
            return "network", "records go to fixed centres under laminar caps, which is a network"
        return "milp", "two capped attributes at once are no network"
    if isinstance(problem, Scalarised):
        return "epsilon", "a score of loss and entropy is optimal somewhere on their front"
    if isinstance(problem, ClassAdditive):
        if problem.price.n <= _COLUMNS_RECORDS:
            return "columns", f"{problem.price.n} records are few enough for a bound by column generation"
        if problem.price.n <= _LOCAL_SEARCH_RECORDS or problem.n_classes is not None:
            return "local_search", f"{problem.price.n} records are too many for column generation"
        return "mdav", f"{problem.price.n} records are too many for anything but a construction"
    return "milp", "nothing but a Pyomo view is known of this model"
