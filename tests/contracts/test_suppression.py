"""Every formulation with records that may be left out, against all partitions of a few records with some left out."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import LiangSamavi, Microaggregation
from optmodels.price import PlainPrice
from optmodels.solution import Status
from optmodels.table import Table
from optmodels.testing.answers import check_against, check_solution
from optmodels.testing.partitions import brute_force
from solvers import Columns


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
