"""That a problem's views for Pyomo and pymoo agree with its judge."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.testing.answers import SAME

if TYPE_CHECKING:
    import pyomo.environ as pyo


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
    assert math.isclose(pyo.value(objective), value, rel_tol=SAME, abs_tol=SAME), (
        f"the model's objective is another: {pyo.value(objective)!r} where the judge says {value!r}"
    )
    assert problem.evaluate(view.decode(view.native)).values == found.values, "decode does not lead back"
    kept = rows_hold(view.native)
    if view.cuts is not None:
        kept = kept and view.cuts(view.native) == 0
    assert kept == found.feasible, "the model allows what the judge does not, or the other way round"


def rows_hold(model: pyo.ConcreteModel) -> bool:
    """Whether the values that a Pyomo model's variables have keep all of its constraints and their own bounds."""
    import pyomo.environ as pyo

    rows = [(row.lower, row.body, row.upper) for row in model.component_data_objects(pyo.Constraint, active=True)]
    rows += [(variable.lb, variable, variable.ub) for variable in model.component_data_objects(pyo.Var)]
    return all(
        (low is None or pyo.value(body) >= pyo.value(low) - SAME)
        and (high is None or pyo.value(body) <= pyo.value(high) + SAME)
        for low, body, high in rows
    )


def as_pyomo_has_it(problem: Problem, labels: Labels) -> Labels:
    """The partition that the Pyomo view makes of one: the same, or a coarser one where classes look alike in it."""
    view, labels = problem.to_pyomo(), problem.check(labels)
    assert view.encode is not None, "a Pyomo view without a way in"
    if not view.encode(labels):
        return labels
    back = problem.check(view.decode(view.native))
    for c in range(int(labels.max()) + 1):
        assert len(set(back[labels == c].tolist())) == 1, "decode does not lead back: it takes a class apart"
    return back


def check_pymoo_view(problem: Problem, *, decisions: int = 6, seed: int = 0) -> None:
    """The pymoo view of a problem has the judge's values for decisions that stand for feasible partitions."""
    view = problem.to_pymoo()
    native, draw = view.native, np.random.default_rng(seed)
    x = draw.uniform(native.xl, native.xu, (decisions, native.n_var))
    costs = np.asarray(native.evaluate(x, return_values_of=["F"]))
    objectives = problem.objectives[: native.n_obj]
    for decision, cost in zip(x, costs, strict=True):
        found = problem.evaluate(view.decode(decision))
        if not found.feasible:
            continue
        for objective, value in zip(objectives, cost, strict=True):
            judged = found.values[objective.name] * (1.0 if objective.sense == "min" else -1.0)
            assert math.isclose(value, judged, rel_tol=SAME, abs_tol=SAME), (
                f"the pymoo view has {objective.name} {value!r} for a decision, and the judge {judged!r}"
            )
