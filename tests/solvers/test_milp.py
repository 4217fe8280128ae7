from __future__ import annotations

import os
import signal
from threading import Timer

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest

from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels.errors import InputError, RefusedError
from optmodels.problem import PricedProblem
from optmodels.solution import Status, Stop
from optmodels.solver import Run
from optmodels.testing import brute_force, check_solution, check_solver, small_table
from solvers.milp import Milp
from solvers.milp.call import Call
from solvers.milp.highs_run import solve


@pytest.mark.parametrize(
    ("formulation", "n", "tables"),
    [
        (LiangSamavi(k=2), 6, 2),
        (LiangSamavi(k=3, weights={"category_0": 2.0}), 7, 2),
        (MoObam(k=3), 7, 3),
        (MoObam(k=2, n_clusters=2), 6, 3),
        (MoObam(k=2, least_entropy=[0.9]), 7, 2),
        (MoObam(k=2, n_clusters=2, least_entropy=[0.9]), 6, 2),
        (MoObam(k=2, objective="lambda", lam=0.3), 6, 1),
        (MoObam(k=2, objective="lambda", lam=0.1), 5, 2),
        (MoObam(k=2, n_clusters=2, objective="lambda", lam=0.3), 6, 1),
        (MoObam(k=2, objective="normalised", lam=0.5), 5, 2),
        (MoObam(k=2, n_clusters=2, objective="normalised", lam=0.5), 5, 2),
        (MoObam(k=2, objective="normalised", lam=0.5, least_loss=0.4), 5, 1),
    ],
    ids=str,
)
def test_agrees_with_brute_force(formulation, n, tables):
    check_solver(Milp(), lambda seed: formulation.build(small_table(n, seed=seed)), seeds=range(tables), time_limit=60)


@pytest.mark.parametrize(
    "conditions", [{"distinct_l": 2}, {"entropy_l": 1.7}, {"t": 0.25}, {"t": 0.4, "t_distance": "variational"}], ids=str
)
def test_class_wise_conditions_agree_with_brute_force(conditions):
    formulation = Microaggregation(k=2, **conditions)

    def problem(seed):
        return formulation.build(small_table(6, seed=seed, sensitive=2))

    check_solver(Milp(), problem, seeds=range(2), time_limit=60)


def test_cuts_are_needed_and_found():
    table = small_table(7, seed=1, values=2)
    loose, tight = MoObam(k=2).build(table), MoObam(k=2, least_entropy=[0.9]).build(table)
    free, bounded = Milp().solve(loose), Milp().solve(tight)
    assert not tight.evaluate(free.labels).feasible
    assert bounded.details["cuts"] > 0
    assert bounded.details["rounds"] > 1
    assert bounded.value == pytest.approx(brute_force(tight)[1].values["loss"])
    assert bounded.value > free.value


def test_infeasible_is_a_status_with_a_reason():
    table = small_table(6, seed=3, sensitive=1, values=2)
    codes = np.sort(table.sensitive_codes[:, 0])
    minority = int(min(np.bincount(codes)))
    assert minority < 3
    # three classes of two, each with both values, need three records of either
    problem = MoObam(k=2, n_clusters=3, least_entropy=[0.9]).build(table)
    assert brute_force(problem) is None
    solution = Milp().solve(problem)
    check_solution(solution)
    assert solution.status is Status.INFEASIBLE
    assert "k >= 2" in solution.reason


def test_a_start_is_kept_and_may_be_any_partition():
    problem = MoObam(k=2).build(small_table(8))
    everyone = np.zeros(8, int)  # larger than any class of the model
    assert not problem.to_pyomo().encode(everyone)
    assert Milp().solve(problem, start=everyone).status is Status.OPTIMAL
    best = Milp().solve(problem)
    again = Milp().solve(problem, start=best.labels)
    assert (again.labels == best.labels).all()
    assert again.history[0].value == best.value


def test_time_limit_returns_incumbent_bound_and_gap(tmp_path):
    problem = LiangSamavi(k=3).build(small_table(16))
    log = tmp_path / "highs.log"
    solution = Milp(log=log).solve(problem, time_limit=2, start=np.arange(16) // 4)
    check_solution(solution)
    assert (solution.status, solution.stop) == (Status.FEASIBLE, Stop.TIME)
    assert solution.bound is not None
    assert 0 < solution.gap < 1
    assert "HiGHS" in log.read_text()


def test_gap_stops_early():
    problem = LiangSamavi(k=2).build(small_table(7))
    solution = Milp(gap=0.5).solve(problem, time_limit=60)
    assert solution.stop is Stop.CONVERGED
    assert solution.gap <= 0.5
    for wrong, why in ((2.0, "fraction"), (-0.1, "negative"), ("small", "finite number")):
        with pytest.raises(InputError, match=why):
            Milp(gap=wrong)


def test_interrupt_returns_the_incumbent():
    problem = LiangSamavi(k=3).build(small_table(18))
    timer = Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        solution = Milp().solve(problem, time_limit=60)
    finally:
        timer.cancel()  # or it would interrupt whatever test comes next
    check_solution(solution)
    assert (solution.status, solution.stop) == (Status.FEASIBLE, Stop.INTERRUPTED)


def test_another_solver_through_pyomo():
    problem = MoObam(k=2, least_entropy=[0.9]).build(small_table(6, seed=1))
    other, ours = Milp(solver="appsi_highs").solve(problem), Milp().solve(problem)
    assert other.status is Status.OPTIMAL
    assert other.value == pytest.approx(ours.value)


def test_refusals():
    table = small_table(6)
    with pytest.raises(RefusedError, match="no solver 'nosuch'"):
        Milp(solver="nosuch").solve(MoObam(k=2).build(table))
    with pytest.raises(RefusedError, match="at most 60"):
        Milp().solve(MoObam(k=2).build(small_table(70)))

    modelled = Microaggregation(k=2).build(table)
    bare = PricedProblem(table, modelled.formulation, modelled.conditions, modelled.price)
    with pytest.raises(RefusedError, match="no Pyomo view"):
        Milp().solve(bare)


@pytest.mark.parametrize("kind", ["lp", "mps"])
@pytest.mark.parametrize("formulation", [LiangSamavi(k=2), MoObam(k=2)], ids=str)
def test_views_can_be_written_and_read_back(formulation, kind, tmp_path):
    problem = formulation.build(small_table(5))
    written = optimum_of_file(problem.to_pyomo().native, tmp_path / f"model.{kind}")
    assert written == pytest.approx(Milp().solve(problem).value, rel=1e-4)


@pytest.mark.parametrize("more", [{"least_entropy": (0.9,)}, {"objective": "lambda", "lam": 0.5}], ids=str)
def test_a_written_model_allows_more_until_its_cuts_are_in(more, tmp_path):
    problem = MoObam(k=2, **more).build(small_table(6, seed=3))
    value, view = Milp().solve(problem).value, problem.to_pyomo()
    assert optimum_of_file(view.native, tmp_path / "at_first.mps") < value - 0.01
    while True:
        pyo.SolverFactory("appsi_highs").solve(view.native)
        if view.cuts(view.native) == 0:
            break
    assert optimum_of_file(view.native, tmp_path / "in_the_end.mps") == pytest.approx(value, rel=1e-4)
    assert problem.evaluate(view.decode(view.native)).values[problem.target.name] == pytest.approx(value)


def optimum_of_file(model, path):
    model.write(str(path))
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(path))
    highs.run()
    return highs.getObjectiveValue()


def test_maximisation_has_its_bound_above():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.NonNegativeIntegers, bounds=(0, 5))
    model.row = pyo.Constraint(expr=2 * model.x[0] + 3 * model.x[1] <= 7)
    model.objective = pyo.Objective(expr=3 * model.x[0] + 4 * model.x[1] + 1, sense=pyo.maximize)
    bounds: list[float] = []
    run = Run(MoObam(k=2).build(small_table(4)), "milp")
    outcome = solve(Call(model, "highs", 0.0, None, False, run, lambda: False, bounds.append))
    assert outcome.stop is Stop.CONVERGED
    assert bounds[-1] == pytest.approx(11.0)
    assert pyo.value(model.objective) == pytest.approx(11.0)
