"""What Aminifar et al. conclude, each conclusion as a verdict that the figures could turn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from optmodels.reproduce.power import FEWEST, at_most, seen_share, trend
from optmodels.reproduce.report import ClaimVerdict

WITHOUT, WITH = "without diversity", "with diversity"
LEVELS = ("k", "distinct l", "entropy l", "recursive c", "variational D")
HIGHER_IS_WORSE = ("recursive c", "variational D")
NEAR = 0.025  # how far from table II the original data may be
SIMILAR = 0.005  # their own word for what randomness does to the original data
NEGLIGIBLE = 0.01
RARE = 0.1  # a round in ten: fewer rounds than show it say nothing about the worst of all


def verdicts(
    table_2: pd.DataFrame, scores: pd.DataFrame, table_3: pd.DataFrame, by_k: tuple[pd.DataFrame, pd.DataFrame]
) -> tuple[ClaimVerdict, ...]:
    """Classification and privacy with the published k, and over k; `scores` has a row a round, version, classifier."""
    rounds = int(scores["round"].nunique())
    return (
        *_classified(table_2, scores, rounds),
        *_protected(table_3, rounds),
        *_over_k(*by_k),
    )


def _classified(table: pd.DataFrame, scores: pd.DataFrame, rounds: int) -> Iterator[ClaimVerdict]:
    known = table[(table["version"] == "original") & (table["metric"] != "mcc")]
    nearness, far = _largest(known["difference"].abs(), known["error"])
    correlation = table.loc[(table["version"] == "original") & (table["metric"] == "mcc"), "difference"].abs().max()
    yield ClaimVerdict(
        "Original data: F1 and accuracy within 2.5 points of table II",
        at_most(nearness, NEAR, far, rounds),
        f"largest difference {_points(nearness, far)}; of MCC {correlation:.3f}",
    )
    accuracy = scores.pivot(index="round", columns=["version", "classifier"], values="accuracy")
    gains = pd.concat([accuracy[version] - accuracy["original"] for version in (WITHOUT, WITH)], axis=1)
    gain, error = _largest(gains.mean(), gains.std() / np.sqrt(rounds))
    yield ClaimVerdict(
        "The original is at a similar level (within 0.5 points) or higher than the anonymised",
        at_most(gain, SIMILAR, error, rounds),
        f"anonymised data gains at most {_points(gain, error)} of accuracy",
    )
    costs = pd.DataFrame(accuracy[WITHOUT]) - pd.DataFrame(accuracy[WITH])
    cost, error = _largest(costs.mean().abs(), costs.std() / np.sqrt(rounds))
    yield ClaimVerdict(
        "Diversity changes classification negligibly (within a point of accuracy)",
        at_most(cost, NEGLIGIBLE, error, rounds),
        f"at most {_points(cost, error)}",
    )
    rows = table[(table["metric"] == "accuracy") & (table["version"] == WITH)]
    order = float(rows["ours"].corr(rows["published"], method="spearman"))
    apart, error = float(rows["ours"].max() - rows["ours"].min()), float(rows["error"].max())
    yield ClaimVerdict(
        "The classifiers keep their order on the anonymised data",
        bool(order >= 0.7) if apart > 4 * error else None,
        f"rank correlation with table II {order:.2f}; best and worst lie {_points(apart, error)} apart",
    )


def _protected(table: pd.DataFrame, rounds: int) -> Iterator[ClaimVerdict]:
    """The worst class of any round: a worse one refutes the claim, and only many rounds without one support it."""
    with_diversity = table[table["version"] == WITH].set_index("level")
    rare = seen_share(rounds)
    for level in LEVELS:
        theirs, ours = (float(with_diversity[column][level]) for column in ("published", "ours"))
        reached = ours <= theirs + 0.005 if level in HIGHER_IS_WORSE else ours >= theirs - 0.005
        yield ClaimVerdict(
            f"With diversity, {level} is no worse than {theirs:g} in any class of any round",
            False if not reached else True if rare <= RARE else None,
            f"{ours:.3f} in {rounds} rounds, which show what happens in {rare:.1%} of rounds 19 times of 20",
        )


def _over_k(scores: pd.DataFrame, levels: pd.DataFrame) -> Iterator[ClaimVerdict]:
    accuracy = scores[(scores["metric"] == "accuracy") & (scores["version"] == WITH)]
    mean = accuracy.groupby("k")["ours"].mean().reset_index()
    yield ClaimVerdict(
        "The larger the classes, the lower the classification performance",
        *trend(mean["ours"], mean["k"], rises=False),
    )
    worse = []
    for level in LEVELS[1:]:
        rows = levels[levels["level"] == level].pivot(index="k", columns="version", values="ours")
        sign = 1 if level in HIGHER_IS_WORSE else -1
        comparable = rows if level != "recursive c" else rows.iloc[:0]  # taken at different l
        worse += [(level, k) for k in comparable.index[(sign * (comparable[WITH] - comparable[WITHOUT])) > 1e-9]]
    sizes = levels["k"].nunique()
    yield ClaimVerdict(
        "At every k the worst class is at least as private with diversity as without",
        False if worse else True if sizes >= FEWEST else None,
        f"in all {sizes} of them" if not worse else "not for " + ", ".join(f"{level} at k = {k}" for level, k in worse),
    )


def _largest(values: pd.Series, errors: pd.Series) -> tuple[float, float]:
    """The largest value, and the largest standard error of any: one that is unknown makes it unknown."""
    return float(values.max()), float(errors.max(skipna=False))


def _points(value: float, error: float) -> str:
    return f"{100 * value:.1f} points (standard error {100 * error:.1f})"
