"""Aminifar's model with free centres: the judge, the view over centres, and answers against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from formulations import Aminifar, Microaggregation
from formulations.aminifar.free import FreeAminifarProblem
from optmodels import registry
from optmodels.centroids.balanced import BalancedSpace
from optmodels.errors import InputError, RefusedError
from optmodels.partition import class_sizes
from optmodels.structures import Assignment, Centroids
from optmodels.table import Table
from optmodels.testing import brute_force, brute_force_front, check_solution, check_solver, small_table
from solvers.evolution.settle import Settler
from solvers.network import Network

MODELS = {
    "exact": Aminifar(n_clusters=3, centres="free"),
    "capped": Aminifar(n_clusters=2, centres="free", alpha=1.5, metric="euclidean"),
    "at least": Aminifar(k=2, n_clusters=None, centres="free", sizes="at-least", metric="sqeuclidean"),
    "soft": Aminifar(n_clusters=3, centres="free", soft=True, penalty=0.7),
    "floor": Aminifar(n_clusters=2, centres="free", floor=0.5, metric="euclidean"),
    "t": Aminifar(n_clusters=3, centres="free", t=0.35),
}


def free(model: str, n: int = 8, seed: int = 0, *, categorical: int = 1) -> FreeAminifarProblem:
    problem = MODELS[model].build(small_table(n, seed=seed, categorical=categorical, values=2))
    assert isinstance(problem, FreeAminifarProblem)
    return problem


class TestFreeJudge:
    @pytest.mark.parametrize(
        ("metric", "name"), [("manhattan", "cityblock"), ("euclidean", "euclidean"), ("sqeuclidean", "sqeuclidean")]
    )
    def test_distance_to_the_means_of_the_classes(self, metric: str, name: str) -> None:
        table = small_table(9, categorical=0)
        problem = Aminifar(n_clusters=3, centres="free", metric=metric).build(table)  # type: ignore[arg-type]
        labels = np.array([0, 0, 1, 1, 1, 2, 2, 2, 0])
        by_hand = sum(
            cdist(table.values[labels == c], [table.values[labels == c].mean(axis=0)], name).sum() for c in range(3)
        )
        assert problem.evaluate(labels).values == {"distance": pytest.approx(by_hand)}

    def test_it_is_the_fixed_problem_around_the_classes_own_means(self) -> None:
        table = small_table(9, seed=3, values=2)
        labels = np.random.default_rng(1).permutation(np.repeat(np.arange(3), 3))
        for options in ({}, {"alpha": 1.0}, {"soft": True, "alpha": 0.5}):
            fixed = Aminifar(n_clusters=3, **options).build(table).recentred(labels)  # type: ignore[arg-type, union-attr]
            judged = Aminifar(n_clusters=3, centres="free", **options).build(table).evaluate(labels)  # type: ignore[arg-type]
            assert judged.violations == fixed.evaluate(labels).violations
            # Means of other classes may be nearer by chance, never further.
            assert fixed.evaluate(labels).values["distance"] <= judged.values["distance"] + 1e-9

    def test_squared_distances_are_microaggregation(self) -> None:
        table = small_table(10, categorical=0)
        labels = np.arange(10) // 4
        problem = Aminifar(n_clusters=3, centres="free", metric="sqeuclidean").build(table)
        micro = Microaggregation(k=2).build(table)
        assert problem.evaluate(labels).values["distance"] == pytest.approx(micro.price.total(labels))

    def test_an_alpha_that_cannot_hold_says_the_same(self) -> None:
        frame = pd.DataFrame({"age": range(6), "ill": [1, 1, 0, 0, 0, 1]})
        table = Table(frame, quasi={"age": "numeric"}, sensitive="ill")
        reasons = [
            Aminifar(n_clusters=2, alpha=1.2, centres=centres).build(table).impossible() for centres in (None, "free")
        ]
        assert reasons[0] == reasons[1]
        assert "smallest alpha that works is 1.3334" in (reasons[0] or "")

    def test_it_shows_free_centres_and_no_fixed_ones(self) -> None:
        problem = free("capped")
        for judged in (problem, problem.with_objectives("loss", "entropy"), problem.with_objectives("entropy", "loss")):
            assignment = judged.require(Assignment)
            assert assignment.centres is None
            assert judged.structure(Centroids) is not None
        with pytest.raises(RefusedError, match="its centres are chosen as well"):
            Network().solve(problem)

    def test_misspelt_free(self) -> None:
        with pytest.raises(InputError, match="Did you mean 'free'"):
            Aminifar(k=2, centres="fre")  # type: ignore[arg-type]


class TestDecoding:
    @settings(max_examples=25)
    @given(st.sampled_from(sorted(MODELS)), st.integers(0, 1000))
    def test_every_decision_is_the_best_feasible_assignment(self, model: str, seed: int) -> None:
        problem = free(model, 7, seed % 5)
        if problem.impossible():
            return
        view = problem.to_pymoo()
        decision = np.random.default_rng(seed).uniform(view.native.xl, view.native.xu)
        labels = view.decode(decision)
        judged = problem.evaluate(labels)
        assert judged.feasible
        assert view.native.evaluate(decision[None])[0] == pytest.approx(judged.values["distance"])
        fixed = _around(problem, decision)
        best = brute_force(fixed)
        assert best is not None
        assert fixed.evaluate(labels).values["distance"] == pytest.approx(best[1].values["distance"])

    @settings(max_examples=25)
    @given(st.integers(0, 1000), st.sampled_from([{"t": 0.3}, {"entropy_l": 1.5}, {"most_share": 0.7}]))
    def test_bounds_that_depend_on_sizes_are_kept(self, seed: int, asked: dict[str, float]) -> None:
        table = small_table(12, seed=seed % 7, values=2)
        problem = Aminifar(k=2, n_clusters=None, centres="free", sizes="at-least", **asked).build(table)
        if problem.impossible():
            return
        view = problem.to_pymoo()
        decisions = np.random.default_rng(seed).uniform(view.native.xl, view.native.xu, (4, view.native.n_var))
        assert all(problem.evaluate(view.decode(decision)).feasible for decision in decisions)

    @settings(max_examples=25)
    @given(
        st.integers(0, 1000),
        st.sampled_from([{"t": 0.35}, {"distinct_l": 2}, {"entropy_l": 1.8}, {"alpha": 2.0}, {"alpha": 2.0, "t": 0.4}]),
        st.sampled_from(["exact", "at-least"]),
    )
    def test_what_is_no_network_is_kept_by_exchanges(self, seed: int, asked: dict[str, Any], sizes: Any) -> None:
        """Three values of each of two attributes: what is possible at all some of few decisions reach."""
        table = small_table(9, seed=seed % 11, sensitive=2, values=3)
        problem = Aminifar(n_clusters=3, centres="free", sizes=sizes, **asked).build(table)
        assert problem.require(Assignment).no_network is not None
        view = problem.to_pymoo()
        decisions = np.random.default_rng(seed).uniform(view.native.xl, view.native.xu, (4, view.native.n_var))
        missing = view.native.decode(decisions).partitions.missing
        feasible = [problem.evaluate(view.decode(decision)).feasible for decision in decisions]
        assert feasible == [lacking == 0 for lacking in missing]
        assert any(feasible) == (brute_force(problem) is not None)

    def test_settling_falls_until_nothing_moves(self) -> None:
        problem = free("exact", 40)
        space = BalancedSpace.of(problem.require(Centroids), problem.require(Assignment))
        found = list(space.settling(np.random.default_rng(2).uniform(space.low, space.high)))
        values = [problem.evaluate(labels).values["distance"] for labels in found]
        assert len(values) > 1
        assert values == sorted(values, reverse=True)
        assert all(problem.evaluate(labels).feasible for labels in found)

    @pytest.mark.parametrize("solver", ["nsga2", "pso", "local_search", "blocks"])
    def test_two_capped_attributes_are_kept(self, solver: str) -> None:
        problem = Aminifar(n_clusters=2, centres="free", alpha=2).build(small_table(8, sensitive=2, values=2))
        check_solution(solution := registry.solver(solver)().solve(problem, time_limit=0.5))
        assert solution.labels is not None

    def test_nearest_centres_are_no_classes(self) -> None:
        with pytest.raises(RefusedError, match="mend=False"):
            free("exact").to_pymoo(mend=False)
        faithful = registry.configured(registry.solver("pso"), {"faithful": True})
        with pytest.raises(RefusedError, match="drop faithful"):
            faithful.solve(free("exact"))


class TestFreeAnswers:
    @pytest.mark.parametrize("solver", ["nsga2", "pso"])
    @pytest.mark.parametrize("model", MODELS)
    def test_the_best_partition_is_reached_and_never_beaten(self, model: str, solver: str) -> None:
        options = {"nsga2": {"evaluations": 150, "population": 20}, "pso": {"particles": 10, "iterations": 10}}[solver]
        chosen = registry.configured(registry.solver(solver), options)
        check_solver(chosen, lambda seed: free(model, 8, seed), seeds=range(1))
        problem = free(model)
        best = brute_force(problem)
        assert best is not None
        assert chosen.solve(problem).value == pytest.approx(best[1].values["distance"])

    def test_fronts_with_entropy_are_feasible_and_not_beyond_the_exact_one(self) -> None:
        problem = free("soft").with_objectives("loss", "entropy")
        solver = registry.configured(registry.solver("nsga2"), {"evaluations": 300, "population": 20})
        front = solver.pareto(problem, seed=1)  # type: ignore[attr-defined]
        exact = brute_force_front(problem)
        assert len(front) > 0
        for point in front:
            assert problem.evaluate(point.labels).feasible
            assert class_sizes(point.labels).tolist() in ([3, 3, 2], [3, 2, 3], [2, 3, 3])
            loss, entropy = point.values["loss"], point.values["entropy"]
            assert any(best <= loss + 1e-9 and bits >= entropy - 1e-9 for best, bits in exact)
        assert front[0].values["loss"] == pytest.approx(exact[0][0])

    def test_local_search_around_it_keeps_sizes_and_levels(self) -> None:
        problem = free("exact", 30).with_objectives("loss", "entropy")
        settler = Settler(problem)
        start = next(labels for test, labels in settler.built() if test is settler.test)
        held = settler.conditions(start)
        better = settler.improve(start, held, rounds=12, seed=1, seconds=None)
        assert better is not None
        before, after = problem.evaluate(start), problem.evaluate(better.labels)
        assert after.feasible
        assert after.values["loss"] <= before.values["loss"]
        assert after.values["entropy"] >= before.values["entropy"] - 1e-9

    def test_levels_that_no_nearest_partition_has_are_reached_by_exchanges(self) -> None:
        """Neighbours who share their illness: whoever assigns them to near centres alone never gets off zero bits."""
        people = pd.DataFrame({"age": np.arange(40), "illness": np.repeat(list("abab"), 10)})
        table = Table(people, quasi={"age": "numeric"}, sensitive="illness", scaling="none")
        problem = Aminifar(k=5).build(table).with_objectives("loss", "entropy")
        built = [problem.evaluate(labels) for _, labels in Settler(problem).built()]
        assert all(found.feasible for found in built)
        assert built[0].values["entropy"] == 0
        assert max(found.values["entropy"] for found in built) > 0.7
        solver = registry.configured(registry.solver("nsga2"), {"evaluations": 200, "population": 20})
        front = solver.pareto(problem, seed=1)  # type: ignore[attr-defined]
        assert max(point.values["entropy"] for point in front) > 0.7
        assert min(point.values["loss"] for point in front) == pytest.approx(built[0].values["loss"])


def _around(problem: FreeAminifarProblem, decision: np.ndarray):  # type: ignore[no-untyped-def]
    """The problem of fixed centres that a decision stands for."""
    from formulations.aminifar import AminifarProblem

    centres = decision.reshape(len(problem.least), -1)
    return AminifarProblem(problem.table, problem.formulation, problem.conditions, problem.points, centres)
