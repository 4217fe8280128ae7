"""Every verdict on Aminifar et al. holds for figures as the paper tells them, and fails for others."""

from __future__ import annotations

import pandas as pd
import pytest

from optmodels.reproduce.aminifar import CLASSIFIERS
from optmodels.reproduce.aminifar_verdicts import HIGHER_IS_WORSE, LEVELS, WITH, WITHOUT, verdicts
from optmodels.reproduce.report import ClaimVerdict, published

KS = (4, 5, 10, 20, 40)
ROUNDS = 40


def _table_2(error: float = 0.001) -> pd.DataFrame:
    theirs = published("aminifar_table_2").melt(
        id_vars=["classifier", "version"], var_name="metric", value_name="published"
    )
    return theirs.assign(ours=theirs["published"], difference=0.0, error=error)


def _scores(rounds: int = ROUNDS) -> pd.DataFrame:
    """A round's luck is shared by all versions, so that their differences are nearly sure."""
    rows = [
        {"round": number, "version": version, "classifier": name, "accuracy": 0.8 + number % 2 / 100 - worse}
        for number in range(rounds)
        for version, worse in (("original", 0.0), (WITHOUT, 0.02), (WITH, 0.021))
        for name in CLASSIFIERS
    ]
    return pd.DataFrame(rows)


def _table_3() -> pd.DataFrame:
    return published("aminifar_table_3").assign(ours=lambda frame: frame["published"])


def _by_k() -> tuple[pd.DataFrame, pd.DataFrame]:
    scores = [
        {"k": k, "version": WITH, "metric": "accuracy", "classifier": name, "ours": 0.8 - k / 1000}
        for k in KS
        for name in CLASSIFIERS
    ]
    levels = [
        {"k": k, "version": version, "level": level, "ours": worse if level in HIGHER_IS_WORSE else -worse}
        for k in KS
        for version, worse in ((WITHOUT, 2.0), (WITH, 1.0))
        for level in LEVELS
    ]
    return pd.DataFrame(scores), pd.DataFrame(levels)


def _named(claim: str, *given: object) -> ClaimVerdict:
    (one,) = [one for one in verdicts(*given) if claim in one.claim]  # type: ignore[arg-type]
    return one


def test_all_hold_for_what_the_paper_tells() -> None:
    found = verdicts(_table_2(), _scores(), _table_3(), _by_k())
    assert len(found) == 11
    assert all(one.holds for one in found), [one for one in found if not one.holds]


def test_classification_turns_its_verdicts() -> None:
    far = _table_2().assign(difference=0.03)
    assert _named("within 2.5 points", far, _scores(), _table_3(), _by_k()).holds is False
    gained = _scores()
    gained.loc[(gained["version"] == WITHOUT) & (gained["classifier"] == "svm"), "accuracy"] += 0.03
    assert _named("similar level", _table_2(), gained, _table_3(), _by_k()).holds is False
    assert _named("Diversity changes", _table_2(), gained, _table_3(), _by_k()).holds is False
    turned = _table_2().assign(ours=lambda frame: 1 - frame["published"])
    assert _named("keep their order", turned, _scores(), _table_3(), _by_k()).holds is False


@pytest.mark.parametrize("level", LEVELS)
def test_one_worse_class_turns_its_level(level: str) -> None:
    worse = _table_3()
    row = (worse["level"] == level) & (worse["version"] == WITH)
    worse.loc[row, "ours"] = worse.loc[row, "ours"].astype(float) + (1 if level in HIGHER_IS_WORSE else -1)
    assert _named(f"With diversity, {level} is", _table_2(), _scores(2), worse, _by_k()).holds is False


def test_what_happens_over_k_turns_its_verdicts() -> None:
    scores, levels = _by_k()
    given = (_table_2(), _scores(), _table_3())
    rising = scores.assign(ours=scores["k"] / 100)
    assert _named("The larger the classes", *given, (rising, levels)).holds is False
    levels.loc[(levels["level"] == "entropy l") & (levels["version"] == WITH) & (levels["k"] == 20), "ours"] = -9.0
    turned = _named("At every k", *given, (scores, levels))
    assert turned.holds is False
    assert "entropy l at k = 20" in turned.found


def test_few_rounds_and_sizes_judge_nothing() -> None:
    few = (_by_k()[0][lambda frame: frame["k"] <= 5], _by_k()[1][lambda frame: frame["k"] <= 5])
    found = verdicts(_table_2(error=float("nan")), _scores(1), _table_3(), few)
    assert [one.holds for one in found] == [None] * 11


def test_rounds_that_differ_widely_judge_nothing() -> None:
    noisy = _scores(10)
    noisy.loc[noisy["version"] == WITH, "accuracy"] += (noisy["round"] % 2 - 0.5) / 10
    for claim in ("within 2.5 points", "similar level", "Diversity changes", "keep their order"):
        assert _named(claim, _table_2(error=0.1), noisy, _table_3(), _by_k()).holds is None, claim
