"""The network solver: brute force over all assignments, the MILP, a dense LP, and the published figures."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import lil_matrix, vstack

from formulations import Aminifar, Microaggregation
from formulations.aminifar import AminifarProblem
from optmodels.errors import InputError, RefusedError
from optmodels.flow import Flow, dense_transport
from optmodels.flow.pricing import ArcCosts
from optmodels.solution import Status, Stop
from optmodels.solver import Progress
from optmodels.table import Table
from optmodels.testing import check_proven, check_solution, check_solver
from solvers.milp import Milp
from solvers.network import Network

pytestmark = pytest.mark.usefixtures("way")


INSTANCE = Path(os.environ.get("OPTMODELS_DATA", "")) / "aminifar_instance.npz"


def random_table(n: int, *, seed: int = 0, values: int = 2, sensitive: int = 1, ties: bool = False) -> Table:
    draw = np.random.default_rng(seed)
    numbers = {f"x{j}": draw.integers(0, 3, n) if ties else draw.normal(size=n) for j in range(2)}
    secrets = {f"s{j}": draw.integers(0, values, n) for j in range(sensitive)}
    return Table(pd.DataFrame(numbers | secrets), quasi=dict.fromkeys(numbers, "numeric"), sensitive=list(secrets))


def arc_costs(problem: AminifarProblem) -> ArcCosts:
    return problem.assignment().arc_costs(problem.centres)


def assignments(problem: AminifarProblem) -> Iterator[tuple[np.ndarray, float]]:
    """Every way to send records to centres that meets the bounds on sizes, and what the arcs cost."""
    m = len(problem.centres)
    costs = arc_costs(problem)(np.arange(problem.n), np.arange(m))
    for way in product(range(m), repeat=problem.n):
        homes = np.array(way)
        sizes = np.bincount(homes, minlength=m)
        if (sizes >= problem.least).all() and (sizes <= problem.most).all():
            yield homes, costs[np.arange(problem.n), homes].sum()


def cheapest_assignment(problem: AminifarProblem) -> float | None:
    """The least cost of all assignments of records to centres that meet the bounds; every one is looked at."""
    m, best = len(problem.centres), None
    for homes, total in assignments(problem):
        for s, cap in enumerate(problem.caps):
            held = np.array([np.bincount(problem.groups[homes == i, s], minlength=cap.shape[1]) for i in range(m)])
            if (held > cap).any():
                break
            paying = problem.slopes[s] > 0
            over = np.maximum(0, held[paying] - problem.thresholds[s][paying])
            total += (problem.slopes[s][paying] * over).sum()
        else:
            best = total if best is None else min(best, total)
    return best


models = st.builds(
    Aminifar,
    n_clusters=st.integers(1, 3),
    alpha=st.sampled_from([None, 1.0, 1.3, 1.7, 2.5]),
    soft=st.booleans(),
    penalty=st.sampled_from([0.3, 1.5, 1000.0]),
    sizes=st.sampled_from(["exact", "at-least"]),
    metric=st.sampled_from(["manhattan", "euclidean", "sqeuclidean"]),
    n_init=st.just(1),
)


@given(model=models, n=st.integers(6, 7), seed=st.integers(0, 10_000), values=st.integers(1, 4), ties=st.booleans())
@hypothesis_settings(max_examples=60)
def test_agrees_with_all_assignments(model: Aminifar, n: int, seed: int, values: int, ties: bool) -> None:
    problem = model.build(random_table(n, seed=seed, values=values, ties=ties), seed=seed)
    check_proven(Network().solve(problem), cheapest_assignment(problem))


@pytest.mark.parametrize(
    "model",
    [
        Aminifar(n_clusters=2, alpha=1.5),
        Aminifar(n_clusters=3, soft=True, penalty=2.0),
        Aminifar(k=2, sizes="at-least", alpha=2.0),
    ],
    ids=str,
)
def test_keeps_the_solvers_contract(model: Aminifar) -> None:
    check_solver(Network(), lambda seed: model.build(random_table(8, seed=seed, values=3), seed=seed))


@pytest.mark.parametrize(
    "model",
    [
        Aminifar(n_clusters=3, alpha=1.6),
        Aminifar(n_clusters=3, alpha=1.1, soft=True, penalty=3.0),
        Aminifar(n_clusters=4, sizes="at-least", alpha=2.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_the_milp(model: Aminifar, seed: int) -> None:
    problem = model.build(random_table(20, seed=seed, values=3), seed=seed)
    one, other = Network().solve(problem), Milp().solve(problem, time_limit=20)
    assert one.status is Status.OPTIMAL
    assert other.value == pytest.approx(one.value, rel=1e-6)


def dense_optimum(problem: AminifarProblem) -> float:
    """The optimum over all arcs by a linear program, with a variable per arc and per unit of penalty."""
    n, m = problem.n, len(problem.centres)
    group, bounds = problem.assignment().network()
    n_groups = bounds.cap.shape[1]
    costs = arc_costs(problem)(np.arange(n), np.arange(m)).ravel()
    once = lil_matrix((n, n * m + m * n_groups))
    sizes = lil_matrix((2 * m, n * m + m * n_groups))
    caps = lil_matrix((m * n_groups, n * m + m * n_groups))
    for j, i in product(range(n), range(m)):
        once[j, j * m + i] = sizes[i, j * m + i] = 1
        sizes[m + i, j * m + i] = -1
        caps[i * n_groups + group[j], j * m + i] = 1
    soft = bounds.slope.ravel() > 0
    for pair in np.flatnonzero(soft):
        caps[pair, n * m + pair] = -1
    limits = np.where(soft, np.where(soft, bounds.threshold.ravel(), 0), bounds.cap.ravel())
    found = linprog(
        np.concatenate([costs, bounds.slope.ravel()]),
        A_ub=vstack([sizes, caps]).tocsr(),
        b_ub=np.concatenate([bounds.most, -bounds.least, limits]),
        A_eq=once.tocsr(),
        b_eq=np.ones(n),
        method="highs",
    )
    return float(found.fun)


@pytest.mark.parametrize(
    ("model", "n", "values"),
    [
        (Aminifar(n_clusters=80), 403, 2),
        (Aminifar(n_clusters=70, alpha=1.6), 300, 2),
        (Aminifar(n_clusters=70, alpha=1.9), 290, 5),
        (Aminifar(n_clusters=70, sizes="at-least"), 300, 2),
        (Aminifar(k=3, sizes="at-least", alpha=1.5), 301, 2),
    ],
    ids=str,
)
def test_sparse_arcs_with_pricing_reach_the_dense_optimum(way: str, model: Aminifar, n: int, values: int) -> None:
    problem = replace(model, n_init=1).build(random_table(n, seed=n, values=values))
    solution = Network().solve(problem)
    assert solution.status is Status.OPTIMAL
    if way == "sparse":
        assert solution.details["arcs"] < n * len(problem.centres)  # type: ignore[operator]
    assert solution.value == pytest.approx(dense_optimum(problem), rel=1e-9)


def test_sparse_soft_caps_reach_the_relaxation_where_its_margins_are_whole() -> None:
    # 300 flags in 75 classes: the average is 4, so the linear program's margins are those of whole counts.
    table = random_table(600, seed=3)
    frame = table.frame.assign(s0=(table.frame["x0"].rank() > 300).astype(int))
    table = Table(frame, quasi={"x0": "numeric", "x1": "numeric"}, sensitive="s0")
    problem = Aminifar(n_clusters=75, soft=True, penalty=2.0, n_init=1).build(table)
    solution = Network().solve(problem)
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(dense_optimum(problem), rel=1e-9)


def test_distant_groups_are_connected_by_pricing() -> None:
    # Everyone is near the first centres and half must go far: the arcs that are needed are nobody's cheapest.
    draw = np.random.default_rng(0)
    table = Table(pd.DataFrame({"x": draw.normal(size=400)}), quasi={"x": "numeric"})
    centres = np.concatenate([draw.normal(size=(60, 1)), 1000 + draw.normal(size=(60, 1))])
    problem = Aminifar(n_clusters=120, centres=centres).build(table)  # type: ignore[arg-type]
    assert Network().solve(problem).value == pytest.approx(dense_optimum(problem), rel=1e-9)


@pytest.mark.skipif(not INSTANCE.is_file(), reason="OPTMODELS_DATA has no aminifar_instance.npz")
@pytest.mark.parametrize(
    ("m", "cap", "optimum"),
    [(20, None, 11242.3459), (10, None, 15858.3747), (20, 7, 11275.4374), (10, 13, 15884.9731)],
)
def test_published_instance(m: int, cap: int | None, optimum: float) -> None:
    data = np.load(INSTANCE)
    frame = pd.DataFrame(data["X"]).rename(columns="x{}".format).assign(flag=data["S"].astype(int))
    table = Table(frame, quasi=dict.fromkeys(frame.columns[:-1], "numeric"), sensitive="flag")
    alpha = None if cap is None else cap * m / data["S"].sum()
    problem = Aminifar(n_clusters=m, alpha=alpha, centres=data[f"centres{m}"]).build(table)
    assert cap is None or problem.caps[0][0, 0] == cap
    solution = Network().solve(problem)
    check_solution(solution)
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(optimum, abs=1e-4)
    assert solution.bound == pytest.approx(optimum, abs=1e-4)


@pytest.mark.parametrize(
    ("model", "values", "plain"),
    [
        (Aminifar(n_clusters=3), 2, True),
        (Aminifar(n_clusters=4), 2, True),  # ten records: sizes of two and three
        (Aminifar(k=2, sizes="at-least"), 2, True),
        (Aminifar(n_clusters=5, alpha=1.6), 2, True),
        (Aminifar(n_clusters=3, alpha=1.6), 2, False),  # a cap, and sizes that are not given
        (Aminifar(n_clusters=2, alpha=2.0), 4, False),  # several caps
        (Aminifar(n_clusters=5, soft=True), 2, False),
    ],
    ids=str,
)
def test_what_is_a_plain_transport(way: str, model: Aminifar, values: int, plain: bool) -> None:
    problem = model.build(random_table(10, seed=4, values=values))
    solution = Network().solve(problem)
    assert solution.status is Status.OPTIMAL
    assert ("POT" in str(solution.details.get("method"))) == (plain and way == "dense")
    assert solution.bound == pytest.approx(dense_optimum(problem) if not model.soft else solution.value, rel=1e-9)


def test_without_pot_the_flow_takes_small_transports(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Aminifar(n_clusters=3).build(random_table(10, seed=4))
    with_pot = Network().solve(problem)
    for name in ("ot", "ot.lp"):  # as where it is not installed
        monkeypatch.setitem(sys.modules, name, None)
    solution = Network().solve(problem)
    assert "method" not in solution.details
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(with_pot.value)


class TestAnswers:
    def test_infeasible_alpha_names_the_smallest_that_works(self) -> None:
        table = random_table(12, seed=1)
        solution = Network().solve(Aminifar(n_clusters=3, alpha=0.9).build(table))
        assert solution.status is Status.INFEASIBLE
        assert "smallest alpha that works is" in solution.reason
        least = float(solution.reason.rstrip(".").rsplit(" ", 1)[1])
        assert Network().solve(Aminifar(n_clusters=3, alpha=least).build(table)).status is Status.OPTIMAL

    @pytest.mark.parametrize("m", [3, 100])
    def test_infeasible_caps_are_proven_by_the_flow_itself(self, m: int) -> None:
        problem = Aminifar(n_clusters=m, alpha=1.0, n_init=1).build(random_table(4 * m, seed=2))
        group, bounds = problem.assignment().network()
        tight = bounds._replace(cap=bounds.cap - [[1, 0]])
        assert not Flow(arc_costs(problem), group, tight).finish()
        assert dense_transport(arc_costs(problem)(np.arange(problem.n), np.arange(m)), group, tight) is None

    def test_two_capped_attributes_are_refused_and_solved_by_the_milp(self) -> None:
        problem = Aminifar(n_clusters=2, alpha=1.6).build(random_table(8, seed=3, sensitive=2))
        with pytest.raises(RefusedError, match="milp"):
            Network().solve(problem)
        solution = Milp().solve(problem, time_limit=20)
        assert solution.value == pytest.approx(cheapest_assignment(problem), rel=1e-6)

    def test_other_models_are_refused(self) -> None:
        with pytest.raises(RefusedError, match="no centres that records are assigned to"):
            Network().solve(Microaggregation(k=2).build(random_table(6)))

    def test_a_time_limit_returns_the_best_so_far(self) -> None:
        problem = Aminifar(n_clusters=300, n_init=1).build(random_table(3000))
        solution = Network().solve(problem, time_limit=1e-6)
        check_solution(solution)
        assert solution.stop is Stop.TIME
        assert solution.status is Status.FEASIBLE

    def test_ctrl_c_returns_the_best_so_far(self) -> None:
        def interrupt(progress: Progress) -> None:
            if "augmenting" in progress.note:
                raise KeyboardInterrupt

        problem = Aminifar(n_clusters=300, n_init=1).build(random_table(3000))
        solution = Network().solve(problem, on_progress=interrupt)
        assert solution.stop is Stop.INTERRUPTED
        assert solution.labels is not None
        assert solution.gap is not None

    @pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
    def test_recentring_descends_and_says_so(self, metric: str) -> None:
        table = random_table(60, seed=5)
        problem = Aminifar(n_clusters=6, alpha=1.5, metric=metric).build(table)
        once, often = Network().solve(problem), Network(recentre=True).solve(problem)
        check_solution(often)
        values = often.details["values"]
        assert values == sorted(values, reverse=True)  # type: ignore[type-var, call-overload]
        assert values[0] == once.value  # type: ignore[index]
        assert often.details["recentred"] == len(values) - 1  # type: ignore[arg-type]
        assert often.value == values[-1]  # type: ignore[index]
        again = often.problem.formulation.build(table).evaluate(often.require())
        assert again.values["distance"] == pytest.approx(often.value)

    def test_rounds_must_be_positive(self) -> None:
        with pytest.raises(InputError, match="rounds"):
            Network(recentre=True, rounds=0)
