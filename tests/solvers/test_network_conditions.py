"""The network with floors as well as caps: conditions of a flag as bounds, against all assignments and the MILP."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from formulations import Aminifar
from formulations.aminifar import AminifarProblem
from optmodels.errors import RefusedError
from optmodels.flow import Bounds, Flow, dense_transport
from optmodels.partition import canonical
from optmodels.solution import Status
from optmodels.table import Table
from optmodels.testing import check_proven, check_solution
from solvers.milp import Milp
from solvers.network import Network
from tests.solvers.test_network import assignments

INSTANCE = Path(os.environ.get("OPTMODELS_DATA", "")) / "aminifar_instance.npz"


pytestmark = pytest.mark.usefixtures("way")


def random_table(n: int, *, seed: int = 0, values: int = 2, share: float = 0.5, ties: bool = False) -> Table:
    draw = np.random.default_rng(seed)
    numbers = {f"x{j}": draw.integers(0, 3, n) if ties else draw.normal(size=n) for j in range(2)}
    weights = np.full(values, (1 - share) / max(values - 1, 1))
    weights[0] = 1 - weights[1:].sum()
    frame = pd.DataFrame(numbers).assign(secret=draw.choice(values, n, p=weights))
    return Table(frame, quasi=dict.fromkeys(numbers, "numeric"), sensitive="secret")


def cheapest_assignment(problem: AminifarProblem) -> float | None:
    """The least cost of all assignments of records to centres that the judge allows; every one is looked at."""
    costs = []
    for homes, of_arcs in assignments(problem):
        labels = canonical(homes)
        if not any(problem.violations(labels).values()):
            costs.append(of_arcs + problem.penalties(labels))
    return min(costs, default=None)


asked = st.fixed_dictionaries(
    {"n_clusters": st.integers(1, 3), "n_init": st.just(1), "sizes": st.sampled_from(["exact", "at-least"])},
    optional={
        "distinct_l": st.integers(1, 2),
        "entropy_l": st.sampled_from([1.0, 1.2, 1.6, 1.85]),
        "t": st.sampled_from([0.05, 0.15, 0.3, 0.5]),
        "t_distance": st.sampled_from(["emd", "equal", "variational"]),
        "recursive": st.sampled_from([(1.5, 2), (3, 2), (2, 1)]),
        "most_share": st.sampled_from([0.5, 0.7, 0.9]),
        "beta": st.sampled_from([0.3, 0.8]),
        "beta_kind": st.sampled_from(["basic", "enhanced"]),
        "delta": st.sampled_from([0.5, 1.0, 2.0]),
        "alpha": st.sampled_from([1.0, 1.3, 1.7]),
        "floor": st.sampled_from([0.3, 0.7, 1.0]),
        "soft": st.booleans(),
        "penalty": st.sampled_from([0.3, 2.0]),
    },
)


@given(asked, st.integers(6, 8), st.integers(0, 10_000), st.sampled_from([0.3, 0.5, 0.7]), st.booleans())
@hypothesis_settings(max_examples=50)
def test_agrees_with_all_assignments(
    parameters: dict[str, object], n: int, seed: int, share: float, ties: bool
) -> None:
    problem = Aminifar(**parameters).build(random_table(n, seed=seed, share=share, ties=ties), seed=seed)
    best = cheapest_assignment(problem)
    solution = Network().solve(problem)
    check_proven(solution, best)
    if best is not None:
        assert problem.impossible() is None
        assert solution.bound == pytest.approx(best, rel=1e-9, abs=1e-9)


@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(4, 7),
    st.integers(0, 10_000),
    st.booleans(),
)
@hypothesis_settings(max_examples=80)
def test_any_floors_and_caps_of_any_class(m: int, values: int, n: int, seed: int, soft: bool) -> None:
    """Floors and caps that differ from class to class, which no model has: the flow itself, and its certificate."""
    draw = np.random.default_rng(seed)
    costs, value = draw.integers(0, 9, (n, m)).astype(float), draw.integers(0, values, n).astype(np.int32)
    least = draw.integers(0, n // m + 1, m)
    most = np.minimum(n, least + draw.integers(0, 4, m))
    floor = draw.integers(0, 2, (m, values))
    cap = floor + draw.integers(0, 4, (m, values))
    slope = draw.integers(0, 3, (m, values)) * float(soft)
    bounds = Bounds(least, most, floor, cap, np.where(slope > 0, draw.uniform(0, 2, (m, values)), np.inf), slope)
    best = None
    for chosen in product(range(m), repeat=n):
        homes = np.array(chosen)
        sizes = np.bincount(homes, minlength=m)
        held = np.bincount(homes * values + value, minlength=m * values).reshape(m, values)
        if ((sizes >= least) & (sizes <= most)).all() and ((held >= floor) & (held <= cap)).all():
            over = np.where(slope > 0, np.maximum(0.0, held - bounds.threshold), 0.0)
            total = costs[np.arange(n), homes].sum() + (slope * over).sum()
            best = total if best is None else min(best, total)
    flow = Flow(lambda rows, centres: costs[np.ix_(rows, centres)], value, bounds)
    assert flow.finish() == (best is not None)
    dense = dense_transport(costs, value, bounds)
    if best is None:
        assert dense is None
        return
    assert flow.cost == pytest.approx(best)
    assert flow.bound == pytest.approx(best)
    if dense is not None:
        assert costs[np.arange(n), dense[0]].sum() == pytest.approx(best)
        assert dense[1] == pytest.approx(best)


@pytest.mark.parametrize("seed", range(3))
def test_sparse_arcs_with_floors_reach_the_milp(seed: int) -> None:
    problem = Aminifar(n_clusters=70, t=0.3, n_init=1).build(random_table(290, seed=seed, share=0.6))
    solution = Network().solve(problem)
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(Milp().solve(problem, time_limit=60).value, rel=1e-6)


def test_any_prices_prove_a_bound() -> None:
    """The bound is one at every moment, not only at the end."""
    problem = Aminifar(n_clusters=100, t=0.25, n_init=1).build(random_table(1000, seed=1, share=0.6))
    assignment = problem.assignment()
    flow = Flow(assignment.arc_costs(problem.centres), *assignment.network())
    bounds = [flow.bound for _ in flow.steps()]
    assert bounds == sorted(bounds)
    assert flow.bound == pytest.approx(flow.cost, rel=1e-9)


def instance(m: int) -> tuple[Table, np.ndarray, int]:
    data = np.load(INSTANCE)
    frame = pd.DataFrame(data["X"]).rename(columns="x{}".format).assign(flag=data["S"].astype(int))
    table = Table(frame, quasi=dict.fromkeys(frame.columns[:-1], "numeric"), sensitive="flag")
    return table, data[f"centres{m}"], int(data["S"].sum())


@pytest.mark.skipif(not INSTANCE.is_file(), reason="OPTMODELS_DATA has no aminifar_instance.npz")
class TestPublishedInstance:
    def solved(self, **parameters: object) -> tuple[float, float]:
        table, centres, flagged = instance(20)
        if "bounds" in parameters:
            floor, cap = parameters.pop("bounds")  # type: ignore[misc]
            parameters |= {"floor": floor * 20 / flagged, "alpha": cap * 20 / flagged}
        problem = Aminifar(n_clusters=20, centres=centres, **parameters).build(table)
        judged = problem.with_objectives("distance", "variational")
        solution = Network().solve(judged)
        check_solution(solution)
        assert solution.status is Status.OPTIMAL
        assert solution.value is not None
        return solution.value, solution.values["variational"]

    @pytest.mark.parametrize(
        ("asked", "distance", "apart"),
        [
            ({"bounds": (0, 7)}, 11275.4374, 0.65),
            ({"bounds": (6, 7)}, 11326.2944, 0.15),
            ({"t": 0.15, "t_distance": "variational"}, 11326.2944, 0.15),
            ({"t": 0.075}, 11326.2944, 0.15),
        ],
        ids=str,
    )
    def test_a_floor_beside_the_cap_is_t(self, asked: dict[str, object], distance: float, apart: float) -> None:
        found = self.solved(**asked)
        assert found == (pytest.approx(distance, abs=1e-4), pytest.approx(apart))


class TestInfeasible:
    @pytest.mark.parametrize(
        ("parameters", "word", "step"),
        [
            ({"t": 0.01}, "t", -1e-4),
            ({"t": 0.01, "t_distance": "variational"}, "t", -1e-4),
            ({"entropy_l": 1.86}, "entropy_l", 1e-4),
            ({"floor": 1.0}, "floor", 2e-4),
            ({"most_share": 0.65}, "most_share", -1e-4),
            ({"beta": 0.01}, "beta", -1e-4),
            ({"delta": 0.05}, "delta", -1e-4),
        ],
        ids=str,
    )
    def test_what_works_is_told_and_works(self, parameters: dict[str, object], word: str, step: float) -> None:
        frame = pd.DataFrame({"x": np.arange(14.0), "flag": [1] * 5 + [0] * 9})
        table = Table(frame, quasi={"x": "numeric"}, sensitive="flag")
        solution = Network().solve(Aminifar(n_clusters=2, n_init=1, **parameters).build(table))
        assert solution.status is Status.INFEASIBLE
        assert "'flag'" in solution.reason
        works = float(solution.reason.rstrip(".").rsplit(" ", 1)[1])
        milder = Aminifar(n_clusters=2, n_init=1, **parameters | {word: works}).build(table)
        assert Network().solve(milder).status is Status.OPTIMAL
        stricter = Aminifar(n_clusters=2, n_init=1, **parameters | {word: works + step}).build(table)
        assert Network().solve(stricter).status is Status.INFEASIBLE

    def test_more_classes_than_records_of_a_value(self) -> None:
        frame = pd.DataFrame({"x": np.arange(12.0), "flag": [1] * 3 + [0] * 9})
        table = Table(frame, quasi={"x": "numeric"}, sensitive="flag")
        solution = Network().solve(Aminifar(n_clusters=4, distinct_l=2, n_init=1).build(table))
        assert solution.status is Status.INFEASIBLE
        assert "distinct_l=2 cannot hold for 'flag' in 4 classes of 3 records" in solution.reason


def test_what_is_no_bound_is_refused_with_the_reason_and_solved_by_the_milp() -> None:
    table = random_table(9, seed=4, values=3)
    for parameters in ({"t": 0.4}, {"entropy_l": 1.5}, {"distinct_l": 2}):
        problem = Aminifar(n_clusters=3, n_init=1, **parameters).build(table)
        with pytest.raises(RefusedError, match=r"'secret', which has 3 values, is no bound.*'milp'"):
            Network().solve(problem)
        solution = Milp().solve(problem, time_limit=30)
        check_solution(solution)
        assert solution.value == pytest.approx(cheapest_assignment(problem), rel=1e-6)


@given(
    st.fixed_dictionaries(
        {"n_clusters": st.integers(2, 3), "n_init": st.just(1), "sizes": st.sampled_from(["exact", "at-least"])},
        optional={
            "distinct_l": st.just(3),
            "most_share": st.sampled_from([0.4, 0.5, 0.67]),
            "beta": st.sampled_from([0.3, 0.8]),
            "delta": st.sampled_from([1.0, 2.0]),
            "alpha": st.sampled_from([1.3, 1.7]),
        },
    ),
    st.integers(6, 8),
    st.integers(0, 10_000),
)
@hypothesis_settings(max_examples=25)
def test_bounds_on_every_value_of_three_agree_with_all_assignments(
    parameters: dict[str, object], n: int, seed: int
) -> None:
    problem = Aminifar(**parameters).build(random_table(n, seed=seed, values=3), seed=seed)
    if len(problem.table.sensitive_levels[0]) < 3:
        return
    check_proven(Network().solve(problem), cheapest_assignment(problem))


def test_every_value_of_many_in_every_class_is_a_network() -> None:
    table = random_table(9, seed=1, values=3)
    problem = Aminifar(n_clusters=2, distinct_l=3, n_init=1).build(table)
    assert Network().solve(problem).value == pytest.approx(cheapest_assignment(problem))


def test_sizes_that_differ_by_one_are_one_network(way: str) -> None:
    """Bounds on a flag and on its complement say all, though what t allows depends on the size of a class."""
    problem = Aminifar(n_clusters=3, t=0.2, n_init=1).build(random_table(38, seed=2, share=0.6))
    assert not problem.sized
    solution = Network().solve(problem)
    assert solution.status is Status.OPTIMAL
    assert "flows" not in solution.details
