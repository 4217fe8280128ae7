"""What the paper on MASS concludes, each conclusion as a verdict that the figures could turn."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from optmodels.reproduce.power import FEWEST, rank_correlation
from optmodels.reproduce.report import ClaimVerdict, published

SHOWN = ("lr", "svm-rbf", "knn", "nb")  # the classifiers of table 6
QUICKER_WITH_K = ("small", "medium")  # tables of which the paper says that time falls with k
LARGER = ("medium", "large", "very large")  # 10,000 records and more
CLOSE = 0.25  # the privacy loss that the paper calls strong protection
FOUND = 0.7  # the recall that the paper has at the best k at least
STRICT = 0.9  # rank correlation of what is said to rise or fall consistently


def verdicts(
    sizes: pd.DataFrame, screens: pd.DataFrame, losses: pd.DataFrame, scores: pd.DataFrame
) -> tuple[ClaimVerdict, ...]:
    """Screen, losses over k, the l and t that are said to come by themselves, time and retention."""
    at_best = losses[losses["k"] == losses["scale"].map(sizes.set_index("scale")["best"])]
    return (
        *_screened(screens),
        _trend(losses, "privacy_loss", "Privacy loss falls with k", rises=False),
        _trend(losses, "loss", "Information loss rises with k", rises=True),
        _inside(sizes, losses),
        ClaimVerdict(
            f"At the best k privacy loss is below {CLOSE:g} and recall above {FOUND:.2f}",
            _of_the_best(losses, _close_and_found(at_best)),
            ", ".join(
                f"{row.scale}: {row.privacy_loss:.3f} and {row.recall:.3f} (standard error {row.recall_error:.3f}) at "
                f"k = {row.k}"
                for row in at_best.itertuples()
            ),
        ),
        *_implicit(losses, at_best),
        *_timed(sizes, losses),
        *_retained(scores),
    )


def _screened(screens: pd.DataFrame) -> Iterator[ClaimVerdict]:
    trees = screens[screens["classifier"].isin(["dt", "rf"])]
    others = screens[screens["classifier"].isin(SHOWN)]
    yield ClaimVerdict(
        "Trees and forests are learned by heart at every size", _as_said(trees, learned=True), _named(trees)
    )
    yield ClaimVerdict(
        "Logistic regression, SVM, kNN and naive Bayes pass the screen at every size",
        _as_said(others, learned=False),
        _named(others) or "all pass" + _close_calls(others),
    )
    boosted = screens[screens["classifier"] == "gb"]
    larger = boosted["scale"] != "small"
    yield ClaimVerdict(
        "Gradient boosting is learned by heart on the small table and on no other",
        _as_said(boosted, learned=~larger) if larger.any() else None,
        (_named(boosted) or "nowhere") + (_close_calls(boosted) if larger.any() else "; no other table was looked at"),
    )


def _as_said(rows: pd.DataFrame, *, learned: bool | pd.Series) -> bool | None:
    """Whether classifiers are learned by heart, or not, as is said of each; none where chance may have made it so."""
    same = rows["overfit"] == learned
    return False if (~same & rows["sure"]).any() else True if (same & rows["sure"]).all() else None


def _close_calls(rows: pd.DataFrame) -> str:
    close = rows[~rows["sure"]]
    if close.empty:
        return ""
    names = ", ".join(f"{row.classifier} on {row.scale}" for row in close.itertuples())
    return f"; within two standard errors of the threshold: {names}"


def _inside(sizes: pd.DataFrame, losses: pd.DataFrame) -> ClaimVerdict:
    """Whether the objective has its least value at neither end of the values of k, as a U has."""
    ends = losses.groupby("scale")["k"].agg(["min", "max"]).loc[sizes["scale"]].to_numpy()
    inside = [least < best < most for best, (least, most) in zip(sizes["best"], ends, strict=True)]
    return ClaimVerdict(
        "The objective is least inside the range of k, at neither end (figure 5)",
        _of_the_best(losses, all(inside)),
        ", ".join(
            f"{row.scale}: k = {row.best} of {least} to {most}"
            for row, (least, most) in zip(sizes.itertuples(), ends, strict=True)
        ),
    )


def _close_and_found(at_best: pd.DataFrame) -> bool | None:
    """Whether privacy loss is small and recall is large enough by more than two standard errors, or surely not."""
    unsure = 2 * at_best["recall_error"]
    if (at_best["privacy_loss"] >= CLOSE).any() or (at_best["recall"] + unsure <= FOUND).any():
        return False
    return True if (at_best["recall"] - unsure > FOUND).all() else None


def _of_the_best(losses: pd.DataFrame, holds: bool | None) -> bool | None:
    """A verdict on the best k: none where so few were tried that another would be the best."""
    return holds if losses.groupby("scale").size().min() >= FEWEST else None


def _implicit(losses: pd.DataFrame, at_best: pd.DataFrame) -> Iterator[ClaimVerdict]:
    """The l and t that the paper says come by themselves, dealt as it does and as ours."""
    for suffix, dealt in (("_published", "dealt as published"), ("", "with our swaps")):
        single = losses[losses[f"l{suffix}"] < 2]
        yield ClaimVerdict(
            f"No class has a single value of a sensitive attribute, {dealt}: l-diversity comes by itself",
            single.empty,
            f"at {len(losses) - len(single)} of {len(losses)} sizes and values of k"
            + (
                ""
                if single.empty
                else "; not " + ", ".join(f"{row.scale} at k = {row.k}" for row in single.itertuples())
            ),
        )
        worst = at_best[f"t{suffix}"]
        yield ClaimVerdict(
            f"At the best k no class is further than {CLOSE:g} from the table, {dealt}: t-closeness comes by itself",
            _of_the_best(losses, bool((worst <= CLOSE).all())),
            ", ".join(f"{scale} {t:.2f}" for scale, t in zip(at_best["scale"], worst, strict=True)),
        )


def _timed(sizes: pd.DataFrame, losses: pd.DataFrame) -> Iterator[ClaimVerdict]:
    whole = sizes.loc[sizes["records"] == sizes["our_records"], "scale"]
    timed = losses[losses["scale"].isin(whole)]
    theirs = published("mass_table_5").merge(timed, on=["scale", "k"], suffixes=("_published", ""))
    faster = theirs["seconds_published"] / theirs["seconds"]
    if len(faster):
        yield ClaimVerdict(
            "Partition, losses and generalised table take less time than published, for every k",
            bool((faster > 1).all()),
            f"{faster.min():.0f} to {faster.max():,.0f} times less on {', '.join(whole)}",
        )
    small = losses[losses["scale"].isin(QUICKER_WITH_K)]
    if len(small):
        yield _trend(small, "seconds", "Time falls with k on the small and the medium table", rises=False)


def _retained(scores: pd.DataFrame) -> Iterator[ClaimVerdict]:
    large = scores[scores["scale"].isin(LARGER)]
    if large.empty:
        return
    for metric, least, most, note in (
        ("recall", 95, 101, "table 6 itself has 93.4 to 105.3"),
        ("accuracy", 93, 106, "table 6 itself has 85.5 to 107.1"),
    ):
        rows = large[large["metric"] == metric]
        kept, error = rows["retention"], float(rows["error"].max())
        means = rows.groupby(["scale", "k"])["retention"].mean()
        outside = rows[~kept.between(least, most)]
        surely = ~outside["retention"].between(least - 2 * outside["error"], most + 2 * outside["error"])
        yield ClaimVerdict(
            f"From 10,000 records on every classifier keeps {least} to {most}% of its {metric} (so the paper; {note})",
            True if outside.empty else False if surely.any() else None,
            f"{kept.min():.1f} to {kept.max():.1f}%, {surely.sum()} of {len(rows)} outside by more than two standard "
            f"errors of at most {error:.1f}; means over classifiers {means.min():.1f} to {means.max():.1f}%",
        )


def _trend(losses: pd.DataFrame, measure: str, claim: str, *, rises: bool) -> ClaimVerdict:
    """Whether a measure rises or falls with k at every size; no verdict on few values of k."""
    fewest = int(losses.groupby("scale").size().min())
    trends = losses.groupby("scale").apply(lambda rows: rank_correlation(rows[measure], rows["k"]))
    nearest = float(trends.min() if rises else trends.max())
    found = f"rank correlation at {'least' if rises else 'most'} {nearest:.2f} of {fewest} values of k"
    if fewest < FEWEST:
        return ClaimVerdict(claim, None, f"{found}, which are too few to tell")
    return ClaimVerdict(claim, bool((trends > STRICT).all() if rises else (trends < -STRICT).all()), found)


def _named(rows: pd.DataFrame) -> str:
    return ", ".join(f"{row.classifier} on {row.scale}" for row in rows[rows["overfit"]].itertuples())
