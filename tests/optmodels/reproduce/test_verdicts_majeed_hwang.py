"""Every verdict on Majeed and Hwang holds for figures as the paper tells them, and fails for others."""

from __future__ import annotations

import pandas as pd
import pytest

from optmodels.reproduce.majeed_hwang_verdicts import ALIKE, CHOSEN, CONDITIONS, OURS, WFDA, verdicts
from optmodels.reproduce.report import ClaimVerdict

TREES = 497
KS = (5, 10, 15, 20, 25, 50, 100)
WEIGHTS = {"native_country": 70.0, "race": 20.0, "sex": 8.0, "age": 2.0}


def _values() -> pd.DataFrame:
    rows = [
        {"version": name, "k": k, "distortion": 50.0 + k / 100, "disclosure": 0.8, "homogeneous_classes": 900 / k}
        for name in (OURS, CHOSEN, WFDA, *CONDITIONS, *ALIKE)
        for k in KS
    ]
    values = pd.DataFrame(rows)
    ours = values["version"] == OURS
    values.loc[ours, "distortion"] = [30.0 + k / 10 for k in KS]
    small = values["version"].isin(ALIKE) & (values["k"] <= 10)
    values.loc[small, "distortion"] = 10.0
    values.loc[ours, "homogeneous_classes"] *= 0.5
    values.loc[ours, "disclosure"] = [0.4 + k / 1000 for k in KS]
    return values


def _accuracies() -> pd.DataFrame:
    versions = ("original", OURS, *CONDITIONS, *ALIKE, WFDA)
    rows = [
        {"version": name, "k": k, "ours": 76.0 + k / 100, "retention": 100.0, "mcc": 0.3, "mcc_retention": 90.0}
        for name in versions
        for k in KS
    ]
    accuracies = pd.DataFrame(rows).assign(retention_error=0.3)
    accuracies.loc[accuracies["version"] == OURS, ["mcc", "mcc_retention"]] = 0.35, 99.5
    return accuracies


def _named(claim: str, accuracies: pd.DataFrame, values: pd.DataFrame, weights: dict[str, float]) -> list[ClaimVerdict]:
    found = [one for one in verdicts(weights, TREES, accuracies, values) if claim in one.claim]
    assert found, claim
    return found


def test_all_hold_for_what_the_paper_tells() -> None:
    found = verdicts(WEIGHTS, TREES, _accuracies(), _values())
    assert len(found) == 16
    assert all(one.holds for one in found), [one for one in found if not one.holds]


@pytest.mark.parametrize(
    ("claim", "column", "figures"),
    [
        ("keeps at least 99%", "mcc_retention", 0.0),  # as suppressing everything would
        ("More is learned from it than from k, l and t on the same", "mcc", 0.2),
        ("More is learned from it than from k, l and t each", "mcc", 0.2),
        ("More is learned from it than from weighted", "mcc", 0.2),
        ("More is learned from it than from weighted", "mcc", 0.3),  # no more and no less
        ("Accuracy rises with k", "ours", [80.0 - k for k in KS]),
    ],
)
def test_what_is_learned_turns_its_verdict(claim: str, column: str, figures: object) -> None:
    accuracies = _accuracies()
    accuracies.loc[accuracies["version"] == OURS, column] = figures
    (turned,) = _named(claim, accuracies, _values(), WEIGHTS)
    assert turned.holds is False, turned.found


@pytest.mark.parametrize(
    ("claim", "version", "column", "figures"),
    [
        ("Distortion rises with k", OURS, "distortion", [90.0 - k / 10 for k in KS]),
        ("the same levels for everybody, the best ones", OURS, "distortion", 60.0),
        ("Distortion is below that of weighted", WFDA, "distortion", 1.0),
        ("above theirs up to k = 10", OURS, "distortion", 5.0),
        ("above theirs up to k = 10", OURS, "distortion", 90.0),
        ("the lowest level for each class", "k-anonymity", "distortion", -100.0),
        ("Disclosure is at most that of k, l and t", OURS, "disclosure", [0.1] * 6 + [0.9]),
        ("Disclosure is at most that of WFDA", OURS, "disclosure", [0.1] * 6 + [0.9]),
        ("Disclosure rises with k", OURS, "disclosure", 0.76),
        ("Fewer classes have one salary than", OURS, "homogeneous_classes", 1000),
        ("Fewer classes have one salary the larger", OURS, "homogeneous_classes", list(KS)),
    ],
)
def test_distortion_and_disclosure_turn_their_verdicts(claim: str, version: str, column: str, figures: object) -> None:
    values = _values()
    values[column] = values[column].astype(float)
    values.loc[values["version"] == version, column] = figures
    (turned,) = _named(claim, _accuracies(), values, WEIGHTS)
    assert turned.holds is False, turned.found


def test_the_order_of_usefulness_turns_its_verdict() -> None:
    (turned,) = _named("published order", _accuracies(), _values(), {**WEIGHTS, "age": 90.0})
    assert turned.holds is False


def test_few_values_of_k_tell_no_trend() -> None:
    few = _values()[_values()["k"] <= 10], _accuracies()[_accuracies()["k"] <= 10]
    found = verdicts(WEIGHTS, TREES, few[1], few[0])
    unjudged = [one.claim for one in found if one.holds is None]
    assert len(unjudged) == 8
    assert any("above theirs up to" in claim for claim in unjudged)


def test_what_chance_could_have_made_is_not_judged() -> None:
    unsure = _accuracies().assign(retention_error=5.0)
    (kept,) = _named("keeps at least 99%", unsure, _values(), WEIGHTS)
    assert kept.holds is None
    assert "standard error 5.0" in kept.found
    even = _accuracies()
    even.loc[even["version"] == OURS, "mcc"] = [0.2, 0.4] * 3 + [0.4]
    (more,) = _named("More is learned from it than from weighted", even, _values(), WEIGHTS)
    assert more.holds is None


@pytest.mark.parametrize(
    ("weights", "trees", "holds"),
    [
        ((70.0, 20.0, 8.0, 2.0), 497, True),
        ((70.0, 20.0, 2.0, 8.0), 497, False),
        ((70.0, 26.0, 2.1, 1.9), 497, None),  # another forest may have the last two the other way
        ((70.0, 26.0, 1.9, 2.1), 497, None),
        ((47.0, 27.0, 15.0, 11.0), 20, None),
    ],
)
def test_what_another_forest_may_turn_is_no_order(weights: tuple[float, ...], trees: int, holds: bool | None) -> None:
    given = dict(zip(WEIGHTS, weights, strict=True))
    assert verdicts(given, trees, _accuracies(), _values())[0].holds is holds
