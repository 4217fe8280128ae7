"""Short lists that compiled code keeps in order, and chains of links."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from optmodels.nearest_lists import keep_least, keep_nearest
from optmodels.partition import root_of

VALUES = st.lists(st.integers(0, 9).map(float), min_size=1, max_size=12)


@given(values=VALUES, few=st.integers(1, 5))
def test_the_least_values_are_kept_in_order(values: list[float], few: int) -> None:
    least = np.full(few, np.inf)
    for value in values:
        keep_least(least, value)
    assert least.tolist() == (sorted(values) + few * [np.inf])[:few]


@given(values=VALUES)
def test_candidates_stand_where_they_belong_and_earlier_ones_first(values: list[float]) -> None:
    kept, distances = np.full(len(values), -1), np.full(len(values), np.inf)
    for i, value in enumerate(values):
        keep_nearest(kept, distances, i, i, value)
    assert kept.tolist() == np.argsort(values, kind="stable").tolist()
    assert distances.tolist() == sorted(values)


def test_a_chain_is_followed_to_its_end_and_shortened() -> None:
    links = np.array([1, 2, 3, 3, 4])
    assert root_of(links, 0) == 3
    assert links.tolist() == [2, 2, 3, 3, 4]
    assert root_of(links, 4) == 4
