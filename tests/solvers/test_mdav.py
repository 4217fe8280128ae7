"""MDAV: the classes of the plain algorithm, record by record, with and without conditions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation
from optmodels import Table
from optmodels.conditions import ClassTest, count_values, meets
from optmodels.partition import canonical
from optmodels.price import Price
from optmodels.testing import small_table
from solvers._construction.repair import merge_until_met
from solvers.mdav import Mdav


def plain(price: Price, test: ClassTest) -> np.ndarray:
    """MDAV as it is told: every distance computed anew."""

    def distances(rows: list[int], numbers: np.ndarray, codes: np.ndarray) -> np.ndarray:
        total = np.zeros(len(rows))
        for j in range(price.numeric.shape[1]):
            total += (price.numeric[rows, j] - numbers[j]) ** 2
        for j, weight in enumerate(price.code_weights):
            total += np.where(price.codes[rows, j] != codes[j], weight, 0.0)
        return total

    def cut(left: list[int], centre: int) -> tuple[list[int], list[int]]:
        away = distances(left, price.numeric[centre], price.codes[centre])
        order = [left[a] for a in np.argsort(away, kind="stable")]
        size = test.k
        while size < len(order) and not meets(test, count_values(test, np.array(order[:size])), size):
            size += 1
        return order[:size], sorted(order[size:])

    labels, label, left = np.full(price.n, -1), 0, list(range(price.n))
    while len(left) >= 2 * test.k:
        mean = np.array([math.fsum(price.numeric[left, j]) / len(left) for j in range(price.numeric.shape[1])])
        mode = np.array([np.bincount(price.codes[left, j]).argmax() for j in range(price.codes.shape[1])])
        first = left[int(np.argmax(distances(left, mean, mode)))]
        second = left[int(np.argmax(distances(left, price.numeric[first], price.codes[first])))]
        pair = len(left) >= 3 * test.k
        members, left = cut(left, first)
        labels[members] = label
        label += 1
        if pair and len(left) >= 2 * test.k:
            members, left = cut(left, second if labels[second] < 0 else left[0])
            labels[members] = label
            label += 1
    labels[left] = label
    return labels


@settings(max_examples=60)
@given(
    st.integers(4, 150), st.integers(0, 3), st.integers(0, 2), st.integers(2, 6), st.booleans(), st.integers(0, 9999)
)
def test_the_classes_of_the_plain_algorithm(
    n: int, numeric: int, categorical: int, k: int, repeated: bool, seed: int
) -> None:
    table = small_table(n, seed=seed, numeric=numeric, categorical=categorical + (numeric == 0), repeated=repeated)
    problem = Microaggregation(k=min(k, n)).build(table)
    assert problem.test.only_size
    solution = Mdav().solve(problem)
    assert solution.labels is not None
    assert (canonical(plain(problem.price, problem.test)) == solution.labels).all()


@settings(max_examples=40)
@given(st.integers(6, 90), st.sampled_from([{"distinct_l": 3}, {"entropy_l": 2.0}, {"t": 0.2}]), st.integers(0, 9999))
def test_the_same_with_conditions(n: int, conditions: dict[str, float], seed: int) -> None:
    problem = Microaggregation(k=3, **conditions).build(small_table(n, seed=seed))  # type: ignore[arg-type]
    solution = Mdav().solve(problem)
    if problem.impossible():
        return
    expected = merge_until_met(problem.price, problem.test, plain(problem.price, problem.test))
    if solution.labels is None:
        assert not problem.evaluate(expected).feasible
    else:
        assert (canonical(expected) == solution.labels).all()


def test_a_class_that_needs_nearly_everyone() -> None:
    """More records than are searched for one by one, so that all distances are sorted."""
    problem = Microaggregation(k=2, t=0.02).build(small_table(900, seed=5, values=6))
    solution = Mdav().solve(problem)
    assert solution.labels is not None
    expected = merge_until_met(problem.price, problem.test, plain(problem.price, problem.test))
    assert (canonical(expected) == solution.labels).all()


def test_large_numbers_do_not_blur_the_centroid() -> None:
    draw = np.random.default_rng(1)
    table = small_table(300, seed=3, numeric=1, categorical=0)
    frame = table.frame.assign(number_0=1e9 + draw.integers(0, 50, 300) / 8)
    problem = Microaggregation(k=3).build(Table(frame, quasi={"number_0": "numeric"}, sensitive="secret_0"))
    solution = Mdav().solve(problem)
    assert solution.labels is not None
    assert (canonical(plain(problem.price, problem.test)) == solution.labels).all()


@pytest.mark.parametrize("k", [3, 40])
def test_time_over_before_it_began_still_gives_classes(k: int) -> None:
    problem = Microaggregation(k=k).build(small_table(400))
    solution = Mdav().solve(problem, time_limit=1e-9)
    assert solution.stop == "time"
    assert solution.labels is not None
    assert "cut at medians" in str(solution.details["rest"])
    assert solution.labels.max() > 0
