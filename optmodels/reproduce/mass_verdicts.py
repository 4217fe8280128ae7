"""What the paper on MASS concludes, each conclusion as a verdict that the figures could turn."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from optmodels.reproduce.report import ClaimVerdict, published

SHOWN = ("lr", "svm-rbf", "knn", "nb")  # the classifiers of table 6
QUICKER_WITH_K = ("small", "medium")  # tables of which the paper says that time falls with k
LARGER = ("medium", "large", "very large")  # 10,000 records and more
CLOSE = 0.25  # the privacy loss that the paper calls strong protection
FEWEST = 5  # values of k from which a trend can be told


def verdicts(
    sizes: pd.DataFrame, screens: pd.DataFrame, losses: pd.DataFrame, scores: pd.DataFrame
) -> tuple[ClaimVerdict, ...]:
    """Screen, losses over k, the l and t that are said to come by themselves, time and retention."""
    at_best = losses[losses["k"] == losses["scale"].map(sizes.set_index("scale")["best"])]
    return (
        *_screened(screens),
        _trend(losses, "privacy_loss", "Privacy loss falls with k", rises=False),
        _trend(losses, "loss", "Information loss rises with k", rises=True),
        ClaimVerdict(
            f"At the best k privacy loss is below {CLOSE:g} and recall above 0.70",
            bool((at_best["privacy_loss"] < CLOSE).all() and (at_best["recall"] > 0.7).all()),
            ", ".join(
                f"{row.scale}: {row.privacy_loss:.3f} and {row.recall:.3f} at k = {row.k}"
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
        "Trees and forests are learned by heart at every size", bool(trees["overfit"].all()), _named(trees)
    )
    yield ClaimVerdict(
        "Logistic regression, SVM, kNN and naive Bayes pass the screen at every size",
        not others["overfit"].any(),
        _named(others) or "all pass",
    )


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
            bool((worst <= CLOSE).all()),
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
        kept = large.loc[large["metric"] == metric].groupby(["scale", "k", "classifier"])["retention"].mean()
        mean = kept.groupby(["scale", "k"]).mean()
        yield ClaimVerdict(
            f"From 10,000 records on every classifier keeps {least} to {most}% of its {metric} (so the paper; {note})",
            bool(kept.between(least, most).all()),
            f"{kept.min():.1f} to {kept.max():.1f}%; means over classifiers {mean.min():.1f} to {mean.max():.1f}%",
        )


def _trend(losses: pd.DataFrame, measure: str, claim: str, *, rises: bool) -> ClaimVerdict:
    """Whether a measure rises or falls with k at every size; no verdict on few values of k."""
    fewest = int(losses.groupby("scale").size().min())
    trends = losses.groupby("scale").apply(lambda rows: rows[measure].corr(rows["k"], method="spearman"))
    nearest = float(trends.min() if rises else trends.max())
    found = f"rank correlation at {'least' if rises else 'most'} {nearest:.2f}"
    if fewest < FEWEST:
        return ClaimVerdict(claim, None, f"{found}, of {fewest} values of k, which are too few to tell")
    return ClaimVerdict(claim, bool((trends > 0.9).all() if rises else (trends < -0.9).all()), found)


def _named(rows: pd.DataFrame) -> str:
    return ", ".join(f"{row.classifier} on {row.scale}" for row in rows[rows["overfit"]].itertuples())
