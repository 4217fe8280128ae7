"""One random table, some formulation, conditions and solver of the matrix, and all that must be true of the answer.

Brute force over every partition is the reference.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.trust.outcome import KEPT, Outcome, kept
from benchmarks.trust.releases import released
from benchmarks.trust.tables import random_frame
from optmodels import registry
from optmodels.errors import InputError, RefusedError
from optmodels.partition import LEFT_OUT
from optmodels.problem import Problem
from optmodels.solution import Solution, Status
from optmodels.solver import FrontSolver
from optmodels.table import Table
from optmodels.testing import brute_force, brute_force_front, check_front
from optmodels.testing.solvers import quick
from optmodels.testing.tables import CONDITION_LEVELS

FRONTS_ONLY = {"epsilon", "pymoo"}  # of which one answer is a point of a front, and slow
BY_THE_CLOCK = {"milp", "auto", "blocks"}  # whose answers may depend on how fast a machine is
SECONDS = 2.0  # a solve may take
_RELATIVE, _OF_EVERYBODY = 1e-9, 1e-12  # how far rounding may move a bound: of the optimum, of one class of everybody

Roles = dict[str, Any]


def case(number: int) -> tuple[int, list[Outcome]]:
    """Everything about one random table."""
    draw = np.random.default_rng([18, number])
    told: list[Outcome] = []
    where = f"table {number}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of libraries, about 0 / 0 that they then leave out
            frame, roles = random_frame(draw)
            k = int(draw.integers(2, 4))
            try:
                table = Table(frame, **roles)
                problem, solver = posed(draw, table, k)
            except (InputError, RefusedError) as refusal:
                return number, [("refused with a reason", kept(len(str(refusal)) > 20, repr(refusal)))]
            where = f"table {number}, {problem.formulation.name} by {solver}, {problem.conditions.describe()}"
            parts: tuple[Callable[[], Iterator[Outcome]], ...] = (
                lambda: answers(problem, solver),
                lambda: invariances(draw, frame, roles, problem, solver),
                lambda: larger_k(draw, table),
                lambda: front(draw, table),
            )
            for part in parts:
                told += part()
    except Exception as error:
        told.append(("no crash", f"{type(error).__name__}: {error}"))
    else:
        told.append(("no crash", KEPT))
    return number, [(what, said if said == KEPT else f"{where}: {said}"[:600]) for what, said in told]


def posed(draw: np.random.Generator, table: Table, k: int) -> tuple[Problem, str]:
    """Some formulation and condition on a table, and the name of some solver that takes it."""
    name = str(draw.choice(registry.formulation_names()))
    kind = registry.formulation(name)
    conditions = dict(CONDITION_LEVELS[str(draw.choice(list(CONDITION_LEVELS)))]) if draw.integers(0, 2) else {}
    if draw.integers(0, 5) == 0:
        conditions["suppress"] = 0.34
    least = {"k": k} if "k" in kind.parameters() else {}
    problem = registry.configured(kind, {**least, **conditions}).build(table, seed=0)
    solvers = [one for one in registry.solvers_for(problem) if one not in FRONTS_ONLY]
    return problem, str(draw.choice(solvers))


def solved(problem: Problem, solver: str, seconds: float | None = SECONDS) -> Solution:
    return quick(solver).solve(problem, seed=0, time_limit=seconds)


def solved_by_itself(problem: Problem, solver: str) -> Solution:
    """What is promised to be the same again: an answer that no clock had a part in."""
    return solved(problem, solver, None)


def answers(problem: Problem, solver: str) -> Iterator[Outcome]:
    """Feasible and covering, or infeasible as brute force says; bounds and claims that are true; the release."""
    best = brute_force(problem)
    solution = solved(problem, solver)
    target = problem.target
    if best is None:
        yield "infeasible where brute force finds nothing", kept(solution.labels is None, "a solution")
        if solution.status is Status.INFEASIBLE:
            yield "infeasible with a reason", kept(bool(solution.reason), "none")
        return
    yield "never infeasible where something is feasible", kept(solution.status is not Status.INFEASIBLE, "infeasible")
    optimum = best[1].values[target.name]
    everybody = abs(problem.evaluate(np.zeros(problem.n, np.int64)).values[target.name])
    hair = _RELATIVE * abs(optimum) + _OF_EVERYBODY * everybody
    if solution.bound is not None:
        beyond = solution.bound - optimum if target.sense == "min" else optimum - solution.bound
        yield "bounds never beyond the optimum", kept(beyond <= hair, f"bound {solution.bound!r} of {optimum!r}")
    contradicted = "contradicted_bound" in solution.details
    yield "no bound contradicted", kept(not contradicted, str(solution.details.get("contradicted_bound")))
    if solution.labels is None:
        return
    judged = problem.evaluate(solution.labels)
    yield "a feasible partition", kept(judged.feasible, str(dict(judged.violations)))
    yield "values are the judge's", kept(dict(judged.values) == dict(solution.values), str(dict(solution.values)))
    once = solution.labels.shape == (problem.n,) and bool((solution.labels >= LEFT_OUT).all())
    yield "every record covered once", kept(once, repr(solution.labels))
    if solution.value is not None:
        better = optimum - solution.value if target.sense == "min" else solution.value - optimum
        yield "nothing better than brute force", kept(better <= hair, f"{solution.value!r} of {optimum!r}")
    if solution.status is Status.OPTIMAL and solution.value is not None:
        near = abs(solution.value - optimum) <= 1e-6 * abs(optimum) + hair
        yield "optimal is optimal", kept(near, f"{solution.value!r}, not {optimum!r}")
    yield from released(solution)
    yield from certified(solution, optimum)


def certified(solution: Solution, optimum: float) -> Iterator[Outcome]:
    """What proves an answer holds when the verifier works it out again, and not where its bound is pushed."""
    make = getattr(solution, "certificate", None)  # releases of this program before certificates have none
    if make is None or solution.bound is None:
        return
    from optmodels.verifier import verify_certificate

    try:
        document = make()
    except RefusedError:
        return
    broken = verify_certificate(document).broken
    yield "certificates hold when checked again", kept(not broken, "; ".join(broken))
    together = np.zeros(solution.problem.n, np.int64)
    dear = solution.problem.evaluate(together).values[document["target"]]
    if dear > optimum * (1 + 1e-6) > 0:  # another answer, and a bound that it is above, but the optimum is not
        pushed = {"labels": together.tolist(), "value": dear, "bound": min(dear, optimum * (1 + 1e-6))}
        try:
            passes = not verify_certificate({**document, **pushed}).broken
        except InputError:  # some prove nothing, and are refused with a bound
            passes = False
        yield "certificates of bounds beyond the optimum do not pass", kept(not passes, repr(pushed))


def invariances(
    draw: np.random.Generator, frame: pd.DataFrame, roles: Roles, problem: Problem, solver: str
) -> Iterator[Outcome]:
    """Rows and columns in another order, other names of categories: the same release, byte by byte; units likewise."""
    if solver in BY_THE_CLOCK:
        return
    changes: dict[str, tuple[pd.DataFrame, Back]] = {
        "the order of rows changes no byte": (frame.sample(frac=1, random_state=int(draw.integers(1 << 30))), _as_it_is)
    }
    other = [str(name) for name in draw.permutation(frame.columns)]
    if other != list(frame.columns):
        changes["the order of columns changes no byte"] = (frame[other], lambda made: _lines(made[_in(frame, made)]))
    if "c" in frame and roles.get("missing") != "category":
        changes["the names of categories change no byte"] = (
            frame.assign(c=frame["c"].map(lambda text: f"§{text}", na_action="ignore")),
            lambda made: _lines(made.assign(c=made["c"].str.replace("§", "", regex=False))),
        )
    what = str(draw.choice(list(changes)))  # one of them, so that many tables can be tried
    changed, back = changes[what]
    first = _released_as(frame, roles, problem, solver, _as_it_is if back is _as_it_is else _lines)
    second = _released_as(changed, roles, problem, solver, back)
    yield what, kept(first == second, "two releases")
    yield from units(draw, frame, roles, problem, solver)


def units(
    draw: np.random.Generator, frame: pd.DataFrame, roles: Roles, problem: Problem, solver: str
) -> Iterator[Outcome]:
    """Numbers in other units, where columns are scaled: the same classes. Powers of two, so that nothing is rounded."""
    numeric = [name for name, kind in roles["quasi"].items() if kind == "numeric" and frame[name].dtype == float]
    if roles["scaling"] == "none" or not numeric or draw.integers(0, 4):
        return
    name = numeric[0]
    size = frame[name].abs()
    if size.max() > 1e290 or size[size > 0].min() < 1e-290:
        return
    found = [
        solved_by_itself(problem.formulation.build(Table(one, **roles).sorted(), seed=0), solver)
        for one in (frame, frame.assign(**{name: frame[name] * 1024.0}))
    ]
    one, two = (None if one.labels is None else one.labels.tolist() for one in found)
    yield "units change no class", kept(one == two, f"{one} and {two}")


Back = Callable[[pd.DataFrame], bytes]


def _as_it_is(made: pd.DataFrame) -> bytes:
    return made.to_csv(index=False).encode()


def _lines(made: pd.DataFrame) -> bytes:
    """The rows in an order that does not depend on that of the columns."""
    return "\n".join(sorted(made.to_csv(index=False).splitlines())).encode()


def _in(frame: pd.DataFrame, made: pd.DataFrame) -> list[str]:
    return [name for name in frame.columns if name in made.columns]


def _released_as(frame: pd.DataFrame, roles: Roles, problem: Problem, solver: str, back: Back) -> bytes:
    """The release of a frame as the command line makes it: texts of a file are categories in the order of the file."""
    texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name].dtype)]
    read = frame.assign(**{name: pd.Categorical(frame[name], frame[name].dropna().unique()) for name in texts})
    found = solved_by_itself(problem.formulation.build(Table(read, **roles).sorted(), seed=0), solver)
    return b"none" if found.labels is None else back(found.release().frame)


def larger_k(draw: np.random.Generator, table: Table) -> Iterator[Outcome]:
    if draw.integers(0, 4):
        return
    found = [
        solved(registry.configured(registry.formulation("microaggregation"), {"k": k}).build(table), "columns")
        for k in (2, 3)
        if k <= table.n
    ]
    if len(found) == 2 and all(one.status is Status.OPTIMAL for one in found):
        two, three = (one.value for one in found)
        assert two is not None
        assert three is not None
        yield "a larger k has no smaller optimum", kept(two <= three * (1 + 1e-7) + 1e-300, f"{two!r} and {three!r}")


def front(draw: np.random.Generator, table: Table) -> Iterator[Outcome]:
    if draw.integers(0, 10) or table.n > 6:
        return
    problem = registry.configured(registry.formulation("mo-obam"), {"k": 2}).build(table)
    solver = registry.solver("epsilon")()
    assert isinstance(solver, FrontSolver)
    if solver.refuses_front(problem) is not None:
        return
    try:
        check_front(solver.pareto(problem, seed=0, time_limit=5.0), brute_force_front(problem))
    except AssertionError as wrong:
        yield "exact fronts are brute force's, and none dominated", f"mo-obam by epsilon: {wrong}"
    else:
        yield "exact fronts are brute force's, and none dominated", KEPT
