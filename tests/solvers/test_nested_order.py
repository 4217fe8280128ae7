"""The order of nested nodes, and constructions that have hardly any time."""

from __future__ import annotations

import numpy as np
import pandas as pd

import optmodels as om
from formulations import Generalisation
from optmodels.halting import lowered
from optmodels.price import hierarchy
from optmodels.table.hierarchy import Hierarchy
from solvers import LocalSearch
from solvers.local_search.boxes.cheapest_first import cheapest_first
from solvers.local_search.boxes.nested_order import nested_order


def correlated(n: int = 600, attributes: int = 8) -> om.Table:
    """Attributes of 16 values in binary trees, each near to a mixture of three hidden traits."""
    draw = np.random.default_rng(1)
    traits = draw.normal(size=(n, 3))
    frame = {}
    for j in range(attributes):
        near = traits @ draw.normal(size=3) + 0.2 * draw.normal(size=n)
        frame[f"a{j}"] = np.digitize(near, np.quantile(near, np.linspace(0, 1, 17)[1:-1]))
    trees = {name: Hierarchy.automatic(range(16)) for name in frame}
    return om.Table(pd.DataFrame(frame), quasi=dict.fromkeys(frame, "categorical"), hierarchies=trees)  # type: ignore[arg-type]


def cut(order: np.ndarray, k: int) -> np.ndarray:
    labels = np.empty(len(order), np.int64)
    labels[order] = np.minimum(np.arange(len(order)) // k, len(order) // k - 1)
    return labels


def test_neighbours_of_the_order_cost_less_than_those_of_sorted_rows() -> None:
    price = hierarchy(correlated())
    order = nested_order(price.codes.astype(float), 0, price.climbs, price.n)
    assert sorted(order.tolist()) == list(range(price.n))
    assert price.total(cut(order, 5)) < 0.9 * price.total(cut(np.lexsort(price.codes.T), 5))


def test_numbers_without_a_tree_are_halved_from_the_coarsest_on() -> None:
    draw = np.random.default_rng(2)
    points = draw.random((256, 2))
    order = nested_order(points, 2, np.zeros((0, 0)), 16)
    nested, by_rows = (
        np.median([np.ptp(points[places[at : at + 16]], axis=0).max() for at in range(0, 256, 16)])
        for places in (order, np.lexsort(points.T))
    )
    assert nested < 0.6 * by_rows


def test_without_any_time_all_are_in_classes_of_neighbours() -> None:
    table = correlated()
    price = hierarchy(table)
    raised = lowered()
    raised[0] = 1
    hurried = cheapest_first(price, 5, halt=raised)
    assert hurried is not None
    assert np.bincount(hurried).min() >= 5
    usual = cheapest_first(price, 5)
    assert usual is not None
    assert price.total(usual) < price.total(hurried) < 1.5 * price.total(usual)
    in_a_hurry = cheapest_first(price, 5, hurry=raised)
    assert in_a_hurry is not None
    assert np.bincount(in_a_hurry).min() >= 5


def test_a_limit_of_nearly_nothing_gives_an_answer() -> None:
    problem = Generalisation(k=5).build(correlated())
    found = LocalSearch().solve(problem, time_limit=0.01, seed=1)
    assert problem.evaluate(found.require()).feasible
