"""The particle swarm: mended and polished by default, as published when asked, and pymoo's."""

from __future__ import annotations

import json
from time import sleep

import numpy as np
import pytest

from formulations import Aminifar, LiangSamavi, Microaggregation, MoObam
from optmodels.errors import InputError, NoSolutionError, RefusedError
from optmodels.problem import Formulation, Problem
from optmodels.solution import Status
from optmodels.solver import Progress
from optmodels.structures import Centroids
from optmodels.testing import brute_force, check_solution, check_solver, small_table
from solvers.pso import Pso
from solvers.pso.flight import Flight

MODELS: dict[str, Formulation] = {
    "lambda": MoObam(k=3, n_clusters=4, objective="lambda", lam=0.3),
    "normalised": MoObam(k=3, objective="normalised", lam=0.3),
    "loss": MoObam(k=3),
    "diverse": Microaggregation(k=3, distinct_l=2),
}


def problem_of(model: str, n: int = 40) -> Problem:
    return MODELS[model].build(small_table(n, seed=1))


@pytest.mark.parametrize("swarm", ["paper", "pymoo"])
@pytest.mark.parametrize("model", MODELS)
def test_it_is_feasible_and_the_same_for_a_seed(model: str, swarm: str) -> None:
    problem = problem_of(model)
    solver = Pso(particles=8, iterations=5, swarm=swarm)  # type: ignore[arg-type]
    solution = solver.solve(problem, seed=3)
    check_solution(solution)
    assert solution.status is Status.FEASIBLE
    assert solution.stop == "iterations"
    assert solution.details["evaluations"] >= 5  # type: ignore[operator]
    again = solver.solve(problem, seed=3)
    assert again.labels.tolist() == solution.labels.tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize("swarm", ["paper", "pymoo"])
def test_few_records_against_brute_force(swarm: str) -> None:
    model = Microaggregation(k=2)
    solver = Pso(particles=10, iterations=10, swarm=swarm)  # type: ignore[arg-type]
    check_solver(solver, lambda seed: model.build(small_table(7, seed=seed)), seeds=range(2))
    problem = model.build(small_table(7, seed=1))
    best = brute_force(problem)
    assert best is not None
    assert solver.solve(problem).value == pytest.approx(best[1].values["loss"])


def test_nothing_is_polished_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a search among many records prepares takes seconds before it looks at the clock for the first time."""

    def improve(*_: object) -> None:
        raise AssertionError("polished")

    def slow(flight: Flight) -> object:
        sleep(0.2)
        return step(flight)

    step = Flight.step
    monkeypatch.setattr(Flight, "step", slow)
    monkeypatch.setattr("solvers.evolution.intensify.Intensifier.improve", improve)
    problem = problem_of("diverse")
    assert Pso(particles=8).solve(problem, time_limit=0.1).labels is not None
    assert len(Pso(particles=8, lambdas=(0.5,)).pareto(problem.with_objectives("loss", "entropy"), time_limit=0.1))


class TestFaithful:
    def test_violations_are_told_and_never_returned(self) -> None:
        # A penalty of nothing lets classes fall below k, as they do in the paper's tables.
        problem = MoObam(k=5, n_clusters=8, objective="lambda", lam=0.3).build(small_table(40, seed=1))
        solver = Pso(particles=10, iterations=10, faithful=True, penalty=0.0)
        solution = solver.solve(problem, seed=1)
        told = solution.details["faithful"]
        assert isinstance(told, dict)
        flight = solver.flight(problem, seed=1)
        for _ in range(10):
            flight.step()
        judged, sizes = problem.evaluate(flight.best_labels), np.bincount(flight.best_labels)
        assert told["violations"] == judged.violations
        assert told["values"] == pytest.approx(dict(judged.values))
        assert told["records_in_classes_below_k"] == sizes[sizes < 5].sum() > 0
        assert told["classes_below_k"] == (sizes < 5).sum()
        assert told["classes"] == len(sizes)
        assert solution.status is Status.NONE, "the particle that breaks k is described, not returned"
        with pytest.raises(NoSolutionError, match=rf"best particle has score .* breaks k in {(sizes < 5).sum()} of "):
            solution.release()
        json.dumps(solution.to_dict())

    def test_a_feasible_particle_is_returned_beside_a_better_one_that_is_not(self) -> None:
        problem = MoObam(k=3, n_clusters=5).build(small_table(40, seed=1))
        solution = Pso(particles=20, iterations=10, faithful=True, penalty=0.0).solve(problem, seed=1)
        told = solution.details["faithful"]
        assert isinstance(told, dict)
        assert told["records_in_classes_below_k"] > 0
        check_solution(solution)
        assert solution.status is Status.FEASIBLE
        assert "breaks k in" in str(solution.details["remark"])

    def test_a_high_penalty_leads_it_to_what_is_feasible(self) -> None:
        problem = MoObam(k=2, n_clusters=2, objective="lambda", lam=0.3).build(small_table(30, seed=1))
        solution = Pso(particles=20, iterations=20, faithful=True, penalty=1000.0).solve(problem, seed=1)
        told = solution.details["faithful"]
        assert isinstance(told, dict)
        assert told["records_in_classes_below_k"] == 0
        check_solution(solution)
        assert solution.value == pytest.approx(told["values"]["score"])

    def test_the_raw_centroids_cost_no_less_than_means_and_modes(self) -> None:
        problem = MoObam(k=2, n_clusters=3).build(small_table(30, seed=2))
        solution = Pso(particles=10, iterations=5, faithful=True).solve(problem, seed=1)
        told = solution.details["faithful"]
        assert isinstance(told, dict)
        assert told["fitness"] >= told["values"]["loss"] - 1e-9

    def test_mending_and_polishing_pay(self) -> None:
        problem = MoObam(k=3, n_clusters=3).build(small_table(60, seed=2))
        ours = Pso(particles=10, iterations=10).solve(problem, seed=1)
        published = Pso(particles=10, iterations=10, faithful=True).solve(problem, seed=1)
        assert ours.value is not None
        assert published.value is not None
        assert ours.value < published.value

    def test_a_front_tells_the_best_particle_of_every_lambda(self) -> None:
        problem = MoObam(k=5, n_clusters=8).build(small_table(40, seed=1))
        front = Pso(particles=8, iterations=4, lambdas=(0.01, 1.0), faithful=True).pareto(problem, seed=1)
        told = front.details["faithful"]
        assert isinstance(told, list)
        assert [each["lambda"] for each in told] == [0.01, 1.0]
        for each in told:
            assert set(each) >= {"fitness", "values", "classes", "records_in_classes_below_k"}
            assert set(each["values"]) == {"loss", "entropy"}
            assert each["records_in_classes_below_k"] > 0
        assert "lambda 0.01 has loss" in str(front.details["remark"])
        assert "faithful" not in Pso(particles=8, iterations=1).pareto(problem).details


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("faithful", [False, True])
def test_a_front_of_swarms(model: str, faithful: bool) -> None:
    problem = problem_of(model)
    if len(problem.objectives) < 2:
        problem = problem.with_objectives("loss", "entropy")
    # Few centroids, so that the faithful swarm meets classes that are large enough.
    n_centroids = 2 if problem.require(Centroids).n_classes is None else None  # type: ignore[attr-defined]
    solver = Pso(particles=20, iterations=4, lambdas=(0.01, 1.0), faithful=faithful, n_centroids=n_centroids)
    front = solver.pareto(problem, seed=2)
    used = front.details["evaluations"]
    assert (used == 2 * 4 * 20) if faithful else (used > 2 * 4 * 20)  # type: ignore[operator]
    assert len(front) > 0
    assert all(problem.evaluate(point.labels).feasible for point in front)  # type: ignore[arg-type]
    again = solver.pareto(problem, seed=2)
    assert [point.values for point in again] == [point.values for point in front]


def test_a_front_that_is_interrupted_is_kept() -> None:
    problem = problem_of("loss")

    def interrupt(progress: Progress) -> None:
        if progress.done >= 3 * 8:
            raise KeyboardInterrupt

    front = Pso(particles=8, iterations=10).pareto(problem, on_progress=interrupt)
    assert len(front) > 0
    assert front.details["stop"] == "interrupted"
    assert front.details["evaluations"] == 3 * 8


def test_a_front_is_polished() -> None:
    problem = MoObam(k=3).build(small_table(60, seed=2))
    solver = Pso(particles=8, iterations=3, lambdas=(0.001,))
    flight = solver.flight(problem, seed=1, weight=0.001)
    for _ in range(3):
        flight.step()
    front = solver.pareto(problem, seed=1)
    best = problem.evaluate(flight.best_labels).values
    assert any(
        point.values["loss"] < 0.99 * best["loss"] and point.values["entropy"] >= best["entropy"] - 1e-9
        for point in front
    )


def test_progress_of_a_front_says_where_it_is() -> None:
    problem = problem_of("loss")
    seen: list[Progress] = []
    front = Pso(particles=8, iterations=3, lambdas=(0.01, 1.0)).pareto(problem, on_progress=seen.append)
    assert len(seen) == 2 * (3 + 1), "every step and every polish"
    for progress in seen:
        assert set(progress.front) == {"evaluations", "points", "hypervolume", "loss", "entropy"}
    last = seen[-1].front
    assert last["points"] >= len(front) > 0, "points that differ by rounding are one in the front"
    assert last["evaluations"] == front.details["evaluations"]
    assert last["hypervolume"] == pytest.approx(front.hypervolume())
    assert last["loss"] == pytest.approx(front[0].values["loss"])


@pytest.mark.parametrize(("evaluations", "faithful"), [(30, False), (30, True), (200, True), (2_000, False)])
def test_evaluations_are_shared_out_over_the_lambdas(evaluations: int, faithful: bool) -> None:
    problem = problem_of("loss")
    notes: list[str] = []
    solver = Pso(particles=8, iterations=1, lambdas=(0.01, 0.1, 1.0), evaluations=evaluations, faithful=faithful)
    front = solver.pareto(problem, on_progress=lambda progress: notes.append(progress.note))
    used = front.details["evaluations"]
    assert 0.5 * evaluations <= used <= evaluations + 8 * 3  # type: ignore[operator]
    assert {note.split(",")[0] for note in notes} == {"lambda 0.01", "lambda 0.1", "lambda 1"}
    assert any("polished" in note for note in notes) == (evaluations == 2_000)


@pytest.mark.parametrize("swarm", ["paper", "pymoo"])
def test_evaluations_replace_iterations(swarm: str) -> None:
    solver = Pso(particles=8, iterations=10**9, evaluations=80, swarm=swarm)  # type: ignore[arg-type]
    solution = solver.solve(problem_of("loss"), seed=1)
    check_solution(solution)
    assert solution.stop == "iterations"
    assert solution.details["evaluations"] <= 88  # type: ignore[operator]


def test_a_front_in_time_has_something_of_every_lambda() -> None:
    notes: list[str] = []
    solver = Pso(iterations=10**9, lambdas=(0.01, 0.1, 1.0))
    front = solver.pareto(problem_of("loss"), time_limit=1.5, on_progress=lambda progress: notes.append(progress.note))
    assert front.details["stop"] == "time"
    assert {note.split(",")[0] for note in notes} == {"lambda 0.01", "lambda 0.1", "lambda 1"}


def test_the_swarm_of_pymoo_has_no_front() -> None:
    with pytest.raises(RefusedError, match=r"use swarm='paper'. Solvers that can: .*'nsga2'"):
        Pso(swarm="pymoo").pareto(problem_of("loss"))


def test_polishing_never_makes_the_best_particle_worse() -> None:
    problem = problem_of("lambda")
    offered: list[float] = []
    solution = Pso(particles=8, iterations=5).solve(
        problem, seed=3, on_progress=lambda progress: offered.append(progress.value or np.inf)
    )
    assert solution.value is not None
    assert solution.value <= min(offered) + 1e-12


def test_time_and_ctrl_c_keep_the_best() -> None:
    problem = problem_of("loss")
    solution = Pso(iterations=10**9).solve(problem, time_limit=0.5)
    check_solution(solution)
    assert solution.stop == "time"

    def interrupt(progress: Progress) -> None:
        if progress.done >= 3:
            raise KeyboardInterrupt

    for swarm in ("paper", "pymoo"):
        solution = Pso(swarm=swarm).solve(problem, on_progress=interrupt)  # type: ignore[arg-type]
        check_solution(solution)
        assert solution.stop == "interrupted"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"swarm": "papers"}, "Did you mean 'paper'"),
        ({"particles": 0}, "particles must be"),
        ({"iterations": 0}, "iterations must be"),
        ({"evaluations": 0}, "evaluations must be"),
        ({"penalty": -1.0}, "penalty must not be negative"),
        ({"lambdas": ()}, "one weight or more"),
        ({"lambdas": (0.1, -1.0)}, "lambdas must not be negative"),
        ({"lambdas": ("a",)}, "lambdas must be a finite number"),
        ({"lambdas": 0.1}, "one weight or more"),
        ({"particles": 2.5}, "particles must be a whole number"),
        ({"iterations": 2.5}, "iterations must be a whole number"),
        ({"n_centroids": 0}, "n_centroids must be a whole number"),
        ({"faithful": True, "swarm": "pymoo"}, "faithful is about the paper's swarm"),
    ],
    ids=str,
)
def test_wrong_options(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Pso(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", [LiangSamavi(k=2), Aminifar(n_clusters=3)])
def test_models_that_say_nothing_of_centroids_are_taken_too(model: Formulation) -> None:
    problem = model.build(small_table(9))
    check_solution(Pso(iterations=3).solve(problem))
    with pytest.raises(RefusedError, match="drop faithful"):
        Pso(faithful=True).solve(problem)
