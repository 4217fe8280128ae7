"""Bounds of levels of entropy hold against brute force, and are tight where they can be."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from formulations import MoObam
from formulations.mo_obam import MoObamProblem
from optmodels.solver import Run
from optmodels.testing import brute_force_front, check_solution, small_table
from solvers.columns.boxed_master import BoxedMaster
from solvers.epsilon import Epsilon, certified_levels
from solvers.epsilon.certified_front import CertifiedFront
from solvers.epsilon.certified_levels import LevelBounds, LevelProof
from solvers.epsilon.class_counts import Needs, count_vectors
from solvers.epsilon.gibbs_bound import GibbsBound
from solvers.epsilon.gibbs_pricing import Kinds
from solvers.epsilon.least_size import least_size, most_of_least
from solvers.epsilon.level_descents import LevelDescents
from solvers.epsilon.level_partitions import LevelPartitions


def problem_of(n: int, seed: int, sensitive: int, k: int = 2) -> MoObamProblem:
    problem = MoObam(k=k).build(small_table(n, seed=seed, numeric=1, categorical=1, sensitive=sensitive))
    assert isinstance(problem, MoObamProblem)
    return problem


def bits(held: np.ndarray) -> float:
    shares = held[held > 0] / held.sum()
    return float(-(shares * np.log2(shares)).sum())


def entropies(problem: MoObamProblem, rows: np.ndarray) -> np.ndarray:
    starts = problem.test.starts
    return np.array([bits(np.bincount(problem.test.codes[rows, j] - starts[j])) for j in range(len(starts) - 1)])


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_bound_of_a_level_is_below_every_partition_with_that_entropy(seed: int, sensitive: int) -> None:
    problem = problem_of(8, seed, sensitive)
    bounds = LevelBounds(problem, Run(problem, "levels"))
    for loss, entropy in brute_force_front(problem)[::2]:
        bound = bounds.least_loss(entropy - 1e-9, 1.0, 0.4)
        assert bound <= loss * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("share", [0.0, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_with_one_attribute_the_bound_is_near_the_linear_relaxation(seed: int, share: float) -> None:
    problem, n = problem_of(9, seed, 1), 9
    total = share * float(problem.most_entropies.sum())
    everyone, classes = np.arange(n), []
    for mask in range(1, 1 << n):
        rows = np.flatnonzero(mask >> everyone & 1)
        rest = np.setdiff1d(everyone, rows)
        parts = [part for part in (rows, rest) if len(part)]
        if len(rows) >= 2 and all(entropies(problem, part)[0] >= total - 1e-9 for part in parts):
            classes.append(rows)
    members = np.array([np.isin(everyone, rows) for rows in classes], float)
    prices, most = [problem.price.of(rows) for rows in classes], n // 2
    relaxed = linprog(prices, A_eq=members.T, b_eq=np.ones(n), A_ub=np.ones((1, len(prices))), b_ub=[most])
    linear = float(relaxed.fun) / problem.price_scale
    bound = LevelBounds(problem, Run(problem, "levels")).least_loss(total, 1.2 * linear, 60.0)
    assert 0.8 * linear <= bound <= linear * (1 + 1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 2), st.floats(0.0, 1.0), st.booleans())
def test_pricing_is_a_bound_and_exact_for_one_attribute(seed: int, sensitive: int, share: float, large: bool) -> None:
    problem, n = problem_of(9, seed, sensitive), 9
    draw = np.random.default_rng(seed)
    kinds = Kinds.of(problem.price, problem.test)
    total = share * float(problem.most_entropies.sum())
    needs = Needs(np.zeros(sensitive), total, 2)
    table = count_vectors(kinds.whole, needs, most_listed=20 if large else 12_000)
    assert (table.largest < n) == large
    duals = draw.uniform(0, 1, len(kinds.groups.counts))
    per_record = duals[kinds.groups.of_record]
    everyone = np.arange(n)
    least = np.inf
    for mask in range(1, 1 << n):
        rows = np.flatnonzero(mask >> everyone & 1)
        rest = np.setdiff1d(everyone, rows)
        met = entropies(problem, rows).sum() >= total - 1e-9
        if len(rows) >= 2 and met and (len(rest) == 0 or entropies(problem, rest).sum() >= total - 1e-9):
            least = min(least, problem.price.of(rows) - per_record[rows].sum())
    slack = 1e-3
    floor, _ = kinds.price(kinds.field(table), needs, table, duals, slack, -np.inf, lambda: False)
    assert floor <= least + 1e-9
    if sensitive == 1 and not large and least < 0:
        assert floor >= least - 2 * slack


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0.0, 1.0))
def test_classes_are_known_to_meet_needs_by_their_members(seed: int, sensitive: int, share: float) -> None:
    problem, n = problem_of(9, seed, sensitive), 9
    kinds = Kinds.of(problem.price, problem.test)
    draw = np.random.default_rng(seed)
    for size in (1, 2, 5, 9):
        rows = draw.choice(n, size, replace=False)
        members = np.bincount(kinds.groups.of_record[rows], minlength=len(kinds.groups.counts)).astype(float)
        own = entropies(problem, rows)
        assert kinds.meet(Needs(own, float(own.sum()), 2), members) == (size >= 2)
        assert not kinds.meet(Needs(own, float(own.sum()) + 1e-6, 2), members)
        least = share * problem.most_entropies
        assert kinds.meet(Needs(least, 0.0, 1), members) == bool((own >= least - 1e-9).all())


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_what_a_level_proves_is_no_more_than_what_is_true_of_higher_ones(
    seed: int, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_of(8, seed, 2)
    if large:  # hardly any counts are listed, so that most classes are bounded by ranges of sizes
        monkeypatch.setattr("solvers.epsilon.gibbs_bound.count_vectors", partial(count_vectors, most_listed=10))
    bounds = LevelBounds(problem, Run(problem, "levels"))
    for loss, entropy in sorted(brute_force_front(problem), key=lambda point: point[1]):
        proof = bounds.level(entropy - 1e-9)
        proof.advance(1.0, 0.3)
        assert proof.bound <= loss * (1 + 1e-9) + 1e-12


def test_a_range_of_ways_begins_with_what_was_proven_of_looser_needs() -> None:
    problem = problem_of(12, 3, 2)
    bounds = LevelBounds(problem, Run(problem, "levels"))
    duals = bounds.known.duals
    bounds.remember(Needs(np.array([0.5, 0.5]), 1.0, 2), GibbsBound(7.0, duals))
    bounds.remember(Needs(np.array([0.5, 0.7]), 1.0, 2), GibbsBound(9.0, duals))
    assert bounds.proven(Needs(np.array([0.5, 0.6]), 1.1, 2)).price == 7.0
    assert bounds.proven(Needs(np.array([0.6, 0.8]), 1.4, 2)).price == 9.0
    assert bounds.proven(Needs(np.array([0.4, 0.8]), 1.2, 2)).price == -np.inf
    assert bounds.proven(Needs(np.array([0.5, 0.8]), 0.9, 2)).price == -np.inf


def test_a_master_that_takes_too_long_ends_a_bound_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(8, 1, 2)
    late = (-np.inf, np.zeros(8), 0.0)
    monkeypatch.setattr(BoxedMaster, "solve", lambda master, seconds: late)
    bounds = LevelBounds(problem, Run(problem, "levels"))
    for loss, entropy in brute_force_front(problem)[::2]:
        assert 0.0 <= bounds.least_loss(entropy - 1e-9, 1.0, 0.3) <= loss * (1 + 1e-9) + 1e-12


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=3), st.floats(0.0, 1.0))
def test_no_class_is_smaller_than_the_least_size(counts: list[int], share: float) -> None:
    whole = np.array(counts)
    n = int(whole.sum())
    needed = share * bits(whole)
    sizes = [n]
    for vector in np.ndindex(*(whole + 1)):
        mine = np.array(vector)
        if 2 <= mine.sum() < n and min(bits(mine), bits(whole - mine)) >= needed:
            sizes.append(int(mine.sum()))
            assert most_of_least(whole)[mine.sum()] >= needed - 1e-9
    size = least_size([whole], Needs(np.array([needed]), needed, 2))
    assert size <= min(sizes)


def test_only_everyone_together_has_the_most_entropy() -> None:
    assert least_size([np.array([17, 18, 5, 20])], Needs(np.array([1.8636]), 1.8636, 5)) > 30


@pytest.mark.parametrize("sensitive", [1, 2])
def test_a_front_of_levels_is_certified_from_end_to_end(sensitive: int) -> None:
    problem = problem_of(30, 4, sensitive, k=3)
    assert certified_levels.applies(problem)
    for seconds in (3.0, 15.0, 75.0):  # a busy machine proves nothing in three
        front = Epsilon(levels=4).pareto(problem, time_limit=seconds)
        if all(point.gap is not None for point in front):
            break
    assert len(front) >= 3
    for point in front:
        check_solution(point)
        assert point.gap is not None
    assert front.points[-1].values["entropy"] == pytest.approx(problem.most_entropies.sum())
    assert front.points[-1].gap == pytest.approx(0.0, abs=1e-9)


def test_the_score_of_levels_has_a_bound_below_it() -> None:
    table = small_table(30, seed=4, numeric=1, sensitive=2)
    solution = Epsilon(levels=4).solve(MoObam(k=3, objective="lambda", lam=0.1).build(table), time_limit=3.0)
    check_solution(solution)
    assert solution.bound is not None


def test_a_level_whose_bound_does_not_rise_lets_others_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, advanced = problem_of(30, 4, 2, k=3), []
    monkeypatch.setattr(LevelProof, "advance", lambda proof, *_: advanced.append(proof.entropy))
    monkeypatch.setattr(LevelDescents, "search", lambda *_: None)
    monkeypatch.setattr("solvers.epsilon.certified_front.first_front", lambda *_, **__: [])
    monkeypatch.setattr(CertifiedFront, "_prove_least_loss", lambda *_: None)
    front = CertifiedFront(problem, 4, "columns", Run(problem, "levels", time_limit=60.0))
    order = np.argsort(problem.price.numeric[:, 0])
    for size in (3, 6, 10, 15):
        front.partitions.offer(np.argsort(order) // size)
    for step, _ in enumerate(front.work()):
        if step > 40:
            break
    assert len(set(advanced)) > 2
    assert len(set(advanced[-9:])) > 1  # nothing rises, so levels take turns


@pytest.mark.parametrize("sensitive", [1, 2])
@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
def test_descents_find_partitions_of_a_level_that_nobody_gave_them(sensitive: int, share: float) -> None:
    problem = problem_of(30, 4, sensitive, k=3)
    known, entropy = LevelPartitions(problem), share * float(problem.most_entropies.sum())
    known.offer(np.zeros(30, np.int64))
    LevelDescents(problem, known, Run(problem, "levels")).search(entropy, 0.3)
    best = known.best(entropy)
    assert best is not None
    assert best.entropy >= entropy - 1e-9
    assert best.loss < 0.9  # everyone together loses 1
    assert problem.evaluate(best.labels).feasible


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0.0, 1.0), st.integers(0, 9))
def test_ways_to_share_a_level_out_sum_to_it(seed: int, sensitive: int, share: float, tried: int) -> None:
    problem = problem_of(8, seed, sensitive)
    most, entropy = problem.most_entropies, share * float(problem.most_entropies.sum())
    known = LevelPartitions(problem)
    known.offer(np.zeros(8, np.int64))
    descents, best = LevelDescents(problem, known, Run(problem, "levels", seed=seed)), known.best(entropy)
    assert best is not None
    way = descents.way(best, entropy, tried)
    assert way.sum() == pytest.approx(entropy, abs=1e-9)
    assert (way >= -1e-12).all()
    assert (way <= most + 1e-9).all()
