"""Liang and Samavi's pairwise big-M model: an interval for every cell, equal for records that are made equivalent."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyomo.environ as pyo

from formulations._pyomo.partition_model import components, without_left_out
from optmodels.errors import RefusedError
from optmodels.partition import LEFT_OUT, Labels
from optmodels.price import Price
from optmodels.problem import View
from optmodels.problem.patience import still_wanted
from optmodels.suppression import NOBODY, Suppression

# Four rows for every pair and attribute: beyond this building takes longer than anyone waits for the solver.
MOST_ROWS = 500_000


def too_large(price: Price) -> str | None:
    """Why the pairwise model of these records is not built, or None."""
    values = sum(len(np.unique(price.codes[:, j])) for j in range(price.codes.shape[1]))
    rows = price.n * (price.n - 1) // 2 * (4 * price.numeric.shape[1] + 2 * values)
    if rows <= MOST_ROWS:
        return None
    return f"the pairwise model of {price.n} records has {rows:,} rows; it is built up to {MOST_ROWS:,}."


def interval_model(price: Price, k: int, suppression: Suppression = NOBODY) -> View[pyo.ConcreteModel]:
    """The model whose rows a, b have equal intervals where v_ab = 1, and k - 1 such partners each, or are left out.

    Intervals are in the price's own units (weight times share of the range). A record may have partners that are
    not each other's: their intervals are equal all the same, so connected records are one class. A categorical
    interval is the set of values that the class holds; given v these are 0 or 1 by themselves.

    Raises:
        RefusedError: the table is too large.
    """
    if reason := too_large(price):
        raise RefusedError(f"There is no Pyomo view: {reason}")
    x, codes, n = price.numeric, price.codes, price.n
    least, most = x.min(axis=0), x.max(axis=0)
    columns = range(x.shape[1])
    places = [(j, int(s)) for j in range(codes.shape[1]) for s in np.unique(codes[:, j])]

    model = pyo.ConcreteModel("liang-samavi")
    model.v = pyo.Var(list(combinations(range(n), 2)), domain=pyo.Binary)
    model.y = pyo.Var(range(n), columns, bounds=lambda _, i, j: (float(least[j]), float(x[i, j])))
    model.z = pyo.Var(range(n), columns, bounds=lambda _, i, j: (float(x[i, j]), float(most[j])))
    model.held = pyo.Var(range(n), places, bounds=lambda _, i, j, s: (1, 1) if codes[i, j] == s else (0, 1))
    few = suppression.most > 0
    model.left_out = pyo.Var(range(n) if few else [], domain=pyo.Binary)
    model.partners = pyo.Constraint(
        range(n),
        rule=lambda _, a: (
            sum(model.v[min(a, b), max(a, b)] for b in range(n) if b != a)
            >= (k - 1) * (1 - model.left_out[a] if few else 1)
        ),
    )
    model.equal = pyo.ConstraintList()
    if few:
        model.few_left_out = pyo.Constraint(expr=sum(model.left_out.values()) <= suppression.most)
        for (a, b), together in model.v.items():
            model.equal.add(together + model.left_out[a] <= 1)
            model.equal.add(together + model.left_out[b] <= 1)
    for (a, b), together in model.v.items():
        still_wanted()
        for j in columns:
            # The big M of a row is what its difference can be at most: from the pair's own extremes.
            for one, other in ((a, b), (b, a)):
                reach_low, reach_high = float(x[one, j] - least[j]), float(most[j] - x[other, j])
                model.equal.add(model.y[one, j] - model.y[other, j] <= reach_low * (1 - together))
                model.equal.add(model.z[one, j] - model.z[other, j] <= reach_high * (1 - together))
        for place in places:
            model.equal.add(model.held[a, place] - model.held[b, place] <= 1 - together)
            model.equal.add(model.held[b, place] - model.held[a, place] <= 1 - together)
    model.objective = pyo.Objective(
        expr=sum(model.z[i, j] - model.y[i, j] for i in range(n) for j in columns)
        + sum(
            float(price.code_weights[j]) * (model.held[i, j, s] - int(codes[i, j] == s))
            for i in range(n)
            for j, s in places
        )
        + suppression.price * sum(model.left_out.values())
    )

    def encode(labels: Labels) -> bool:
        out = labels == LEFT_OUT
        if out.any() and not few:
            return False
        for i, variable in model.left_out.items():
            variable.set_value(int(out[i]))
        labels = np.where(out, n + np.arange(n), labels)  # those left out are alone
        for (a, b), variable in model.v.items():
            variable.set_value(int(labels[a] == labels[b]))
        for i in range(n):
            same = labels == labels[i]
            for j in columns:
                model.y[i, j].set_value(float(x[same, j].min()))
                model.z[i, j].set_value(float(x[same, j].max()))
            for j, s in places:
                model.held[i, j, s].set_value(int((codes[same, j] == s).any()))
        return True

    return View(model, decode, encode)


def decode(model: pyo.ConcreteModel) -> Labels:
    """The classes of a solved pairwise model: records connected by v."""
    pairs = np.array([pair for pair, variable in model.v.items() if pyo.value(variable) > 0.5], np.int64)
    return without_left_out(components(len(model.partners), pairs.reshape(-1, 2)), model)
