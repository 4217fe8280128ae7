"""Fronts by pymoo's algorithms: feasible, non-dominated, reproducible, and kept whatever ends the run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from formulations import Aminifar, LiangSamavi, MajeedHwang, Microaggregation, MoObam
from optmodels import ParetoFront, Table, registry
from optmodels.errors import OptmodelsError, RefusedError
from optmodels.partition import Labels
from optmodels.problem import Formulation, Problem
from optmodels.solution import Status
from optmodels.solver import Progress, Run
from optmodels.testing import brute_force, brute_force_front, check_solution, small_table
from solvers.evolution import Evolution, FrontSearch
from solvers.evolution.algorithms import Nsga2, Nsga3

ALGORITHMS = ("nsga2", "nsga3", "sms-emoa", "spea2", "age-moea", "moead", "mopso-cd", "cmopso")
POPULATION = 12


def solver_of(name: str, evaluations: int | None = 250, **options: object) -> Evolution:
    given = {"population": POPULATION, "evaluations": evaluations, **options}
    solver = registry.configured(registry.solver(name), given)
    assert isinstance(solver, Evolution)
    return solver


def costs_of(front: ParetoFront, problem: Problem) -> np.ndarray:
    signs = [1 if objective.sense == "min" else -1 for objective in problem.objectives]
    names = [objective.name for objective in problem.objectives]
    return np.array([[sign * point.values[name] for sign, name in zip(signs, names, strict=True)] for point in front])


def check_front(front: ParetoFront, problem: Problem) -> None:
    """Every point is feasible with the judge's values, none dominates another, no partition comes twice."""
    assert len(front) > 0
    for point in front:
        assert point.labels is not None
        assert point.status is Status.FEASIBLE
        judged = problem.evaluate(point.labels)
        assert judged.feasible
        assert judged.values == pytest.approx(dict(point.values))
        assert point.release().audit.k >= problem.conditions.k
    costs = costs_of(front, problem)
    for i, cost in enumerate(costs):
        others = np.delete(costs, i, axis=0)
        assert not ((others <= cost).all(axis=1) & (others < cost).any(axis=1)).any()
    assert len({point.labels.tobytes() for point in front if point.labels is not None}) == len(front)
    assert len(np.unique(costs.round(12), axis=0)) == len(front)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm(name: str) -> None:
    problem = MoObam(k=3).build(small_table(40, seed=4))
    solver = solver_of(name)
    front = solver.pareto(problem, seed=7)
    check_front(front, problem)
    again = solver.pareto(problem, seed=7)
    assert [point.labels.tolist() for point in again] == [point.labels.tolist() for point in front]  # type: ignore[union-attr]
    used = front.details["evaluations"]
    assert used == again.details["evaluations"]
    assert 200 <= used <= 250 + 3 * POPULATION, "evaluations are kept within one generation"  # type: ignore[operator]
    assert front.details["stop"] in ("iterations", "converged")


def categorical_table(n: int) -> Table:
    draw = np.random.default_rng(0)
    columns = {"sex": ["f", "m"], "region": list("abcdef"), "illness": ["flu", "cold", "gout"]}
    frame = pd.DataFrame({name: draw.choice(values, n) for name, values in columns.items()})
    return Table(frame, quasi={"sex": "categorical", "region": "categorical"}, sensitive="illness")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_tables_without_numbers(name: str) -> None:
    """Classes of equal records cost nothing there, so what an average class costs may be nothing, too."""
    problem = MoObam(k=5).build(categorical_table(200))
    check_front(solver_of(name, 500).pareto(problem, seed=1), problem)
    alone = Microaggregation(k=5).build(categorical_table(40))
    check_solution(solver_of(name).solve(alone, seed=1))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_plain_algorithms_without_local_search(name: str) -> None:
    problem = Microaggregation(k=3, distinct_l=2).build(small_table(30, seed=4)).with_objectives("loss", "classes")
    front = solver_of(name, 100, memetic=False).pareto(problem, seed=2)
    check_front(front, problem)
    assert front.details["evaluations"] <= 100 + 3 * POPULATION


def test_few_partitions_do_not_make_a_generation_endless() -> None:
    problem = MoObam(k=3).build(small_table(6))
    front = solver_of("nsga2", 60, memetic=False).pareto(problem)
    assert front.details["evaluations"] <= 60 + 3 * POPULATION, "duplicates are sought again and again only so long"


@pytest.mark.parametrize("memetic", [False, True])
@pytest.mark.parametrize("name", ["mopso-cd", "cmopso"])
def test_particles_that_stand_still_have_converged(name: str, memetic: bool) -> None:
    table = Table(pd.DataFrame({"a": [1.0] * 10, "s": list("xy" * 5)}), quasi={"a": "numeric"}, sensitive="s")
    problem = MoObam(k=3).build(table)
    reports: list[Progress] = []

    def patient(progress: Progress) -> None:
        reports.append(progress)
        assert len(reports) < 200, "it goes on for ever"

    front = solver_of(name, 400, memetic=memetic).pareto(problem, on_progress=patient)
    check_front(front, problem)
    # Where particles stand still, local search goes on with the evaluations that are left.
    assert front.details["stop"] == ("iterations" if memetic else "converged")


class Ticking(Run):
    """A run whose clock is wound by hand."""

    now = 0.0

    @property
    def seconds(self) -> float:
        return self.now


def test_one_slow_judgement_does_not_end_a_run_early(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = MoObam(k=3).build(small_table(12, seed=4))
    run = Ticking(problem, "nsga2", time_limit=2.0)
    search = FrontSearch(Nsga2(), problem, run)
    judge, took = search.standing.judge, iter([0.5, 0.001, 0.002])

    def timed(labels: Labels) -> bool:
        run.now += next(took)
        return judge(labels)

    monkeypatch.setattr(search.standing, "judge", timed)
    assert search.reserve == 0.0
    for _ in range(3):
        search._judge(np.zeros(12, np.int64))
    assert len(search.archive) == 1
    assert 0.001 < search.reserve < 0.005, "by the fastest, with a margin"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_nothing_is_left_over_from_one_run_to_the_next(name: str) -> None:
    problem = MoObam(k=3).build(small_table(30, seed=4))
    other = problem.with_objectives("loss", "linkage@0.2", "classes")
    before, _, after = (solver_of(name, 80, memetic=False).pareto(each, seed=1) for each in (problem, other, problem))
    assert costs_of(before, problem).tolist() == costs_of(after, problem).tolist()


def test_the_elites_of_a_swarm_are_thinned_out_by_the_seed() -> None:
    problem = MoObam(k=2).build(small_table(40, seed=2))
    one, other = (solver_of("cmopso", 200, memetic=False, population=4).pareto(problem, seed=0) for _ in range(2))
    assert costs_of(one, problem).tolist() == costs_of(other, problem).tolist()


def test_other_seeds_other_fronts() -> None:
    problem = MoObam(k=3).build(small_table(60, seed=4))
    fronts = [solver_of("nsga2", 150, memetic=False).pareto(problem, seed=seed) for seed in (1, 2)]
    assert costs_of(fronts[0], problem).tolist() != costs_of(fronts[1], problem).tolist()


def test_local_search_is_worth_its_evaluations() -> None:
    problem = MoObam(k=3).build(small_table(60, seed=4))
    plain, memetic = (solver_of("nsga2", 800, memetic=choice).pareto(problem, seed=1) for choice in (False, True))
    assert memetic.details["hypervolume"] > plain.details["hypervolume"]  # type: ignore[operator]


@pytest.mark.parametrize("name", ["nsga2", "moead"])
def test_few_records_against_brute_force(name: str) -> None:
    problem = MoObam(k=2).build(small_table(7, seed=3))
    exact = brute_force_front(problem)
    front = solver_of(name, 600).pareto(problem, seed=1)
    check_front(front, problem)
    for point in front:
        loss, entropy = point.values["loss"], point.values["entropy"]
        assert any(best <= loss + 1e-9 and bits >= entropy - 1e-9 for best, bits in exact)
    assert front[0].values["loss"] == pytest.approx(exact[0][0])
    assert front[len(front) - 1].values["entropy"] == pytest.approx(exact[-1][1])


def test_three_objectives_and_more() -> None:
    table = small_table(40, seed=1, sensitive=2)
    for names in (("loss", "entropy", "linkage@0.2"), ("loss", "homogeneity", "closeness", "classes")):
        problem = MoObam(k=2).build(table).with_objectives(*names)
        front = Nsga3(evaluations=300, population=20).pareto(problem, seed=1)
        check_front(front, problem)
        assert set(front[0].values) == set(names)


def test_a_fixed_number_of_classes() -> None:
    problem = MoObam(k=3, n_clusters=5).build(small_table(30, seed=1))
    front = solver_of("nsga2").pareto(problem, seed=1)
    check_front(front, problem)
    assert all(int(point.labels.max()) + 1 == 5 for point in front)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_one_objective(name: str) -> None:
    problem = Microaggregation(k=3).build(small_table(8, seed=2))
    best = brute_force(problem)
    assert best is not None
    solution = solver_of(name, 200).solve(problem, seed=1)
    check_solution(solution)
    assert solution.value == pytest.approx(best[1].values["loss"])
    with pytest.raises(RefusedError, match="a front needs two"):
        solver_of("nsga2").pareto(problem)


@pytest.mark.parametrize("objective", ["lambda", "normalised"])
def test_a_score_is_sought_on_the_front_of_its_parts(objective: str) -> None:
    problem = MoObam(k=2, objective=objective, lam=0.3).build(small_table(7, seed=5))  # type: ignore[arg-type]
    best = brute_force(problem)
    assert best is not None
    solution = solver_of("nsga2", 500).solve(problem, seed=1)
    check_solution(solution)
    assert solution.value == pytest.approx(best[1].values["score"])


def test_a_time_limit_keeps_the_archive() -> None:
    problem = MoObam(k=3).build(small_table(60, seed=4))
    front = solver_of("nsga2", None).pareto(problem, time_limit=0.5)
    check_front(front, problem)
    assert front.details["stop"] == "time"


@pytest.mark.parametrize("reports", [1, 4])
def test_ctrl_c_keeps_the_archive(reports: int) -> None:
    problem = MoObam(k=3).build(small_table(60, seed=4))
    seen: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == reports:
            raise KeyboardInterrupt

    front = solver_of("nsga2").pareto(problem, on_progress=interrupt)
    check_front(front, problem)
    assert front.details["stop"] == "interrupted"
    assert len(seen) == reports
    assert "hypervolume" in seen[-1].note
    solution = solver_of("nsga2").solve(problem, on_progress=lambda progress: interrupt(progress))
    check_solution(solution)


def test_hypervolume_never_falls() -> None:
    problem = MoObam(k=3).build(small_table(40, seed=4))
    front = solver_of("nsga2", 600).pareto(problem, seed=3)
    curve = front.details["curve"]
    assert isinstance(curve, list)
    volumes = [volume for _, _, volume in curve]
    assert volumes == sorted(volumes)
    assert len(volumes) > 3


def test_a_start_joins_the_front() -> None:
    problem = MoObam(k=3).build(small_table(40, seed=4))
    good = solver_of("nsga2", 600).solve(problem, seed=1)
    warm = solver_of("nsga2", 30, memetic=False).solve(problem, seed=2, start=good.labels)
    assert warm.value is not None
    assert good.value is not None
    assert warm.value <= good.value


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"evaluation": 100}, "Did you mean 'evaluations'"),
        ({"evaluations": 0}, "evaluations must be"),
        ({"population": 2}, "population must be"),
    ],
    ids=str,
)
def test_wrong_options(wrong: dict[str, object], message: str) -> None:
    for name in ALGORITHMS:
        with pytest.raises(OptmodelsError, match=message):
            registry.configured(registry.solver(name), wrong)


@pytest.mark.parametrize("model", [LiangSamavi(k=2), Aminifar(n_clusters=3), MajeedHwang(k=2, trees=2)])
def test_models_that_say_nothing_of_centroids_are_taken_too(model: Formulation) -> None:
    problem = model.build(small_table(9))
    solution = Nsga2(evaluations=300, population=20).solve(problem)
    check_solution(solution)
    best = brute_force(problem)
    assert best is not None
    assert solution.value == pytest.approx(best[1].values[problem.target.name], rel=0.3)
    front = Nsga2(evaluations=300, population=20).pareto(problem.with_objectives("linkage@0.4", "entropy"))
    assert len(front) >= 1


def test_impossible_conditions_are_no_front() -> None:
    problem = Microaggregation(k=2, distinct_l=9).build(small_table(9)).with_objectives("loss", "entropy")
    front = Nsga2().pareto(problem)
    assert len(front) == 0
    assert "distinct_l=9" in str(front.details["infeasible"])
