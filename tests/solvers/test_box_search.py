"""The search for classes by their boxes finds what a walk through all classes finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from formulations import Generalisation
from optmodels import Hierarchy, Status, Table
from optmodels.structures import Priced, compiled_price
from solvers import Columns
from solvers.columns.duals import Duals, reduced_cost
from solvers.columns.instance import Instance, Ints, make_instance
from solvers.columns.search import Limit
from solvers.columns.sweeps import collect, search_many

_LIMIT = Limit(100_000, np.zeros(1, np.bool_))


def _table(n: int, seed: int) -> Table:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": draw.integers(0, 8, n), "b": draw.integers(0, 4, n), "x": draw.integers(0, 3, n) / 3})
    frame.iloc[0] = frame.iloc[1]  # equal records are met in any table
    trees = {name: Hierarchy.automatic(range(many), fanout=2) for name, many in (("a", 8), ("b", 4))}
    return Table(frame, quasi={"a": "categorical", "b": "categorical", "x": "numeric"}, hierarchies=trees)


def _instance(n: int, seed: int) -> Instance:
    priced = Generalisation(k=2).build(_table(n, seed)).require(Priced)
    return make_instance(compiled_price(priced), priced.test, largest=5, n_classes=None, unit=1.0)


def _duals(n_types: int, seed: int, n_cuts: int) -> Duals:
    draw = np.random.default_rng(seed)
    members = np.array([draw.choice(n_types, 3, replace=False) for _ in range(n_cuts)], np.int64).reshape((n_cuts, 3))
    of_type = [np.flatnonzero((members == t).any(axis=1)) for t in range(n_types)]
    starts = np.concatenate([[0], np.cumsum([len(cuts) for cuts in of_type])]).astype(np.int64)
    rows = draw.random(n_types) * 2 - 0.2
    nobody = np.zeros((0, 2), np.int64)
    penalties = 0.5 * draw.random(n_cuts)
    return Duals(rows, 0.1, penalties, members, starts, np.concatenate(of_type).astype(np.int64), nobody, np.zeros(0))


def _all_classes(instance: Instance, duals: Duals, size: int) -> dict[tuple[int, ...], float]:
    records = np.repeat(np.arange(instance.n_types), np.minimum(instance.types.copies, size))
    return {
        members: float(reduced_cost(instance.types, duals, np.array(members)))
        for members in combinations(records.tolist(), size)
    }


@pytest.mark.parametrize("n_cuts", [0, 4])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_no_class_is_missed_and_none_met_twice(size: int, n_cuts: int) -> None:
    for seed in range(6):
        instance = _instance(7 + seed, seed)
        duals = _duals(instance.n_types, seed, n_cuts)
        known, bound = _all_classes(instance, duals, size), instance.pair_bound(size)
        seeds: Ints = np.arange(instance.n_types)
        for ceiling in (0.0, 1.0, 3.0):
            found, _costs, complete = collect(instance.types, bound, duals, seeds, ceiling, _LIMIT, 5_000)
            met = sorted(tuple(sorted(members)) for members in found.tolist())
            assert complete
            assert met == sorted(members for members, cost in known.items() if cost < ceiling)
            best = search_many(instance.types, bound, duals, seeds, np.full(len(seeds), ceiling), _LIMIT)[1].min()
            least = min(known.values())
            assert best == (pytest.approx(least) if least < ceiling else np.inf)


def test_classes_of_nodes_are_proven() -> None:
    found = Columns().solve(Generalisation(k=3).build(_table(60, 1)), time_limit=60, seed=1)
    assert found.status is Status.OPTIMAL
