"""Intensification lowers the loss and keeps what a partition has reached in other objectives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from formulations import Microaggregation, MoObam
from optmodels.objectives import least_entropies
from optmodels.partition import Labels, canonical, class_sizes
from optmodels.problem import Problem
from optmodels.structures import Centroids
from optmodels.testing import small_table
from solvers.evolution.archive import Archive
from solvers.evolution.intensify import Intensifier
from solvers.evolution.lenient import anneal, with_classes
from solvers.evolution.settle import intensifier_of
from solvers.local_search.near import neighbourhoods

ALL = ("loss", "entropy", "linkage@0.15", "homogeneity", "closeness")


def problem_of(names: tuple[str, ...], seed: int, n: int = 40) -> Problem:
    return Microaggregation(k=3).build(small_table(n, seed=seed, sensitive=2)).with_objectives(*names)


def some_partition(problem: Problem, seed: int, least: int) -> Labels:
    """Classes of at least so many records, at random."""
    n_classes = problem.n // least
    return np.random.default_rng(seed).permutation(np.arange(problem.n) % n_classes)


def improved(problem: Problem, start: Labels) -> Labels:
    """After local search under the conditions that the partition keeps."""
    intensifier = Intensifier(problem)
    better = intensifier.improve(start, intensifier.conditions(start), rounds=20, seed=1, seconds=None)
    assert better is not None
    return better.labels


@settings(max_examples=15)
@given(st.sampled_from([(name,) for name in ALL[1:]] + [ALL[1:]]), st.integers(0, 100), st.sampled_from([4, 7, 10]))
def test_levels_are_kept_and_the_loss_falls(others: tuple[str, ...], seed: int, least: int) -> None:
    problem = problem_of(("loss", *others), seed % 4)
    start = some_partition(problem, seed, least)
    intensifier = Intensifier(problem)
    held = intensifier.conditions(start)
    better = intensifier.improve(start, held, rounds=10, seed=seed, seconds=None)
    assert better is not None
    before, after = problem.evaluate(start), problem.evaluate(better.labels)
    assert after.feasible
    assert after.values["loss"] <= before.values["loss"] + 1e-9
    for objective in problem.objectives[1:]:
        # Linkage and homogeneity are held by conditions once they are nothing.
        if objective.name.startswith(("linkage", "homogeneity")) and before.values[objective.name] > 0:
            continue
        assert objective.worse(after.values[objective.name], before.values[objective.name]) <= 1e-7, objective.name
    assert better.evaluations > 0


def test_each_attributes_entropy_is_kept_not_only_their_sum() -> None:
    problem = problem_of(("loss", "entropy"), 1)
    start = some_partition(problem, 1, 10)
    better = improved(problem, start)
    assert (least_entropies(problem.table, better) >= least_entropies(problem.table, start) - 1e-7).all()


def test_a_share_of_the_level_is_enough() -> None:
    problem = problem_of(("loss", "entropy"), 1)
    start = some_partition(problem, 1, 10)
    intensifier = Intensifier(problem)
    whole, half = (
        intensifier.improve(start, intensifier.conditions(start, share), rounds=40, seed=1, seconds=None)
        for share in (1.0, 0.5)
    )
    assert whole is not None
    assert half is not None
    entropy = problem.evaluate(start).values["entropy"]
    assert problem.evaluate(half.labels).values["entropy"] >= 0.5 * entropy - 1e-7
    assert problem.evaluate(half.labels).values["loss"] < problem.evaluate(whole.labels).values["loss"]


def test_a_fixed_number_of_classes_is_kept() -> None:
    problem = MoObam(k=3, n_clusters=6).build(small_table(40, seed=2))
    start = np.arange(40) % 6
    better = improved(problem, start)
    assert len(class_sizes(better)) == 6
    assert problem.evaluate(better).feasible


def test_the_number_of_classes_as_an_objective_is_kept() -> None:
    problem = problem_of(("loss", "classes"), 2)
    start = some_partition(problem, 3, 5)
    better = improved(problem, start)
    assert len(class_sizes(better)) == len(class_sizes(start))


def test_the_ladder_leads_to_the_ends_of_the_front() -> None:
    problem = problem_of(ALL, 1)
    intensifier = intensifier_of(problem)
    assert type(intensifier) is Intensifier
    strictest = intensifier.ladder()[-1]
    reached = [problem.evaluate(labels) for _, labels in intensifier.built()]
    assert reached
    assert all(evaluation.feasible for evaluation in reached)
    strict = [problem.evaluate(labels).values for test, labels in intensifier.built() if test.k == strictest.k]
    assert any(values["linkage@0.15"] == values["homogeneity"] == 0 for values in strict)


def test_no_condition_of_the_ladder_comes_twice() -> None:
    for names in (("loss", "entropy"), ("loss", "linkage@0.15"), ALL):
        tests = Intensifier(problem_of(names, 1)).ladder()
        assert len({(t.k, *t.distinct_l.tolist(), *t.t.tolist(), *t.entropy.tolist()) for t in tests}) == len(tests)


@settings(max_examples=10)
@given(st.sampled_from([("entropy",), ("closeness",), ("entropy", "closeness", "homogeneity"), ("classes", "entropy")]))
def test_a_leap_goes_beyond_the_levels_of_a_partition(others: tuple[str, ...]) -> None:
    problem = problem_of(("loss", *others), 1, n=24)
    intensifier = Intensifier(problem)
    found = 0
    for seed in range(12):
        start = some_partition(problem, seed, 8)
        test = intensifier.beyond(start, seed)
        better = intensifier.leap(start, test, 3, seed)
        if np.array_equal(better.labels, canonical(start)):
            continue
        found += 1
        before, after = problem.evaluate(start), problem.evaluate(better.labels)
        assert after.feasible
        risen = [
            objective.worse(after.values[objective.name], before.values[objective.name]) < 0
            for objective in problem.objectives[1:]
            if objective.name in ("entropy", "closeness")
        ]
        assert any(risen)
        if "classes" in others:
            assert len(class_sizes(better.labels)) == len(class_sizes(start))
        assert np.array_equal(intensifier.leap(start, test, 3, seed).labels, better.labels)
    assert found > 2


def test_a_leap_finds_what_few_partitions_meet() -> None:
    """Two classes with almost all the entropy of the table: a search that never breaks that hardly finds any."""
    problem = MoObam(k=5).build(om.dataset("german").take(np.arange(24)))
    intensifier = Intensifier(problem)
    strict = intensifier.test._replace(entropy=np.array([1.525, 1.685]) * np.log(2))
    everyone = np.zeros(24, np.int64)
    found = [intensifier.leap(everyone, strict, 2, seed) for seed in range(30)]
    losses = [problem.evaluate(better.labels).values["loss"] for better in found]
    assert min(losses) == pytest.approx(0.401979, abs=1e-6)  # proven by `epsilon`


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 12))
def test_a_partition_gets_as_many_classes_as_wanted(seed: int, classes: int, wanted: int) -> None:
    problem = problem_of(("loss", "entropy"), 1, n=24)
    draw = np.random.default_rng(seed)
    labels = draw.permutation(np.arange(24) % classes)
    near = neighbourhoods(problem.require(Centroids).price, 5)
    assert int(with_classes(labels, wanted, near, draw).max()) + 1 == wanted


def test_it_is_the_same_for_a_seed() -> None:
    problem = problem_of(("loss", "entropy"), 0)
    start = some_partition(problem, 0, 8)
    found = [
        Intensifier(problem).improve(start, Intensifier(problem).conditions(start), rounds=20, seed=5, seconds=None)
        for _ in range(2)
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert np.array_equal(found[0].labels, found[1].labels)
    assert found[0].evaluations == found[1].evaluations


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=30))
def test_an_archive_holds_what_nothing_dominates(points: list[tuple[int, int, int]]) -> None:
    archive = Archive(3)
    for place, point in enumerate(points):
        archive.add(np.array(point, float), lambda place=place: np.array([0, place + 1]))  # type: ignore[misc]
    best = {p for p in points if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)}
    assert {tuple(row) for row in archive.costs.astype(int).tolist()} == best
    assert len(archive) == len(best)
    assert not archive.add(np.array([np.nan, 0, 0]), lambda: pytest.fail("labels of nothing are asked for"))


def test_an_archive_interrupted_while_it_takes_something_in_stays_whole() -> None:
    archive = Archive(2)
    archive.add(np.array([2.0, 2.0]), lambda: np.array([0, 1]))

    def interrupted() -> Labels:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archive.add(np.array([1.0, 1.0]), interrupted)
    assert archive.costs.tolist() == [[2.0, 2.0]]
    assert [labels.tolist() for labels in archive.partitions()] == [[0, 1]]


def test_a_leap_ends_when_it_is_halted() -> None:
    problem = problem_of(("loss", "entropy"), 0)
    looks: list[bool] = []

    def halted() -> bool:
        looks.append(len(looks) == 2)
        return looks[-1]

    draw = np.random.default_rng(0)
    labels = some_partition(problem, 0, 4)
    price = problem.require(Centroids).price
    near = neighbourhoods(price, 8)
    found = anneal(price, problem.test, labels, near, 10**12, draw, np.zeros(0), halted)
    assert looks == [False, False, True]  # a walk of so many steps would last for weeks
    assert found is not None
    assert problem.evaluate(found).values["loss"] < problem.evaluate(labels).values["loss"]
