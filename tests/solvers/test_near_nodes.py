"""Lists of records that are cheap to release together: nearly all of the nearest are found, whatever the attributes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from formulations import Generalisation
from optmodels import Table
from optmodels.structures import Priced, compiled_price
from optmodels.table.hierarchy import Hierarchy
from solvers.local_search.boxes.near_nodes import nearest_by_nodes

N, LENGTH, NEAREST = 1_500, 12, 4


def amounts(trees: bool) -> Table:
    """Correlated amounts, nearly all different, as numbers or in bands, and a word beside them."""
    draw = np.random.default_rng(5)
    known = draw.normal(size=(N, 2)) @ draw.normal(size=(2, 6)) + 0.5 * draw.normal(size=(N, 6))
    frame = pd.DataFrame({f"a{j}": np.exp(known[:, j] + 5).astype(int) for j in range(6)})
    hierarchies = {}
    for name in frame if trees else ():
        values = np.unique(frame[name])
        bands = [[f"{value // width}" for value in values] for width in (10, 100, 1_000)]
        hierarchies[name] = Hierarchy(values, bands)
    quasi = dict.fromkeys(frame.columns, "numeric") | {"word": "categorical"}
    return Table(frame.assign(word=draw.choice(list("uuuvw"), N)), quasi=quasi, hierarchies=hierarchies)  # type: ignore[arg-type]


@pytest.mark.parametrize("trees", [False, True], ids=["numbers", "bands"])
def test_nearly_all_of_the_nearest_are_found(trees: bool) -> None:
    price = compiled_price(Generalisation(k=5).build(amounts(trees)).require(Priced))
    points = np.unique(np.hstack([price.numeric, price.codes]), axis=0)
    plain = price.numeric.shape[1]
    lists = nearest_by_nodes(points, plain, price.climbs, LENGTH + 1, np.random.default_rng(0))
    assert (lists[:, 0] == np.arange(len(points))).all()
    found, exact = 0.0, 0.0
    for a in range(0, len(points), 40):
        costs = prices(price.climbs, points, a, plain)
        costs[a] = np.inf
        exact += float(np.sort(costs)[:NEAREST].sum())
        found += float(np.sort(costs[lists[a, 1:][lists[a, 1:] >= 0]])[:NEAREST].sum())
    assert found <= 1.02 * exact


def prices(climbs: np.ndarray, points: np.ndarray, a: int, plain: int) -> np.ndarray:
    """What point a costs with each of the points, by definition."""
    total: np.ndarray = np.abs(points[:, :plain] - points[a, :plain]).sum(axis=1)
    levels = climbs.shape[1] // 2
    for column in points[:, plain:].astype(int).T:
        low, high = np.minimum(column, column[a]), np.maximum(column, column[a])
        level = (climbs[low, :levels] < high[:, None]).sum(axis=1).clip(0, levels - 1)
        total += np.where(low == high, 0.0, climbs[low, levels + level])
    return total
