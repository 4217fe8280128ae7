"""Certificates written by hand: every check in its words, and bounds beside the same worked out in loops."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optmodels.errors import InputError
from optmodels.verifier import verify_certificate
from optmodels.verifier.certificate import centres_bound, duals_bound, path_bound, proven
from optmodels.verifier.promise_file import file_sha256

Document = dict[str, Any]
VALUES = [0.0, 1.0, 2.0, 10.0, 11.0, 15.0]  # squares about the means of the first and the last three: 2 and 14


def by_classes(**said: Any) -> Document:
    """Two classes of three records; their squares, 2 and 14, are their duals, and the scaled value is 8."""
    return {
        "data": {"records": 6, "sha256": None},
        "conditions": {
            "k": 3,
            "people": None,
            "sensitive": {},
            "codes": {},
            "left_out": {"most": 0, "price": 0.0},
            "n_classes": None,
            **said.pop("conditions", {}),
        },
        "labels": [0, 0, 0, 1, 1, 1],
        "target": "loss",
        "value": 8.0,
        "bound": 7.5,
        "kind": "classes",
        "duals": [0.5, 0.75, 0.75, 4.5, 4.75, 4.75],
        "rests_on": "duals",
        "price": {
            "name": "spread",
            "numeric": [[value] for value in VALUES],
            "codes": [[]] * 6,
            "code_weights": [],
            "climbs": [],
            "scale": 2.0,
        },
        **said,
    }


def verdict(document: Document, data: Path | None = None) -> dict[str, tuple[str, str, bool | None]]:
    return {one.what: (one.promised, one.found, one.kept) for one in verify_certificate(document, data).checks}


def test_every_check_in_its_words(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("x\n1\n")
    sha256 = file_sha256(data)
    found = verdict(by_classes(data={"records": 6, "sha256": sha256}, conditions={"n_classes": 2}), data)
    assert found == {
        "data": (f"SHA-256 {sha256}", f"SHA-256 {sha256}", True),
        "k": ("at least 3 records", "3", True),
        "left out": ("at most 0", "0", True),
        "classes": ("2", "2", True),
        "value of 'loss'": ("8.0", "8.0", True),
        "bound": ("no partition below 7.5", found["bound"][1], True),
    }
    assert verdict(by_classes(data={"records": 6, "sha256": "0" * 64}), data)["data"][2] is False


def test_people_are_counted_and_called_so() -> None:
    asked = {"k": 2, "people": [0, 0, 1, 2, 2, 2]}
    found = verdict(by_classes(conditions=asked))
    assert found["k"] == ("at least 2 people", "1", False)
    assert found["bound"][1:] == ("what is said before it is not so", None)
    assert verdict(by_classes(conditions={**asked, "people": [0, 0, 1, 2, 3, 3]}))["k"][1:] == ("2", True)


@pytest.mark.parametrize(
    "labels",
    [[0, 0, 0, 1, 1], [0, 0, 0, 1, 1, -2], [-1] * 6, [0, 0, 0, 1, 1, 1, 1]],
    ids=["less", "-2", "none", "more"],
)
def test_labels_that_are_no_partition(labels: list[int]) -> None:
    assert verdict(by_classes(labels=labels)) == {"partition": ("6 records in classes", "otherwise", False)}


def test_who_is_left_out_pays_and_is_counted() -> None:
    asked = {"k": 2, "left_out": {"most": 1, "price": 3.25}}
    said = {"labels": [-1, 0, 0, 1, 1, 1], "value": 10.5, "bound": None}  # (0.5 + 14) / 2 + 3.25
    found = verdict(by_classes(conditions=asked, **said))
    assert found["left out"] == ("at most 1", "1", True)
    assert found["value of 'loss'"] == ("10.5", "10.5", True)
    assert found["bound"] == ("none", "duals", None)
    more = verdict(by_classes(conditions=asked, **{**said, "labels": [-1, 0, 0, -1, 1, 1]}))
    assert more["left out"] == ("at most 1", "2", False)
    assert more["k"] == ("at least 2 records", "2", True)


def test_sensitive_values_are_those_of_records_in_classes() -> None:
    asked = {
        "k": 2,
        "sensitive": {"s": {"distinct_l": 2, "numbers": False}},
        "codes": {"s": [7, 5, 7, 5, 7, 5]},
        "left_out": {"most": 2, "price": 0.0},
    }
    assert verdict(by_classes(conditions=asked))["distinct_l of 's'"] == ("at least 2", "2", True)
    one_kind = verdict(by_classes(conditions=asked, labels=[0, -1, 0, 1, 1, 1]))
    assert one_kind["distinct_l of 's'"] == ("at least 2", "1", False)


def test_a_value_is_as_good_as_floats_are_and_no_better() -> None:
    assert verdict(by_classes(value=8.0 * (1 + 1e-15)))["value of 'loss'"][2]
    assert not verdict(by_classes(value=8.0 * (1 + 1e-13)))["value of 'loss'"][2]
    assert not verdict(by_classes(bound=8.0 * (1 + 1e-13)))["bound"][2]


def test_a_class_of_sensitive_values_or_people_that_no_partition_may_have_is_no_way_below() -> None:
    """The two classes would cost 8, and must not be: of what may be the verifier finds nothing below the best."""
    for asked in (
        {"sensitive": {"s": {"distinct_l": 2, "numbers": False}}, "codes": {"s": [0, 0, 0, 1, 1, 1]}},
        {"people": [0, 0, 1, 2, 3, 4]},
        {"n_classes": 1},
    ):
        document = by_classes(conditions=asked)
        best = min(costs_of_partitions(asked))
        assert best > 8
        assert proven(document, best)[0], asked
        kept, why = proven(document, best + Fraction(1, 10**6))
        assert not kept
        assert "is below it" in why
    assert proven(by_classes(), Fraction(8))[0]
    assert not proven(by_classes(), Fraction(8) + Fraction(1, 10**9))[0]


def test_leaving_out_a_record_is_a_way_below_where_it_is_cheap() -> None:
    """Without the last record the others cost (2 + 0.5) / 2, in a class of three and one of two, and its own price."""
    for price, best in ((0.5, 1.75), (2.0, 3.25)):
        document = by_classes(duals=[0.0] * 6, conditions={"k": 2, "left_out": {"most": 1, "price": price}})
        assert proven(document, Fraction(best))[0]
        assert not proven(document, Fraction(best) + Fraction(1, 10**6))[0]
    dear = by_classes(duals=[0.0] * 6, conditions={"k": 2, "left_out": {"most": 1, "price": 50.0}})
    assert proven(dear, Fraction(8))[0]
    assert not proven(dear, Fraction(8) + Fraction(1, 10**6))[0]


def costs_of_partitions(asked: Document) -> list[Fraction]:
    """What partitions into one class or two classes of three cost that keep what is asked."""
    found = []
    for rows in [(0, 1, 2, 3, 4, 5), *combinations(range(6), 3)]:
        classes = [rows] if len(rows) == 6 else [rows, tuple(set(range(6)).difference(rows))]
        people = asked.get("people", list(range(6)))
        codes = asked.get("codes", {}).get("s", list(range(6)))
        kept = all(len({people[i] for i in one}) >= 3 and len({codes[i] for i in one}) >= 2 for one in classes)
        if kept and asked.get("n_classes") in (None, len(classes)):
            found.append(sum((squares(one) for one in classes), Fraction(0)) / 2)
    return found


def squares(rows: Iterable[int]) -> Fraction:
    values = [Fraction(VALUES[i]) for i in rows]
    mean = sum(values) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0))


def test_a_bound_of_duals_is_their_sum_less_what_classes_and_those_left_out_gain() -> None:
    draw = np.random.default_rng(5)
    for _ in range(20):
        duals = draw.uniform(-1, 8, 6).tolist()
        for most, price in ((0, 0.0), (1, 2.0), (2, 1.5)):
            document = by_classes(duals=duals, conditions={"left_out": {"most": most, "price": price}})
            worst = min(
                [0.0, *(float(squares(rows)) - sum(duals[i] for i in rows) for rows in combinations(range(6), 3))]
            )
            gains = sorted((max(dual - 2 * price, 0.0) for dual in duals), reverse=True)[:most]
            assert float(duals_bound(document)) == pytest.approx((sum(duals) - sum(gains) + worst * 6 / 3) / 2)


def test_a_bound_of_heights_is_the_last_one_less_what_classes_of_neighbours_fall_short() -> None:
    draw = np.random.default_rng(6)
    order = draw.permutation(6)
    price = {**by_classes()["price"], "numeric": [[VALUES[place]] for place in order]}
    labels = [place // 3 for place in order]
    for sink, slope in ((0.0, 0.0), (0.4, 0.0), (3.0, 0.0), (0.0, 20.0)):  # so steep that larger classes fall shorter
        for k in (2, 3):
            heights = np.cumsum([1.0, 0.2, 0.4, 1.0, 4.0, 5.0, 5.0]) + sink * draw.normal(size=7) + slope * np.arange(7)
            document = by_classes(
                kind="path", heights=heights.tolist(), price=price, labels=labels, conditions={"k": k}
            )
            worst = min(
                [
                    0.0,
                    *(
                        float(squares(range(at, at + size))) - (heights[at + size] - heights[at])
                        for size in range(k, 2 * k)
                        for at in range(7 - size)
                    ),
                ]
            )
            reached = (heights[-1] - heights[0] + worst * 6 / k) / 2
            assert float(path_bound(document)) == pytest.approx(reached, abs=1e-12)
            if k == 3:
                assert reached <= 8 + 1e-12
            assert proven(document, path_bound(document))[0]
            assert not proven(document, path_bound(document) + Fraction(1, 10**12))[0]


def test_heights_for_anything_else_than_one_attribute_are_refused() -> None:
    path: Document = {"kind": "path", "heights": [0.0] * 7}
    price = by_classes()["price"]
    assert path_bound(by_classes(**path, price={**price, "numeric": [[value, 4.0] for value in VALUES]})) == 0
    equal = {**price, "codes": [[3]] * 6, "code_weights": [1.0]}
    differ = {**price, "codes": [[3]] * 5 + [[2]]}
    assert path_bound(by_classes(**path, price=equal)) == 0
    assert path_bound(by_classes(**path, price={**differ, "code_weights": [0.0]})) == 0
    wrong: list[Document] = [
        {"price": {**price, "numeric": [[value, -value] for value in VALUES]}},
        {"price": {**differ, "code_weights": [1.0]}},
        {"price": {**price, "name": "extent"}},
        {"conditions": {"left_out": {"most": 1, "price": 1.0}}},
        {"conditions": {"n_classes": 2}},
    ]
    for said in wrong:
        with pytest.raises(ValueError, match="one attribute that varies, and for all records"):
            path_bound(by_classes(**path, **said))
    for heights in ([0.0] * 6, [0.0] * 6 + [float("inf")]):
        with pytest.raises(ValueError, match="heights"):
            path_bound(by_classes(kind="path", heights=heights))


POINTS = [[0.0, 0.0], [1.0, 2.0], [4.0, 4.0], [6.0, 4.0], [7.0, 7.0]]
CENTRES = [[6.0, 6.0], [1.0, 0.0]]


def by_centres(metric: str = "manhattan", spare: int = 0, **said: Any) -> Document:
    return {
        **by_classes(conditions={"k": 2, "left_out": {"most": spare, "price": 3.0}}),
        "data": {"records": 5, "sha256": None},
        "labels": [0, 0, 1, 1, 1],
        "kind": "centres",
        "centre_of": [1, 0],
        "least": [2, 2],
        "most": [3, 3],
        "tolls": [0.0, 0.0],
        "price": {"points": POINTS, "centres": CENTRES, "metric": metric},
        **said,
    }


def far(metric: str, point: list[float], centre: list[float]) -> float:
    steps = [abs(a - b) for a, b in zip(point, centre, strict=True)]
    if metric == "manhattan":
        return sum(steps)
    square = sum(step * step for step in steps)
    return sqrt(square) if metric == "euclidean" else square


@pytest.mark.parametrize("metric", ["manhattan", "euclidean", "sqeuclidean"])
def test_a_bound_of_tolls_is_what_records_pay_less_what_centres_pay_back(metric: str) -> None:
    draw = np.random.default_rng(7)
    costs = [[far(metric, point, centre) for centre in CENTRES] for point in POINTS]
    value = sum(costs[i][0 if i > 1 else 1] for i in range(5))
    found = verdict(by_centres(metric, value=value, bound=None))
    assert found["value of 'loss'"][2]
    assert found["sizes"] == ("as every centre's class may have", "so", True)
    out = verdict(by_centres(metric, 1, labels=[0, 0, 1, 1, -1], value=value - costs[4][0] + 3.0, bound=None))
    assert out["value of 'loss'"][2]
    assert out["sizes"][2]
    for most in (0, 2):
        for _ in range(8):
            tolls = draw.uniform(-2, 2, 2 + bool(most)).tolist()
            ways = [[*row, 3.0] if most else row for row in costs]
            paid = sum(min(cost + toll for cost, toll in zip(row, tolls, strict=True)) for row in ways)
            back = sum(
                toll * (high if toll > 0 else low)
                for toll, low, high in zip(tolls, [2, 2, 0], [3, 3, most], strict=False)
            )
            document = by_centres(metric, most, tolls=tolls)
            reached = centres_bound(document)
            assert float(reached) == pytest.approx(paid - back, rel=1e-12, abs=1e-12)
            assert reached <= Fraction(paid) - Fraction(back) + Fraction(1, 10**14)
            assert reached <= value + 1e-12
            assert proven(document, reached)[0]
            assert not proven(document, reached + Fraction(1, 10**12))[0]


def test_sizes_and_centres_that_may_not_be() -> None:
    wrong: list[Document] = [
        {"least": [3, 3]},
        {"most": [2, 2]},
        {"centre_of": [1, 1]},
        {"centre_of": [0]},
        {"centre_of": [0, 1, 2]},
        {"labels": [0, 0, 0, 0, 0]},
        {"labels": [0, 0, 1, 1, 2]},
    ]
    for said in wrong:
        try:
            assert verdict(by_centres(**{"bound": None, **said}))["sizes"][1:] == ("otherwise", False), said
        except InputError:  # a class has no centre whose price it could pay
            assert said in ({"centre_of": [0]}, {"labels": [0, 0, 1, 1, 2]})
    for just in ({"least": [3, 2]}, {"most": [3, 2]}):  # the first centre has the second class, of three
        assert verdict(by_centres(bound=None, **just))["sizes"][2]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"price": {"points": POINTS, "centres": CENTRES, "metric": "crow"}}, "metric called 'crow'"),
        ({"price": {"points": POINTS, "centres": [[1.0]] * 2, "metric": "manhattan"}}, "different places"),
        (
            {"price": {"points": [[float("nan"), 0.0], *POINTS[1:]], "centres": CENTRES, "metric": "manhattan"}},
            "different places",
        ),
        ({"tolls": [0.0]}, "prices of other centres"),
        ({"tolls": [0.0, float("inf")]}, "prices of other centres"),
        ({"tolls": [0.0, 0.0, 0.0]}, "prices of other centres"),
    ],
)
def test_centres_that_make_no_sense_are_refused(said: Document, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        centres_bound(by_centres(**said))
