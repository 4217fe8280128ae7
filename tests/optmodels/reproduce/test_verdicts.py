"""Verdicts that can fail do, and those that could not have failed are not given."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy.stats import mannwhitneyu

from optmodels.cli import reproduce as command
from optmodels.reproduce import mo_obam_learning
from optmodels.reproduce.power import least_p, power, said


def _f1(dataset: str, classifier: str, n_clusters: int, p: float, change: float) -> pd.DataFrame:
    row = {"dataset": dataset, "model": "mo-obam", "n_clusters": n_clusters, "classifier": classifier}
    return pd.DataFrame([{**row, "p": p, "from_baseline": change}])


def _lowered(frame: pd.DataFrame, splits: int) -> list[bool | None]:
    found = list(mo_obam_learning._lowered(frame, {"german": splits, "adult": splits}))
    assert found[0].claim.startswith("H3")
    return [one.holds for one in found[1:]]


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
    assert _lowered(lost, 2) == [None]
    assert _lowered(lost, 10) == [True]


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
def test_one_significant_loss_turns_the_third_hypothesis(p: float, change: float, splits: int, holds: bool) -> None:
    cells = pd.concat([_f1("german", "lr", 30, 0.9, 0.0), _f1("adult", "rf", 4, p, change)], ignore_index=True)
    third = next(iter(mo_obam_learning._lowered(cells, {"german": splits, "adult": splits})))
    assert third.claim.startswith("H3")
    assert third.holds is holds


def test_a_verdict_that_cannot_be_given_is_said_to_be_so() -> None:
    assert command._MARKS[None] == "[yellow]cannot be judged[/]"
    assert len(set(command._MARKS.values())) == 3
