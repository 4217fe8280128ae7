"""Objectives by name: what they measure, and that a problem judged by them tells solvers nothing untrue."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar, LiangSamavi, Microaggregation, MoObam
from optmodels import Conditions, ParetoFront, Solution, Status, Stop, Table, registry
from optmodels.errors import InputError, RefusedError
from optmodels.metrics.utility import held_out
from optmodels.metrics.utility.scoring import Learned, Rows, learn
from optmodels.objectives import QUANTITIES, objective_named
from optmodels.partition import Labels, canonical
from optmodels.problem import Formulation, Problem
from optmodels.structures import Assignment, Centroids, EntropyLevels, Priced, Score
from optmodels.testing import brute_force, brute_force_front, partitions, small_table

ALL = ("entropy", "linkage", "linkage@0.3", "homogeneity", "closeness", "classes")
MODELS: dict[str, Formulation] = {
    "microaggregation": Microaggregation(k=2),
    "liang-samavi": LiangSamavi(k=2),
    "mo-obam": MoObam(k=2),
    "lambda": MoObam(k=2, objective="lambda", lam=0.3),
    "aminifar": Aminifar(n_clusters=3),
}


def tables(seed: int) -> Table:
    return small_table(9, seed=seed, sensitive=2)


def random_labels(n: int, seed: int) -> Labels:
    return canonical(np.random.default_rng(seed).integers(0, 4, n))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_each_measure_is_what_its_meaning_says(seed: int) -> None:
    table, labels = tables(seed % 7), random_labels(9, seed)
    found = {name: objective_named(name, table).measure(labels) for name in ALL}  # type: ignore[misc]
    classes = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]

    def counts(rows: np.ndarray, j: int) -> list[int]:
        return list(Counter(table.sensitive_codes[rows, j].tolist()).values())

    def bits(rows: np.ndarray, j: int) -> float:
        return -sum(c / len(rows) * math.log2(c / len(rows)) for c in counts(rows, j))

    assert found["classes"] == len(classes)
    assert found["entropy"] == pytest.approx(sum(min(bits(rows, j) for rows in classes) for j in range(2)))
    assert found["linkage"] == 9, "a class of nine is above 0.05"
    assert found["linkage@0.3"] == sum(len(rows) for rows in classes if len(rows) <= 3)
    assert found["homogeneity"] == sum(
        len(rows) for rows in classes if any(len(counts(rows, j)) == 1 for j in range(2))
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["equal", "ordered", "variational"]))
def test_closeness_is_the_least_t_that_could_be_promised(seed: int, kind: str) -> None:
    frame = small_table(12, seed=seed % 5, values=4).frame
    orders = {"secret_0": sorted(frame["secret_0"].unique())} if kind == "ordered" else None
    table = Table(frame, quasi={"number_0": "numeric"}, sensitive="secret_0", others="drop", orders=orders)
    labels = random_labels(12, seed)
    name, ground = ("variational", "variational") if kind == "variational" else ("closeness", "emd")
    closeness = objective_named(name, table).measure(labels)  # type: ignore[misc]

    def broken(t: float) -> int:
        conditions = Conditions(2, t=t, t_distance=ground)  # type: ignore[arg-type]
        return conditions.violations(conditions.compile(table), labels)["t"]

    assert broken(closeness) == 0
    assert closeness < 1e-6 or broken(closeness - 1e-6) > 0


@pytest.mark.parametrize("model", MODELS)
def test_every_model_can_be_judged_by_any_objectives(model: str) -> None:
    problem = MODELS[model].build(small_table(9, seed=1, sensitive=2))
    labels = np.arange(9) // 3
    own = problem.evaluate(labels)
    for names in (("loss", "linkage"), ("linkage@0.3", "loss"), ("loss", *ALL), ("classes",)):
        found = problem.with_objectives(*names).evaluate(labels)
        assert list(found.values) == list(names)
        assert found.violations == own.violations
        for name in names:
            expected = own.values.get(name, own.values[problem.target.name])
            if name == "loss":
                assert found.values[name] == expected
            else:
                assert found.values[name] == objective_named(name, problem.table).measure(labels)  # type: ignore[misc]


@pytest.mark.parametrize("model", [name for name in MODELS if name != "aminifar"])
def test_no_partition_is_worse_than_the_reference(model: str) -> None:
    problem = MODELS[model].build(small_table(6, seed=3, sensitive=2))
    own = [objective.name for objective in problem.objectives]
    judged = problem.with_objectives(*own, *(name for name in ALL if name not in own))
    reference = judged.reference()
    for labels in partitions(6):
        values = judged.evaluate(labels).values
        for objective in judged.objectives:
            assert objective.worse(values[objective.name], reference[objective.name]) <= 1e-9, objective.name


def test_mistakes_in_names_are_explained() -> None:
    problem = MoObam(k=2).build(tables(0))
    for names, message in (
        (("loss", "linkge"), "no objective 'linkge'. Did you mean 'linkage'"),
        (("loss", "linkge@0.1"), "Did you mean 'linkage'"),
        (("loss", "linkage@high"), "probability between 0 and 1"),
        (("loss", "linkage@2"), "probability between 0 and 1"),
        (("loss", "classes@3"), "takes no threshold"),
        (("loss", "loss"), "named twice"),
        ((), "at least one"),
    ):
        with pytest.raises(InputError, match=message):
            problem.with_objectives(*names)
    plain = Table(pd.DataFrame({"age": [1, 2, 3, 4]}), quasi={"age": "numeric"})
    bare = Microaggregation(k=2).build(plain)
    for name, quantity in QUANTITIES.items():
        if quantity.sensitive:
            with pytest.raises(InputError, match=f"'{name}' is about sensitive attributes and the table has none"):
                bare.with_objectives("loss", name)
    assert bare.with_objectives("loss", "linkage", "classes").evaluate([0, 0, 1, 1]).values["classes"] == 2


STRUCTURES = (Priced, EntropyLevels, Score)


@pytest.mark.parametrize("model", MODELS)
def test_structure_is_shown_only_while_the_target_stays(model: str) -> None:
    problem = MODELS[model].build(tables(2))
    target = problem.target.name
    kept = problem.with_objectives(target, "linkage")
    for kind in (Priced, Assignment, Score):
        assert (kept.structure(kind) is None) == (problem.structure(kind) is None)
    assert kept.structure(EntropyLevels) is None, "an exact front of loss and entropy is none of loss and linkage"
    other = problem.with_objectives("linkage", target)
    assert all(other.structure(kind) is None for kind in STRUCTURES)
    if (assignment := other.structure(Assignment)) is not None:
        assert not assignment.is_target, "bounds and caps hold whatever is asked for, the distance is not"
    for judged in (kept, other):
        assert judged.structure(Centroids) is not None
    assert kept.lacks_pyomo() == problem.lacks_pyomo()
    assert "name" in (other.lacks_pyomo() or "")
    with pytest.raises(RefusedError, match="is judged otherwise"):
        other.to_pyomo()


def test_the_problems_own_objectives_are_the_problem_itself() -> None:
    both = MoObam(k=2).build(tables(0))
    assert both.with_objectives("loss", "entropy") is both
    assert both.with_objectives("loss", "linkage").with_objectives("loss", "entropy") is both
    score = MoObam(k=2, objective="lambda").build(tables(0))
    without = score.with_objectives("loss", "entropy")
    assert without.structure(EntropyLevels) is not None, (
        "without its score it is the problem that the score is made from"
    )
    assert without is score.unscored()


@pytest.mark.parametrize("solver", ["univariate", "columns", "liang-split", "milp", "network", "epsilon"])
@pytest.mark.parametrize("model", MODELS)
def test_solvers_of_one_target_refuse_another(model: str, solver: str) -> None:
    problem = MODELS[model].build(tables(4)).with_objectives("linkage", "loss")
    with pytest.raises(RefusedError):
        registry.solver(solver)().solve(problem)


@pytest.mark.parametrize("solver", ["columns", "milp"])
def test_the_kept_target_is_still_proven_optimal(solver: str) -> None:
    problem = Microaggregation(k=2).build(small_table(7, seed=5)).with_objectives("loss", "linkage@0.4", "closeness")
    best = brute_force(problem)
    assert best is not None
    solution = registry.solver(solver)().solve(problem)
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(best[1].values["loss"])
    assert list(solution.values) == ["loss", "linkage@0.4", "closeness"]
    assert solution.release().audit.k >= 2


def test_fixed_centres_keep_the_objectives_when_they_move() -> None:
    problem = Aminifar(n_clusters=3).build(small_table(9, seed=1, categorical=0))
    judged = problem.with_objectives("loss", "linkage")
    network = registry.solver("network")
    plain = network().solve(problem)
    found = network().solve(judged)
    assert found.value == plain.value
    assert found.values == {"loss": plain.value, "linkage": 9.0}
    moved = registry.configured(network, {"recentre": True}).solve(judged)
    assert list(moved.values) == ["loss", "linkage"]


def solutions_of(problem: Problem) -> list[Solution]:
    return [
        Solution(problem, "all", Status.FEASIBLE, Stop.CONVERGED, labels, found.values)
        for labels in partitions(problem.n, 2)
        if (found := problem.evaluate(labels)).feasible
    ]


def test_a_front_of_chosen_objectives_is_saved_and_loaded(tmp_path: Path) -> None:
    problem = Microaggregation(k=2).build(small_table(7, seed=2))
    judged = problem.with_objectives("loss", "linkage@0.4", "homogeneity")
    front = ParetoFront.of(judged, solutions_of(judged))
    points = sorted(tuple(round(point.values[name], 12) for name in front.names) for point in front)
    assert points == sorted(brute_force_front(judged))
    front.save(tmp_path)
    again = ParetoFront.load(tmp_path, problem.with_objectives("loss", "linkage@0.4", "homogeneity"))
    assert again.frame().equals(front.frame())
    assert again.hypervolume() == front.hypervolume()
    for other in (problem, problem.with_objectives("loss", "homogeneity", "linkage@0.4")):
        with pytest.raises(InputError, match=r"with_objectives\('loss', 'linkage@0.4', 'homogeneity'\)"):
            ParetoFront.load(tmp_path, other)
    (tmp_path / "labels.parquet").unlink()
    with pytest.raises(InputError, match="lacks"):
        ParetoFront.load(tmp_path, judged)
    (tmp_path / "front.json").write_text("{}")
    with pytest.raises(InputError, match="not the record of a front"):
        ParetoFront.load(tmp_path, judged)


def test_the_default_hypervolume_is_measured_from_the_worst_values() -> None:
    judged = Microaggregation(k=2).build(small_table(6, seed=2)).with_objectives("loss", "classes")
    front = ParetoFront.of(judged, solutions_of(judged))
    assert judged.reference() == {"loss": 1.0, "classes": 1.0}
    # One class loses everything and adds nothing; two and three classes are a step each.
    losses = {point.values["classes"]: point.values["loss"] for point in front}
    best = [min(loss for classes, loss in losses.items() if classes >= at) for at in (2, 3)]
    assert front.hypervolume() == pytest.approx(sum(1.0 - loss for loss in best))
    assert front.hypervolume({"loss": 2.0, "classes": 0.0}) > front.hypervolume()


def test_plots_of_two_and_of_three_objectives() -> None:
    problem = Microaggregation(k=2).build(small_table(6, seed=2))
    falling = problem.with_objectives("loss", "linkage@0.4")
    assert ParetoFront.of(falling, solutions_of(falling)).plot().data[0].line.shape == "hv"
    three = problem.with_objectives("loss", "classes", "homogeneity")
    figure = ParetoFront.of(three, solutions_of(three)).plot()
    assert figure.data[0].mode == "markers+text"
    assert len(figure.data[0].marker.color) == len(figure.data[0].x)


def test_utility_learns_nothing_from_people_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Centroids are means over the people learned from, and no level of the target is theirs who are asked about."""
    seen = []

    def noted(name: str, known: Rows, asked: Rows, **how: Any) -> Learned:
        seen.append((known, asked))
        return learn(name, known, asked, **how)

    monkeypatch.setattr(held_out, "learn", noted)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(50, 9, 60), "income": np.arange(60.0), "ill": rng.integers(0, 2, 60)})
    table = Table(frame, quasi={"age": "numeric"}, target="ill", others="keep")
    labels = rng.integers(0, 5, 60)
    held_out.held_out_f1(table, "nb")(labels)
    everyone = []
    for known, asked in seen:
        learned, others = known.features[:, 1].astype(int), asked.features[:, 1].astype(int)  # income is a number
        assert sorted([*learned, *others]) == list(range(60))
        everyone.extend(others.tolist())
        means = frame["age"].iloc[learned].groupby(labels[learned]).transform("mean")
        assert known.features[:, 0] == pytest.approx(means.to_numpy(), abs=0.005)  # as they are released: to 0.01
        assert (asked.features[:, 0] == frame["age"].iloc[others]).all()
        assert (known.target == frame["ill"].iloc[learned]).all()
    assert sorted(everyone) == list(range(60))


def test_utility_is_an_objective_of_a_front() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 60)
    frame = pd.DataFrame({"age": age, "town": rng.choice(["a", "b"], 60), "ill": age > 50})
    table = Table(frame, quasi={"age": "numeric", "town": "categorical"}, target="ill")
    problem = Microaggregation(k=3).build(table).with_objectives("loss", "utility@nb", "utility")
    fine = problem.evaluate(age // 10).values
    coarse = problem.evaluate(np.zeros(60, int)).values
    assert 0.8 < fine["utility@nb"] <= 1
    assert coarse["utility@nb"] < 0.5
    assert fine["utility"] == problem.evaluate(age // 10).values["utility"]
    assert problem.reference()["utility"] == 0
    front = registry.configured(registry.solver("nsga2"), {"evaluations": 20, "population": 8}).pareto(
        Microaggregation(k=3).build(table).with_objectives("loss", "utility@nb")
    )
    assert len(front)
    with pytest.raises(InputError, match="no classifier 'forest'"):
        problem.with_objectives("loss", "utility@forest")
    plain = Table(frame[["age"]], quasi={"age": "numeric"})
    with pytest.raises(InputError, match="column to be predicted"):
        Microaggregation(k=3).build(plain).with_objectives("loss", "utility")
