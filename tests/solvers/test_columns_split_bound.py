"""The bound from split pairs is below every partition's price, at every step and for every price."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.microaggregation import Microaggregation
from optmodels.conditions import Conditions
from optmodels.problem import PricedProblem
from optmodels.table import Table
from optmodels.testing import brute_force, small_table
from solvers.columns import Columns, split_bound
from solvers.columns.instance import make_instance
from solvers.columns.master import CutSet
from solvers.columns.pricing import Pricer
from tests.solvers.test_columns import CONDITIONS, all_classes, instance_of, problem_of, problems, random_problem

FEW = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


def bounds_of(problem: PricedProblem, steps: int = 300) -> list[float]:
    """Every bound that is reported in so many steps, relative to the optimum or the best known."""
    best = brute_force(problem) if problem.n <= 9 else None
    labels = best[0] if best is not None else Columns().solve(problem).labels
    assert labels is not None
    total = problem.price.total(labels)
    instance = make_instance(
        problem.price, problem.test, largest=problem.largest, n_classes=None, unit=total / problem.n or 1.0
    )
    reported: list[float] = []
    split_bound.split_bound(instance, float(problem.n), reported.append, lambda: len(reported) >= steps)
    return [bound / problem.n for bound in reported]


@FEW
@given(problems(7, 9, conditions=[condition for condition in CONDITIONS if condition.k == 3]))
def test_no_step_passes_the_optimum(problem: PricedProblem) -> None:
    best = brute_force(problem)
    if best is None or best[1].values["loss"] == 0:
        return
    bounds = bounds_of(problem)
    assert 0 <= max(bounds) <= 1 + 1e-9


@pytest.mark.parametrize(("n", "k", "seed"), [(40, 4, 1), (90, 5, 2)])
def test_both_stages_raise_the_bound_and_stay_below_the_optimum(
    monkeypatch: pytest.MonkeyPatch, n: int, k: int, seed: int
) -> None:
    monkeypatch.setattr(split_bound, "_CANDIDATES", 20)
    stages: list[int] = []
    climb = split_bound._Ascent.climb
    monkeypatch.setattr(split_bound._Ascent, "climb", lambda self, *rest: (stages.append(1), climb(self, *rest)))
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(draw.normal(size=(n, 3)), columns=list("xyz"))
    problem = Microaggregation(k=k).build(Table(frame, quasi=dict.fromkeys("xyz", "numeric")))
    bounds = bounds_of(problem, 700)
    assert stages
    assert bounds[0] < max(bounds[:200]) < max(bounds) <= 1 + 1e-9


@FEW
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["spread", "extent"]), size=st.integers(4, 7))
def test_parts_of_a_class_cost_no_more_than_their_share(seed: int, kind: str, size: int) -> None:
    """What allows pricing to look at classes of k records alone."""
    instance = instance_of(problem_of(small_table(10, seed=seed, categorical=2), Conditions(k=3), kind))
    members = np.random.default_rng(seed).integers(0, instance.n_types, size)
    parts = [instance.price(members[list(part)]) for part in combinations(range(size), 3)]
    assert np.mean(parts) <= 3 / size * instance.price(members) * (1 + 1e-9) + 1e-12


@FEW
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["spread", "extent"]), repeated=st.booleans())
def test_pricing_the_smallest_classes_bounds_all(seed: int, kind: str, repeated: bool) -> None:
    problem = problem_of(small_table(9, seed=seed, categorical=1, repeated=repeated), Conditions(k=3), kind)
    instance = instance_of(problem)
    best = brute_force(problem)
    assert best is not None
    rows = np.random.default_rng(seed).random(instance.n_types) * instance.distance.mean()
    duals = CutSet(instance.types.copies).duals(rows, 0.0, np.zeros(0))
    pricer = Pricer(instance, 10**9)
    assert list(pricer.sizes(duals)) == [3]
    priced = pricer.price(duals, 1e-9, lambda: False)
    bound = float(rows @ instance.types.copies) + priced.slack(instance)
    assert bound <= best[1].values["loss"] * (1 + 1e-9) + 1e-9
    rate = float(priced.floors.min()) / 3
    for members in all_classes(instance):
        assert instance.price(members) - rows[members].sum() >= len(members) * rate - 1e-9


def test_it_is_not_for_pairs_nor_for_large_classes_of_a_given_number() -> None:
    pairs, triples = random_problem(30, 2, 1), random_problem(30, 3, 1)
    assert not split_bound.applies(instance_of(pairs))
    assert split_bound.applies(instance_of(triples))
    few = make_instance(triples.price, triples.test, largest=None, n_classes=3, unit=1.0)
    assert not split_bound.applies(few)
