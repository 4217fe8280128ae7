"""The floor that every problem stands on: one of which nothing is known but values and conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from optmodels import Table, registry
from optmodels.errors import InputError
from optmodels.matrix import CONDITIONS, mixed_table
from optmodels.partition import Labels
from optmodels.price import PlainPrice
from optmodels.problem import Formulation, Objective, PricedProblem, Problem
from optmodels.solver import FrontSolver, Solver
from optmodels.structures import Priced
from optmodels.testing import brute_force, check_formulation, check_front, check_solution, small_table
from optmodels.testing.solvers import quick


@dataclass(frozen=True, kw_only=True)
class Alike(Formulation):
    """Classes of sizes that are alike, in which the first attribute's values are."""

    name: ClassVar[str] = "alike"
    summary: ClassVar[str] = "made up by the tests"
    k: int = 3

    def build(self, table: Table, seed: int = 0) -> Problem:
        return AlikeProblem(table, self, self.conditions(self.k))


class AlikeProblem(Problem):
    objectives = (Objective("width", "min", "of the widest class"), Objective("smallest", "max", "class, in records"))

    def values(self, labels: Labels) -> dict[str, float]:
        of_first = self.table.scaled[:, 0] if self.table.scaled.shape[1] else self.table.codes[:, 0].astype(float)
        widths = [np.ptp(of_first[labels == c]) for c in range(int(labels.max()) + 1)]
        return {"width": float(max(widths)), "smallest": float(np.bincount(labels).min())}


def takers() -> list[str]:
    problem = Alike().build(mixed_table())
    return [name for name in registry.solver_names() if registry.solver(name)().refuses(problem) is None]


def test_nothing_is_known_of_it() -> None:
    assert Alike().build(mixed_table()).structure(Priced) is None


def test_it_keeps_the_contract() -> None:
    check_formulation(Alike(k=2))


def test_who_takes_it() -> None:
    floor = {"auto", "blocks", "local_search", "mdav", "zheng", "mondrian", "usefulness", "liang-greedy"}
    fronts = {"nsga2", "nsga3", "age-moea", "moead", "sms-emoa", "spea2", "pymoo", "pso", "cmopso", "mopso-cd"}
    assert floor | fronts <= {*takers()}


@pytest.mark.parametrize("condition", ["k", "by-attribute", "suppress"])
@pytest.mark.parametrize("name", takers())
def test_whoever_takes_it_ends_in_a_release(name: str, condition: str) -> None:
    problem = Alike(**CONDITIONS[condition]).build(mixed_table())
    solution = quick(name).solve(problem, time_limit=0.5, seed=1)
    check_solution(solution)
    assert not solution.release().audit.check(problem.conditions)


@pytest.mark.parametrize("objectives", [(), ("smallest", "width"), ("entropy", "width"), ("linkage", "closeness")])
@pytest.mark.parametrize("name", ["auto", "nsga2", "pso"])
def test_its_fronts(name: str, objectives: tuple[str, ...]) -> None:
    problem = Alike(distinct_l=2).build(mixed_table())
    solver = quick(name)
    assert isinstance(solver, FrontSolver)
    front = solver.pareto(problem.with_objectives(*objectives) if objectives else problem, time_limit=1, seed=1)
    check_front(front)
    assert len(front)


def test_local_search_finds_the_best_of_few_records() -> None:
    problem = Alike(k=2).build(small_table(8, seed=3))
    best, search = brute_force(problem), registry.solver("local_search")()
    assert best is not None
    assert isinstance(search, Solver)
    found = search.solve(problem, time_limit=2, seed=1)
    assert found.value == pytest.approx(best[1].values["width"])


class Reach:
    """A price that is of no kind of ours."""

    def __init__(self, table: Table) -> None:
        self.of_first = table.scaled[:, 0]

    def of(self, rows: np.ndarray) -> float:
        return float(np.ptp(self.of_first[rows])) * len(rows)


@pytest.mark.parametrize("made", [Reach, lambda table: Reach(table).of], ids=["class", "function"])
def test_a_price_in_plain_python_is_a_price(made: Callable[[Table], Any]) -> None:
    table, model = small_table(8, seed=2), Alike(k=2)
    problem = PricedProblem(table, model, model.conditions(2), made(table))
    assert isinstance(problem.price, PlainPrice)
    assert len([*registry.solvers_for(problem)]) >= 15
    best, found = brute_force(problem), registry.solver("columns")().solve(problem)
    assert best is not None
    assert found.status == "optimal"
    assert found.value == pytest.approx(best[1].values["loss"])


def test_what_is_no_price_is_refused() -> None:
    table, model = small_table(8), Alike(k=2)
    with pytest.raises(InputError, match=r"a function of the numbers of its records.* not 3"):
        PricedProblem(table, model, model.conditions(2), 3)  # type: ignore[arg-type]
