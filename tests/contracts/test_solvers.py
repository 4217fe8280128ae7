"""Every solver against brute force over all partitions, on every formulation and condition it takes."""

from collections.abc import Callable

import pytest

from formulations import Aminifar, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels import registry
from optmodels.errors import RefusedError
from optmodels.problem import Formulation, Problem
from optmodels.solver import Solver
from optmodels.testing import check_solver, small_table

CONDITIONS: dict[str, Formulation] = {
    "k": Microaggregation(k=3),
    "distinct": Microaggregation(k=2, distinct_l=2),
    "entropy": Microaggregation(k=2, entropy_l=1.6),
    "t": Microaggregation(k=2, t=0.35),
    "all": Microaggregation(k=2, distinct_l=2, entropy_l=1.4, t=0.45),
    "extent": LiangSamavi(k=3),
    "classes": MoObam(k=2, n_clusters=3),
    "bits": MoObam(k=2, least_entropy=(0.8,)),
    "distinct bits": MoObam(k=2, least_entropy=(0.4,), distinct_l=2),
}
SCORES: dict[str, Formulation] = {
    "lambda": MoObam(k=2, objective="lambda", lam=0.3),
    "normalised": MoObam(k=2, objective="normalised", lam=0.4),
    "distinct": MoObam(k=2, objective="lambda", lam=0.01, distinct_l=2),
}


def quick(name: str) -> Solver:
    """The solver; where it is 'auto', one whose fronts take few evaluations if it is evaluations that they take."""
    return registry.configured(registry.solver(name), {"evaluations": 100} if name == "auto" else {})


def tables(formulation: Formulation, n: int, *, repeated: bool = False) -> Callable[[int], Problem]:
    return lambda seed: formulation.build(small_table(n, seed=seed, repeated=repeated), seed=seed)


@pytest.mark.parametrize("repeated", [False, True], ids=["distinct", "repeated"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_columns(condition: str, repeated: bool) -> None:
    n = 9 if condition in ("k", "extent") else 8  # with k = 2 there are ten times as many partitions
    check_solver(registry.solver("columns")(), tables(CONDITIONS[condition], n, repeated=repeated), seeds=range(3))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_milp(condition: str) -> None:
    check_solver(registry.solver("milp")(), tables(CONDITIONS[condition], 7), seeds=range(1))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("solver", ["epsilon", "milp", "auto"])
def test_scores(solver: str, score: str) -> None:
    check_solver(quick(solver), tables(SCORES[score], 6), seeds=range(2))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_auto(condition: str) -> None:
    check_solver(quick("auto"), tables(CONDITIONS[condition], 8), seeds=range(2))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_local_search(condition: str) -> None:
    solver = registry.configured(registry.solver("local_search"), {"iterations": 50})
    check_solver(solver, tables(CONDITIONS[condition], 8), seeds=range(2))


@pytest.mark.parametrize("cut", ["kd", "strata"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_blocks(condition: str, cut: str) -> None:
    few = {"block_size": 4, "cut": cut, "inner_options": {"iterations": 20}}
    check_solver(registry.configured(registry.solver("blocks"), few), tables(CONDITIONS[condition], 8), seeds=range(2))


OTHERS: dict[str, Formulation] = {
    "score": MoObam(k=2, objective="lambda", lam=0.3),
    "centres": Aminifar(k=2, n_init=1),
    "caps": Aminifar(k=2, alpha=2.0, n_init=1),
    "free centres": Aminifar(k=2, centres="free"),
    "mass": Mass(classifiers=()),
    "levels": MajeedHwang(k=2, trees=3, levels="least", most_disclosure=0.75),
    "flexible levels": MajeedHwang(k=2, trees=3, threshold=0.5),
}


@pytest.mark.parametrize("model", OTHERS)
def test_blocks_of_what_has_no_price(model: str) -> None:
    evolved = {"inner": "nsga2", "inner_options": {"evaluations": 60, "population": 12}}
    few = {"block_size": 4, **(evolved if model in ("score", "free centres") else {})}
    n = 6 if model == "mass" else 8  # its judge is slow, for brute force
    check_solver(registry.configured(registry.solver("blocks"), few), tables(OTHERS[model], n), seeds=range(2))


@pytest.mark.parametrize("condition", [name for name in CONDITIONS if name != "extent"])
@pytest.mark.parametrize("solver", ["nsga2", "pso"])
def test_metaheuristics(solver: str, condition: str) -> None:
    few = {"nsga2": {"evaluations": 100, "population": 12}, "pso": {"particles": 8, "iterations": 5}}[solver]
    chosen = registry.configured(registry.solver(solver), few)
    check_solver(chosen, tables(CONDITIONS[condition], 8, repeated=True), seeds=range(2))


@pytest.mark.parametrize("condition", ["k", "distinct", "entropy", "t", "all"])
@pytest.mark.parametrize("solver", ["mdav", "zheng", "mondrian"])
def test_constructions(solver: str, condition: str) -> None:
    check_solver(registry.solver(solver)(), tables(CONDITIONS[condition], 8), seeds=range(5))


@pytest.mark.parametrize("solver", ["liang-greedy", "liang-split", "mondrian"])
def test_constructions_of_intervals(solver: str) -> None:
    check_solver(registry.solver(solver)(), tables(CONDITIONS["extent"], 8), seeds=range(5))


@pytest.mark.parametrize("repeated", [False, True], ids=["distinct", "repeated"])
def test_univariate(repeated: bool) -> None:
    def problem(seed: int) -> Problem:
        table = small_table(9, seed=seed, numeric=1, categorical=0, repeated=repeated)
        return Microaggregation(k=2 + seed % 3).build(table)

    check_solver(registry.solver("univariate")(), problem, seeds=range(6))


@pytest.mark.parametrize("model", [Mass(classifiers=()), Mass(k=3, classifiers=(), distinct_l=2)], ids=repr)
def test_mass(model: Mass) -> None:
    check_solver(registry.solver("mass")(), tables(model, 8), seeds=range(3))


LEVELS: dict[str, Formulation] = {
    "flexible": MajeedHwang(k=2, trees=3, threshold=0.5),
    "least": MajeedHwang(k=2, trees=3, levels="least"),
    "uncertain": MajeedHwang(k=2, trees=3, levels="least", threshold=0.8),
    "disclosure": MajeedHwang(k=2, trees=3, levels="least", most_disclosure=0.75),
}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("solver", ["usefulness", "generalise"])
def test_generalisation(solver: str, levels: str) -> None:
    check_solver(registry.solver(solver)(), tables(LEVELS[levels], 7), seeds=range(2))


@pytest.mark.parametrize("levels", [name for name in LEVELS if name != "flexible"])
@pytest.mark.parametrize("solver", ["milp", "auto"])
def test_exact_levels(solver: str, levels: str) -> None:
    check_solver(quick(solver), tables(LEVELS[levels], 7), seeds=range(2))


@pytest.mark.parametrize("solver", ["univariate", "mass", "network"])
def test_what_does_not_fit_is_refused_with_a_reason(solver: str) -> None:
    problem = LiangSamavi(k=2).build(small_table())
    with pytest.raises(RefusedError, match=r"cannot solve this problem: .* Solvers that can: .*'columns'"):
        registry.solver(solver)().solve(problem)
