"""Conditions worked out by hand: at their very bounds, in their words, of people, and as arrays that kernels take."""

from __future__ import annotations

import re
from itertools import combinations, product
from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels import Conditions, Hierarchy, Table
from optmodels.conditions import attacks, broken_classes, count_values, dealing, fewest_values, meets
from optmodels.conditions._conditions import _MOST_TRIMMED
from optmodels.conditions.attacks import against, least_distance
from optmodels.conditions.class_test import largest_counts
from optmodels.errors import InputError
from optmodels.metrics.privacy import Transport
from optmodels.partition import canonical, members


def table_of(values: str, **more: Any) -> Table:
    """One sensitive attribute, a letter for each record."""
    frame = pd.DataFrame({"age": range(len(values)), "ill": list(values)}).assign(**more.pop("columns", {}))
    return Table(frame, quasi={"age": "numeric"}, sensitive="ill", **more)


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 2},
        {"distinct_l": 1},
        {"entropy_l": 1},
        {"recursive": (0.001, 1)},
        {"most_share": 1},
        {"beta": 0},
        {"delta": 0.001},
        {"t": 0},
        {"t": 1},
        {"t": 2, "t_distance": "variational"},
        {"t": {"ill": 2}, "t_distance": {"ill": "variational"}},
        {"suppress": 0.999},
    ],
    ids=str,
)
def test_the_least_and_the_most_that_may_be_asked_for(asked: dict[str, Any]) -> None:
    assert Conditions(**asked).to_dict().items() >= {"k": 2, **asked}.items()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"entropy_l": 0.999}, "entropy_l must be at least 1, not 0.999: 1 is a class with one value"),
        ({"most_share": 1.001}, "most_share must be a share of a class, above 0 and at most 1, not 1.001"),
        ({"t": 1.001}, "t must be a distance between distributions, from 0 .* to 1 .*, not 1.001"),
        ({"t": True}, "not True"),
        ({"t": 2.001, "t_distance": "variational"}, "to 2 where"),
        ({"t": -0.001}, "not -0.001"),
        ({"recursive": "32"}, r"recursive must be a pair \(c, l\) such as \(3, 2\), not '32'"),
        ({"recursive": (3, 2, 1)}, "must be a pair"),
        ({"recursive": (3, 0)}, "l of recursive must be a whole number of at least 1, not 0"),
        ({"suppress": 1.0}, "suppress=1.0 is no share of the records: it must be below 1"),
        ({"suppress": -0.1}, "suppress must not be negative"),
        ({"k": np.float64(3)}, "k must be a whole number of at least 2"),
    ],
)
def test_a_hair_beyond_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Conditions(**asked)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"distinct_l": 2}, None),
        ({"distinct_l": 3}, "distinct_l=3 cannot hold: 'ill' has only 2 distinct values. Ask for 2 at most."),
        ({"entropy_l": 1.64}, None),
        ({"entropy_l": 1.66}, "entropy_l=1.66 cannot hold: 'ill' reaches 1.649 in the whole table"),
        ({"recursive": (4.01, 2)}, None),
        ({"recursive": (4, 2)}, "recursive=4,2 cannot hold: it does not hold .* Ask for a c above 4."),
        ({"recursive": (4, 3)}, "recursive=4,3 cannot hold: it does not hold .* Ask for an l of 2 at most."),
        ({"most_share": 0.8}, None),
        ({"most_share": 0.79}, "most_share=0.79 cannot hold: 'a' is 0.8 of 'ill' in the whole table"),
        ({"most_share": {"ill": 0.79}}, "most_share=0.79 cannot hold"),
        ({"t": 0.0, "beta": 0.0, "delta": 0.1}, None),
    ],
    ids=str,
)
def test_what_the_whole_table_does_not_reach_is_out_of_reach(asked: dict[str, Any], reason: str | None) -> None:
    found = Conditions(k=2, **asked).impossible(table_of("aaaaaaaabb"))
    assert (found is None) == (reason is None)
    assert re.match(reason or "", found or "")


def test_records_left_out_help_until_they_are_enough() -> None:
    table = table_of("aaaaaaaabb")
    asked = Conditions(k=2, most_share=0.6)
    assert asked.impossible(table, 5) is None  # three of eight 'a' and two of 'b'
    found = asked.impossible(table, 4)
    assert found is not None
    assert found.endswith("Ask for more. Nor do 4 records left out help.")
    assert str(asked.impossible(table)).endswith("Ask for more.")
    assert asked.impossible(table, _MOST_TRIMMED + 1) is None  # so many are not tried
    two = Table(
        pd.DataFrame({"age": range(4), "one": list("aabb"), "other": list("cccd")}),
        quasi={"age": "numeric"},
        sensitive=["one", "other"],
    )
    assert "of 'other' in the whole table" in str(Conditions(k=2, most_share=0.6).impossible(two))


def test_distributions_that_are_asked_for_are_counted_by_name() -> None:
    table = table_of("aabbaabb")
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    asked = Conditions(k=4, distinct_l=2, most_share=0.6, delta=0.25, suppress=0.1)
    assert asked.violations(asked.compile(table), labels) == {
        "k": 1,
        "distinct_l": 0,
        "most_share": 1,
        "delta": 1,
    }
    plain = Conditions(k=4)
    assert plain.compile(table).only_size
    assert plain.violations(plain.compile(table), labels) == {"k": 1}
    assert Conditions(k=3).violations(plain.compile(table).with_k(3), labels) == {"k": 0}
    for more in ({"distinct_l": 2}, {"entropy_l": 1.1}, {"recursive": (3, 1)}, {"t": 0.9}, {"most_share": 0.9}):
        assert not Conditions(k=2, **more).compile(table).only_size  # type: ignore[arg-type]
    assert Conditions(k=2, distinct_l=1, entropy_l=1.0).compile(table).only_size


def test_conditions_in_one_line() -> None:
    asked = Conditions(
        k=5, distinct_l=2, entropy_l=1.5, recursive=(3, 2), most_share=0.5, beta=1, delta=2, t=0.3, suppress=0.05
    )
    assert asked.describe() == (
        "k >= 5, distinct l >= 2, entropy l >= 1.5, recursive (3, 2), largest share <= 0.5, beta <= 1 (basic), "
        "delta < 2, t <= 0.3 (emd), suppressed <= 0.05"
    )
    assert Conditions().to_dict() == {"k": 2}
    assert asked.needs_sensitive
    assert not Conditions(k=5, suppress=0.05).needs_sensitive
    assert asked.usual_distance
    assert Conditions(t_distance="equal").usual_distance  # of which nothing is asked
    assert not Conditions(t=0.3, t_distance="equal").usual_distance
    assert not Conditions(t=0.3, t_distance={"ill": "equal", "pay": "emd"}).usual_distance
    assert Conditions(t=0.3, t_distance={"ill": "emd"}).usual_distance
    named = Conditions(t={"pay": 0.2, "ill": 0.3}, distinct_l={"ill": 2})
    assert named.attributes == ("ill", "pay")
    assert asked.attributes == ()


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ({}, 0),
        ({"distinct_l": 3}, 3),
        ({"entropy_l": 2.0}, 2),
        ({"entropy_l": 2.01}, 3),
        ({"recursive": (9, 3)}, 3),
        ({"most_share": 0.4}, 3),
        ({"delta": 3.0}, 4),  # every value of the table has to be there
        ({"beta": 0.0}, 4),  # and so it has if none may be more frequent than in the table
        ({"beta": 0.5}, 3),
    ],
    ids=str,
)
def test_so_many_values_a_class_has_at_least(asked: dict[str, Any], values: int) -> None:
    test = Conditions(k=2, **asked).compile(table_of("aabbccdd"))
    assert max(fewest_values(test, 0), 1) == max(values, 1)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 7))
def test_the_largest_counts_are_those_that_sorting_finds(counts: list[int], many: int) -> None:
    test = Conditions(k=2).compile(table_of("abcdef"[: max(len(counts), 2)]))
    counts += [0] * (2 - len(counts))
    top, total = largest_counts(test, np.array(counts, np.int64), 0, many)
    ranked = sorted(counts, reverse=True)
    assert (top, total) == (ranked[0], sum(ranked[:many]))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.integers(0, 2)), min_size=5, max_size=16),
    st.sampled_from([{}, {"distinct_l": 2}, {"most_share": 0.6}, {"t": 0.3}]),
    st.integers(2, 3),
)
def test_people_are_counted_as_values_are(rows: list[tuple[int, str, int]], asked: dict[str, Any], k: int) -> None:
    who, ill, where = ([row[at] for row in rows] for at in range(3))
    if k > len(rows):
        return
    people = table_of("".join(ill), columns={"who": who}, person="who")
    plain = table_of("".join(ill))
    counted, test = Conditions(k=k, **asked).compile(people), Conditions(k=k, **asked).compile(plain)
    labels = canonical(where)
    classes = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
    heads = [len({who[i] for i in one}) for one in classes]
    for one, count in zip(classes, heads, strict=True):
        kept = bool(meets(test.with_k(1), count_values(test, one), len(one)))
        assert meets(counted, count_values(counted, one), len(one)) == (kept and count >= k)
        assert meets(counted.of_records, count_values(counted.of_records, one), len(one)) == (kept and len(one) >= k)
    broken = broken_classes(counted, *members(labels))
    assert broken[0] == sum(count < k for count in heads)
    assert broken[1:].tolist() == broken_classes(test, *members(labels))[1:].tolist()
    some = np.arange(len(rows) // 2, len(rows))
    taken = counted.take(some)
    assert len(taken.codes) == len(some)
    assert meets(taken, count_values(taken, np.arange(len(some))), len(some)) == bool(
        meets(counted, count_values(counted, some), len(some))
    )
    assert counted.with_k(2).k == 2
    assert len(counted.entropies) == 1
    changed = counted.with_entropies(np.array([log(1.5)]))
    assert changed.entropies.tolist() == [log(1.5)]
    assert changed.entropy[1:].tolist() == counted.entropy[1:].tolist()


TREE = Hierarchy("abcd", [["x", "x", "y", "y"]])


@settings(max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=4, max_size=4), st.sampled_from([0.0, 0.3, 0.34, 0.5, 0.7, 1.0]))
@pytest.mark.parametrize("ground", ["equal", "ordered", "hierarchical"])
def test_the_least_distance_is_that_of_the_best_set_of_alike_values(
    ground: str, counts: list[int], apart: float
) -> None:
    """Each value goes to the nearest of a set whose values are alike, and the best of all such sets is looked for."""
    q = (np.array(counts) + 1) / (sum(counts) + 4)
    grounds = {
        "equal": Transport.equal(4),
        "ordered": Transport.ordered(4),
        "hierarchical": Transport.hierarchical(TREE, list("abcd")),
    }
    place = np.arange(4)
    far = grounds[ground].between(np.repeat(place, 4), np.tile(place, 4)).reshape(4, 4)
    alike = [
        chosen
        for size in range(1, 5)
        for chosen in combinations(range(4), size)
        if all(far[a, b] <= apart + 1e-9 for a, b in product(chosen, chosen))
    ]
    best = min(sum(q[i] * min(far[i, j] for j in chosen) for i in range(4)) for chosen in alike)
    assert least_distance(q, grounds[ground], apart) == pytest.approx(best, abs=1e-12)


def test_what_is_asked_against_attacks_at_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"age": range(6), "ill": list("aabbcc"), "pay": [1, 1, 2, 2, 3, 3]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive=["ill", "pay"], ordered=["pay"])
    assert against(table) == {}
    assert against(table, skewness=1) == {"beta": 0.0}
    found = against(table, similarity=0.0)["t"]
    assert found == {"ill": 0.666666, "pay": 0.333332}  # all to one of three; and all to the middle one
    for wrong in (0.999, float("inf"), float("nan")):
        with pytest.raises(InputError, match="must be a number of at least 1"):
            against(table, skewness=wrong)
    for wrong in (-0.001, 1.0):
        with pytest.raises(InputError, match="from 0 to below 1"):
            against(table, similarity=wrong)
    assert against(table, similarity=0.499)["t"]["pay"] == 0.333332
    assert against(table, similarity=0.5)["t"]["pay"] == 0.166666
    monkeypatch.setattr(attacks, "_MOST_VALUES", 3)
    assert against(table, similarity=0.0)["t"] == found
    monkeypatch.setattr(attacks, "_MOST_VALUES", 2)
    with pytest.raises(InputError, match="'ill' has 3 values, more than 2: cut them into bins"):
        against(table, similarity=0.0)
    bare = Table(frame[["age"]], quasi={"age": "numeric"})
    with pytest.raises(InputError, match="on sensitive attributes, and the table has none"):
        against(bare, skewness=2)
    alike = table_of("aaaa")
    with pytest.raises(InputError, match="nothing shuts out a similarity attack on it"):
        against(alike, similarity=0.0)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=4),
    st.integers(0, 12),
)
def test_counts_between_bounds_are_all_there_are(bounds: list[tuple[int, int]], largest: int) -> None:
    least = np.array([low for low, _ in bounds])
    most = np.array([low + more for low, more in bounds])
    ways = product(*(range(low, high + 1) for low, high in zip(least.tolist(), most.tolist(), strict=True)))
    expected = sorted(way for way in ways if sum(way) <= largest)
    found = dealing._between(least, most, largest)
    assert found is not None
    assert sorted(map(tuple, found.tolist())) == expected


def test_too_many_counts_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealing, "_MOST_COUNTS", 9)
    nothing, two = np.zeros(2, np.int64), np.full(2, 2)
    found = dealing._between(nothing, two, 4)
    assert found is not None
    assert len(found) == 9
    assert dealing._between(nothing, np.array([2, 3]), 9) is None


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=16),
    st.sampled_from(["equal", "ordered", "variational"]),
    st.integers(2, 6),
)
def test_no_class_of_a_size_is_nearer_to_the_table_than_the_bound(values: list[int], ground: Any, size: int) -> None:
    table = table_of("".join("abcd"[value] for value in values), ordered="ill")
    test = Conditions(k=2, t=0.0, t_distance=ground).compile(table)
    bound = float(dealing._nearest(test, np.array([size]), 0)[0])
    shares = test.shares
    classes = [c for c in product(range(size + 1), repeat=len(shares)) if sum(c) == size]
    transport = {"equal": Transport.equal, "ordered": Transport.ordered, "variational": Transport.variational}[ground]
    edges = transport(len(shares))

    def distance(counts: tuple[int, ...]) -> float:
        prefix = np.append(0.0, np.cumsum(np.array(counts) / size - shares))
        return float(edges.weight @ np.abs(prefix[edges.high] - prefix[edges.low]))

    nearest = min(map(distance, classes))
    assert bound <= nearest + 1e-12
    if ground == "ordered":  # where every edge may be rounded by itself
        assert bound == pytest.approx(nearest, abs=1e-12)


def test_recursive_diversity_is_strict() -> None:
    """Two of the most frequent value are not rarer than once the other two."""
    table = table_of("aabc" + "aabbcc")
    for c, kept in ((1.0, False), (1.01, True), (0.99, False)):
        test = Conditions(k=2, recursive=(c, 2)).compile(table)
        assert meets(test, count_values(test, np.arange(4)), 4) == kept
    assert not meets(test, count_values(test, np.arange(2)), 2)
