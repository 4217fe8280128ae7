"""Verdicts that can fail do, and those that could not have failed are not given."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy.stats import mannwhitneyu

from optmodels.cli import reproduce as command
from optmodels.reproduce.mo_obam_verdicts import LOOK_ALIKE, f1_verdicts, pair_verdicts
from optmodels.reproduce.power import least_p, power, said
from optmodels.reproduce.report import ClaimVerdict


def _f1(dataset: str, classifier: str, n_clusters: int, p: float, change: float) -> pd.DataFrame:
    row = {"dataset": dataset, "model": "mo-obam", "n_clusters": n_clusters, "classifier": classifier}
    return pd.DataFrame([{**row, "p": p, "from_baseline": change, "difference": 0.0, "error": 0.001}])


def _baseline(difference: float = 0.0, error: float = 0.001) -> pd.DataFrame:
    return _f1("german", "dt", 0, float("nan"), 0.0).assign(model="baseline", difference=difference, error=error)


def _importances(count: int = 20) -> pd.DataFrame:
    return pd.DataFrame({"model": "baseline", "ours": range(count), "published": range(count)})


def _about(frame: pd.DataFrame, splits: int) -> list[ClaimVerdict]:
    """The verdicts on F1 after MO-OBAM, H3 first."""
    found = list(f1_verdicts(pd.concat([_baseline(), frame], ignore_index=True).assign(splits=splits), _importances()))[
        1:-1
    ]
    assert found[0].claim.startswith("H3")
    return found


def _lowered(frame: pd.DataFrame, splits: int) -> list[bool | None]:
    return [one.holds for one in _about(frame, splits)[1:]]


@pytest.mark.parametrize("repetitions", [2, 3, 4, 10])
def test_the_least_p_is_that_of_samples_apart(repetitions: int) -> None:
    apart = mannwhitneyu(range(repetitions), range(100, 100 + repetitions), method="exact").pvalue
    assert least_p(repetitions) == pytest.approx(apart)


def test_power_rises_with_repetitions_and_shift() -> None:
    assert power(2, 5.0) == power(3, 5.0) == 0.0
    assert power(5) < power(10) < power(30)
    assert power(10, 0.0) < 0.1 < power(10, 2.0)
    assert "no p can be below 0.33" in said(2)


def test_significance_is_not_judged_from_two_splits() -> None:
    lost = _f1("german", "lr", 30, 0.4, -0.3)
    assert _lowered(lost, 2) == _lowered(lost, 4) == [None]
    assert _lowered(lost, 10) == [True]


def test_of_few_splits_only_what_is_significant_is_a_verdict() -> None:
    """Four splits find a loss of one standard deviation one time in seven: not to find it says nothing."""
    assert _lowered(_f1("adult", "rf", 100, 0.001, -0.01), 4) == [True]
    assert _lowered(_f1("adult", "rf", 100, 0.2, -0.01), 4) == [None]
    assert _about(_f1("adult", "rf", 100, 0.001, -0.01), 4)[0].holds is False
    assert _about(_f1("adult", "rf", 100, 0.2, -0.01), 4)[0].holds is None


def test_losses_on_german_credit_turn_the_verdict() -> None:
    lost = pd.concat([_f1("german", "lr", 30, 0.001, -0.1)] * 4, ignore_index=True)
    assert _lowered(lost, 10) == [False]
    gained = pd.concat([_f1("german", "lr", 30, 0.001, 0.1)] * 4, ignore_index=True)
    assert _lowered(gained, 10) == [True]


@pytest.mark.parametrize(("p", "change", "holds"), [(0.001, -0.01, True), (0.2, -0.01, False), (0.001, 0.01, False)])
def test_the_losses_that_the_paper_reports_have_verdicts_of_their_own(p: float, change: float, holds: bool) -> None:
    trees = _f1("adult", "dt", 4, p, change)
    assert _lowered(pd.concat([_f1("adult", "rf", 100, p, change), trees], ignore_index=True), 10) == [holds, holds]


@pytest.mark.parametrize(
    ("p", "change", "splits", "holds"),
    [(0.4, -0.1, 10, True), (0.001, 0.1, 10, True), (0.001, -0.1, 10, False), (0.001, -0.1, 2, None)],
)
def test_one_significant_loss_turns_the_third_hypothesis(
    p: float, change: float, splits: int, holds: bool | None
) -> None:
    cells = pd.concat([_f1("german", "lr", 30, 0.9, 0.0), _f1("adult", "rf", 4, p, change)], ignore_index=True)
    third = _about(cells, splits)[0]
    assert third.holds is holds
    assert third.found.endswith(said(splits))


@pytest.mark.parametrize(
    ("difference", "error", "holds"),
    [(0.01, 0.002, True), (0.03, 0.002, False), (0.2, 0.03, False), (0.01, 0.03, None)],
)
def test_the_original_data_may_be_too_far_or_too_unsure(difference: float, error: float, holds: bool | None) -> None:
    frame = _baseline(difference, error).assign(splits=10)
    assert next(f1_verdicts(frame, _importances())).holds is holds


def test_the_order_of_features_can_fail_and_few_features_have_none() -> None:
    def holds(importances: pd.DataFrame) -> bool | None:
        return list(f1_verdicts(_baseline().assign(splits=10), importances))[-1].holds

    assert holds(_importances()) is True
    assert holds(_importances().assign(ours=range(20, 0, -1))) is False
    assert holds(_importances(5)) is None


@pytest.mark.parametrize(
    ("difference", "p", "splits", "holds"),
    [
        *((-0.01, 0.001, 10, True), (0.01, 0.001, 10, False), (-0.01, 0.2, 10, False)),
        *((-0.01, 0.001, 3, None), (-0.01, 0.2, 4, None)),
    ],
)
def test_one_pair_turns_what_table_10_is_said_to_show(
    difference: float, p: float, splits: int, holds: bool | None
) -> None:
    one = {"dataset": "adult", "classifier": "rf", "p": 0.001, "p_resampled": 0.2, "published_difference": -0.01}
    pairs = pd.DataFrame([{**one, "difference": -0.01}, {**one, "difference": difference}]).assign(splits=splits)
    pairs.loc[1, "p"] = p
    (found,) = pair_verdicts(pairs)
    assert found.holds is holds
    assert "in 0 by the resampled test" in found.found


def test_the_look_alike_has_no_say_in_the_third_hypothesis() -> None:
    cells = pd.concat([_f1("german", "lr", 30, 0.9, 0.0), _f1(LOOK_ALIKE, "rf", 4, 0.001, -0.1)], ignore_index=True)
    assert _about(cells, 10)[0].holds is True


def test_a_verdict_that_cannot_be_given_is_said_to_be_so() -> None:
    assert command._MARKS[None] == "[yellow]cannot be judged[/]"
    assert len(set(command._MARKS.values())) == 3
