from __future__ import annotations

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import MoObam
from formulations._pyomo.gibbs import bits, coefficients
from formulations.mo_obam import nearest_loss
from optmodels import Table
from optmodels.errors import InputError, RefusedError
from optmodels.structures import Centroids, Priced
from optmodels.testing import brute_force, check_formulation, partitions, small_table
from optmodels.testing.views import rows_hold
from solvers import solve

SCALARS = [
    MoObam(k=2, objective="lambda", lam=0.3),
    MoObam(k=2, objective="normalised", lam=0.5),
    MoObam(k=2, objective="normalised", lam=0.5, least_loss=0.4),  # more than some partitions lose
    MoObam(k=2, n_clusters=2, objective="lambda", lam=0.3),
]


@pytest.mark.parametrize(
    "formulation",
    [MoObam(k=2), MoObam(k=3, gamma=2.0, scaling="range"), MoObam(k=3, gamma=2.0, gamma_in="assignment"), *SCALARS],
)
def test_contract(formulation):
    check_formulation(formulation, small_table(9, sensitive=2))


def test_structure_follows_the_objective():
    table = small_table(9)
    both, score = MoObam(k=2).build(table), MoObam(k=2, objective="lambda").build(table)
    assert both.structure(Priced) is not None
    assert both.structure(Centroids) is not None
    assert score.structure(Priced) is None
    assert score.structure(Centroids) is not None
    assert [o.name for o in both.objectives] == ["loss", "entropy"]
    assert score.target.name == "score"


def test_values_by_hand():
    frame = pd.DataFrame(
        {"age": [0, 2, 4, 6], "town": list("aabb"), "illness": list("uvuu"), "job": list("pqpq")},
    )
    table = Table(frame, quasi={"age": "numeric", "town": "categorical"}, sensitive=["illness", "job"], gamma=3.0)
    labels, whole = [0, 0, 1, 1], 20 + 3 * 2
    found = MoObam(k=2).build(table).evaluate(labels).values
    assert found == pytest.approx({"loss": 4 / whole, "entropy": 0.0 + 1.0})
    assert MoObam(k=2, gamma=1.0).build(table).evaluate(labels).values["loss"] == pytest.approx(4 / 22)
    score = MoObam(k=2, objective="lambda", lam=0.1).build(table).evaluate(labels).values["score"]
    assert score == pytest.approx(4 / whole - 0.1)
    most = bits(np.array([3, 1])) + 1.0
    normal = MoObam(k=2, objective="normalised", lam=0.1, least_loss=0.05).build(table).evaluate(labels).values
    assert normal["score"] == pytest.approx(1 - 0.05 / (4 / whole) - 0.1 / most)


def test_number_of_classes_and_entropy_are_conditions():
    table = small_table(8, sensitive=1, values=2)
    fixed = MoObam(k=2, n_clusters=3).build(table)
    assert fixed.evaluate(np.arange(8) // 4).violations["classes"] == 1
    bounded = MoObam(k=2).build(table).with_entropy([0.99])
    for labels in partitions(8, 4):
        counts = [np.bincount(table.sensitive_codes[labels == c, 0], minlength=2) for c in range(labels.max() + 1)]
        assert bounded.evaluate(labels).feasible == all(bits(count) >= 0.99 - 1e-9 for count in counts)


def test_distinct_values_are_a_condition_that_every_form_of_the_problem_keeps():
    table = small_table(7, sensitive=2, values=2)
    both = MoObam(k=2, distinct_l=2).build(table)
    forms = [both, both.with_entropy([0.0, 0.0]), both.with_objectives("loss", "linkage")]
    forms += [MoObam(k=2, distinct_l=2, objective=objective).build(table) for objective in ("lambda", "normalised")]
    for labels in partitions(7, 2):
        few = sum(
            min(len(np.unique(codes[labels == c])) for codes in table.sensitive_codes.T) < 2
            for c in range(labels.max() + 1)
        )
        for problem in forms:
            assert problem.evaluate(labels).violations["distinct_l"] == few
    assert "only 2 distinct values" in MoObam(k=2, distinct_l=3).build(table).impossible()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_clusters": 2.5}, "n_clusters must be a whole number of at least 1, not 2.5"),
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1, not 0"),
        ({"distinct_l": 1.5}, "distinct_l must be a whole number of at least 1, not 1.5"),
        ({"lam": float("inf")}, "lam must be a finite number, not inf"),
        ({"lam": float("nan")}, "lam must be a finite number, not nan"),
        ({"lam": "1"}, "lam must be a finite number, not '1'"),
        ({"least_loss": 0.0}, "least_loss must be positive"),
    ],
    ids=str,
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(InputError, match=message):
        MoObam(k=2, **wrong)


def test_least_entropies_are_finite():
    for wrong in (float("nan"), float("inf"), "1"):
        with pytest.raises(InputError, match="The least entropy of 'secret_0' must be a finite number"):
            MoObam(k=2, least_entropy=[wrong]).build(small_table(6))


def test_entropy_beyond_the_whole_table_is_impossible():
    problem = MoObam(k=2).build(small_table(8, values=2)).with_entropy([1.2])
    assert "1.2 bits of 'secret_0' cannot hold" in problem.impossible()


def test_errors_name_the_remedy():
    table = small_table(6)
    with pytest.raises(InputError, match="name at least one column as sensitive"):
        MoObam(k=2).build(small_table(6, sensitive=0))
    with pytest.raises(InputError, match="least_entropy needs one number"):
        MoObam(k=2, least_entropy=[1.0, 1.0]).build(table)
    with pytest.raises(InputError, match="Did you mean 'normalised'"):
        MoObam(k=2, objective="normalized")
    with pytest.raises(InputError, match="lam must not be negative"):
        MoObam(k=2, lam=-1.0)
    same = Table(pd.DataFrame({"age": [1, 1, 1], "s": list("uvu")}), quasi={"age": "numeric"}, sensitive="s")
    with pytest.raises(InputError, match="give least_loss"):
        MoObam(k=2, objective="normalised").build(same)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 7), k=st.integers(2, 3))
def test_nearest_loss_is_below_every_partition(seed, n, k):
    problem = MoObam(k=k, gamma=0.8).build(small_table(n, seed=seed, repeated=seed % 2 == 0))
    _, best = brute_force(problem)
    assert nearest_loss(problem.price, k) / problem.price_scale <= best.values["loss"] + 1e-12


@pytest.mark.parametrize(
    "formulation", [MoObam(k=2), MoObam(k=2, least_entropy=[0.9, 0.5]), MoObam(k=2, distinct_l=2), *SCALARS]
)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_pyomo_objective_is_the_evaluation(formulation, seed):
    problem = formulation.build(small_table(7, seed=seed, sensitive=2))
    view = problem.to_pyomo()
    labels = problem.check(np.random.default_rng(seed).permutation([0, 0, 0, 0, 1, 1, 1]))
    if not view.encode(labels):
        assert problem.largest < 4  # classes of 2k or more are never needed here
        labels = problem.check(np.random.default_rng(seed).permutation([0, 0, 0, 2, 2, 1, 1]))
        assert view.encode(labels)
    found = problem.evaluate(labels)
    assert pyo.value(view.native.objective) == pytest.approx(found.values[problem.target.name], abs=1e-9)
    assert (view.decode(view.native) == labels).all()
    added = view.cuts(view.native) if view.cuts else 0
    assert rows_hold(view.native) == found.feasible
    assert (added > 0) == bool(found.violations.get("entropy_l", 0))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.4, 0.7, 0.95]))
def test_the_epsilon_constrained_model_finds_the_least_loss_with_so_much_entropy(seed, share):
    problem = MoObam(k=2).build(small_table(6, seed=seed, sensitive=2, values=2))
    wanted = share * problem.most_entropies.sum()
    values = [problem.evaluate(labels) for labels in partitions(problem.n)]
    best = min(v.values["loss"] for v in values if v.feasible and v.values["entropy"] >= wanted)
    view = problem.to_pyomo(total_entropy=wanted)
    while True:
        pyo.SolverFactory("appsi_highs").solve(view.native)
        if not view.cuts(view.native):
            break
    found = problem.evaluate(view.decode(view.native))
    assert found.feasible
    assert found.values["entropy"] >= wanted - 1e-6
    assert found.values["loss"] == pytest.approx(best, abs=1e-6)
    assert pyo.value(view.native.objective) == pytest.approx(best, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(counts=st.lists(st.integers(0, 4), min_size=2, max_size=4).filter(any))
def test_gibbs_cuts_hold_for_every_class_and_are_tight_at_their_own(counts):
    own = np.array(counts)
    largest = max(int(own.sum()), 7)
    weights = coefficients(own, largest)
    assert weights @ own == pytest.approx(own.sum() * bits(own))
    every = np.stack(np.meshgrid(*[np.arange(largest + 1)] * len(own)), -1).reshape(-1, len(own))
    for other in every[(every.sum(axis=1) > 0) & (every.sum(axis=1) <= largest)]:
        assert weights @ other >= other.sum() * bits(other) - 1e-9


def test_large_tables_are_refused_with_the_reason():
    problem = MoObam(k=3, objective="lambda").build(small_table(80))
    assert "at most 60, not 80" in problem.lacks_pyomo()
    with pytest.raises(RefusedError, match="cube of the records"):
        problem.to_pyomo()


def test_gamma_may_count_where_records_join_centroids_and_not_in_the_loss() -> None:
    table = small_table(12, seed=4, categorical=2)
    both = MoObam(k=3, gamma=5.0).build(table)
    near = MoObam(k=3, gamma=5.0, gamma_in="assignment").build(table)
    plain = MoObam(k=3).build(table)
    labels = np.arange(12) // 4
    assert near.evaluate(labels).values == plain.evaluate(labels).values != both.evaluate(labels).values
    weights = near.require(Centroids).price.code_weights
    np.testing.assert_allclose(weights, 5 * plain.require(Centroids).price.code_weights)
    assert not near.require(Centroids).scales, "what decoding counts is not the loss"
    part = near.restricted(np.arange(6), None)
    assert part.require(Centroids).price.n == 6
    found = solve(near, solver="nsga2", options={"evaluations": 100}, seed=1)
    assert found.labels is not None
    assert found.values == near.evaluate(found.labels).values
    with pytest.raises(InputError, match="assignment"):
        MoObam(k=3, gamma_in="assignmnt")  # type: ignore[arg-type]


def test_the_least_sum_of_entropies_is_not_the_sum_of_the_least() -> None:
    frame = pd.DataFrame({"age": range(4), "one": list("abcc"), "two": list("xxyz")})
    table = Table(frame, quasi={"age": "numeric"}, sensitive=["one", "two"])
    judged = MoObam(k=2).build(table).with_objectives("loss", "entropy", "entropy-least-sum")
    found = judged.evaluate(np.array([0, 0, 1, 1])).values
    assert (found["entropy"], found["entropy-least-sum"]) == (0.0, 1.0)
