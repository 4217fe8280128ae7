"""Decoding of centroid matrices against plain numpy and against the problem's own judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation, MoObam
from optmodels.centroids.centres import centred_prices
from optmodels.centroids.kernel import AlsoMeasured, decode_all
from optmodels.centroids.measures import Measures
from optmodels.centroids.space import CentroidSpace
from optmodels.partition import class_sizes
from optmodels.price import Floats, spread
from optmodels.problem import PricedProblem, Problem
from optmodels.table import Table
from optmodels.testing import small_table

OBJECTIVES = ("loss", "entropy", "linkage@0.3", "linkage", "homogeneity", "closeness", "classes")


def equal_records(n: int) -> Table:
    frame = pd.DataFrame({"age": np.ones(n), "town": ["x"] * n, "ill": ["u", "v"] * (n // 2) + ["u"] * (n % 2)})
    return Table(frame, quasi={"age": "numeric", "town": "categorical"}, sensitive="ill")


def table_of(kind: str, n: int, seed: int) -> Table:
    if kind == "equal":
        return equal_records(n)
    shape = {
        "mixed": {"numeric": 2, "categorical": 2, "sensitive": 2},
        "repeated": {"numeric": 2, "categorical": 1, "repeated": True},
        "numbers": {"numeric": 3, "categorical": 0},
        "categories": {"numeric": 0, "categorical": 3},
        "one": {"numeric": 1, "categorical": 0},
    }[kind]
    return small_table(n, seed=seed, **shape)  # type: ignore[arg-type]


KINDS = st.sampled_from(["mixed", "repeated", "numbers", "categories", "one", "equal"])
SEEDS = st.integers(0, 10_000)


def decisions_of(space: CentroidSpace, many: int, seed: int) -> Floats:
    """Anywhere in the box, and beyond categories' whole numbers; some centroids are copies of others."""
    draw = np.random.default_rng(seed)
    cubes = draw.uniform(space.low, space.high, (many, space.size)).reshape(many, space.n_centroids, space.width)
    cubes[:, draw.integers(space.n_centroids)] = cubes[:, 0]
    return cubes.reshape(many, -1)


def record_costs(space: CentroidSpace, numeric: Floats, codes: np.ndarray) -> Floats:
    """(records, centroids), by broadcasting."""
    squares = np.square(space.price.numeric[:, None] - numeric[None]).sum(axis=2)
    return squares + (space.price.codes[:, None] != codes[None]) @ space.price.code_weights


def space_of(problem: PricedProblem, n_centroids: int) -> CentroidSpace:
    return CentroidSpace(problem.price, problem.test, problem.n_classes or n_centroids, problem.n_classes is not None)


@settings(max_examples=50)
@given(KINDS, SEEDS, st.sampled_from([1, 2, 3, 6, 20, 60]), st.sampled_from([14, 80]))  # searched in different ways
def test_without_mending_records_join_their_nearest_centroid(kind: str, seed: int, n_centroids: int, n: int) -> None:
    problem = Microaggregation(k=2).build(table_of(kind, n, seed))
    space = space_of(problem, n_centroids)
    decisions = decisions_of(space, 3, seed)
    decoded = space.decode(decisions, mend=False)
    for i, (numeric, codes) in enumerate(zip(*space.matrices(decisions), strict=True)):
        grain, units = decoded.parts(i)
        chosen, costs = units[grain.unit_of], record_costs(space, numeric, codes)
        assert np.allclose(costs[np.arange(n), chosen], costs.min(axis=1), atol=1e-9)
        near = costs <= costs.min(axis=1, keepdims=True) + 1e-9
        assert (chosen == near.argmax(axis=1)).all(), "of equally near centroids the first takes the record"
        sizes = class_sizes(decoded.labels(i))
        assert decoded.partitions.missing[i] == np.maximum(2 - sizes, 0).sum()


@settings(max_examples=30)
@given(KINDS, SEEDS, st.sampled_from([1, 3, 6, 40]), st.booleans())
def test_every_measure_agrees_with_the_judge(kind: str, seed: int, n_centroids: int, mend: bool) -> None:
    problem = Microaggregation(k=2).build(table_of(kind, 14, seed)).with_objectives(*OBJECTIVES)
    native = problem.to_pymoo(n_centroids, mend=mend).native
    decoded = native.decode(decisions_of(native.space, 4, seed))
    costs = native.measures.costs(decoded)
    assert isinstance(native.measures, Measures)
    for i in range(4):
        judged = problem.evaluate(decoded.labels(i))
        values = [judged.values[o.name] * (1 if o.sense == "min" else -1) for o in problem.objectives]
        assert costs[i] == pytest.approx(values, abs=1e-9)
        assert mend <= judged.feasible


def feasible_or_missing(problem: Problem, space: CentroidSpace, decisions: Floats) -> None:
    decoded = space.decode(decisions)
    for i, missing in enumerate(decoded.partitions.missing):
        assert (missing == 0) == problem.evaluate(decoded.labels(i)).feasible


@settings(max_examples=30)
@given(KINDS, SEEDS, st.integers(2, 8), st.integers(1, 2))
def test_mended_partitions_meet_size_and_diversity(kind: str, seed: int, k: int, distinct_l: int) -> None:
    problem = Microaggregation(k=k, distinct_l=distinct_l).build(table_of(kind, 20, seed))
    space = space_of(problem, 7)
    decisions = decisions_of(space, 4, seed)
    feasible_or_missing(problem, space, decisions)
    if problem.impossible() is None:  # everyone together is then a way out
        assert not space.decode(decisions).partitions.missing.any()


@settings(max_examples=30)
@given(KINDS, SEEDS, st.integers(2, 9), st.integers(1, 5), st.integers(0, 9))
def test_a_fixed_number_of_classes_is_kept(kind: str, seed: int, k: int, n_clusters: int, spare: int) -> None:
    problem = MoObam(k=k, n_clusters=n_clusters).build(table_of(kind, k * n_clusters + spare, seed))
    space = space_of(problem, n_clusters)  # type: ignore[arg-type]
    decoded = space.decode(decisions_of(space, 4, seed))
    assert not decoded.partitions.missing.any(), "where only size counts, there is always a record to spare"
    for i in range(4):
        sizes = class_sizes(decoded.labels(i))
        assert len(sizes) == n_clusters
        assert sizes.min() >= k


def test_classes_just_above_k_give_what_an_empty_one_needs() -> None:
    # Eight centroids with nine records each and a ninth with none: eight must come, from eight different classes.
    places = np.repeat(np.arange(8) * 10.0, 9)
    table = Table(pd.DataFrame({"x": places + np.tile(np.arange(9) / 100, 8)}), quasi={"x": "numeric"})
    problem = Microaggregation(k=8).build(table)
    space = CentroidSpace(problem.price, problem.test, 9, fixed=True)
    decoded = space.decode(np.append(np.arange(8) * 10.0, 1000.0)[None])
    assert decoded.partitions.missing[0] == 0
    assert class_sizes(decoded.labels(0)).tolist() == [8] * 9


@settings(max_examples=25)
@given(KINDS, SEEDS, st.integers(1, 6), st.booleans())
def test_polishing_never_costs_the_same_classes_more(kind: str, seed: int, n_centroids: int, mend: bool) -> None:
    problem = Microaggregation(k=3).build(table_of(kind, 15, seed))
    space = space_of(problem, n_centroids)
    decisions = decisions_of(space, 4, seed)
    decoded = space.decode(decisions, mend=mend)
    polished = space.polished(decisions, decoded)
    for i in range(4):
        grain, units = decoded.parts(i)
        rows = np.arange(15)
        before, after = (
            record_costs(space, *(part[i] for part in space.matrices(flat)))[rows, units[grain.unit_of]].sum()
            for flat in (decisions, polished)
        )
        assert after <= before + 1e-9
        assert after == pytest.approx(space.price.total(decoded.labels(i)), abs=1e-9), "means and modes are the price"
    again = space.decode(polished, mend=False)
    matrices = space.matrices(polished)
    around = centred_prices(again.coarse.units, again.partitions.labels, *matrices)
    assert (around >= again.partitions.prices - 1e-9).all(), "no centroids are better than means and modes"


def test_a_partition_survives_the_way_to_centroids_and_back() -> None:
    draw = np.random.default_rng(4)
    labels = np.repeat(np.arange(4), [5, 4, 3, 3])
    frame = pd.DataFrame({"x": labels * 100 + draw.normal(size=15), "town": np.array(list("abca"))[labels]})
    table = Table(frame, quasi={"x": "numeric", "town": "categorical"})
    problem = Microaggregation(k=3).build(table)
    for n_centroids in (4, 7):
        space = space_of(problem, n_centroids)
        assert np.array_equal(space.labels(space.decision(labels)), labels)
    assert set(space_of(problem, 2).labels(space_of(problem, 2).decision(labels)).tolist()) == {0, 1}


def test_records_with_equal_quasi_identifiers_are_split_only_where_nothing_else_helps() -> None:
    problem = MoObam(k=2, n_clusters=3).build(equal_records(6))
    space = CentroidSpace(spread(equal_records(6)), problem.test, 3, fixed=True)
    decoded = space.decode(np.zeros((1, space.size)))
    assert decoded.fine is not None
    assert class_sizes(decoded.labels(0)).tolist() == [2, 2, 2]
    assert decoded.partitions.prices[0] == 0
    loose = CentroidSpace(spread(equal_records(6)), problem.test, 3).decode(np.zeros((1, space.size)))
    assert class_sizes(loose.labels(0)).tolist() == [6]


def test_only_what_is_asked_for_is_measured() -> None:
    problem = Microaggregation(k=2).build(small_table(10))
    space = space_of(problem, 3)
    decisions = decisions_of(space, 2, 0)
    assert not space.decode(decisions).partitions.closeness.any()
    assert space.decode(decisions, AlsoMeasured(np.array([0.2]), True)).partitions.linkable.shape == (2, 1)


def test_pieces_do_not_matter_and_those_without_time_are_not_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = MoObam(k=3).build(small_table(40, seed=2))
    space = CentroidSpace(problem.price, problem.test, 6)
    decisions = np.random.default_rng(0).normal(size=(30, space.size))
    whole = space.decode(decisions).partitions
    monkeypatch.setattr("optmodels.centroids.space._PIECE", 1)
    for one, other in zip(whole, space.decode(decisions).partitions, strict=True):
        assert (one == other).all()
    space.halt[0] = 1
    halted = space.decode(decisions).partitions
    assert halted.missing.all()
    assert np.isinf(halted.prices).all()
    assert (space.decode(decisions[:1]).partitions.labels == whole.labels[:1]).all()  # one is done in any case
    mended = decode_all(space._coarse.units, space.test, AlsoMeasured(np.zeros(0), False),
                        *space.matrices(decisions), False, True, space.halt)  # fmt: skip
    assert (mended.missing > 0).sum() > (whole.missing > 0).sum()  # raised within, classes are left as they are
