"""What Majeed and Hwang conclude, each conclusion as a verdict that the figures could turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from optmodels.reproduce.power import SIGNIFICANT, at_most, least_sign_p, needed, sign_p, trend
from optmodels.reproduce.report import ClaimVerdict, published

OURS = "majeed-hwang"
CHOSEN = "levels chosen"  # the same measure, levels by optimisation instead of by rule
WFDA = "WFDA"  # weighted full-domain generalisation, one of the algorithms that they compare themselves with
ONE_LEVEL = " on one level"  # how the names of optimal full-domain generalisations end
T = 0.2  # how close salaries of a class must be to the table's, where t-closeness is asked for
CONDITIONS: dict[str, tuple[int | None, float | None]] = {  # distinct l and t beside k
    "k-anonymity": (None, None),
    "l-diversity": (2, None),
    "t-closeness": (None, T),
}
ALIKE = [f"{name}{ONE_LEVEL}" for name in CONDITIONS]
SMALL = 10  # the largest k for which they report more distortion than the models


def verdicts(
    weights: dict[str, float], trees: int, accuracies: pd.DataFrame, values: pd.DataFrame
) -> tuple[ClaimVerdict, ...]:
    """Usefulness, accuracy, distortion, disclosure and homogeneity, the paper's own negative results among them."""
    return (
        _ordered(weights, trees),
        *_learned(accuracies),
        *_distorted(values),
        *_disclosed(values),
    )


def _ordered(weights: dict[str, float], trees: int) -> ClaimVerdict:
    """Whether attributes are as useful in turn as published; no verdict where another forest may turn two of them.

    A weight is e to the mean over the deviation of what trees lose without an attribute. Of so many trees that ratio
    has the standard error of an effect size; the most useful is taken to cost them nothing.
    """
    wanted = published("majeed_hwang_table_5").sort_values("published", ascending=False)["attribute"].tolist()
    ratios = pd.Series(weights)[wanted].map(np.log)
    ratios -= ratios.max()
    errors = ((1 + ratios**2 / 2) / trees) ** 0.5
    apart = -ratios.diff().dropna()
    unsure = 2 * np.hypot(errors, errors.shift()).dropna()
    order = sorted(weights, key=lambda name: -weights[name])
    return ClaimVerdict(
        "Usefulness comes in the published order",
        False if (apart < -unsure).any() else True if (apart > unsure).all() else None,
        f"{' > '.join(order)}, by {trees} trees",
    )


def _learned(accuracies: pd.DataFrame) -> Iterator[ClaimVerdict]:
    kept = accuracies.groupby("version", sort=False)["mcc_retention"].mean()
    error = float(accuracies["retention_error"].max())
    accurate = accuracies.groupby("version")["retention"].mean()[OURS]
    yield ClaimVerdict(
        "The release keeps at least 99% of what is learned, by Matthews's correlation, which suppressing "
        "everything would not keep (published: 99.7% of accuracy, which it would)",
        at_most(100 - kept[OURS], 1.0, error),
        f"{_listed(kept.drop('original', errors='ignore'), '%')} (standard error {error:.1f}); of accuracy "
        f"{accurate:.1f}%",
    )
    by_k = accuracies.pivot(index="k", columns="version", values="mcc")
    told = "88.7% accuracy against 86.5, 85.7 and 84.1, which is 3.9% more on average and not the 8.61% of the text"
    for baselines, what, printed in (
        (ALIKE, "k, l and t on the same levels for everybody", told),
        (list(CONDITIONS), "k, l and t each class on its own levels", told),
        ([WFDA], "weighted full-domain generalisation, WFDA", "9.81% more accuracy than three algorithms"),
    ):
        yield _higher(
            by_k[OURS],
            by_k[baselines].mean(axis=1),
            f"More is learned from it than from {what}, by Matthews's correlation (published: {printed})",
        )
    accuracy = accuracies[accuracies["version"] == OURS]
    yield _trend(accuracy, "ours", "Accuracy rises with k (figure 8)", rises=True)


def _distorted(values: pd.DataFrame) -> Iterator[ClaimVerdict]:
    by_k = values.pivot(index="k", columns="version", values="distortion")
    means = by_k.mean()
    yield _trend(values[values["version"] == OURS], "distortion", "Distortion rises with k", rises=True)
    yield ClaimVerdict(
        "Distortion is below that of k, l and t on the same levels for everybody, the best ones (published: by 29.6%)",
        bool(means[OURS] < means[ALIKE].mean()),
        f"{means[OURS]:.1f}; {_listed(means[ALIKE])}; lower by {100 * (1 - means[OURS] / means[ALIKE].mean()):.1f}%",
    )
    yield ClaimVerdict(
        "Distortion is below that of weighted full-domain generalisation, WFDA (published: by 11.4% on average of "
        "three algorithms)",
        bool(means[OURS] < means[WFDA]),
        f"{means[OURS]:.1f}; WFDA {means[WFDA]:.1f}",
    )
    more = by_k[OURS] > by_k[ALIKE].mean(axis=1)
    small, large = more[more.index <= SMALL], more[more.index > SMALL]
    yield ClaimVerdict(
        f"Distortion is above theirs up to k = {SMALL} and below from then on, as published",
        bool(small.all() and not large.any()) if len(small) and len(large) else None,
        "above for k = " + (", ".join(map(str, more.index[more])) or "none") + f" of {_ks(more.index)}",
    )
    yield ClaimVerdict(
        "Distortion is below that of k, l and t on the lowest level for each class",
        bool(means[OURS] < means[list(CONDITIONS)].mean()),
        _listed(means[[OURS, CHOSEN, *CONDITIONS]]),
    )


def _disclosed(values: pd.DataFrame) -> Iterator[ClaimVerdict]:
    models = list(CONDITIONS)
    for measure, others, claim in (
        ("disclosure", models, "Disclosure is at most that of k, l and t on average, for every k (table 8)"),
        ("disclosure", [WFDA], "Disclosure is at most that of WFDA, for every k (published: 12.51% below all others)"),
        (
            "homogeneous_classes",
            models,
            "Fewer classes have one salary than under k, l and t on average, for every k (table 9: less than half)",
        ),
    ):
        wide = values.pivot(index="k", columns="version", values=measure)
        theirs = wide[others].mean(axis=1)
        no_more = wide[OURS] <= theirs + 1e-9
        yield ClaimVerdict(
            claim,
            bool(no_more.all()),
            f"for {no_more.mean():.0%} of the values of k; mean {wide[OURS].mean():.3g} against {theirs.mean():.3g}",
        )
    counts = values[values["version"] == OURS]
    rising = "Disclosure rises with k (table 8: from 0.42 to 0.82, though the text has it poor where k is small)"
    yield _trend(counts, "disclosure", rising, rises=True)
    yield _trend(counts, "homogeneous_classes", "Fewer classes have one salary the larger k", rises=False)


def _higher(ours: pd.Series, theirs: pd.Series, claim: str) -> ClaimVerdict:
    """Whether ours is higher, or lower, for more values of k than chance would have it; no verdict in between."""
    difference = (ours - theirs).dropna()
    above, pairs = int((difference > 0).sum()), int((difference != 0).sum())
    found = f"{ours.mean():.3f} against {theirs.mean():.3f}; higher for {above} of {len(difference)} values of k"
    if least_sign_p(len(difference)) >= SIGNIFICANT:
        return ClaimVerdict(claim, None, f"{found}, and {len(difference)} are too few to tell (a sign test needs 6)")
    p = sign_p(above, pairs)
    holds = (above > pairs - above) if p < SIGNIFICANT else None if pairs else False
    return ClaimVerdict(claim, holds, f"{found}, p {p:.2g} of a sign test, for which {needed(pairs)} are enough")


def _trend(rows: pd.DataFrame, measure: str, claim: str, *, rises: bool) -> ClaimVerdict:
    return ClaimVerdict(claim, *trend(rows[measure], rows["k"], rises=rises))


def _listed(figures: pd.Series, unit: str = "") -> str:
    return ", ".join(f"{name} {value:.1f}{unit}" for name, value in figures.items())


def _ks(ks: Sequence[int] | pd.Index) -> str:
    return f"{len(ks)} values of k"
