"""What the verifier of certificates lists and prices, beside the same written down once more in loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from optmodels.verifier import class_lists
from optmodels.verifier.class_lists import Class, TooManyError, below, cheaper_cover
from optmodels.verifier.class_prices import ClassPrices

# Leaves in two pairs and one alone below the root: of each, the last leaf below its nodes, and what these cost.
CLIMBS = [[1, 4, 0.25, 1.0], [1, 4, 0.25, 1.0], [3, 4, 0.5, 1.0], [3, 4, 0.5, 1.0], [4, 4, 0.0, 1.0]]
NODES = {frozenset({0, 1}): 0.25, frozenset({2, 3}): 0.5}
NAMES = ("spread", "extent", "hierarchy")


def prices_of(name: str, n: int, seed: int, *, clustered: bool = False) -> tuple[ClassPrices, dict[str, Any]]:
    draw = np.random.default_rng(seed)
    numeric = draw.normal(size=(n, 2)) + (10 * (np.arange(n) % 5)[:, None] if clustered else 0)
    said = {
        "name": name,
        "numeric": numeric.tolist(),
        "codes": draw.integers(0, 5, (n, 2)).tolist(),
        "code_weights": [1.0, 1.0] if name == "hierarchy" else [0.5, 1.25],
        "climbs": CLIMBS if name == "hierarchy" else [],
        "scale": 1.0,
    }
    return ClassPrices.of(said, n), said


def priced(said: dict[str, Any], rows: Class) -> float:
    """The price of a class by its definition."""
    total, size = 0.0, len(rows)
    for values in zip(*(said["numeric"][i] for i in rows), strict=True):
        mean = sum(values) / size
        squares = sum((value - mean) ** 2 for value in values)
        total += squares if said["name"] == "spread" else size * (max(values) - min(values))
    for weight, values in zip(said["code_weights"], zip(*(said["codes"][i] for i in rows), strict=True), strict=True):
        if said["name"] == "spread":
            total += weight * (size - max(Counter(values).values()))
        elif said["name"] == "extent":
            total += weight * size * (len(set(values)) - 1)
        elif len(set(values)) > 1:
            total += size * next((cost for node, cost in NODES.items() if node >= set(values)), 1.0)
    return total


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_prices_are_their_definitions_and_pairs_never_add_up_to_more(name: str, size: int) -> None:
    prices, said = prices_of(name, 9, size)
    everyone = np.arange(9)
    apart = prices.apart(everyone, everyone, size)
    rows = np.array(list(combinations(range(9), size)))
    true = [priced(said, tuple(one)) for one in rows.tolist()]
    assert prices.roughly(rows).tolist() == pytest.approx(true, rel=1e-12)
    assert [float(prices.exactly(one)) for one in rows.tolist()] == pytest.approx(true, rel=1e-12)
    pairs = np.array([sum(apart[i, j] for i, j in combinations(one, 2)) for one in rows.tolist()])
    assert (pairs <= np.array(true) * (1 + 1e-12)).all()
    if size == 2:  # a class of two is its one pair: nothing is given away
        assert pairs.tolist() == pytest.approx(true, rel=1e-12)
    else:
        assert pairs.sum() > 0.5 * sum(true)


@pytest.mark.parametrize("wrong", [{"name": "hope"}, {"code_weights": [1.0]}, {"code_weights": [1.0, -1e-9]}])
def test_prices_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    _, said = prices_of("spread", 4, 0)
    free, _ = ClassPrices.of({**said, "code_weights": [0.0, 0.0]}, 4), None
    assert free.weights.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="prices"):
        ClassPrices.of({**said, **wrong}, 4)
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="numbers that are none"):
            ClassPrices.of({**said, "numeric": [[number, 0.0]] * 4}, 4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_search_finds_every_class_that_a_list_finds(
    name: str, size: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 12
    prices, said = prices_of(name, n, seed, clustered=seed % 2 == 1)
    true = {rows: priced(said, rows) for rows in combinations(range(n), size)}
    share = np.quantile(list(true.values()), 0.25) / size  # duals by which about a quarter of all classes is too cheap
    duals = [Fraction(float(one)) for one in share * np.random.default_rng(seed).uniform(0.5, 1.5, n)]
    for ceiling in (Fraction(0), Fraction(float(share) / 2), Fraction(-float(share))):
        reduced = {rows: true[rows] - float(sum(duals[i] for i in rows)) for rows in true}
        expected = {rows for rows, cost in reduced.items() if cost < ceiling}
        listed = below(prices, duals, size, ceiling)
        assert set(listed) == expected
        assert listed == pytest.approx({rows: reduced[rows] for rows in expected}, abs=1e-12)
        with monkeypatch.context() as few:
            few.setattr(class_lists, "MOST_LISTED", 0)
            assert below(prices, duals, size, ceiling) == listed
    if seed:
        return
    assert expected, "of which there are some even where all have to be much too cheap"


def test_a_class_that_costs_just_what_its_duals_say_is_not_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rounding could decide is decided in fractions: thirds of a price, a unit in the last place more or less."""
    said = {"numeric": [[0.1], [0.3], [0.8], [0.9]], "codes": [[]] * 4, "code_weights": [], "climbs": [], "scale": 1.0}
    prices = ClassPrices.of({"name": "spread", **said}, 4)
    dual = prices.exactly([0, 1, 2]) / 3
    for most in (class_lists.MOST_LISTED, 0):
        monkeypatch.setattr(class_lists, "MOST_LISTED", most)
        assert (0, 1, 2) not in below(prices, [dual] * 4, 3, Fraction(0))
        hair = Fraction(1, 2**200)
        assert below(prices, [dual + hair] * 4, 3, Fraction(0))[0, 1, 2] == -3 * hair


def test_a_search_that_would_take_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    prices, _ = prices_of("spread", 12, 1)
    monkeypatch.setattr(class_lists, "MOST_LISTED", 0)
    monkeypatch.setattr(class_lists, "MOST_STEPS", 20)
    with pytest.raises(TooManyError):
        below(prices, [Fraction(100)] * 12, 4, Fraction(0))
    with pytest.raises(TooManyError):
        cheaper_cover(dict.fromkeys(combinations(range(12), 3), Fraction(1)), 12, Fraction(2), 3, {}, 0, None)


def covers(found: dict[Class, Fraction], records: frozenset[int]) -> Iterator[list[Class]]:
    """All ways to put these records into classes."""
    if not records:
        yield []
        return
    for rows in found:
        if min(records) in rows and records.issuperset(rows):
            yield from ([rows, *more] for more in covers(found, records.difference(rows)))


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("count", [None, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_a_cheaper_partition_is_found_where_there_is_one(most: int, count: int | None, seed: int) -> None:
    n, k = 8, 2
    draw = np.random.default_rng(seed)
    every = [rows for size in (2, 3, 4, 5, 6) for rows in combinations(range(n), size)]
    low = -3 if seed % 2 else 0
    found = {rows: Fraction(int(draw.integers(low, 40)), 4) for rows in every if draw.random() < 0.5}
    alone = {i: Fraction(int(draw.integers(low, 20)), 4) for i in range(n)} if most else {}
    values = {
        (out, tuple(classes)): sum((found[rows] for rows in classes), sum((alone[i] for i in out), Fraction(0)))
        for fewer in range(most + 1)
        for out in combinations(range(n), fewer)
        for classes in covers(found, frozenset(range(n)).difference(out))
        if count in (None, len(classes))
    }
    best = min(values.values())
    for budget in (best, best + Fraction(1, 8), best + 3):
        cover = cheaper_cover(found, n, budget, k, alone, most, count)
        if budget == best:
            assert cover is None
            continue
        assert cover is not None
        inside = [i for rows in cover for i in rows]
        assert len(set(inside)) == len(inside)
        assert count in (None, len(cover))
        out = tuple(sorted(set(range(n)).difference(inside)))
        assert len(out) <= most
        assert sum((found[rows] for rows in cover), sum((alone[i] for i in out), Fraction(0))) < budget
