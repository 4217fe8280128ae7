"""Merging of classes that break a condition: with the nearest, one after the other, in little memory."""

import tracemalloc

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation
from optmodels import Table
from optmodels.conditions import ClassTest, count_values, meets
from optmodels.partition import canonical
from optmodels.price import Price
from optmodels.testing import small_table
from solvers._construction.repair import merge_until_met


def plain(price: Price, test: ClassTest, labels: np.ndarray) -> np.ndarray:
    """The rule as it is told: whose turn it is takes the class of the nearest mean until it meets the conditions."""
    classes = [np.flatnonzero(labels == c).tolist() for c in range(labels.max() + 1)]
    firsts = [rows[0] for rows in classes]

    def away(c: int, other: int) -> float:
        means = [price.numeric[classes[which]].mean(axis=0) for which in (c, other)]
        differ = price.codes[firsts[c]] != price.codes[firsts[other]]
        return float(((means[0] - means[1]) ** 2).sum() + price.code_weights[differ].sum())

    for c, rows in enumerate(classes):
        while rows and not meets(test, count_values(test, np.array(rows)), len(rows)):
            others = [other for other, members in enumerate(classes) if members and other != c]
            if not others:
                break
            nearest = min(others, key=lambda other, c=c: away(c, other))  # type: ignore[misc]
            rows += classes[nearest]
            classes[nearest] = []
    found = np.empty(len(labels), np.int64)
    for c, rows in enumerate(classes):
        found[rows] = c
    return canonical(found)


@settings(max_examples=60)
@given(
    st.integers(6, 60),
    st.sampled_from([{"distinct_l": 3}, {"entropy_l": 2.0}, {"t": 0.2}, {"distinct_l": 2, "t": 0.3}]),
    st.integers(1, 2),
    st.integers(0, 9999),
)
def test_classes_join_their_nearest(n: int, conditions: dict[str, float], sensitive: int, seed: int) -> None:
    table = small_table(n, seed=seed, sensitive=sensitive, values=4)
    problem = Microaggregation(k=3, **conditions).build(table)  # type: ignore[arg-type]
    labels = canonical(np.random.default_rng(seed).integers(0, max(n // 3, 1), n))
    assert merge_until_met(problem.price, problem.test, labels).tolist() == (
        plain(problem.price, problem.test, labels).tolist()
    )


def test_a_sensitive_number_with_a_value_for_everyone_takes_no_more_memory() -> None:
    n = 4_000
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"age": draw.random(n), "pay": draw.permutation(n)})
    problem = Microaggregation(k=2, distinct_l=2).build(Table(frame, quasi={"age": "numeric"}, sensitive="pay"))
    labels = np.arange(n) // 2
    merge_until_met(problem.price, problem.test, labels)  # compiled
    tracemalloc.start()
    try:
        merge_until_met(problem.price, problem.test, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * n * 100, "classes times values would be 64 MB"
