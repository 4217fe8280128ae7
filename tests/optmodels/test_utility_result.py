"""What is said of scores, from scores written by hand: every figure below can be checked with a pencil."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu, ttest_1samp

from optmodels.metrics.utility import Protocol, Utility
from optmodels.metrics.utility.result import resampled_p
from optmodels.metrics.utility.targets import Target

BEFORE = [0.4, 0.5, 0.5, 0.6]  # mean 0.5
AFTER = [0.30, 0.41, 0.42, 0.47]  # mean 0.4: 80 % are kept
LEARNED = {("original", "dt"): 0.66, ("original", "nb"): 0.64, ("release", "dt"): 0.90, ("release", "nb"): 0.24}


def by_hand(*, paired: bool = True, missing: int = 0) -> Utility:
    """Two classifiers alike but for what they know of rows they learned from; `missing` trials without a score."""
    scores = [
        {
            "version": version,
            "classifier": classifier,
            "trial": trial,
            "train_accuracy": LEARNED[version, classifier],
            "accuracy": value,
            "f1": np.nan if version == "release" and trial < missing else value,
        }
        for version, values in {"original": BEFORE, "release": AFTER}.items()
        for classifier in ("dt", "nb")
        for trial, value in enumerate(values)
    ]
    shares = {"original": {"age": 0.3, "job": 0.7}, "release": {"age": 0.5, "job": 0.5}}
    importances = [
        {"version": version, "classifier": "dt", "feature": feature, "importance": share}
        for version, features in shares.items()
        for feature, share in features.items()
    ]
    how = Protocol(classifiers=["dt", "nb"], metrics=["f1"], splits=4, test_share=0.2)
    goal = Target("ill", ("no", "yes"), 1)
    return Utility(pd.DataFrame(scores), pd.DataFrame(importances), how, goal, "released", paired)


def row_of(found: Utility, version: str) -> pd.Series:
    rows = found.summary
    return rows[(rows["version"] == version) & (rows["classifier"] == "dt")].iloc[0]


def test_the_summary_of_a_release() -> None:
    row = row_of(by_hand(), "release")
    assert row["mean"] == pytest.approx(0.4)
    assert row["original"] == pytest.approx(0.5)
    assert row["difference"] == pytest.approx(-0.1)
    assert row["retention"] == pytest.approx(80)
    assert row["deviation"] == pytest.approx(np.sqrt((0.1**2 + 0.01**2 + 0.02**2 + 0.07**2) / 3))
    assert row["trials"] == 4
    assert row["p"] == pytest.approx(mannwhitneyu(AFTER, BEFORE, alternative="two-sided").pvalue)


def test_the_original_keeps_everything_and_is_not_tested_against_itself() -> None:
    row = row_of(by_hand(), "original")
    assert row["retention"] == pytest.approx(100)
    assert row["difference"] == 0
    assert np.isnan(row["p"])
    assert np.isnan(row["p_resampled"])


def test_the_resampled_p_allows_for_overlapping_splits() -> None:
    """The correction is that of the statistic: sqrt(trials (1/trials + asked/learned)) times smaller."""
    differences = np.subtract(AFTER, BEFORE)
    plain = ttest_1samp(differences, 0)
    assert resampled_p(pd.Series(differences), 0.0) == pytest.approx(plain.pvalue)
    corrected = row_of(by_hand(), "release")["p_resampled"]
    assert corrected == resampled_p(pd.Series(differences), 0.2 / 0.8) > plain.pvalue
    by_formula = abs(differences.mean()) / np.sqrt((1 / 4 + 1 / 4) * differences.var(ddof=1))
    assert by_formula == pytest.approx(abs(plain.statistic) / np.sqrt(2))
    assert np.isnan(row_of(by_hand(paired=False), "release")["p_resampled"])
    assert resampled_p(pd.Series([0.0, 0.0]), 0.25) == 1
    assert resampled_p(pd.Series([0.1, 0.1]), 0.25) == 0
    assert np.isnan(resampled_p(pd.Series([0.1]), 0.25))


def test_the_share_asked_about_is_that_of_folds_or_splits() -> None:
    assert Protocol(folds=5).asked_to_learned == pytest.approx(1 / 4)
    assert Protocol(test_share=0.2).asked_to_learned == pytest.approx(1 / 4)


def test_the_resampled_p_pairs_trials_by_number() -> None:
    found = by_hand()
    turned = Utility(found.scores[::-1], found.importances, found.protocol, found.target, "released", paired=True)
    assert row_of(turned, "release")["p_resampled"] == pytest.approx(row_of(found, "release")["p_resampled"])


def test_trials_without_a_score_are_counted_out() -> None:
    row = row_of(by_hand(missing=1), "release")
    assert row["trials"] == 3
    assert row["mean"] == pytest.approx(np.mean(AFTER[1:]))
    nothing = row_of(by_hand(missing=4), "release")
    assert nothing["trials"] == 0
    assert np.isnan(nothing["retention"])
    assert np.isnan(nothing["p"])


def test_shifts_say_what_gained() -> None:
    shifts = by_hand().shifts.set_index("feature")
    assert shifts["shift"].to_dict() == pytest.approx({"age": 0.2, "job": -0.2})
    assert shifts["original"].to_dict() == pytest.approx({"age": 0.3, "job": 0.7})


def test_fifteen_points_are_learning_by_heart() -> None:
    """0.66 against 0.5 is 16 points, 0.64 is 14; on the release 0.9 and 0.24 against 0.4."""
    found = by_hand()
    assert found.overfit["gap"].tolist() == pytest.approx([0.16, 0.14, 0.5, 0.16])
    assert found.screened() == ("nb",)
    assert found.screened("release") == ()


def test_the_mean_is_over_the_classifiers_named() -> None:
    found = by_hand()
    assert found.versions == ("release",)
    assert found.mean("f1") == pytest.approx(0.4)
    assert found.mean("train_accuracy", "release", ("dt",)) == pytest.approx(0.9)
    assert found.mean("train_accuracy", "original") == pytest.approx(0.65)


def test_who_was_asked_about_is_said() -> None:
    found = by_hand()
    assert found.to_dict()["asked"] == {"original": "original", "release": "released"}
    assert "original rows (original's models), released rows (release's models)" in found.figure().layout.title.text
    assert found.figure().data[1].y.tolist() == AFTER * 2


def test_one_version_against_another_is_the_summary_where_the_other_is_the_original() -> None:
    utility = by_hand()
    whole = utility.summary
    summary = whole[whole["version"] == "release"].set_index(["classifier", "metric"])
    found = utility.between("release", "original").set_index(["classifier", "metric"])
    for column in ("difference", "p", "p_resampled"):
        np.testing.assert_allclose(found[column], summary.loc[found.index, column])
    back = utility.between("original", "release").set_index(["classifier", "metric"])
    np.testing.assert_allclose(back["difference"], -found["difference"])
    assert by_hand(paired=False).between("release", "original")["p_resampled"].isna().all()


def test_rows_drawn_as_they_come_are_not_stratified() -> None:
    target = np.repeat([0, 1], [90, 10]).astype(np.int32)
    drawn = [target[asked].mean() for _, asked in Protocol(splits=20, test_share=0.2, stratified=False).rows(target)]
    kept = [target[asked].mean() for _, asked in Protocol(splits=20, test_share=0.2).rows(target)]
    assert len(set(kept)) == 1
    assert len(set(drawn)) > 1
    assert "stratified" not in Protocol(stratified=False).describe()
    with pytest.raises(ValueError, match="stratified"):
        Protocol(folds=5, stratified=False)
