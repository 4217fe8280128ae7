"""Local search keeps every condition, prices its moves exactly, and finds the optimum of small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.conditions import ClassTest, Conditions, broken_classes
from optmodels.errors import InputError
from optmodels.partition import canonical, members
from optmodels.price import Price, extent, spread
from optmodels.solution import Stop
from optmodels.table import Table
from optmodels.testing import partitions
from solvers.local_search import LocalSearch, improve, near
from solvers.local_search import state as statistics
from solvers.local_search.construct import first_partition, make_feasible
from solvers.local_search.descent import Descent
from solvers.local_search.moves import exchange, relocate
from solvers.local_search.search import Schedule, follow

PRICES = {"spread": spread, "extent": extent}
CONDITIONS = [
    Conditions(k=2),
    Conditions(k=3),
    Conditions(k=2, distinct_l=2),
    Conditions(k=3, entropy_l=1.6),
    Conditions(k=2, t=0.35),
    Conditions(k=3, distinct_l=2, entropy_l=1.4, t=0.5),
]


def random_table(n: int, seed: int, *, decimals: int = 1) -> Table:
    """Two numbers with many equal values, one category, two sensitive attributes."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": generator.normal(size=n).round(decimals),
            "y": generator.exponential(size=n).round(decimals) + 1000.0,
            "colour": generator.choice(list("rgb"), n, p=[0.6, 0.3, 0.1]),
            "illness": generator.choice(list("abc"), n, p=[0.5, 0.3, 0.2]),
            "wealth": generator.integers(0, 4, n),
        }
    )
    quasi = {"x": "numeric", "y": "numeric", "colour": "categorical"}
    return Table(frame, quasi=quasi, sensitive=["illness", "wealth"], orders={"wealth": [0, 1, 2, 3]})  # type: ignore[arg-type]


def meets_all(test: ClassTest, labels: np.ndarray[Any, Any]) -> bool:
    return not broken_classes(test, *members(canonical(labels))).any()


def search(
    price: Price, test: ClassTest, start: np.ndarray[Any, Any], *, iterations: int, seed: int = 0, **options: Any
) -> np.ndarray[Any, Any]:
    descent = Descent(price, test, start, fixed=options.pop("fixed", False), seed=seed, **options)
    follow(descent, Schedule(iterations=iterations), lambda found: None)
    return canonical(descent.best)


@pytest.mark.parametrize("name", PRICES)
@pytest.mark.parametrize("tables", [True, False], ids=["count tables", "walks"])
def test_changes_of_price_are_those_of_recomputed_classes(
    name: str, tables: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not tables:
        monkeypatch.setattr(statistics, "TABLE_CELLS", 0)
    table = random_table(40, 1)
    price, test = PRICES[name](table), Conditions(k=2, distinct_l=2).compile(table)
    generator = np.random.default_rng(2)
    state = statistics.new_state(price, test, 9)
    assert (state.counts.shape[0] > 0) == tables
    statistics.fill(state, generator.integers(0, 8, 40))
    for step in range(300):
        i, r = generator.choice(40, 2, replace=False)
        slot = int(generator.integers(0, 9))
        source, before = state.labels[i], state.prices.copy()
        if step % 2 and source != state.labels[r]:
            expected = statistics.exchange_change(state, i, r)
            exchange(state, i, r)
        elif slot != source:
            expected = statistics.leave_change(state, i, source) + statistics.join_change(state, i, slot)
            relocate(state, i, slot)
        else:
            continue
        recomputed = [price.of(np.flatnonzero(state.labels == c)) for c in range(9)]
        np.testing.assert_allclose(state.prices, recomputed, atol=1e-9)
        assert expected == pytest.approx(sum(recomputed) - before.sum(), abs=1e-9)
        np.testing.assert_array_equal(state.sizes, np.bincount(state.labels, minlength=9))


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(9, 60),
    seed=st.integers(0, 10_000),
    name=st.sampled_from(sorted(PRICES)),
    conditions=st.sampled_from(CONDITIONS),
    n_classes=st.sampled_from([None, 1, 2, 3]),
)
def test_results_are_feasible_and_never_worse_than_the_start(
    n: int, seed: int, name: str, conditions: Conditions, n_classes: int | None
) -> None:
    table = random_table(n, seed)
    price, test = PRICES[name](table), conditions.compile(table)
    start = first_partition(price, test, n_classes)
    if start is None:
        # only a number of classes can be out of reach: everyone in one class is always a way out
        assert n_classes is not None or conditions.impossible(table)
        return
    assert meets_all(test, start)
    found = search(price, test, start, iterations=60, seed=seed, fixed=n_classes is not None)
    assert meets_all(test, found)
    assert price.total(found) <= price.total(canonical(start)) + 1e-9
    if n_classes is not None:
        assert found.max() + 1 == n_classes


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), conditions=st.sampled_from(CONDITIONS))
def test_a_start_that_breaks_conditions_is_repaired(seed: int, conditions: Conditions) -> None:
    table = random_table(40, seed)
    price, test = spread(table), conditions.compile(table)
    singletons = np.arange(40)
    repaired = make_feasible(price, test, singletons)
    if conditions.impossible(table):
        return
    assert repaired is not None
    assert meets_all(test, repaired)
    assert meets_all(test, improve(price, test, singletons, seconds=0.01, seed=seed))


def optimum(price: Price, test: ClassTest) -> float:
    """The least price of a feasible partition, by trying all."""
    feasible = (labels for labels in partitions(price.n, test.k) if meets_all(test, labels))
    return min((price.total(labels) for labels in feasible), default=np.inf)


def test_small_tables_are_solved_to_optimality() -> None:
    solved, tried = 0, 0
    for seed in range(24):
        table = random_table(8, seed)
        conditions = CONDITIONS[seed % len(CONDITIONS)]
        price, test = PRICES[["spread", "extent"][seed % 2]](table), conditions.compile(table)
        best = optimum(price, test)
        if not np.isfinite(best):
            continue
        start = first_partition(price, test)
        assert start is not None
        found = price.total(search(price, test, start, iterations=300, seed=seed))
        assert found >= best - 1e-9
        tried += 1
        solved += found <= best + 1e-9
    assert tried >= 18
    assert solved >= 0.95 * tried


def test_iterations_and_seed_fix_the_answer_with_any_number_of_workers() -> None:
    table = random_table(400, 3, decimals=3)
    price, test = spread(table), Conditions(k=3).compile(table)
    start = first_partition(price, test)
    assert start is not None
    for workers in (1, 2, 3):
        runs = [search(price, test, start, iterations=4000, seed=5, workers=workers) for _ in range(2)]
        np.testing.assert_array_equal(runs[0], runs[1])
    other = search(price, test, start, iterations=4000, seed=6, workers=3)
    assert not np.array_equal(other, runs[0])


def test_equal_records_end_in_equal_classes() -> None:
    values = np.repeat(np.arange(10.0), 4)[:, None]
    price = Price("spread", values, np.zeros((40, 0), np.int32), np.zeros(0))
    table = Table(pd.DataFrame({"x": values[:, 0]}), quasi={"x": "numeric"})
    test = Conditions(k=4).compile(table)
    shuffled = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 4))
    assert price.total(search(price, test, shuffled, iterations=2000)) == pytest.approx(0.0)


def test_tree_neighbours_are_mostly_the_nearest() -> None:
    points = np.random.default_rng(0).normal(size=(3000, 3))
    lists = near._by_trees(points, 6, np.random.default_rng(1))
    exact = near.cKDTree(points).query(points, k=6)[1]
    assert (lists[:, 0] == np.arange(3000)).all()
    shared = [len(np.intersect1d(a, b)) for a, b in zip(lists, exact, strict=True)]
    assert np.mean(shared) > 4


def test_solver_stops_as_told_and_keeps_the_warm_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from formulations import Microaggregation

    problem = Microaggregation(k=3).build(random_table(60, 0))
    counted = LocalSearch(iterations=200).solve(problem, seed=1)
    assert counted.stop is Stop.ITERATIONS
    assert problem.evaluate(counted.require()).feasible
    timed = LocalSearch().solve(problem, time_limit=0.3, start=counted.require())
    assert timed.stop is Stop.TIME
    assert timed.value is not None
    assert counted.value is not None
    assert timed.value <= counted.value
    monkeypatch.setattr("solvers.local_search.search.ROUNDS_PER_CLASS", 10)  # it runs out of ideas as it would, sooner
    converged = LocalSearch().solve(problem)
    assert converged.stop is Stop.CONVERGED
    assert len(converged.history) >= 2


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="iterations"):
        LocalSearch(iterations=-1)
    with pytest.raises(InputError, match="workers"):
        LocalSearch(workers=0)
