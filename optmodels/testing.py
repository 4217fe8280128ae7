"""Contract tests that any formulation or solver can be put through, ours and third parties' alike.

Each check raises AssertionError with what went wrong. Tables are tiny, so that brute force is the reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from optmodels.partition import Labels, canonical
from optmodels.problem import Evaluation, Formulation, Problem
from optmodels.solution import Solution, Status
from optmodels.solver import Solver
from optmodels.structures import Priced
from optmodels.table import Table

# Objective values closer than this, relatively, are the same number computed in two orders.
SAME = 1e-7


def small_table(
    n: int = 8,
    *,
    seed: int = 0,
    numeric: int = 2,
    categorical: int = 1,
    sensitive: int = 1,
    values: int = 3,
    repeated: bool = False,
) -> Table:
    """A random table small enough for brute force; `repeated` draws records from few distinct ones.

    >>> small_table(6).n
    6
    """
    draw = np.random.default_rng(seed)
    columns: dict[str, object] = {}
    for j in range(numeric):
        columns[f"number_{j}"] = draw.integers(0, 3, n) if repeated else draw.normal(size=n).round(3)
    for j in range(categorical):
        columns[f"category_{j}"] = draw.choice(list("abc"[: 2 if repeated else 3]), n)
    for j in range(sensitive):
        columns[f"secret_{j}"] = draw.choice(list("uvwxyz"[:values]), n)
    quasi = {f"number_{j}": "numeric" for j in range(numeric)} | {
        f"category_{j}": "categorical" for j in range(categorical)
    }
    return Table(pd.DataFrame(columns), quasi=quasi, sensitive=[f"secret_{j}" for j in range(sensitive)])  # type: ignore[arg-type]


def partitions(n: int, least: int = 1) -> Iterator[Labels]:
    """Every partition of n records into classes of at least `least` records, once each.

    >>> sum(1 for _ in partitions(5)), sum(1 for _ in partitions(6, least=3))
    (52, 11)
    """
    labels = np.zeros(n, np.int64)

    def grow(record: int, sizes: list[int]) -> Iterator[Labels]:
        missing = sum(max(0, least - size) for size in sizes)
        if missing > n - record:
            return
        if record == n:
            yield labels.copy()
            return
        for c in range(len(sizes) + 1):
            labels[record] = c
            if c == len(sizes):
                yield from grow(record + 1, [*sizes, 1])
            else:
                sizes[c] += 1
                yield from grow(record + 1, sizes)
                sizes[c] -= 1

    yield from grow(0, [])


def brute_force(problem: Problem) -> tuple[Labels, Evaluation] | None:
    """The best feasible partition by looking at every one, or None where there is none; for n up to about 9."""
    best: tuple[Labels, Evaluation] | None = None
    target = problem.target
    for labels in partitions(problem.n, problem.conditions.k):
        found = problem.evaluate(labels)
        if found.feasible and (
            best is None or target.worse(found.values[target.name], best[1].values[target.name]) < 0
        ):
            best = labels, found
    return best


def brute_force_front(problem: Problem) -> list[tuple[float, ...]]:
    """The exact Pareto front, as sorted tuples of objective values, by looking at every partition."""
    senses = [1.0 if objective.sense == "min" else -1.0 for objective in problem.objectives]
    names = [objective.name for objective in problem.objectives]
    points: set[tuple[float, ...]] = set()
    for labels in partitions(problem.n, problem.conditions.k):
        found = problem.evaluate(labels)
        if found.feasible:
            points.add(tuple(round(sign * found.values[name], 12) for sign, name in zip(senses, names, strict=True)))
    kept = [p for p in points if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)]
    return sorted(tuple(sign * value for sign, value in zip(senses, p, strict=True)) for p in kept)


def check_formulation(formulation: Formulation, table: Table, *, seed: int = 0) -> None:
    """A formulation's contract: cheap deterministic build, a judge of labels alone, structure that agrees with it."""
    problem = formulation.build(table, seed=seed)
    draw = np.random.default_rng(seed)
    for _ in range(5):
        labels = draw.integers(0, max(1, table.n // 3), table.n)
        found = problem.evaluate(labels)
        assert set(found.values) >= {objective.name for objective in problem.objectives}, "an objective has no value"
        renamed = draw.permutation(int(labels.max()) + 1)[labels] + 7
        assert _same(problem.evaluate(renamed), found), "the judge depends on the names of the classes"
        assert _same(formulation.build(table, seed=seed).evaluate(labels), found), "two builds disagree"
        priced = problem.structure(Priced)
        if priced is not None:
            total, value = priced.price.total(canonical(labels)) / priced.scale, found.values[problem.target.name]
            assert math.isclose(total, value, rel_tol=SAME, abs_tol=SAME), "price and judge disagree"
    assert set(formulation.to_dict()) == set(formulation.parameters()), "parameters are not reproducible"
    if table.sensitive:
        stricter = replace(formulation, distinct_l=2).build(table, seed=seed)
        asked = stricter.conditions.of(table.sensitive[0]).distinct_l
        assert asked == 2, "a condition is not handed to the problem: give it `self.conditions(k)`"


def check_pyomo_view(problem: Problem, labels: Labels) -> None:
    """The Pyomo view of a problem agrees with its judge on a partition: value, feasibility, and the way back.

    A view may have no place for a partition (`encode` says so), and may be completed lazily by `cuts`.
    """
    import pyomo.environ as pyo

    view = problem.to_pyomo()
    assert view.encode is not None, "a Pyomo view without a way in"
    labels = problem.check(labels)
    if not view.encode(labels):
        return
    found = problem.evaluate(labels)
    objective = next(view.native.component_data_objects(pyo.Objective, active=True))
    value = found.values[problem.target.name]
    assert math.isclose(pyo.value(objective), value, rel_tol=SAME, abs_tol=SAME), "the model's objective is another"
    assert problem.evaluate(view.decode(view.native)).values == found.values, "decode does not lead back"
    rows = [(row.lower, row.body, row.upper) for row in view.native.component_data_objects(pyo.Constraint, active=True)]
    rows += [(variable.lb, variable, variable.ub) for variable in view.native.component_data_objects(pyo.Var)]
    kept = all(
        (low is None or pyo.value(body) >= pyo.value(low) - SAME)
        and (high is None or pyo.value(body) <= pyo.value(high) + SAME)
        for low, body, high in rows
    )
    if view.cuts is not None:
        kept = kept and view.cuts(view.native) == 0
    assert kept == found.feasible, "the model allows what the judge does not, or the other way round"


def _same(one: Evaluation, other: Evaluation) -> bool:
    return one.violations == other.violations and all(
        math.isclose(one.values[name], other.values[name], rel_tol=SAME, abs_tol=SAME) for name in one.values
    )


def check_solution(solution: Solution) -> None:
    """What every answer must satisfy: the problem agrees with its values, and its claims are consistent."""
    problem = solution.problem
    if solution.labels is None:
        assert solution.status in (Status.INFEASIBLE, Status.NONE), "a status that claims a partition without one"
        assert solution.status is Status.NONE or solution.reason, "infeasible without a reason"
        return
    found = problem.evaluate(solution.labels)
    assert found.feasible, f"the partition breaks conditions: {dict(found.violations)}"
    assert dict(found.values) == dict(solution.values), "the values are not the problem's own"
    assert "contradicted_bound" not in solution.details, "a bound that the partition contradicts"
    if solution.bound is not None and solution.value is not None:
        assert problem.target.worse(solution.value, solution.bound) >= -SAME, "the bound is beyond the value"
    if solution.status is Status.OPTIMAL:
        assert solution.gap is not None, "optimal without a bound"
        assert solution.gap <= SAME, "optimal with a gap"
    release = solution.release()
    assert release.audit.k >= problem.conditions.k, "the release breaks k"


def check_solver(
    solver: Solver, problems: Callable[[int], Problem], *, seeds: range = range(5), time_limit: float = 120.0
) -> None:
    """A solver's contract on random tiny problems: consistent, deterministic, and, where exact, optimal."""
    for seed in seeds:
        problem = problems(seed)
        best = brute_force(problem)
        solution = solver.solve(problem, seed=seed, time_limit=time_limit)
        check_solution(solution)
        if best is None:
            assert solution.labels is None, "a solution where brute force finds none"
            continue
        optimum = best[1].values[problem.target.name]
        scale = SAME * max(1.0, abs(optimum))
        if solution.value is not None:
            assert problem.target.worse(solution.value, optimum) >= -scale, "better than brute force"
        if solution.bound is not None:
            assert problem.target.worse(solution.bound, optimum) <= scale, "a bound beyond the optimum"
        if solution.status is Status.OPTIMAL:
            assert abs(solution.value - optimum) <= scale, "called optimal and is not"  # type: ignore[operator]
        if solver.exact:
            assert solution.status is Status.OPTIMAL, f"an exact solver did not finish: {solution!r}"
        again = solver.solve(problem, seed=seed, time_limit=time_limit)
        assert again.value == solution.value, "two runs with one seed disagree"
