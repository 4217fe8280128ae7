"""Generalisation through hierarchies: what a class costs, what is released, and exact answers on tiny tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from formulations import Generalisation
from formulations.generalisation import Scheme
from optmodels.errors import InputError
from optmodels.matrix import CONDITIONS, mixed_table
from optmodels.partition import Labels, canonical
from optmodels.price import hierarchy
from optmodels.problem import Problem
from optmodels.suppression import left_out
from optmodels.table.hierarchy import Hierarchy
from optmodels.testing import brute_force, small_table
from optmodels.verifier import verify
from solvers import Columns, LatticeSearch, LocalSearch, Milp


def random_tree(draw: np.random.Generator, leaves: int) -> Hierarchy:
    """Leaves joined at random, level by level, in an order that is not depth first."""
    groups = np.arange(leaves)
    levels = []
    while len(set(groups.tolist())) > 1:
        distinct = np.unique(groups)
        into = draw.integers(0, max(1, len(distinct) // 2), len(distinct))
        groups = into[np.searchsorted(distinct, groups)]
        levels.append([f"level {len(levels)} group {g}" for g in groups.tolist()])
    return Hierarchy([f"v{i}" for i in range(leaves)], levels)


def random_table(seed: int, n: int, attributes: int = 3, numbers: int = 1) -> om.Table:
    """Categories in random trees of their own, and numbers without one."""
    draw = np.random.default_rng(seed)
    frame, trees = {}, {}
    for j in range(attributes):
        trees[f"c{j}"] = random_tree(draw, int(draw.integers(1, 9)))
        frame[f"c{j}"] = draw.choice(trees[f"c{j}"].values.to_numpy(object), n)
    for j in range(numbers):
        frame[f"x{j}"] = draw.integers(0, 6, n)
    kinds = {name: "categorical" if name.startswith("c") else "numeric" for name in frame}
    return om.Table(pd.DataFrame(frame), quasi=kinds, hierarchies=trees)  # type: ignore[arg-type]


def best_loss(problem: Problem) -> float:
    """The least loss of all partitions."""
    best = brute_force(problem)
    assert best is not None
    return best[1].values["loss"]


def plain_loss(table: om.Table, labels: Labels) -> float:
    """The mean NCP as it is defined, class by class and tree by tree."""
    total = 0.0
    for c in np.unique(labels):
        rows = np.flatnonzero(labels == c)
        for name in table.quasi:
            if name in table.hierarchies:
                tree = table.hierarchies[name]
                nodes = tree.nodes[table.leaf_codes(name)[rows]]
                level = next(at for at in range(tree.n_levels) if len(set(nodes[:, at].tolist())) == 1)
                below, leaves = int((tree.nodes[:, level] == nodes[0, level]).sum()), len(tree.values)
                total += len(rows) * (below - 1) / max(leaves - 1, 1)
            else:
                x = table.frame[name].to_numpy(float)
                total += len(rows) * np.ptp(x[rows]) / (np.ptp(x) or 1.0)
    return total / (table.n * len(table.quasi))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 30))
def test_the_loss_is_the_mean_ncp_of_what_is_released(seed: int, n: int) -> None:
    table = random_table(seed, n)
    labels = canonical(np.random.default_rng(seed).permutation(np.arange(n) % max(1, n // 2)))
    problem = Generalisation(k=2).build(table)
    assert problem.evaluate(labels).values["loss"] == pytest.approx(plain_loss(table, labels), abs=1e-12)
    lost = problem.release(labels).audit.loss
    assert lost["gcp"] == pytest.approx(plain_loss(table, labels), abs=1e-12)


def test_leaves_of_a_node_follow_each_other() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        tree = random_tree(draw, int(draw.integers(1, 30)))
        places = tree.depth_first()
        assert sorted(places.tolist()) == list(range(len(places)))
        for level in range(tree.n_levels):
            for node in np.unique(tree.nodes[:, level]):
                below = np.sort(places[tree.nodes[:, level] == node])
                assert (np.diff(below) == 1).all()


def test_a_part_is_measured_as_the_whole() -> None:
    table = random_table(1, 20)
    labels = np.arange(20) // 4
    whole = Generalisation(k=2).build(table)
    rows = np.arange(12)
    parts = [whole.restricted(np.arange(12)), whole.restricted(np.arange(12, 20))]  # type: ignore[attr-defined]
    values = [part.price.total(canonical(labels[r])) for part, r in zip(parts, (rows, np.arange(12, 20)), strict=True)]
    assert sum(values) / whole.price_scale == pytest.approx(whole.evaluate(labels).values["loss"])  # type: ignore[attr-defined]


def test_weights_are_those_given_by_name() -> None:
    table = random_table(2, 10, attributes=2, numbers=0)
    labels = np.zeros(10, np.int64)
    only = Generalisation(k=2, weights={"c0": 3.0, "c1": 0.0}).build(table)
    assert only.evaluate(labels).values["loss"] == pytest.approx(
        hierarchy(table.rescaled(weights={"c1": 0})).of(np.arange(10)) / 10
    )
    with pytest.raises(InputError, match="c9"):
        Generalisation(k=2, weights={"c9": 1.0}).build(table)
    with pytest.raises(InputError, match="scheme"):
        Generalisation(k=2, scheme="globl")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_columns_agree_with_brute_force(seed: int) -> None:
    for k, table in ((2, random_table(seed, 8)), (3, random_table(seed + 50, 9, attributes=2, numbers=0))):
        problem = Generalisation(k=k).build(table)
        solution = Columns().solve(problem, time_limit=60)
        assert solution.status is om.Status.OPTIMAL
        assert solution.value == pytest.approx(best_loss(problem), abs=1e-9)


def test_local_search_finds_what_columns_prove() -> None:
    problem = Generalisation(k=3).build(random_table(11, 40))
    proven = Columns().solve(problem, time_limit=60)
    found = LocalSearch(iterations=3_000).solve(problem, seed=1)
    assert problem.evaluate(found.require()).feasible
    assert proven.bound is not None
    assert found.value is not None
    assert proven.bound - 1e-9 <= found.value <= 1.02 * proven.value + 1e-9


def test_more_conditions_than_k() -> None:
    problem = Generalisation(k=3, distinct_l=2, most_share=0.7).build(mixed_table())
    found = LocalSearch(iterations=500).solve(problem, seed=1)
    assert problem.evaluate(found.require()).feasible
    frame = problem.release(found.require()).frame
    assert set(frame["town"]) <= {"Bonn", "Ulm", "Rome", "Bari", "Germany", "Italy", "*"}
    assert frame["schooling"].astype(str).str.contains("none|school|degree").all()


def test_small_tables_without_any_hierarchy() -> None:
    problem = Generalisation(k=2).build(small_table(8))
    solution = Columns().solve(problem, time_limit=60)
    assert solution.value == pytest.approx(best_loss(problem), abs=1e-9)
    assert set(problem.release(solution.require()).frame["category_0"]) <= {"a", "b", "c", "*"}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("conditions", [{}, {"distinct_l": 2}, {"t": 0.4}], ids=str)
def test_the_lattice_agrees_with_brute_force(seed: int, conditions: dict[str, float]) -> None:
    table = random_table(seed, 8, attributes=2)
    if conditions:
        frame = table.frame.assign(illness=list("uvuvwuvw"))
        table = om.Table(frame, quasi=table.kinds, hierarchies=table.hierarchies, sensitive="illness")
    problem = Generalisation(k=2, scheme="full-domain", **conditions).build(table)  # type: ignore[arg-type]
    found = LatticeSearch().solve(problem)
    assert found.status is om.Status.OPTIMAL
    assert found.value == pytest.approx(best_loss(problem), abs=1e-12)


OF_ILLNESS = {
    name: asked
    for name, asked in CONDITIONS.items()
    if name not in ("k", "suppress") and not any(isinstance(value, dict) for value in asked.values())
}


@pytest.mark.parametrize("scheme", ["local", "full-domain"])
@pytest.mark.parametrize("condition", [*OF_ILLNESS])
def test_every_condition_agrees_with_brute_force(condition: str, scheme: Scheme) -> None:
    for seed in range(2):
        table = random_table(seed, 8, attributes=2)
        frame = table.frame.assign(illness=list("uvuvwuvw"))
        table = om.Table(frame, quasi=table.kinds, hierarchies=table.hierarchies, sensitive="illness")
        problem = Generalisation(k=2, scheme=scheme, **OF_ILLNESS[condition]).build(table)
        exact = LatticeSearch() if scheme == "full-domain" else Columns()
        found, best = exact.solve(problem, time_limit=60), brute_force(problem)
        assert found.status is (om.Status.INFEASIBLE if best is None else om.Status.OPTIMAL)
        if best is not None:
            assert found.value == pytest.approx(best[1].values["loss"], abs=1e-9)


@pytest.mark.parametrize("scheme", ["local", "full-domain"])
@pytest.mark.parametrize("seed", range(3))
def test_pyomo_views_agree_with_brute_force(scheme: Scheme, seed: int) -> None:
    table = random_table(seed, 7, attributes=2, numbers=0)
    problem = Generalisation(k=2, scheme=scheme).build(table)
    found = Milp().solve(problem, time_limit=60)
    assert found.status is om.Status.OPTIMAL
    assert found.value == pytest.approx(best_loss(problem), abs=1e-9)


def test_everybody_is_released_on_the_same_levels() -> None:
    table = random_table(4, 30, attributes=3, numbers=1)
    problem = Generalisation(k=3, scheme="full-domain").build(table)
    found = LatticeSearch().solve(problem)
    release = problem.release(found.require())
    levels = release.provenance["levels"]
    assert isinstance(levels, dict)
    hierarchies = problem.table.hierarchies
    for name in table.quasi:
        expected = hierarchies[name].generalise(table.frame[name], levels[name])
        assert sorted(map(str, release.frame[name])) == sorted(map(str, expected))
    assert release.audit.loss["gcp"] == pytest.approx(found.value)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("price", [None, 0.01])
@pytest.mark.parametrize("scheme", ["local", "full-domain"])
def test_records_left_out_agree_with_brute_force(scheme: Scheme, price: float | None, seed: int) -> None:
    table = random_table(seed, 7, attributes=2)
    problem = Generalisation(k=2, scheme=scheme, suppress=0.3, suppression_price=price).build(table)
    least = best_loss(problem)
    solver = LatticeSearch() if scheme == "full-domain" else LocalSearch(iterations=200)
    found = solver.solve(problem, seed=1)
    assert found.value is not None
    assert found.value >= least - 1e-9
    if found.bound is not None:
        assert found.bound <= least + 1e-9
    if found.status is om.Status.OPTIMAL:
        assert found.value == pytest.approx(least, abs=1e-9)
    if scheme == "full-domain" and price is None:
        assert found.status is om.Status.OPTIMAL
    release = problem.release(found.require())
    assert release.audit.suppressed == 7 - len(release.frame)
    assert release.audit.loss["gcp"] <= 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("conditions", [{"distinct_l": 2}, {}, {"most_share": 0.7}], ids=str)
def test_levels_with_records_left_out_are_proven_where_classes_are_only_counted(
    seed: int, conditions: dict[str, float]
) -> None:
    table = random_table(seed, 7, attributes=2)
    frame = table.frame.assign(illness=list("uvuvwuv"), whose=list("abcadbe"))
    table = om.Table(frame, quasi=table.kinds, hierarchies=table.hierarchies, sensitive="illness", person="whose")
    problem = Generalisation(k=2, scheme="full-domain", suppress=0.3, **conditions).build(table)  # type: ignore[arg-type]
    found, least = LatticeSearch().solve(problem), best_loss(problem)
    assert LatticeSearch().proves(problem) == ("most_share" not in conditions)
    assert found.bound is not None
    assert found.bound <= least + 1e-9
    if "most_share" not in conditions:
        assert (found.status, found.value) == (om.Status.OPTIMAL, pytest.approx(least, abs=1e-9))


def test_the_dearest_are_left_out_where_that_costs_nothing() -> None:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({name: draw.choice(list("uuuuvvwxyz"), 200) for name in "abc"})
    table = om.Table(frame, quasi=dict.fromkeys(frame.columns, "categorical"))
    found = LatticeSearch().solve(
        Generalisation(k=5, scheme="full-domain", suppress=0.1, suppression_price=0.0).build(table)
    )
    assert found.gap is not None
    assert found.gap < 0.02
    assert left_out(found.require()) == 20


@pytest.mark.parametrize("seed", range(3))
def test_cells_are_kept_or_suppressed_and_k_holds_among_equal_rows(seed: int, tmp_path: Path) -> None:
    table = random_table(seed, 8, attributes=2, numbers=1)
    problem = Generalisation(k=2, scheme="cells").build(table)
    found = Columns().solve(problem)
    assert found.status is om.Status.OPTIMAL
    assert found.value == pytest.approx(best_loss(problem), abs=1e-9)
    release = problem.release(found.require())
    released = release.frame[list(table.quasi)].astype(str)
    known = {name: {"*", *map(str, table.frame[name])} for name in table.quasi}
    assert all(set(released[name]) <= values for name, values in known.items())
    assert (released == "*").to_numpy().mean() == pytest.approx(found.value)
    assert released.groupby(list(table.quasi)).size().min() >= 2
    assert released.groupby(list(table.quasi)).size().min() == release.audit.k
    release.to_csv(tmp_path / "release.csv")
    promise = json.loads((tmp_path / "release.promise.json").read_text(encoding="utf-8"))
    assert not verify(tmp_path / "release.csv", promise).broken


def test_who_differs_in_one_attribute_loses_that_cell_alone() -> None:
    ages, towns = [30] * 5 + [40] * 8 + [50, 51, 52], ["a"] * 10 + ["b", "c", "d"] + ["a"] * 3
    table = om.Table(pd.DataFrame({"age": ages, "town": towns}), quasi={"age": "numeric", "town": "categorical"})
    problem = Generalisation(k=4, scheme="cells").build(table)
    released = problem.release(Columns().solve(problem).require()).frame
    # three have ages that nobody shares and three have towns that nobody of their age has: one more loses the same cell
    # with each three, since a class of three would single them out
    assert sorted(zip(released["age"].astype(str), released["town"].astype(str), strict=True)) == sorted(
        [("*", "a")] * 4 + [("30", "a")] * 4 + [("40", "*")] * 4 + [("40", "a")] * 4
    )


def test_a_suppressed_cell_counts_one() -> None:
    table = random_table(3, 10, attributes=2, numbers=0)
    for scheme in ("local", "full-domain"):
        problem = Generalisation(k=2, scheme=scheme, suppress=0.5).build(table)  # type: ignore[arg-type]
        kept = np.where(np.arange(10) < 6, 0, -1)
        inside = problem.evaluate(np.zeros(10, np.int64)).values["loss"]
        assert problem.evaluate(kept).values["loss"] <= inside + 0.4
        assert problem.evaluate(kept).values["loss"] >= 0.4


@pytest.mark.parametrize("seed", range(6))
def test_the_best_levels_in_levels_used_are_found_and_their_loss_is_that_of_the_levels(seed: int) -> None:
    table = random_table(seed, 7, attributes=2)
    weights = {"c0": 3.0, "c1": 0.5, "x0": 1.0}
    problem = Generalisation(k=2, scheme="full-domain", measure="levels", weights=weights).build(table)
    best = LatticeSearch().solve(problem)
    assert best.status.value == "optimal"
    assert best.values["loss"] == pytest.approx(best_loss(problem))
    assert best.labels is not None
    levels = problem.levels(best.labels)  # type: ignore[attr-defined]
    heights = [max(problem.table.hierarchy(name).nodes.shape[1] - 1, 1) for name in table.quasi]
    used = sum(weights[name] * level / height for name, level, height in zip(table.quasi, levels, heights, strict=True))
    assert best.values["loss"] == pytest.approx(used / sum(weights.values()))


def test_levels_used_are_a_measure_of_the_same_levels_for_everybody() -> None:
    with pytest.raises(InputError, match="full-domain"):
        Generalisation(k=2, measure="levels")
    with pytest.raises(InputError, match="measure"):
        Generalisation(k=2, scheme="full-domain", measure="level")  # type: ignore[arg-type]
