"""What was found: scores of every trial, and from them retention, tests against the original, screens and shifts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from optmodels.metrics.utility.protocol import Protocol
from optmodels.metrics.utility.targets import Target
from optmodels.metrics.utility.trials import ORIGINAL

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Asked = Literal["original", "released", "held-out"]

# More between the accuracy on rows learned from and on rows asked about is learning by heart.
OVERFIT_GAP = 0.15


@dataclass(frozen=True)
class Utility:
    """What classifiers learn from a release, beside what they learn from the original.

    `scores` has a row for each version, classifier and trial; `importances` the mean share of each feature in what
    a classifier relies on. `asked` says which rows the models of a release were asked about: original, released or
    held-out ones. `paired`: all versions of the data were split by the same people. `notes` say what a reader must
    know, such as people on both sides of a split.
    """

    scores: pd.DataFrame = field(repr=False)
    importances: pd.DataFrame = field(repr=False)
    protocol: Protocol
    target: Target
    asked: Asked
    paired: bool
    notes: tuple[str, ...] = ()

    def to_html(self, *, source: Mapping[str, str] | None = None) -> str:
        """The report as one page: what is kept, all scores, and how they came about."""
        from optmodels.metrics.utility.page import page

        asked = self.asked_of_original, self.asked
        return page(self.summary, self.protocol, self.target.name, asked, self.notes, source or {})

    @property
    def versions(self) -> tuple[str, ...]:
        """The releases, without the original."""
        return tuple(name for name in self.scores["version"].unique() if name != ORIGINAL)

    @property
    def asked_of_original(self) -> Asked:
        """Which rows the models of the original were asked about."""
        return "held-out" if self.asked == "held-out" else "original"

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row for each version, classifier and metric: mean, deviation, retention and tests over `trials` trials.

        `trials` counts those in which the metric could be computed: AUC cannot where all rows asked about have one
        level. `retention` is in % of the original's mean, where that is above 0; models of a release that are asked
        about released rows, which are coarser, can keep more than 100 %.

        `p` is that of the two-sided Mann-Whitney U test of the trials against those of the original, as the published
        studies report it. Random splits of one table overlap, so trials are not independent: `p` is too small, the
        more so the more splits there are. `p_resampled` allows for that (the corrected resampled t-test of Nadeau and
        Bengio, on the trials' differences), where both models of a trial are of the same people, that is `paired`.
        Neither is corrected for the number of comparisons.
        """
        from scipy.stats import mannwhitneyu

        rows = []
        grouped = dict(list(self.scores.groupby(["version", "classifier"], sort=False)))
        for (version, classifier), group in grouped.items():
            baseline = grouped[ORIGINAL, classifier]
            for metric in self.protocol.metrics:
                values, before = group[metric].dropna(), baseline[metric].dropna()
                mean, original = float(values.mean()), float(before.mean())
                compared = version != ORIGINAL and len(values) > 0 and len(before) > 0
                rows.append(
                    {
                        "version": version,
                        "classifier": classifier,
                        "metric": metric,
                        "trials": len(values),
                        "mean": mean,
                        "deviation": float(values.std(ddof=1)) if len(values) > 1 else np.nan,
                        "original": original,
                        "difference": mean - original,
                        "retention": 100 * mean / original if original > 0 else np.nan,
                        "p": float(mannwhitneyu(values, before).pvalue) if compared else np.nan,
                        "p_resampled": resampled_p(
                            _by_trial(group, metric) - _by_trial(baseline, metric), self.protocol.asked_to_learned
                        )
                        if compared and self.paired
                        else np.nan,
                    }
                )
        return pd.DataFrame(rows)

    def between(self, first: str, second: str) -> pd.DataFrame:
        """One version against another, for each classifier and metric: the difference of means and both tests.

        `p` and `p_resampled` are those of `summary`, of the trials of `first` against those of `second`.
        """
        from scipy.stats import mannwhitneyu

        rows = []
        grouped = dict(list(self.scores.groupby(["version", "classifier"], sort=False)))
        for classifier in self.scores["classifier"].unique():
            ours, theirs = grouped[first, classifier], grouped[second, classifier]
            for metric in self.protocol.metrics:
                values, others = ours[metric].dropna(), theirs[metric].dropna()
                differences = _by_trial(ours, metric) - _by_trial(theirs, metric)
                rows.append(
                    {
                        "classifier": classifier,
                        "metric": metric,
                        "difference": float(values.mean() - others.mean()),
                        "p": float(mannwhitneyu(values, others).pvalue) if len(values) and len(others) else np.nan,
                        "p_resampled": resampled_p(differences, self.protocol.asked_to_learned)
                        if self.paired
                        else np.nan,
                    }
                )
        return pd.DataFrame(rows)

    @cached_property
    def overfit(self) -> pd.DataFrame:
        """A row for each version and classifier: accuracy on rows learned from and asked about, and their gap.

        A classifier whose gap is below 15 points passes the screen.
        """
        means = self.scores.groupby(["version", "classifier"], sort=False)[["train_accuracy", "accuracy"]].mean()
        gap = (means["train_accuracy"] - means["accuracy"]).abs()
        return means.assign(gap=gap, passes=gap < OVERFIT_GAP).reset_index()

    def screened(self, version: str = ORIGINAL) -> tuple[str, ...]:
        """The classifiers that pass the overfit screen on a version of the data."""
        rows = self.overfit[(self.overfit["version"] == version) & self.overfit["passes"]]
        return tuple(rows["classifier"])

    @cached_property
    def shifts(self) -> pd.DataFrame:
        """A row for each release, classifier and feature: its share of importance before and after."""
        keys = ["classifier", "feature"]
        before = self.importances[self.importances["version"] == ORIGINAL].drop(columns="version")
        after = self.importances[self.importances["version"] != ORIGINAL]
        both = after.merge(before, on=keys, suffixes=("", "_original")).rename(
            columns={"importance_original": ORIGINAL}
        )
        return both.assign(shift=both["importance"] - both[ORIGINAL])[
            ["version", *keys, ORIGINAL, "importance", "shift"]
        ]

    def mean(self, metric: str, version: str | None = None, classifiers: tuple[str, ...] | None = None) -> float:
        """The mean of a metric over trials and classifiers, of the first release unless a version is named."""
        rows = self.scores[self.scores["version"] == (version or self.versions[0])]
        chosen = rows[rows["classifier"].isin(classifiers)] if classifiers is not None else rows
        return float(chosen.groupby("classifier")[metric].mean().mean())

    def figure(self, metric: str | None = None) -> Figure:
        """The trials' scores by classifier, one box for each version of the data."""
        import plotly.graph_objects as go

        shown = metric or self.protocol.metrics[0]
        asked = f"{self.asked_of_original} rows (original's models), {self.asked} rows (release's models)"
        figure = go.Figure()
        for version, rows in self.scores.groupby("version", sort=False):
            figure.add_box(x=rows["classifier"], y=rows[shown], name=str(version))
        return figure.update_layout(
            boxmode="group",
            xaxis_title="classifier",
            yaxis_title=shown,
            title=f"Asked about {asked}",
            template="plotly_white",
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the single trials, ready for JSON."""
        return {
            "target": self.target.name,
            "positive": self.target.levels[self.target.positive] if len(self.target.levels) == 2 else None,
            "protocol": self.protocol.describe(),
            "asked": {"original": self.asked_of_original, "release": self.asked},
            "trials": self.protocol.trials,
            "notes": list(self.notes),
            "summary": self.summary.to_dict("records"),
            "overfit": self.overfit.to_dict("records"),
            "importance": self.shifts.to_dict("records"),
        }


def resampled_p(differences: pd.Series, asked_to_learned: float) -> float:
    """The two-sided p of the corrected resampled t-test, of differences over random splits of one table.

    Their variance counts (1/trials + asked/learned) times instead of 1/trials times, because the splits overlap.

    >>> round(resampled_p(pd.Series([0.02, 0.03, 0.01, 0.04]), 0.3 / 0.7), 4)
    0.1002
    """
    from scipy.stats import t

    trials = len(known := differences.dropna())
    if trials < 2:
        return np.nan
    mean, spread = float(known.mean()), float(known.std(ddof=1))
    if spread == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * t.sf(abs(mean) / (spread * np.sqrt(1 / trials + asked_to_learned)), trials - 1))


def _by_trial(scores: pd.DataFrame, metric: str) -> pd.Series:
    return scores.set_index("trial")[metric]
