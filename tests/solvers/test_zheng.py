"""Zheng et al.: classes as the rule says, record by record, with k records and l values each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation, MoObam
from optmodels import Table
from optmodels.errors import RefusedError
from optmodels.partition import canonical
from optmodels.problem import PricedProblem
from optmodels.testing import small_table
from solvers.zheng import Zheng


def plain(problem: PricedProblem, order: np.ndarray, seeds: str) -> np.ndarray:
    """The rule as it is told: every distance computed anew."""
    price, test = problem.price, problem.test
    secrets = test.codes

    def centroid(rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
        mean = np.zeros(price.numeric.shape[1])
        for size, i in enumerate(rows, 1):
            mean = mean + (price.numeric[i] - mean) / size
        return mean, np.array([np.bincount(price.codes[rows, j]).argmax() for j in range(price.codes.shape[1])])

    def away(i: int, centre: tuple[np.ndarray, np.ndarray]) -> float:
        total = 0.0
        for j in range(price.numeric.shape[1]):
            total += (price.numeric[i, j] - centre[0][j]) ** 2
        for j, weight in enumerate(price.code_weights):
            total += weight if price.codes[i, j] != centre[1][j] else 0.0
        return total

    labels, left, label, last = np.full(price.n, -1), set(range(price.n)), 0, int(order[0])
    while len(left) >= test.k:
        if seeds == "furthest":
            last = min(left, key=lambda i: (-away(i, (price.numeric[last], price.codes[last])), i))
        members = [last if seeds == "furthest" else int(next(i for i in order if i in left))]
        while True:
            lacking = [j for j in range(secrets.shape[1]) if len(set(secrets[members, j])) < test.distinct_l[j]]
            if not lacking and len(members) >= test.k:
                break
            adding = [
                i
                for i in left - set(members)
                if not lacking or any(secrets[i, j] not in secrets[members, j] for j in lacking)
            ]
            if not adding:
                break
            centre = centroid(members)
            members.append(min(adding, key=lambda i: (away(i, centre), i)))
        if lacking or len(members) < test.k:
            break
        labels[members] = label
        left -= set(members)
        label += 1
    centres = []
    for c in range(label):
        rows = np.flatnonzero(labels == c)
        modes = np.array([np.bincount(price.codes[rows, j]).argmax() for j in range(price.codes.shape[1])])
        centres.append(
            (np.array([price.numeric[rows, j].sum() / len(rows) for j in range(price.numeric.shape[1])]), modes)
        )
    for i in left:
        labels[i] = min(range(label), key=lambda c: (away(i, centres[c]), c))
    return labels


@settings(max_examples=60)
@given(
    st.integers(4, 70),
    st.integers(2, 5),
    st.integers(1, 3),
    st.sampled_from(["random", "furthest"]),
    st.integers(1, 2),
    st.integers(0, 9999),
)
def test_the_classes_of_the_rule(n: int, k: int, distinct_l: int, seeds: str, sensitive: int, seed: int) -> None:
    table = small_table(n, seed=seed, sensitive=sensitive, values=4)
    problem = Microaggregation(k=min(k, n), distinct_l=distinct_l).build(table)
    solution = Zheng(seeds).solve(problem, seed=seed)  # type: ignore[arg-type]
    if problem.impossible():
        assert solution.status == "infeasible"
        return
    assert solution.labels is not None
    expected = plain(problem, np.random.default_rng(seed).permutation(n), seeds)
    assert (canonical(expected) == solution.labels).all()


@settings(max_examples=30)
@given(st.integers(10, 60), st.sampled_from([{"entropy_l": 1.8}, {"t": 0.3}]), st.integers(0, 9999))
def test_other_conditions_are_met_by_merging(n: int, conditions: dict[str, float], seed: int) -> None:
    problem = Microaggregation(k=3, distinct_l=2, **conditions).build(small_table(n, seed=seed))  # type: ignore[arg-type]
    solution = Zheng().solve(problem)
    assert solution.labels is None or problem.evaluate(solution.labels).feasible
    assert solution.labels is not None or problem.impossible() is not None


def test_more_values_than_a_word_has_bits() -> None:
    draw = np.random.default_rng(0)
    frame = small_table(400).frame.assign(secret_0=[f"{v:03}" for v in draw.integers(0, 150, 400)])
    quasi = {"number_0": "numeric", "category_0": "categorical"}
    table = Table(frame, quasi=quasi, sensitive="secret_0", others="drop")  # type: ignore[arg-type]
    problem = Microaggregation(k=2, distinct_l=30).build(table)
    solution = Zheng().solve(problem)
    assert solution.labels is not None
    assert solution.labels.max() > 5
    expected = plain(problem, np.random.default_rng(0).permutation(400), "random")
    assert (canonical(expected) == solution.labels).all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(RefusedError, match="number of classes is prescribed"):
        Zheng().solve(MoObam(k=2, n_clusters=2).build(small_table()))


def test_time_over_before_it_began_still_gives_classes() -> None:
    problem = Microaggregation(k=3, distinct_l=2).build(small_table(300))
    solution = Zheng().solve(problem, time_limit=1e-9)
    assert solution.stop == "time"
    assert solution.labels is not None
    assert solution.labels.max() > 0
