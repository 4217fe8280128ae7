"""Searches in a tree of boxes answer what looking at every record would, ties and records taken away included."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers._construction.box_search import NOTHING, by_distance, furthest, nearest
from solvers._construction.box_tree import grown, left_in, rows_left, take_away


def distances(points: np.ndarray, weights: np.ndarray, point: np.ndarray) -> np.ndarray:
    d = points.shape[1] - len(weights)
    total = np.zeros(len(points))
    for j in range(d):
        total += (points[:, j] - point[j]) ** 2
    for j, weight in enumerate(weights):
        total += np.where(points[:, d + j] != point[d + j], weight, 0.0)
    return total


@settings(max_examples=60)
@given(st.integers(1, 120), st.integers(0, 2), st.integers(0, 2), st.booleans(), st.integers(0, 10_000))
def test_searches_are_exact(n: int, numeric: int, categorical: int, ties: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    numbers = draw.integers(0, 3, (n, numeric)).astype(float) if ties else draw.normal(size=(n, numeric))
    points = np.column_stack([numbers, draw.integers(0, 3, (n, categorical)).astype(float)])
    weights = draw.choice([0.5, 1.0, 3.0], categorical)
    marks = np.uint64(1) << draw.integers(0, 4, (n, 1)).astype(np.uint64)
    tree = grown(points, marks, np.arange(n), weights)
    left = list(range(n))
    while left:
        assert left_in(tree) == len(left)
        assert rows_left(tree).tolist() == left
        point = points[draw.integers(n)] if draw.integers(2) else points[draw.integers(n)] + 0.25
        away = distances(points, weights, point)
        expected = sorted(left, key=lambda i: (away[i], i))
        assert furthest(tree, point) == max(left, key=lambda i: (away[i], -i))
        rows, found = np.empty(min(3, len(left)), np.int64), np.empty(min(3, len(left)))
        assert nearest(tree, point, NOTHING, rows, found) == len(rows)
        assert rows.tolist() == expected[: len(rows)]
        assert (found == away[rows]).all()
        assert by_distance(tree, point).tolist() == expected
        wanted = np.array([draw.integers(1, 16)], np.uint64)
        having = [i for i in expected if marks[i, 0] & wanted[0]]
        count = nearest(tree, point, wanted, rows, found)
        assert rows[:count].tolist() == having[: len(rows)]
        for i in draw.choice(left, min(len(left), 5), replace=False):
            take_away(tree, i)
            left.remove(int(i))
