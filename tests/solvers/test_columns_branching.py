"""Branching on pairs against brute force, and its charges against enumeration."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formulations.microaggregation import Microaggregation
from optmodels.conditions import Conditions
from optmodels.problem import PricedProblem
from optmodels.solution import Status, Stop
from optmodels.solver import Run
from optmodels.structures import Priced
from optmodels.table import Table
from optmodels.testing import brute_force, check_solution, small_table
from solvers.columns import Columns
from solvers.columns._columns import follow
from solvers.columns.branching import BranchingTree
from solvers.columns.duals import reduced_cost
from solvers.columns.greedy import grow_classes
from solvers.columns.master import CutSet, Master
from solvers.columns.pricing import Pricer
from solvers.columns.proof import Proof
from tests.solvers.test_columns import CONDITIONS, all_classes, instance_of, problem_of, problems, random_problem

FEW = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
ONLY_BRANCHING = Columns(cuts_a_round=0, enumeration=0)


def branched(problem: PricedProblem) -> int:
    """Solve by branching from nothing better than everyone in one class; how many nodes it took."""
    best = brute_force(problem)
    solution = ONLY_BRANCHING.solve(problem)
    check_solution(solution)
    if best is None:
        assert solution.labels is None
        return 0
    optimum = best[1].values["loss"]
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(optimum, rel=1e-6, abs=1e-9)
    assert solution.bound <= optimum * (1 + 1e-9) + 1e-12
    return int(solution.details.get("nodes", 0))


@FEW
@given(problems(6, 9, categorical=1))
def test_branching_agrees_with_brute_force(problem: PricedProblem) -> None:
    branched(problem)


@FEW
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3), kind=st.sampled_from(["spread", "extent"]))
def test_branching_with_a_fixed_number_of_classes(seed: int, n_classes: int, kind: str) -> None:
    table = small_table(8, seed=seed, categorical=1, repeated=bool(seed % 2))
    branched(problem_of(table, Conditions(k=2), kind, n_classes))


@FEW
@given(points=st.lists(st.integers(0, 4), min_size=7, max_size=9), k=st.integers(2, 3))
def test_branching_with_equal_records(points: list[int], k: int) -> None:
    frame = pd.DataFrame({"x": [0, 10, *points], "y": [0, 10, *(p * p % 5 for p in points)]})[: len(points)]
    problem = Microaggregation(k=k).build(Table(frame, quasi={"x": "numeric", "y": "numeric"}))
    branched(problem)


@pytest.mark.parametrize(
    ("repeated", "conditions", "n_classes", "kind", "seed"),
    [
        (False, Conditions(k=2), None, "extent", 9),
        (False, Conditions(k=2, t=0.35), None, "extent", 10),
        (False, Conditions(k=2, t=0.35), 3, "extent", 4),
        (True, Conditions(k=3), 3, "extent", 0),
        (True, Conditions(k=3, distinct_l=2, t=0.5), None, "spread", 5),
        (True, Conditions(k=2, entropy_l=1.7), 3, "extent", 18),
    ],
)
def test_where_branching_is_needed_it_agrees_with_brute_force(
    repeated: bool, conditions: Conditions, n_classes: int | None, kind: str, seed: int
) -> None:
    table = small_table(9, seed=seed, categorical=0, sensitive=1, repeated=repeated, numeric=2)
    assert branched(problem_of(table, conditions, kind, n_classes)) > 1


@pytest.mark.parametrize(("n", "k", "seed"), [(30, 3, 8), (40, 3, 5), (60, 3, 1)])
def test_branching_proves_what_listing_proves(n: int, k: int, seed: int) -> None:
    problem = random_problem(n, k, seed)
    listed, by_nodes = Columns().solve(problem), ONLY_BRANCHING.solve(problem)
    assert listed.status is by_nodes.status is Status.OPTIMAL
    assert by_nodes.value == pytest.approx(listed.value, rel=1e-7)
    assert by_nodes.details["nodes"] > 1
    assert "nodes" not in listed.details


@FEW
@given(problems(9, 9, categorical=1, conditions=CONDITIONS[:3]), st.integers(0, 10**6))
def test_pricing_counts_charges(problem: PricedProblem, seed: int) -> None:
    instance = instance_of(problem)
    draw = np.random.default_rng(seed)
    scale = instance.distance.mean()
    pairs = [(int(min(p)), int(max(p))) for p in draw.integers(0, instance.n_types, (4, 2))]
    charges = (scale * draw.normal(size=4)).tolist()
    rows = draw.random(instance.n_types) * scale
    duals = CutSet(instance.types.copies).duals(rows, 0.1, np.zeros(0), pairs, charges)
    classes = all_classes(instance)
    costs = np.array([reduced_cost(instance.types, duals, members) for members in classes])
    plain = CutSet(instance.types.copies).duals(rows, 0.1, np.zeros(0))
    for members, cost in zip(classes[:50], costs, strict=False):
        together = [
            sum({a, b} == {members[i], members[j]} for i in range(len(members)) for j in range(i)) for a, b in pairs
        ]
        expected = reduced_cost(instance.types, plain, members) + np.dot(together, charges)
        assert cost == pytest.approx(expected, abs=1e-9 * (1 + abs(expected)))
    ceiling = float(np.quantile(costs, 0.3)) + 1e-9
    pricer = Pricer(instance, 10**9)
    listed = pricer.below(duals, ceiling, 10**6, lambda: False)
    assert listed is not None
    expected_classes = {classes[c].tobytes() for c in np.flatnonzero(costs < ceiling - 1e-9)}
    assert expected_classes <= {members.tobytes() for members in listed}
    floor = float(pricer.price(duals, 1e-9, lambda: False).floors.min())
    assert floor == pytest.approx(min(costs.min(), -1e-9), abs=1e-9 * (1 + scale))
    for members in grow_classes(instance, duals, instance.largest, 0.0, 100):
        assert reduced_cost(instance.types, duals, members) < 0


def test_a_row_of_pairs_counts_copies() -> None:
    frame = pd.DataFrame({"x": [0.0, 0, 0, 1, 1, 5]})
    instance = instance_of(Microaggregation(k=2).build(Table(frame, quasi={"x": "numeric"})))
    master = Master(instance, big=1e3)
    master.add([np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([1, 2]), np.array([0, 1, 2])])
    row, within = master.add_pair((0, 1)), master.add_pair((0, 0))
    master.add([np.array([0, 1, 1, 2]), np.array([0, 0])])
    master.restrict([(row, -np.inf, 0.0), (within, 3.0, np.inf)])
    relaxed = master.solve(10)
    assert relaxed is not None
    used = {tuple(master.classes[c].tolist()) for c in np.flatnonzero(relaxed.weights > 1e-9)}
    assert not used & {(0, 0, 1), (0, 1, 2), (0, 1, 1, 2)}
    assert (0, 0, 0) in used
    assert master.dual_value(relaxed.duals) == pytest.approx(relaxed.value)


@pytest.mark.parametrize("nodes", [1, 2, 5, 9])
def test_the_tree_s_bound_is_valid_whenever_it_is_interrupted(monkeypatch: pytest.MonkeyPatch, nodes: int) -> None:
    problem = random_problem(30, 3, 8)
    optimum = Columns().solve(problem).value
    open_node = BranchingTree._open

    def interrupted(tree: BranchingTree, node: object) -> bool:
        if tree.visited == nodes:
            raise KeyboardInterrupt
        return open_node(tree, node)  # type: ignore[arg-type]

    monkeypatch.setattr(BranchingTree, "_open", interrupted)
    solution = ONLY_BRANCHING.solve(problem)
    assert solution.stop is Stop.INTERRUPTED
    assert solution.bound is not None
    assert optimum is not None
    assert solution.bound <= optimum * (1 + 1e-9) <= solution.value * (1 + 2e-9)


def test_the_tree_s_bound_rises_with_its_nodes() -> None:
    problem = random_problem(30, 3, 8)
    run = Run(problem, "columns")
    run.offer(np.arange(30) // 3)
    proof = Proof(problem.require(Priced), run, node_limit=50_000, enumeration=0)
    follow(proof, cuts_a_round=0)
    bounds = [moment.bound for moment in run.history if moment.bound is not None]
    assert len(set(bounds)) > 5
    assert bounds == sorted(bounds)
    assert run.bound == pytest.approx(run.value)
