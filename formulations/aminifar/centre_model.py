"""Aminifar's model, equations 3 to 7 of the paper, as a mixed-integer linear program."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from formulations._pyomo.condition_rows import ConditionRows, EntropyCuts
from formulations.aminifar.balanced import BalancedProblem, Floats
from optmodels.errors import RefusedError
from optmodels.flow import cheapest_matching
from optmodels.partition import LEFT_OUT, Labels, members
from optmodels.problem import View
from optmodels.problem.patience import still_wanted

# One binary variable for every record and centre: beyond this the model takes minutes to write down.
MOST_VARIABLES = 1_000_000


def too_large(n: int, m: int) -> str | None:
    """Why the model of so many records and centres is not built, or None."""
    if n * m <= MOST_VARIABLES:
        return None
    return (
        f"{n:,} records and {m:,} centres make {n * m:,} binary variables; the model is built up to {MOST_VARIABLES:,}."
    )


def centre_model(problem: BalancedProblem, around: Floats) -> View[pyo.ConcreteModel]:
    """B[i, j] = 1 puts record j with centre i; C[i, a] is the released mean of attribute a in class i.

    Caps are whole numbers: the same counts are allowed as by the fraction in equation 7, and the relaxation
    is integral for one bounded attribute. Soft caps are the authors' margins m[s, i, v] >= 0, which pay. Conditions
    that are bounds on the counts of each value are floors and caps as well, the others have rows of their own.

    Raises:
        RefusedError: the table is too large.
    """
    n, m = problem.n, len(around)
    if reason := too_large(n, m):
        raise RefusedError(f"There is no Pyomo view: {reason}")
    records, centres = range(n), range(m)
    costs = problem.assignment().arc_costs(around)(np.arange(n), np.arange(m))
    model = pyo.ConcreteModel("aminifar")
    model.B = pyo.Var(centres, records, domain=pyo.Binary)
    suppression = problem.suppression
    few = suppression.most > 0
    model.left_out = pyo.Var(records if few else [], domain=pyo.Binary)
    model.together = pyo.Constraint(  # eq. 4
        records,
        rule=lambda _, j: sum(model.B[i, j] for i in centres) == (1 - model.left_out[j] if few else 1),
    )
    if few:
        model.few_left_out = pyo.Constraint(expr=sum(model.left_out.values()) <= suppression.most)

    def size(_: pyo.ConcreteModel, i: int) -> object:  # eq. 5
        still_wanted()
        low, high = int(problem.least[i]), int(problem.most[i])
        count = sum(model.B[i, j] for j in records)
        if low == high:
            return count == low
        return count >= low if high >= n else pyo.inequality(low, count, high)

    model.size = pyo.Constraint(centres, rule=size)
    penalties = _caps(model, problem)
    conditions, entropy = _conditions(model, problem)
    points = problem.points
    if problem.exact and (problem.least == problem.most).all():  # eq. 6; otherwise not linear
        model.C = pyo.Expression(
            centres,
            range(points.shape[1]),
            rule=lambda _, i, a: sum(float(points[j, a]) * model.B[i, j] for j in records) / int(problem.least[i]),
        )
    model.distance = pyo.Objective(  # eq. 3
        expr=sum(float(costs[j, i]) * model.B[i, j] for i in centres for j in records)
        + penalties
        + suppression.price * sum(model.left_out.values())
    )

    def decode(solved: pyo.ConcreteModel) -> Labels:
        chosen = np.array([[pyo.value(solved.B[i, j], exception=False) or 0.0 for i in centres] for j in records])
        return np.where(chosen.max(axis=1) > 0.5, chosen.argmax(axis=1), LEFT_OUT if few else chosen.argmax(axis=1))

    def encode(labels: Labels) -> bool:
        order, starts = members(labels)
        out = labels == LEFT_OUT
        if len(starts) - 1 != m or (out.any() and not few):
            return False
        for j, variable in model.left_out.items():
            variable.set_value(int(out[j]))
        columns = np.ascontiguousarray(around.T)
        centre_of, _ = cheapest_matching(problem.points, columns, problem.metric, order, starts)
        home = np.append(centre_of, LEFT_OUT)[labels]
        for (i, j), variable in model.B.items():
            variable.set_value(int(home[j] == i))
        for (s, i, v), margin in model.margin.items():
            count = int((problem.groups[home == i, s] == v).sum())
            average = problem.capped[s].counts[v] / m
            margin.set_value(max(0.0, (count - problem.thresholds[s][i, v]) / average))
        conditions.encode()
        return True

    return View(model, decode, encode, entropy.add if entropy.active else None)


def _conditions(model: pyo.ConcreteModel, problem: BalancedProblem) -> tuple[ConditionRows, EntropyCuts]:
    """What is asked of the sensitive values of every class beyond floors and caps."""
    test = problem.unbounded_test
    centres, records, codes = range(len(problem.least)), range(problem.n), test.codes
    having = {v: np.flatnonzero((codes == v).any(axis=1)).tolist() for v in range(int(test.starts[-1]))}

    def count(i: int, v: int) -> object:
        still_wanted()
        return sum(model.B[i, j] for j in having[v])

    def size(i: int) -> object:
        return sum(model.B[i, j] for j in records)

    return ConditionRows(model, test, centres, count, size), EntropyCuts(model, test, centres, count)


def _caps(model: pyo.ConcreteModel, problem: BalancedProblem) -> object:
    """Equation 7, hard or soft, and floors beside it; returns what the margins pay."""
    m = len(problem.least)
    held = {
        (s, v): np.flatnonzero(problem.groups[:, s] == v).tolist()
        for s, cap in enumerate(problem.capped)
        for v in range(len(cap.values))
    }

    def count(s: int, i: int, v: int) -> object:
        still_wanted()
        return sum(model.B[i, j] for j in held[s, v])

    # a part of the records may have none of a value, and then there is nothing to pay for
    places = [(s, i, v) for s, v in held for i in range(m) if held[s, v] and problem.slopes[s][i, v] > 0]
    model.margin = pyo.Var(places, domain=pyo.NonNegativeReals)

    def soft(_: pyo.ConcreteModel, s: int, i: int, v: int) -> object:
        average = problem.capped[s].counts[v] / m
        return count(s, i, v) <= float(problem.thresholds[s][i, v]) + float(average) * model.margin[s, i, v]

    model.cap = pyo.Constraint(places, rule=soft)
    model.bound = pyo.ConstraintList()
    for s, v in held:
        for i in range(m):
            low, high = int(problem.floors[s][i, v]), int(problem.caps[s][i, v])
            if low > min(len(held[s, v]), high):
                model.bound.add(pyo.Constraint.Infeasible)
            elif low > 0 or high < min(len(held[s, v]), int(problem.most[i])):
                model.bound.add(pyo.inequality(low, count(s, i, v), high))
    return problem.shares.penalty * sum(model.margin.values())
