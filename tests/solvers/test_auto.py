"""The solver that chooses: by structure, size and time, and it says what it chose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from formulations import Aminifar, Generalisation, Microaggregation, MoObam
from formulations.generalisation import Scheme
from optmodels import Table
from optmodels.errors import InputError
from optmodels.problem import Problem
from optmodels.solution import Status
from optmodels.solver import Progress
from optmodels.testing import small_table
from solvers.auto import Auto, choice, front_choice


def score(n: int) -> Problem:
    return MoObam(k=3, objective="lambda", lam=0.3).build(small_table(n, seed=1))


@pytest.mark.parametrize(
    ("n", "time_limit", "solver"),
    [
        (16, 1.0, "epsilon"),
        (17, 1.0, "nsga2"),
        (24, 119.0, "nsga2"),
        (24, 120.0, "epsilon"),
        (24, None, "epsilon"),
        (25, None, "nsga2"),
    ],
)
def test_scores_and_fronts_are_exact_by_the_same_rule(n: int, time_limit: float | None, solver: str) -> None:
    # of more records than can be exact, a score has a bound by 'epsilon' all the same
    assert choice(score(n), time_limit).name == ("epsilon" if n > 24 else solver)
    front = MoObam(k=3).build(small_table(n, seed=1))
    assert front_choice(front, time_limit).name == solver


def test_reasons_are_about_the_time_or_the_records() -> None:
    for chosen in (choice(score(20), 5.0), front_choice(MoObam(k=3).build(small_table(20)), 5.0)):
        assert "20 records may take longer than 5 s" in chosen.because
    assert "30 records are too many" in choice(score(30), 5.0).because
    many = MoObam(k=3).build(small_table(10)).with_objectives("loss", "linkage@0.2")
    assert "too many" not in front_choice(many, None).because, "ten records are not many"


def test_a_score_that_may_take_too_long_is_not_sought_exactly() -> None:
    solution = Auto(evaluations=100).solve(score(20), time_limit=20.0)
    assert solution.solver == solution.details["chosen"] == "nsga2"


def test_evaluations_reach_the_chosen_solver() -> None:
    problem = MoObam(k=3).build(small_table(40, seed=1))
    notes: list[Progress] = []
    front = Auto(evaluations=300).pareto(problem, on_progress=notes.append)
    assert front.details["chosen"] == front.details["solver"] == "nsga2"
    assert front.details["evaluations"] <= 300 + 3 * 100  # type: ignore[operator]
    assert "evaluations_limit" not in front.details
    assert notes[0].note == f"auto picked nsga2: {front.details['because']}"


def test_evaluations_are_not_needed_by_an_exact_solver() -> None:
    front = Auto(evaluations=1).pareto(MoObam(k=3).build(small_table(9, seed=1)))
    assert front.details["solver"] == "epsilon"
    assert front.details["stop"] == "converged"
    assert str(front.details["evaluations_limit"]).startswith("not needed")


def test_wrong_evaluations() -> None:
    with pytest.raises(InputError, match="evaluations must be"):
        Auto(evaluations=0)


def test_large_tables_go_to_blocks_where_time_allows() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"a": draw.random(300_001), "b": draw.random(300_001)})
    problem = Microaggregation(k=5).build(Table(frame, quasi={"a": "numeric", "b": "numeric"}))
    assert choice(problem).name == choice(problem, 60.0).name == "blocks"
    hurried = choice(problem, 1.0)
    assert hurried.name == "mondrian"
    assert "takes about 15 s" in hurried.because


def test_an_integer_program_that_may_end_with_nothing_has_a_heuristic_before_it() -> None:
    table = small_table(60, seed=3, values=4)
    problem = Aminifar(k=5, n_init=1, entropy_l=1.5).build(table)
    chosen = choice(problem, 1.0)
    assert (chosen.name, chosen.first) == ("milp", "local_search")
    solution = Auto().solve(problem, time_limit=0.4, seed=1)
    assert solution.labels is not None
    assert solution.details["began_with"] == "local_search"


@pytest.mark.parametrize(("scheme", "solver"), [("local", "columns"), ("full-domain", "lattice")])
def test_what_the_chosen_solver_proves_with_records_left_out_stays_proven(scheme: Scheme, solver: str) -> None:
    problem = Generalisation(k=3, suppress=0.2, scheme=scheme).build(small_table(12, seed=4))
    found = Auto().solve(problem, time_limit=20.0, seed=1)
    assert (found.solver, found.status) == (solver, Status.OPTIMAL)
    assert Auto().decides_suppression(problem)
    assert Auto().proves(problem)


def test_a_front_of_how_many_are_left_out_has_the_bounds_of_its_points() -> None:
    problem = Generalisation(k=3, suppress=0.2, scheme="full-domain").build(small_table(12, seed=4))
    front = Auto().pareto(problem.with_objectives("loss", "suppressed"), time_limit=20.0)
    assert all(point.status is Status.OPTIMAL for point in front)


def test_who_leaves_out_nobody_has_it_done_once_chosen() -> None:
    problem = MoObam(k=3, suppress=0.1).build(small_table(40, seed=1))
    front = Auto(evaluations=200).pareto(problem)
    assert front.details["solver"] == "nsga2"
    assert any((point.require() < 0).any() for point in front)
    assert all(point.bound is None for point in front)
