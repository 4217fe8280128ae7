"""Few large classes: the bound is the linear relaxation's over all classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from formulations import MoObam
from formulations.mo_obam import MoObamProblem
from optmodels.solver import Run
from optmodels.structures import Priced
from optmodels.testing import brute_force, small_table
from solvers.columns import candidate_centres
from solvers.local_search import improve


def linear_bound(problem: MoObamProblem, n_classes: int) -> float:
    """The linear relaxation of choosing `n_classes` of all classes of at least k records."""
    n, k = problem.n, problem.test.k
    masks = [mask for mask in range(1 << n) if mask.bit_count() >= k]
    members = np.array([mask >> np.arange(n) & 1 for mask in masks])
    prices = np.array([problem.price.of(np.flatnonzero(row)) for row in members])
    rows = np.vstack([members.T, np.ones(len(masks))])
    answer = linprog(prices, A_eq=rows, b_eq=np.append(np.ones(n), n_classes))
    return float(answer.fun) / problem.price_scale


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 1), st.integers(2, 3))
def test_bound_is_the_linear_relaxation_over_all_classes(seed: int, categorical: int, n_clusters: int) -> None:
    table = small_table(8, seed=seed, numeric=1, categorical=categorical)
    problem = MoObam(k=2, n_clusters=n_clusters).build(table)
    assert isinstance(problem, MoObamProblem)
    best = brute_force(problem)
    assert best is not None
    run = Run(problem, "centres", time_limit=3.0)
    run.offer(best[0])
    candidate_centres.search(problem.require(Priced), run)
    assert run.bound is not None
    assert run.bound <= best[1].values["loss"] * (1 + 1e-9) + 1e-12
    assert run.bound == pytest.approx(linear_bound(problem, n_clusters), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_pricing_is_exact(k: int) -> None:
    draw = np.random.default_rng(7)
    table = small_table(9, seed=1, numeric=1, categorical=1)
    problem = MoObam(k=k, n_clusters=2).build(table)
    groups = candidate_centres.Groups.of(problem.price)
    for _ in range(20):
        duals = draw.uniform(0, 1, len(groups.counts))
        _, costs = candidate_centres.descend(*groups.arrays, groups.n_codes, duals, k)
        floor, _ = candidate_centres.cheapest_centre(
            *groups.arrays, groups.n_codes, duals, k, float(costs.min()), -np.inf, 1e-9, 100_000
        )
        per_record = duals[groups.of_record]
        least = min(
            problem.price.of(rows) - per_record[rows].sum()
            for mask in range(1, 1 << 9)
            if len(rows := np.flatnonzero(mask >> np.arange(9) & 1)) >= k
        )
        assert floor <= least + 1e-9
        assert floor >= least - 1e-6


def test_improves_an_incumbent_on_its_own_classes() -> None:
    table = small_table(60, seed=2, numeric=1, categorical=1)
    problem = MoObam(k=3, n_clusters=4).build(table)
    start = np.arange(60) % 4
    run = Run(problem, "centres")
    run.offer(improve(problem.price, problem.test, start, n_classes=4, seconds=0.2, seed=0))
    before = run.value
    candidate_centres.search(problem.require(Priced), run)
    assert before is not None
    assert run.value is not None
    assert run.gap is not None
    assert run.value <= before
    assert run.gap < 0.05
