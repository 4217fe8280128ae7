"""Every verdict on MASS holds for figures as the paper tells them, and fails for others."""

from __future__ import annotations

import pandas as pd
import pytest

from optmodels.reproduce.mass import _screened
from optmodels.reproduce.mass_verdicts import verdicts
from optmodels.reproduce.report import ClaimVerdict

KS = (2, 5, 10, 20, 40)
SCALES = ("small", "medium")
SIZES = pd.DataFrame({"scale": SCALES, "records": [1000, 10_000], "our_records": [1000, 10_000], "best": [5, 10]})


def _losses() -> pd.DataFrame:
    rows = [
        {
            "scale": scale,
            "k": k,
            "loss": k / 100,
            "privacy_loss": 1 / (1 + k),
            "seconds": 0.01 / k,
            "recall": 0.75,
            "recall_error": 0.01,
            "l": 2.0,
            "l_published": 2.0,
            "t": 0.2,
            "t_published": 0.2,
        }
        for scale in SCALES
        for k in KS
    ]
    return pd.DataFrame(rows)


def _screens() -> pd.DataFrame:
    rows = [
        {"scale": scale, "classifier": name, "overfit": name in ("dt", "rf") or (name, scale) == ("gb", "small")}
        for scale in SCALES
        for name in ("dt", "rf", "gb", "lr", "svm-rbf", "knn", "nb")
    ]
    return pd.DataFrame(rows).assign(sure=True)


def _scores() -> pd.DataFrame:
    rows = [
        {"scale": scale, "k": k, "classifier": "lr", "metric": metric, "retention": 99.0, "error": 0.2}
        for scale in SCALES
        for k in KS
        for metric in ("recall", "accuracy")
    ]
    return pd.DataFrame(rows)


def _found(
    claim: str,
    *,
    screens: pd.DataFrame | None = None,
    losses: pd.DataFrame | None = None,
    scores: pd.DataFrame | None = None,
    sizes: pd.DataFrame = SIZES,
) -> ClaimVerdict:
    given = (
        _screens() if screens is None else screens,
        _losses() if losses is None else losses,
        _scores() if scores is None else scores,
    )
    (one,) = [one for one in verdicts(sizes, *given) if claim in one.claim]
    return one


def test_all_hold_for_what_the_paper_tells() -> None:
    found = verdicts(SIZES, _screens(), _losses(), _scores())
    assert len(found) == 15
    assert all(one.holds for one in found), [one for one in found if not one.holds]


@pytest.mark.parametrize(
    ("claim", "column", "figures"),
    [
        ("Privacy loss falls", "privacy_loss", 0.2),
        ("Information loss rises", "loss", 0.2),
        ("At the best k privacy loss", "privacy_loss", 0.26),
        ("At the best k privacy loss", "recall", 0.6),
        ("single value of a sensitive attribute, dealt as published", "l_published", 1.0),
        ("single value of a sensitive attribute, with our swaps", "l", 1.0),
        ("from the table, dealt as published", "t_published", 0.4),
        ("from the table, with our swaps", "t", 0.4),
        ("less time than published", "seconds", 1000.0),
        ("Time falls with k", "seconds", [*KS, *KS]),
    ],
)
def test_losses_and_seconds_turn_their_verdicts(claim: str, column: str, figures: object) -> None:
    assert _found(claim).holds
    turned = _found(claim, losses=_losses().assign(**{column: figures}))
    assert turned.holds is False, turned.found


@pytest.mark.parametrize(
    ("name", "scale", "claim"),
    [
        ("dt", "small", "Trees and forests"),
        ("knn", "small", "pass the screen"),
        ("gb", "small", "Gradient boosting"),
        ("gb", "medium", "Gradient boosting"),
    ],
)
def test_one_classifier_turns_the_verdict_on_the_screen(name: str, scale: str, claim: str) -> None:
    screens = _screens()
    screens.loc[(screens["classifier"] == name) & (screens["scale"] == scale), "overfit"] ^= True
    assert _found(claim, screens=screens).holds is False


@pytest.mark.parametrize("end", [KS[0], KS[-1]])
def test_a_best_k_at_an_end_turns_its_verdict(end: int) -> None:
    assert _found("inside the range", sizes=SIZES.assign(best=[5, end])).holds is False


@pytest.mark.parametrize(
    ("metric", "kept"), [("recall", 94.0), ("recall", 102.0), ("accuracy", 92.0), ("accuracy", 107.0)]
)
def test_one_retention_outside_its_range_turns_the_verdict(metric: str, kept: float) -> None:
    scores = _scores()
    one = (scores["metric"] == metric) & (scores["scale"] == "medium") & (scores["k"] == 10)
    scores.loc[one, "retention"] = kept
    assert _found(f"% of its {metric}", scores=scores).holds is False


def test_what_a_split_could_have_made_is_not_judged() -> None:
    scores = _scores()
    scores.loc[(scores["metric"] == "recall") & (scores["scale"] == "medium") & (scores["k"] == 10), "retention"] = 94.8
    assert _found("% of its recall", scores=scores).holds is None
    assert "0 of 5 outside" in _found("% of its recall", scores=scores).found


def test_few_values_of_k_tell_no_trend_and_no_best() -> None:
    few = _losses()[_losses()["k"] < 20]
    for claim in ("Privacy loss falls", "Information loss rises", "Time falls", "inside the range"):
        assert _found(claim, losses=few).holds is None, claim
    for claim in ("At the best k privacy loss", "from the table, dealt", "from the table, with"):
        assert _found(claim, losses=few).holds is None, claim


def test_one_table_does_not_tell_of_others() -> None:
    alone = _screens()[_screens()["scale"] == "small"]
    assert _found("Gradient boosting", screens=alone).holds is None


@pytest.mark.parametrize(("recall", "holds"), [(0.73, True), (0.71, None), (0.69, None), (0.67, False)])
def test_a_recall_near_its_bound_is_not_judged(recall: float, holds: bool | None) -> None:
    assert _found("At the best k privacy loss", losses=_losses().assign(recall=recall)).holds is holds


@pytest.mark.parametrize(
    ("name", "claim"), [("dt", "Trees and forests"), ("knn", "pass the screen"), ("gb", "Gradient boosting")]
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_classifier_near_the_threshold_is_not_judged(name: str, claim: str, turned: bool) -> None:
    screens = _screens()
    one = (screens["classifier"] == name) & (screens["scale"] == "medium")
    screens.loc[one, "overfit"] ^= turned
    screens.loc[one, "sure"] = False
    assert _found(claim, screens=screens).holds is None


def test_how_far_from_the_threshold_a_classifier_is_depends_on_how_many_are_asked() -> None:
    screen = pd.DataFrame({"train_accuracy": [0.8, 0.8], "accuracy": [0.66, 0.6], "passes": [True, False]})
    assert _screened(screen, 1000, 300.0)["sure"].tolist() == [False, False]
    assert _screened(screen, 100_000, 30_000.0)["sure"].tolist() == [True, True]
