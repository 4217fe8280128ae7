"""The pymoo view: a genuine pymoo Problem that pymoo's own algorithms minimise, with or without our operators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.moead import MOEAD
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.population import Population
from pymoo.core.problem import Problem as PymooProblem
from pymoo.optimize import minimize
from pymoo.util.ref_dirs import get_reference_directions

from formulations import Aminifar, LiangSamavi, MajeedHwang, Microaggregation, MoObam
from optmodels import Table
from optmodels.centroids import operators, pymoo_problem
from optmodels.centroids.operators import CentroidSampling, SamePartition
from optmodels.centroids.pymoo_problem import CentroidProblem
from optmodels.centroids.space import Decoded
from optmodels.errors import InputError
from optmodels.partition import canonical, class_sizes
from optmodels.price import Floats
from optmodels.problem import Formulation, Problem
from optmodels.testing import brute_force_front, small_table
from solvers import solve

MODELS: dict[str, Formulation] = {
    "mo-obam": MoObam(k=3),
    "classes": MoObam(k=3, n_clusters=4),
    "score": MoObam(k=3, objective="lambda", lam=0.3),
    "microaggregation": Microaggregation(k=3, distinct_l=2),
    "free centres": Aminifar(n_clusters=4, centres="free", alpha=2),
}


def problem_of(model: str, n: int = 20) -> Problem:
    return MODELS[model].build(small_table(n, seed=1, values=3))


def sampled(native: CentroidProblem, many: int, seed: int = 0) -> Floats:
    population = CentroidSampling()(native, many, random_state=np.random.default_rng(seed))
    decisions: Floats = population.get("X")
    return decisions


def costs_of(problem: Problem, labels: np.ndarray, n_objectives: int) -> list[float]:
    values = problem.evaluate(labels).values
    return [values[o.name] * (1 if o.sense == "min" else -1) for o in problem.objectives[:n_objectives]]


def operators_of(native: CentroidProblem) -> dict[str, object]:
    return dict(native.operators)


def test_starts_are_spread_out_no_longer_than_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many centroids however few are spread out, and as far apart as they would be where all are."""
    table = pd.DataFrame({"x": [0.0] * 57 + [100.0, 200.0, 300.0]})
    problem = Aminifar(n_clusters=4, centres="free").build(Table(table, quasi={"x": "numeric"}, scaling="none"))
    native = problem.to_pymoo().native
    assert isinstance(native, CentroidProblem)

    def spread() -> Floats:
        return np.ptp(sampled(native, 40).reshape(40, 4, -1)[1::2, :, 0], axis=1)

    everywhere = spread()
    monkeypatch.setattr(operators, "_SEED_COMPARISONS", 60)  # one look at each record: only the first is drawn so
    assert everywhere.mean() > 2 * spread().mean()


@pytest.mark.parametrize("model", MODELS)
def test_costs_are_the_judges_values_of_the_decoded_partition(model: str) -> None:
    problem = problem_of(model)
    view = problem.to_pymoo()
    assert isinstance(view.native, PymooProblem)
    box = np.random.default_rng(3).uniform(view.native.xl, view.native.xu, (6, view.native.n_var))
    decisions = np.concatenate([sampled(view.native, 6), box])
    costs = view.native.evaluate(decisions)
    for decision, cost in zip(decisions, costs, strict=True):
        labels = view.decode(decision)
        assert cost == pytest.approx(costs_of(problem, labels, view.native.n_obj))
        assert problem.evaluate(labels).feasible


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("operators", ["pymoo's", "ours"])
def test_minimize_by_hand(model: str, operators: str) -> None:
    problem = problem_of(model)
    view = problem.to_pymoo()
    chosen = operators_of(view.native) if operators == "ours" else {}
    algorithm = GA(pop_size=12, **chosen) if view.native.n_obj == 1 else NSGA2(pop_size=12, **chosen)
    first = view.native.evaluate(sampled(view.native, 12))[:, 0].min()
    found = minimize(view.native, algorithm, ("n_gen", 5), seed=1)
    for decision, cost in zip(np.atleast_2d(found.X), np.atleast_2d(found.F), strict=True):
        assert problem.evaluate(view.decode(decision)).feasible
        assert cost == pytest.approx(costs_of(problem, view.decode(decision), view.native.n_obj))
    if operators == "ours":
        assert np.atleast_2d(found.F)[:, 0].min() <= first + 1e-9


def test_moead_by_hand() -> None:
    problem = problem_of("mo-obam")
    view = problem.to_pymoo()
    chosen = {name: made for name, made in operators_of(view.native).items() if name != "eliminate_duplicates"}
    directions = get_reference_directions("uniform", 2, n_partitions=7)
    found = minimize(view.native, MOEAD(directions, n_neighbors=4, **chosen), ("n_gen", 3), seed=1)
    assert all(problem.evaluate(view.decode(decision)).feasible for decision in found.X)


def test_nsga2_with_our_operators_finds_the_front_of_few_records() -> None:
    problem = MoObam(k=2).build(small_table(9, seed=2))
    view = problem.to_pymoo(4)
    found = minimize(view.native, NSGA2(pop_size=10, **operators_of(view.native)), ("n_gen", 6), seed=3)
    exact = brute_force_front(problem)
    points = {tuple(np.round(costs_of(problem, view.decode(decision), 2), 9)) for decision in found.X}
    for loss, cost in points:  # nothing is beyond the exact front
        assert any(best <= loss + 1e-9 and -entropy <= cost + 1e-9 for best, entropy in exact)
    assert (round(exact[0][0], 9), round(-exact[0][1], 9)) in points, "its cheap end is met"


def test_a_score_alone_is_one_objective_unless_more_are_asked_for() -> None:
    score = problem_of("score")
    assert score.to_pymoo().native.n_obj == 1
    assert score.with_objectives("score", "entropy").to_pymoo().native.n_obj == 2


def test_any_objectives_by_name() -> None:
    problem = problem_of("microaggregation").with_objectives("loss", "linkage@0.2", "closeness", "classes")
    view = problem.to_pymoo()
    decisions = sampled(view.native, 5)
    for decision, cost in zip(decisions, view.native.evaluate(decisions), strict=True):
        assert cost == pytest.approx(costs_of(problem, view.decode(decision), 4))


def test_without_mending_lacking_records_are_the_constraint() -> None:
    problem = problem_of("microaggregation")
    view = problem.to_pymoo(8, mend=False)
    decisions = np.random.default_rng(0).uniform(view.native.xl, view.native.xu, (30, view.native.n_var))
    out = view.native.evaluate(decisions, return_as_dictionary=True)
    feasible = [problem.evaluate(view.decode(decision)).feasible for decision in decisions]
    assert out["G"].shape == (30, 1)
    assert np.array_equal(out["G"][:, 0] <= 0, feasible)
    assert not all(feasible), "some random centroids attract too few"
    sizes = class_sizes(view.decode(decisions[0]))
    assert out["G"][0, 0] >= np.maximum(3 - sizes, 0).sum()
    found = minimize(view.native, NSGA2(pop_size=20), ("n_gen", 15), seed=1)
    assert found.X is not None, "pymoo's own constraint handling finds something feasible"
    assert all(problem.evaluate(view.decode(decision)).feasible for decision in np.atleast_2d(found.X))


class TestOperators:
    def test_duplicates_are_equal_partitions(self) -> None:
        native = problem_of("mo-obam").to_pymoo(3).native
        one = sampled(native, 1)[0]
        moved = one + 1e-12  # other coordinates, the same classes
        turned = np.roll(one.reshape(3, -1), 1, axis=0).ravel()  # the same centroids in another order
        other = native.space.decision(canonical(np.arange(20) % 2))
        left = SamePartition(native).do(Population.new(X=np.array([one, moved, turned, other])))
        assert len(left) == 2
        assert len(SamePartition(native).do(Population.new(X=np.array([moved])), Population.new(X=one[None]))) == 0

    def test_samples_begin_with_the_partitions_given(self) -> None:
        view = problem_of("mo-obam").to_pymoo(4)
        known = view.decode(sampled(view.native, 1, seed=9)[0])
        population = CentroidSampling([known])(view.native, 5, random_state=np.random.default_rng(0))
        assert np.array_equal(population.get("X")[0], view.native.space.decision(known))

    @pytest.mark.parametrize("model", MODELS)
    def test_what_another_solver_found_is_where_minimize_starts(self, model: str) -> None:
        problem = problem_of(model)
        view = problem.to_pymoo()
        found = solve(problem, solver="nsga2", options={"evaluations": 100}, seed=1)
        assert found.labels is not None
        operators = view.native.operators_from(found.labels)
        algorithm = GA(pop_size=4, **operators) if view.native.n_obj == 1 else NSGA2(pop_size=4, **operators)
        best = minimize(view.native, algorithm, ("n_gen", 1), seed=1)
        start = view.native.evaluate(view.native.space.decision(found.labels)[None])
        start = np.atleast_2d(start)[0, 0]
        assert np.atleast_2d(best.F)[:, 0].min() <= start + 1e-9
        with pytest.raises(InputError, match="each of the 20 records"):
            view.native.operators_from(np.zeros(3, np.int64))

    @pytest.mark.parametrize("model", MODELS)
    def test_offspring_stay_in_the_box_with_whole_categories(self, model: str) -> None:
        native = problem_of(model).to_pymoo().native
        draw = np.random.default_rng(5)
        population = Population.new(X=sampled(native, 12))
        pairs = np.arange(12).reshape(6, 2)
        crossed = native.operators["crossover"](native, population, parents=pairs, random_state=draw)
        mutated = native.operators["mutation"](native, crossed, random_state=draw).get("X")
        assert mutated.shape == (12, native.n_var)
        assert (mutated >= native.xl - 1e-12).all()
        assert (mutated <= native.xu + 1e-12).all()
        d = native.space.price.numeric.shape[1]
        categories = mutated.reshape(12, -1, native.space.width)[:, :, d:]
        assert np.array_equal(categories, np.rint(categories))
        polished = native.operators["repair"](native, Population.new(X=mutated)).get("X")
        assert native.evaluate(polished).shape == (12, native.n_obj)

    def test_centroids_move_only_within_the_span_of_records(self) -> None:
        native = problem_of("mo-obam").to_pymoo(5).native
        decisions = sampled(native, 8)
        records = np.concatenate([native.space.price.numeric, native.space.price.codes], axis=1)
        rows = {tuple(row) for row in records}
        assert all(tuple(row) in rows for row in decisions.reshape(-1, native.space.width)), "samples are records"


class TestMemory:
    def test_a_decision_is_decoded_once(self) -> None:
        native = problem_of("mo-obam").to_pymoo(4).native
        decisions = sampled(native, 10)
        native.evaluate(decisions)
        before = native.decoded
        native.evaluate(decisions[::-1])
        native.partition_keys(decisions)
        assert native.decoded == before

    @pytest.mark.parametrize("remembered", [1, 7])
    def test_more_decisions_than_are_remembered(self, remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
        fresh = problem_of("mo-obam").to_pymoo(4).native
        decisions = sampled(fresh, 20)
        expected = fresh.evaluate(decisions)
        monkeypatch.setattr(pymoo_problem, "_REMEMBERED", remembered)
        native = problem_of("mo-obam").to_pymoo(4).native
        for _ in range(2):
            assert np.array_equal(native.evaluate(decisions), expected)

    def test_whoever_watches_can_end_it(self) -> None:
        native = problem_of("free centres").to_pymoo().native
        decisions = sampled(native, 20)

        def stop(decoded: Decoded, costs: Floats) -> None:
            assert len(costs) == len(decoded.partitions.labels)
            if native.decoded >= 8:
                raise InterruptedError

        native.watch = stop
        with pytest.raises(InterruptedError):
            native.evaluate(decisions)
        assert native.decoded < 20


@pytest.mark.parametrize(
    "model",
    [LiangSamavi(k=2), Aminifar(n_clusters=3), Aminifar(n_clusters=2, t=0.45), MajeedHwang(k=2, trees=2)],
)
def test_every_model_has_a_view_whose_values_are_the_judge_s(model: Formulation) -> None:
    problem = model.build(small_table(9))
    view = problem.to_pymoo()
    decisions = np.random.default_rng(1).uniform(view.native.xl, view.native.xu, (5, view.native.n_var))
    costs = view.native.evaluate(decisions)
    for decision, cost in zip(decisions, np.atleast_2d(costs), strict=True):
        found = problem.evaluate(view.decode(decision))
        assert found.feasible
        assert cost == pytest.approx([found.values[objective.name] for objective in problem.objectives])


@pytest.mark.parametrize(("model", "n_centroids"), [("mo-obam", 0), ("classes", 3)])
def test_a_wrong_number_of_centroids_is_explained(model: str, n_centroids: int) -> None:
    with pytest.raises(InputError, match="n_centroids"):
        problem_of(model).to_pymoo(n_centroids)
