"""What goes with what: every formulation, task, condition and solver, and whether they make a release together.

Problems are posed on a small table that has a column of every kind, so that a cell is what the solver itself says of
such a problem; a formulation or a solver that cannot be loaded or asked has its reason in every one of its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from optmodels import registry
from optmodels.problem import Problem
from optmodels.solver import Solver
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

Task = Literal["solve", "pareto"]
Claim = Literal["proven", "feasible"]
Made = TypeVar("Made")
P = ParamSpec("P")

TASKS: tuple[Task, ...] = ("solve", "pareto")
# At levels that some partitions of the table into classes of K satisfy, and most do not.
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "k": {},
    "suppress": {"suppress": 0.1},
    "distinct-l": {"distinct_l": 2},
    "entropy-l": {"entropy_l": 2.0},
    "recursive": {"recursive": (2.0, 2)},
    "most-share": {"most_share": 0.5},
    "beta-basic": {"beta": 0.9},
    "beta-enhanced": {"beta": 2.0, "beta_kind": "enhanced"},
    "delta": {"delta": 0.6},
    "t-equal": {"t": 0.3, "t_distance": "equal"},
    "t-ordered": {"t": {"pay": 0.25}, "t_distance": "ordered"},
    "t-hierarchical": {"t": {"illness": 0.3}, "t_distance": "hierarchical"},
    "t-variational": {"t": 0.6, "t_distance": "variational"},
    "by-attribute": {
        "distinct_l": {"illness": 3},
        "most_share": {"pay": 0.5},
        "t": {"illness": 0.35, "pay": 0.3},
        "t_distance": {"pay": "ordered"},
    },
}
RECORDS = 24
K = 4
# What a front of a model with one objective is taken against.
_AGAINST = "linkage"


@dataclass(frozen=True)
class Cell:
    """One combination: what the solver claims for what it finds, or why it refuses."""

    formulation: str
    task: Task
    condition: str
    solver: str
    works: bool
    claims: Claim | None
    reason: str | None


def mixed_table(n: int = RECORDS) -> Table:
    """Numbers, ordered values, categories with a hierarchy, and two sensitive attributes: one ordered, one in a tree.

    >>> mixed_table()
    Table(24 records; quasi age numeric, schooling ordinal, town categorical; sensitive illness, pay)
    """
    draw = np.random.default_rng(7)
    towns, illnesses = ["Bonn", "Ulm", "Rome", "Bari"], ["flu", "cold", "asthma"]
    schooling, pay = ["none", "school", "degree"], ["low", "middle", "high"]
    people = {
        "age": draw.integers(18, 80, n),
        "schooling": draw.choice(schooling, n),
        "town": draw.choice(towns, n),
        "illness": draw.permutation(np.resize(illnesses, n)),
        "pay": draw.permutation(np.resize(pay, n)),
    }
    return Table(
        pd.DataFrame(people),
        quasi={"age": "numeric", "schooling": "ordinal", "town": "categorical"},
        sensitive=["illness", "pay"],
        scaling="range",
        orders={"schooling": schooling, "pay": pay},
        hierarchies={
            "town": Hierarchy(towns, [["Germany", "Germany", "Italy", "Italy"]]),
            "illness": Hierarchy(illnesses, [["infection", "infection", "chronic"]]),
        },
    )


def posed(
    formulation: str,
    condition: str,
    task: Task,
    table: Table,
    *,
    k: int = K,
    parameters: Mapping[str, Any] | None = None,
) -> Problem:
    """A formulation under a condition, with its defaults but for k and `parameters`.

    For a front it has its own objectives, or its target and the linkage where it has but one.

    >>> problem = posed("microaggregation", "distinct-l", "pareto", mixed_table())
    >>> problem.conditions.describe(), [objective.name for objective in problem.objectives]
    ('k >= 4, distinct l >= 2', ['loss', 'linkage'])
    """
    return _judged(_built(formulation, condition, table, k, parameters or {}), task)


def _built(formulation: str, condition: str, table: Table, k: int, parameters: Mapping[str, Any]) -> Problem:
    kind = registry.formulation(formulation)
    size = {"k": k} if "k" in kind.parameters() else {}
    return registry.configured(kind, {**size, **CONDITIONS[condition], **parameters}).build(table)


def _judged(problem: Problem, task: Task) -> Problem:
    if task == "solve" or len(problem.objectives) > 1:
        return problem
    return problem.with_objectives(problem.target.name, _AGAINST)


def cells(
    *,
    formulations: Sequence[str] | None = None,
    tasks: Sequence[Task] = TASKS,
    conditions: Sequence[str] = tuple(CONDITIONS),
    solvers: Sequence[str] | None = None,
) -> Iterator[Cell]:
    """The cells of the matrix, or of those rows and columns of it that are named.

    >>> next(cells(formulations=["liang-samavi"], solvers=["columns"])).claims
    'proven'
    """
    table = mixed_table()
    found = {name: _or_why_not(_ready, name) for name in solvers or registry.solver_names()}
    for formulation in formulations or registry.formulation_names():
        built = {condition: _or_why_not(_built, formulation, condition, table, K, {}) for condition in conditions}
        for task, (condition, model) in product(tasks, built.items()):
            problem = model if isinstance(model, str) else _or_why_not(_judged, model, task)
            for name, solver in found.items():
                claims, reason = _claims(solver, problem, front=task == "pareto")
                yield Cell(formulation, task, condition, name, reason is None, claims, reason)


def covering(all_of_them: Iterable[Made], properties: Sequence[str]) -> list[Made]:
    """Few of them in which every two properties meet that meet in any, the same ones every time.

    >>> some = cells(solvers=["mdav", "columns"], conditions=["k", "delta"])
    >>> len(covering(some, ["formulation", "condition"]))
    14
    """
    known = list(all_of_them)
    pairs = [set(combinations(((name, getattr(one, name)) for name in properties), 2)) for one in known]
    order = np.random.default_rng(0).permutation(len(known)).tolist()
    missing, chosen = set().union(*pairs), set()
    for least in range(max(map(len, pairs), default=0), 0, -1):
        for place in order:
            if len(pairs[place] & missing) >= least:
                missing -= pairs[place]
                chosen.add(place)
    return [known[place] for place in sorted(chosen)]


def _ready(name: str) -> Solver | str:
    """The solver with its defaults, or which module it lacks."""
    kind = registry.solver(name)
    missing = kind.missing()
    return kind() if missing is None else f"the module '{missing}' is not installed."


def _or_why_not(make: Callable[P, Made], *given: P.args, **named: P.kwargs) -> Made | str:
    """What is made, or the reason why it cannot be: one broken plug-in must not hide the others."""
    try:
        return make(*given, **named)
    except Exception as error:
        return _in_words(error)


def _claims(solver: Solver | str, problem: Problem | str, *, front: bool) -> tuple[Claim | None, str | None]:
    """What a solver claims for its answers to a problem, or why there are none."""
    if isinstance(solver, str) or isinstance(problem, str):
        return None, solver if isinstance(solver, str) else str(problem)
    try:
        reason = solver.refuses_front(problem) if front else solver.refuses(problem)
        if reason is not None:
            return None, reason
        own = not problem.suppression.most or solver.decides_suppression(problem)
        return ("proven" if own and solver.proves(problem, front=front) else "feasible"), None
    except Exception as error:
        return None, _in_words(error)


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
