"""The data of the plots by which solvers are compared: profiles, anytime curves, scaling."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from optmodels.study.measures import PROBLEM, best_known, excess, progress_times, relative, to_be_large

_MOMENTS = 60  # at which anytime curves are compared, evenly spaced in the logarithm of time
_LEAST_SECONDS = 1e-3
CONFIDENCE = 0.95


def performance_profile(costs: pd.DataFrame) -> pd.DataFrame:
    """For every solver the share of problems that it solves at no more than `ratio` times the least cost (Dolan, Moré).

    `costs` has a row for each problem and a column for each solver; infinite where it failed. Problems that nobody
    solved count, those that a solver was not run on do not count for anyone.

    >>> costs = pd.DataFrame({"a": [1.0, 4.0], "b": [2.0, 2.0]})
    >>> performance_profile(costs).query("solver == 'a'")[["ratio", "share"]].values.tolist()
    [[1.0, 0.5], [2.0, 1.0]]
    """
    return _shares(relative(costs), "ratio", start=1.0)


def data_profile(
    runs: pd.DataFrame, curves: pd.DataFrame, tolerance: float = 0.05, *, per_thousand_records: bool = False
) -> pd.DataFrame:
    """For every solver the share of problems that pass the test of Moré and Wild within so many seconds.

    A run passes when it has made all but `tolerance` of the progress from the worst first value of any solver to the
    best value known; seconds can be counted for each thousand records.
    """
    seconds = progress_times(runs, curves, tolerance)
    if per_thousand_records:
        seconds = seconds / (runs["records"].fillna(1000.0) / 1000.0)
    budgets = runs.assign(budget=seconds).pivot_table(index=PROBLEM, columns="solver", values="budget", aggfunc="first")
    return _shares(budgets.dropna(), "budget", start=0.0)


def _shares(amounts: pd.DataFrame, name: str, start: float) -> pd.DataFrame:
    """The share of rows in which each column is at most so much, at every amount at which that changes."""
    rows = []
    for solver in amounts.columns:
        found = np.sort(amounts[solver].to_numpy(float))
        steps = np.unique(np.append(found[np.isfinite(found)], start))
        shares = np.searchsorted(found, steps, side="right") / max(1, len(found))
        rows += [{"solver": solver, name: step, "share": share} for step, share in zip(steps, shares, strict=True)]
    return pd.DataFrame(rows, columns=["solver", name, "share"])


def anytime(runs: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """For every solver how much worse than the best known value its runs are after so many seconds.

    The median, and the quartiles, over all runs; one that has no solution yet, or failed in the end, is infinitely
    worse.
    """
    done = runs[runs["outcome"] == "done"]
    known = runs.assign(best=best_known(done), maximised=to_be_large(runs))
    moments = curves[curves["value"].notna() & curves["run"].isin(done["key"])].sort_values(["run", "seconds"])
    if not len(moments):
        return pd.DataFrame(columns=["solver", "seconds", "median", "low", "high"])
    last = max(float(done["seconds"].max()), 2 * _LEAST_SECONDS)
    seconds = np.geomspace(_LEAST_SECONDS, last, _MOMENTS)
    by_run = {str(key): group for key, group in moments.groupby("run")}
    rows: list[dict[str, object]] = []
    for solver, group in known.groupby("solver", sort=False):
        at = np.full((len(group), len(seconds)), np.inf)
        for i, run in enumerate(group.itertuples()):
            if (curve := by_run.get(str(run.key))) is None:
                continue
            place = np.searchsorted(curve["seconds"].to_numpy(), seconds, side="right") - 1
            values = curve["value"].reset_index(drop=True)
            same = pd.Series(run.best, index=values.index), pd.Series(run.maximised, index=values.index)
            at[i] = np.where(place >= 0, excess(values, *same).to_numpy()[np.maximum(place, 0)], np.inf)
        low, median, high = np.quantile(at, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
        rows += [
            {"solver": solver, "seconds": s, "median": m, "low": lo, "high": hi}
            for s, m, lo, hi in zip(seconds, median, low, high, strict=True)
        ]
    return pd.DataFrame(rows)


def scaling(runs: pd.DataFrame, measure: str = "seconds") -> pd.DataFrame:
    """For every solver how a measure grows with the records of one dataset: measure = coefficient * records^exponent.

    Sizes are those of datasets of one family. Every family and model has a coefficient of its own and all have the
    exponent in common, since a larger table of other people says nothing about growth; the coefficient given is their
    mean. Fitted by least squares on logarithms, with a 95% confidence interval of the exponent.

    >>> runs = pd.DataFrame({"solver": "a", "family": "d", "model": "m", "records": [10, 100, 1000],
    ...                      "seconds": [1.0, 10.0, 100.0]})
    >>> scaling(runs)[["exponent", "coefficient"]].round(6).values.tolist()
    [[1.0, 0.1]]
    """
    rows = []
    for solver, group in scaling_points(runs, measure).groupby("solver", sort=False):
        logarithms = group[["records", measure]].astype(float).apply(np.log)
        centred = logarithms - logarithms.groupby(group["of"]).transform("mean")
        x, y = centred["records"].to_numpy(), centred[measure].to_numpy()
        freedom = len(x) - group["of"].nunique() - 1
        if freedom < 1:
            continue
        exponent = float(x @ y / (x @ x))
        deviation = float(np.sqrt(np.sum((y - exponent * x) ** 2) / freedom / (x @ x)))
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * deviation
        means = logarithms.mean()
        rows.append(
            {
                "solver": solver,
                "exponent": exponent,
                "low": exponent - half,
                "high": exponent + half,
                "coefficient": float(np.exp(means[measure] - exponent * means["records"])),
                "runs": len(x),
            }
        )
    return pd.DataFrame(rows, columns=["solver", "exponent", "low", "high", "coefficient", "runs"])


def scaling_points(runs: pd.DataFrame, measure: str = "seconds") -> pd.DataFrame:
    """The runs that were solved on datasets of two sizes or more; `of` is the family of the dataset, and the model."""
    done = runs if "outcome" not in runs.columns else runs[(runs["outcome"] == "done") & runs["value"].notna()]
    positive = done[(done[measure] > 0) & (done["records"] > 0)]
    of = positive["family"] + ", " + positive["model"]
    sizes = positive.assign(of=of).groupby(["solver", "of"])["records"].transform("nunique")
    return positive.assign(of=of)[sizes > 1][["solver", "of", "records", measure]].reset_index(drop=True)
