"""The verifier's conditions beside their definitions, written down once more in loops over values."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pytest

from optmodels.verifier import definitions
from optmodels.verifier.attributes import Attribute, counted
from optmodels.verifier.cells import MISSING, Cells
from optmodels.verifier.definitions import Mix

NODES = np.array([[0, 4, 9], [1, 4, 9], [2, 5, 9], [3, 5, 9]])  # two pairs of leaves, and the root


def random_mix(seed: int, values: int) -> tuple[Mix, list[list[int]], list[float]]:
    """Classes with their counts of values, and the shares of values in a whole that has them all."""
    draw = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(3), draw.integers(0, 3, 17)])
    found = draw.permutation(np.concatenate([np.arange(values), draw.integers(0, values, 20 - values)]))
    counts = [[int(((labels == one) & (found == value)).sum()) for value in range(values)] for one in range(3)]
    shares = draw.dirichlet(np.full(values, 2.0)) if seed % 2 else np.bincount(found, minlength=values) / 20
    return Mix.of(labels, found, shares), counts, shares.tolist()


def all_shares(counts: list[list[int]]) -> list[list[float]]:
    return [[count / sum(one) for count in one] for one in counts]


@pytest.mark.parametrize("values", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(12))
def test_every_condition_is_its_definition(seed: int, values: int) -> None:
    mix, counts, q = random_mix(seed, values)
    p = all_shares(counts)
    assert definitions.distinct_l(mix) == min(sum(count > 0 for count in one) for one in counts)
    entropies = [-sum(share * log(share) for share in one if share) for one in p]
    assert definitions.entropy_l(mix) == pytest.approx(exp(min(entropies)), rel=1e-12)
    assert definitions.largest_share(mix) == max(map(max, p))
    gains = [(share - whole) / whole for one in p for share, whole in zip(one, q, strict=True)]
    assert definitions.beta(mix, "basic") == pytest.approx(max(0.0, *gains), abs=1e-12)
    most = [-log(whole) for _ in p for whole in q]
    beyond = any(gain > bound + 1e-8 for gain, bound in zip(gains, most, strict=True))
    assert definitions.beta(mix, "enhanced") == (inf if beyond else pytest.approx(max(0.0, *gains), abs=1e-12))
    lacking = any(not share for one in p for share in one)
    ratios = [abs(log(share / whole)) for one in p for share, whole in zip(one, q, strict=True) if share]
    assert definitions.delta(mix) == (inf if lacking else pytest.approx(max(ratios), rel=1e-12))
    differ = [sum(abs(share - whole) for share, whole in zip(one, q, strict=True)) for one in p]
    assert definitions.variational(mix).tolist() == pytest.approx(differ, abs=1e-12)
    steps = [[abs(sum(one[: at + 1]) - sum(q[: at + 1])) for at in range(values - 1)] for one in p]
    assert definitions.ordered(mix).tolist() == pytest.approx(
        [sum(one) / max(values - 1, 1) for one in steps], abs=1e-12
    )
    for rare in range(1, 5):
        for c in (0.5, 1.0, 2.0, 3.0):
            kept = all(max(one) < c * sum(sorted(one, reverse=True)[rare - 1 :]) for one in counts)
            assert definitions.recursive(mix, c, rare) == kept, (c, rare)


@pytest.mark.parametrize("seed", range(12))
def test_distances_in_a_hierarchy(seed: int) -> None:
    mix, counts, q = random_mix(seed, 4)
    moved = []
    for one in all_shares(counts):
        extra = [share - whole for share, whole in zip(one, q, strict=True)]
        pairs = abs(extra[0] + extra[1]) + abs(extra[2] + extra[3])
        moved.append((sum(map(abs, extra)) + pairs) * 0.5 / 2)
    assert definitions.hierarchical(mix, NODES).tolist() == pytest.approx(moved, abs=1e-12)


def of_whole(**asked: object) -> Attribute:
    return Attribute.of(asked, {"2": 2, "10": 1, "3,5": 1}, {"2": 4, "10": 2, "3,5": 2, MISSING: 2}, ",")


def test_numbers_are_ordered_as_numbers_with_gaps_behind_them() -> None:
    attribute = of_whole(numbers=True, order="numbers")
    assert list(map(str, attribute.numbers)) == ["2", "3.5", "10", ""]
    assert attribute.q.tolist() == [0.4, 0.2, 0.2, 0.2]
    mix = attribute.mix(np.zeros(2, int), Cells(np.array([0, 1]), ["3,50", "2"]))
    assert mix.value.tolist() == [0, 1]


def test_a_value_that_has_no_place_is_told() -> None:
    listed = of_whole(numbers=True, order=["2", None, "10"], t=0.5, t_distance="ordered")
    assert listed.strange == "3.5"
    checks = list(listed.checks("s", [], None))
    assert [one.kept for one in checks] == [None]
    assert "where its value '3.5' belongs" in checks[0].found
    known = of_whole(numbers=True, order=["2", "3,5", "10"])
    assert known.strange is None
    grown = of_whole(numbers=False, hierarchy={"2": ["a"], "10": ["a"], "": ["b"]})
    assert grown.strange == "3,5"


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"distinct_l": 2}, True),
        ({"distinct_l": 3}, False),
        ({"entropy_l": 2.0}, True),
        ({"entropy_l": 2.1}, False),
        ({"most_share": 0.5}, True),
        ({"most_share": 0.4999}, False),
        ({"recursive": [2.1, 2]}, True),
        ({"recursive": [1, 2]}, False),  # the most frequent value is as frequent as all others, and must be rarer
        ({"t": 0.5, "t_distance": "equal"}, True),
        ({"t": 0.4999, "t_distance": "equal"}, False),
        ({"t": 1.0, "t_distance": "variational"}, True),
        ({"t": 0.9999, "t_distance": "variational"}, False),
        ({"beta": 1.0, "beta_kind": "basic"}, True),
        ({"beta": 0.9999, "beta_kind": "basic"}, False),
        ({"delta": 50.0}, False),
    ],
)
def test_bounds_that_are_just_kept(asked: dict[str, object], kept: bool) -> None:
    """A class of two of four values that are equally frequent in the whole."""
    whole = dict.fromkeys("abcd", 2)
    attribute = Attribute.of({"numbers": False, **asked}, whole, whole, ".")
    mix = attribute.mix(np.zeros(2, int), Cells(np.array([0, 1]), list("ab")))
    (check,) = attribute.checks("s", [mix], None)
    assert check.kept is kept
    (unknown,) = attribute.checks("s", [mix], "no whole") if set(asked) & {"t", "beta", "delta"} else (check,)
    assert (unknown.kept is None) == bool(set(asked) & {"t", "beta", "delta"})


def test_parts_of_a_release_are_counted_together_and_the_worst_of_them_decides() -> None:
    one, other = Cells(np.array([0, 0, 1]), ["a", "b"]), Cells(np.array([0, 1, 1]), ["b", "c"])
    whole = counted(other, into=counted(one))
    assert whole == {"a": 2, "b": 2, "c": 2}
    attribute = Attribute.of({"numbers": False, "recursive": [2.0, 2], "most_share": 0.8}, whole, None, ".")
    kept = attribute.mix(np.zeros(3, int), one)  # two of one value and one of another
    broken = attribute.mix(np.zeros(3, int), Cells(np.zeros(3, int), ["a"]))
    for mixes, so in (([kept, kept], False), ([kept, broken], False), ([broken, kept], False)):
        assert [one.kept for one in attribute.checks("s", mixes, None)] == [so, broken not in mixes]
    looser = Attribute.of({"numbers": False, "recursive": [2.1, 2]}, whole, None, ".")
    for mixes, so in (([kept, kept], True), ([kept, broken], False), ([broken, kept], False)):
        assert [one.kept for one in looser.checks("s", mixes, None)] == [so]
