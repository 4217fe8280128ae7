"""Every formulation with records that may be left out, against all partitions of a few records with some left out."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar, LiangSamavi, Microaggregation
from optmodels.errors import InputError
from optmodels.price import PlainPrice
from optmodels.solution import Status
from optmodels.table import Table
from optmodels.testing.answers import check_against, check_front, check_solution
from optmodels.testing.partitions import brute_force, brute_force_front
from solvers import Columns, Epsilon, Milp, Network, Nsga2


def drawn(seed: int, n: int = 8) -> Table:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(draw.random(n) < 0.3, draw.integers(0, 100, n), draw.integers(20, 25, n)),
            "town": draw.choice(list("abc"), n),
            "illness": draw.choice(["flu", "cold", "gout"], n),
        }
    )
    return Table(frame, quasi={"age": "numeric", "town": "categorical"}, sensitive="illness", scaling="range")


def optimum(problem):
    found = brute_force(problem)
    return None if found is None else found[1].values[problem.target.name]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([Microaggregation, LiangSamavi]),
    st.sampled_from([0.13, 0.26, 0.4]),
    st.sampled_from([None, 0.0, 0.02, 0.3]),
    st.sampled_from([{}, {"distinct_l": 2}, {"most_share": 0.5}]),
)
def test_columns_prove_what_brute_force_finds(seed, model, share, price, condition):
    problem = model(k=2, suppress=share, suppression_price=price, **condition).build(drawn(seed))
    solution = Columns().solve(problem)
    check_solution(solution)
    check_against(solution, optimum(problem))
    assert solution.status in (Status.OPTIMAL, Status.INFEASIBLE)


@pytest.mark.parametrize("seed", range(3))
def test_columns_list_classes_with_a_plain_price_and_those_left_out(seed):
    problem = Microaggregation(k=2, suppress=0.26, suppression_price=0.03).build(drawn(seed))
    problem.price = PlainPrice(problem.price.of, problem.n)
    solution = Columns().solve(problem)
    check_against(solution, optimum(problem))
    assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize("price", [None, 0.0, 0.05])
@pytest.mark.parametrize("model", [Microaggregation, LiangSamavi])
def test_pyomo_views_decide_who_is_left_out(model, price):
    problem = model(k=3, suppress=0.3, suppression_price=price).build(drawn(5, 7))
    assert problem.pyomo_leaves_out()
    solution = Milp().solve(problem)
    check_solution(solution)
    check_against(solution, optimum(problem))
    assert solution.status is Status.OPTIMAL


@pytest.mark.parametrize("solver", [Milp(), Network()])
@pytest.mark.parametrize("more", [{}, {"sizes": "at-least"}, {"alpha": 1.5}])
def test_those_left_out_go_to_a_centre_of_their_own(solver, more):
    problem = Aminifar(k=3, suppress=0.25, suppression_price=0.1, **more).build(drawn(3))
    solution = solver.solve(problem)
    check_solution(solution)
    check_against(solution, optimum(problem))
    assert solution.status is Status.OPTIMAL


def test_a_view_that_leaves_out_nobody_proves_nothing():
    problem = Microaggregation(k=2, distinct_l=2, suppress=0.3, suppression_price=0.0).build(drawn(5, 7))
    solution = Milp().solve(problem)
    check_solution(solution)
    check_against(solution, optimum(problem))
    assert solution.bound is None


@pytest.mark.parametrize("model", [Microaggregation, LiangSamavi])
def test_the_front_of_loss_and_how_many_are_left_out_is_exact(model):
    problem = model(k=2, suppress=0.4, suppression_price=0.0).build(drawn(8, 7))
    problem = problem.with_objectives("loss", "suppressed")
    front = Epsilon().pareto(problem)
    check_front(front, brute_force_front(problem))
    assert front.details["complete"]
    assert len(front) > 1


def test_any_solver_of_fronts_trades_loss_for_records():
    problem = Microaggregation(k=2, suppress=0.4, suppression_price=0.0).build(drawn(8, 7))
    problem = problem.with_objectives("loss", "suppressed")
    front = Nsga2(evaluations=200).pareto(problem, seed=1)
    check_front(front, brute_force_front(problem))
    assert len(front) > 1


def test_how_many_are_left_out_is_no_objective_where_nobody_may_be():
    with pytest.raises(InputError, match="allow some with suppress"):
        Microaggregation(k=2).build(drawn(8, 7)).with_objectives("loss", "suppressed")
