"""Crossing two partitions: the best mixture of their parts, checked against all mixtures."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from optmodels.partition import canonical, class_sizes
from optmodels.price import Price
from solvers.local_search.cross import crossed


def parts(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part of every record: what hangs together by classes of either partition."""
    joined = coo_array((np.ones(len(one)), (one, other)), shape=(one.max() + 1, other.max() + 1))
    square = np.zeros((sum(joined.shape), sum(joined.shape)))
    square[: joined.shape[0], joined.shape[0] :] = joined.toarray()
    return np.asarray(connected_components(square, directed=False)[1][one], np.int64)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_mixture_of_parts_is_cheaper(seed: int, fixed: bool) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(6, 30))
    price = Price("spread", draw.normal(size=(n, 2)), np.zeros((n, 0), np.int32), np.zeros(0))
    blocks = draw.integers(0, 4, n)  # both partitions stay within them, so that there are several parts
    one, other = (canonical(blocks * 3 + draw.integers(0, 3, n)) for _ in range(2))
    mixed, prices, replaced = crossed(one, price.per_class(one), other, price.per_class(other), fixed, 1e-12)
    np.testing.assert_array_equal(canonical(mixed), mixed)
    np.testing.assert_allclose(prices, price.per_class(mixed), atol=1e-9)

    part = canonical(parts(one, other))
    best = np.inf
    for choice in product((False, True), repeat=int(part.max()) + 1):
        chosen = np.array(choice)
        if fixed:
            same = [len(set(one[part == p])) == len(set(other[part == p])) for p in range(len(chosen))]
            if (chosen & ~np.array(same)).any():
                continue
        best = min(best, price.total(canonical(np.where(chosen[part], other + n, one))))
    assert price.total(mixed) == pytest.approx(best)
    assert (replaced > 0) == (best < price.total(one) - 1e-12)
    if fixed:
        assert mixed.max() == one.max()


def test_every_class_is_one_of_the_two_partitions() -> None:
    one, other = np.array([0, 0, 0, 1, 1, 1, 2, 2]), np.array([5, 5, 5, 7, 7, 3, 3, 3])
    prices = np.array([2.0, 1.0, 1.0])
    other_prices = np.full(8, 9.0)
    other_prices[[5, 7, 3]] = 1.0, 0.2, 0.2
    mixed, found, replaced = crossed(one, prices, other, other_prices, False, 1e-12)
    assert class_sizes(mixed).tolist() == [3, 2, 3]
    assert found.tolist() == [1.0, 0.2, 0.2]
    assert replaced == 2
