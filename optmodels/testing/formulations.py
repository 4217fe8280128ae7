"""A formulation's contract: one judge of labels alone, and whatever else it says agrees with that judge."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from optmodels.errors import InputError, RefusedError
from optmodels.partition import Labels
from optmodels.problem import Evaluation, Formulation, Problem
from optmodels.solver import FrontSolver, solvers_for
from optmodels.table import Table
from optmodels.testing.answers import SAME, check_against, check_front, check_solution
from optmodels.testing.partitions import brute_force, brute_force_front
from optmodels.testing.solvers import quick
from optmodels.testing.structures import check_structures
from optmodels.testing.tables import CONDITION_LEVELS, tiny_tables
from optmodels.testing.views import as_pyomo_has_it, check_pymoo_view, check_pyomo_view

Factory = Callable[..., Formulation]

_PARTITIONS = 5  # random ones, of each table
_FEW = 8  # records, up to which brute force takes no time
_SECONDS = 20.0  # for any solver on seven records: far more than it takes


def check_formulation(
    formulation: Formulation | Factory, table: Table | None = None, *, seed: int = 0, solvers: bool | None = None
) -> None:
    """A formulation's contract, on a table of a few records, or on tiny ones of every kind under every condition.

    That is: builds and judgements that depend on nothing but table, seed and labels; structures, Pyomo and pymoo views
    that agree with the judge; releases that keep their promise; a problem that can be sent to another process; and,
    without a table or with `solvers`, every solver on this machine that takes it, for one answer and for a front.

    Args:
        formulation: a model, or whatever makes one when it is called with conditions by name.
        table: of at most eight records where brute force is to be asked too.
        seed: of the build and of everything that is drawn.
        solvers: whether solvers are run.
    """
    make = _factory(formulation)
    if table is not None:
        _check_problem(make(), table, seed)
        if solvers:
            _check_solvers(make().build(table, seed=seed), seed)
        return
    taken = 0
    for what, tiny in tiny_tables(seed):
        with _where(f"on a table of {what}"):
            try:
                make().build(tiny, seed=seed)
            except (InputError, RefusedError):
                continue  # what a model does not take it says
            taken += 1
            _check_problem(make(), tiny, seed)
    assert taken, "it takes none of the tables, of numbers, of categories or of both"
    tiny = next(tiny for tiny in _taken(make, seed))
    for name, level in CONDITION_LEVELS.items():
        with _where(f"under {name}"):
            _check_condition(make, name, level, tiny, seed)
    if solvers is not False:
        _check_solvers(make().build(tiny, seed=seed), seed)
        with _where("under distinct_l"):
            _check_solvers(make(**CONDITION_LEVELS["distinct_l"]).build(tiny, seed=seed), seed)


def _factory(formulation: Formulation | Factory) -> Factory:
    if isinstance(formulation, Formulation):
        return lambda **conditions: replace(formulation, **conditions)
    return formulation


def _taken(make: Factory, seed: int) -> Iterator[Table]:
    for _, tiny in tiny_tables(seed):
        try:
            make().build(tiny, seed=seed)
        except (InputError, RefusedError):
            continue
        yield tiny


def _check_problem(formulation: Formulation, table: Table, seed: int) -> None:
    problem = formulation.build(table, seed=seed)
    draw = np.random.default_rng(seed)
    names = [objective.name for objective in problem.objectives]
    assert len(set(names)) == len(names), f"two objectives have one name: {names}"
    some = [draw.integers(0, max(1, table.n // 3), table.n) for _ in range(_PARTITIONS)]
    for labels in some:
        _check_judge(formulation, problem, labels, seed, draw)
    assert set(formulation.to_dict()) == set(formulation.parameters()), "parameters are not reproducible"
    best: Labels | None = None
    check_structures(problem)
    if problem.n <= _FEW:
        solved = brute_force(problem)
        assert solved is None or problem.impossible() is None, f"called impossible and is not: {problem.impossible()}"
        best = None if solved is None else solved[0]
    if problem.lacks_pyomo() is None and problem.to_pyomo().encode is not None:  # else 'milp' will tell
        for labels in [*some, *([] if best is None else [best])]:
            check_pyomo_view(problem, as_pyomo_has_it(problem, labels))
    if problem.impossible() is None:
        check_pymoo_view(problem, seed=seed)
    if best is not None:
        promise = problem.conditions
        assert not problem.release(best).audit.check(promise), "a release of a feasible partition breaks its promise"
    _check_sending(problem, some[0])


def _check_judge(
    formulation: Formulation, problem: Problem, labels: Labels, seed: int, draw: np.random.Generator
) -> None:
    before = labels.copy()
    found = problem.evaluate(labels)
    assert (labels == before).all(), "the judge changes the labels that it is given"
    missing = [o.name for o in problem.objectives if o.name not in found.values]
    assert not missing, f"an objective has no value: {', '.join(missing)}"
    for name, value in found.values.items():
        assert not math.isnan(value), f"'{name}' is not a number for {labels.tolist()}"
    renamed = draw.permutation(int(labels.max()) + 1)[labels] + 7
    assert _same(problem.evaluate(renamed), found), "the judge depends on the names of the classes"
    assert _same(problem.evaluate(labels), found), "the judge says something else when it is asked again"
    assert _same(formulation.build(problem.table, seed=seed).evaluate(labels), found), "two builds disagree"


def _check_sending(problem: Problem, labels: Labels) -> None:
    """Blocks may be solved in other processes."""
    try:
        sent = pickle.loads(pickle.dumps(problem))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(f"the problem cannot be sent to another process: {error}") from error
    assert _same(sent.evaluate(labels), problem.evaluate(labels)), "sent to another process it is another problem"


def _check_condition(make: Factory, name: str, level: Mapping[str, Any], table: Table, seed: int) -> None:
    """The problem has the condition, and its judge calls nothing feasible that breaks it."""
    formulation = make(**level)
    problem = formulation.build(table, seed=seed)
    assert problem.conditions.to_dict().get(name) == level[name], (
        f"the condition is not the problem's: hand self.conditions(k) to it. It has {problem.conditions.describe()}"
    )
    check_structures(problem)
    best = brute_force(problem)
    if best is None:
        return
    broken = problem.conditions.violations(problem.conditions.compile(table), best[0])
    assert not any(broken.values()), f"the judge calls feasible what breaks conditions: {broken}"
    assert not problem.release(best[0]).audit.check(problem.conditions), "a release breaks its promise"


def _check_solvers(problem: Problem, seed: int) -> None:
    """Every solver that takes the problem ends with an answer, for one and for a front."""
    solved = brute_force(problem)
    best = None if solved is None else solved[1].values[problem.target.name]
    for name in solvers_for(problem):
        with _where(f"solved by '{name}'"):
            solution = quick(name).solve(problem, seed=seed, time_limit=_SECONDS)
            check_solution(solution)
            check_against(solution, best)
            assert best is None or solution.labels is not None, "no solution, though brute force finds one"
    several = problem if len(problem.objectives) > 1 else problem.with_objectives(problem.target.name, "classes")
    exact = brute_force_front(several)
    for name in solvers_for(several, front=True):
        with _where(f"its front by '{name}'"):
            solver = quick(name)
            assert isinstance(solver, FrontSolver), "it answers with one solution and does not refuse fronts"
            front = solver.pareto(several, seed=seed, time_limit=_SECONDS)
            check_front(front, exact)
            assert len(front) or not exact, "no point, though brute force finds some"


def _same(one: Evaluation, other: Evaluation) -> bool:
    return one.violations == other.violations and all(
        math.isclose(one.values[name], other.values[name], rel_tol=SAME, abs_tol=SAME) for name in one.values
    )


class _where:  # noqa: N801 (reads as a clause where it is used)
    """Says in every failure where it happened."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, AssertionError):
            raise AssertionError(f"{self.where}: {error}") from error
        if isinstance(error, Exception):
            error.add_note(f"It happened {self.where}.")
