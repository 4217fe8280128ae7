"""From runs to numbers that can be compared: costs of solvers on problems, times to targets, qualities of fronts."""

from __future__ import annotations

import json
from typing import Literal, get_args

import moocore
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError, unknown

Measure = Literal["value", "seconds", "time-to-target", "evaluations", "peak_memory", "gap"]

Statistic = Literal["median", "mean", "min", "max", "std"]

INSTANCE = ["dataset", "model"]
PROBLEM = [*INSTANCE, "repetition"]
TOLERANCE = 0.01


def costs(runs: pd.DataFrame, curves: pd.DataFrame, measure: Measure, tolerance: float = TOLERANCE) -> pd.DataFrame:
    """A row for every problem (dataset, model, repetition), a column for every solver: less is better.

    A run that ended without a solution costs infinitely much, one that was never made is missing. Values that are to be
    large, as hypervolumes, cost their inverse. 'time-to-target' is the seconds until a run was within `tolerance` of
    the best value that any run of the study found for that dataset and model.
    """
    if measure not in get_args(Measure):
        raise unknown("measure", measure, get_args(Measure))
    if not len(runs):
        raise InputError("The study has no finished run yet.")
    solved = (runs["outcome"] == "done") & runs["value"].notna()
    if measure == "time-to-target":
        found = times_to_target(runs, curves, tolerance)
    elif measure == "value":
        found = runs["value"].where(~to_be_large(runs), 1 / runs["value"].where(runs["value"] > 0))
    else:
        found = runs[measure].astype(float)
    known = runs.assign(cost=found.where(solved, np.inf).fillna(np.inf))
    return known.pivot_table(index=PROBLEM, columns="solver", values="cost", aggfunc="first", sort=False)


def relative(costs: pd.DataFrame) -> pd.DataFrame:
    """Costs as ratios to the least of any solver on each problem, which makes different problems comparable.

    Where the least is negative, as scores may be, what is 10% above it has the ratio 1.1 all the same. Where it is 0,
    only what costs nothing comes up to it; problems that a solver was not run on are left out.

    >>> relative(pd.DataFrame({"a": [2.0, 0.0, -10.0], "b": [3.0, 5.0, -9.0]})).values.tolist()
    [[1.0, 1.5], [1.0, inf], [1.0, 1.1]]
    """
    whole = costs.dropna()
    amounts = whole.to_numpy(float)
    least = amounts.min(axis=1, keepdims=True, initial=np.inf)
    above = np.where(amounts == 0, 0.0, np.inf)
    with np.errstate(invalid="ignore"):  # where all failed
        np.divide(amounts - least, np.abs(least), out=above, where=np.isfinite(amounts) & (least != 0))
    ratios = 1.0 + above
    return pd.DataFrame(ratios, index=whole.index, columns=whole.columns)


def best_known(runs: pd.DataFrame) -> pd.Series:
    """For every run the best value that any run found for its dataset and model."""
    groups = runs.groupby(INSTANCE)["value"]
    return groups.transform("min").where(~to_be_large(runs), groups.transform("max"))


def excess(values: pd.Series, best: pd.Series, maximised: pd.Series) -> pd.Series:
    """How much worse values are than the best known, as a share of that.

    >>> excess(pd.Series([1.1, 0.0]), pd.Series([1.0, 0.0]), pd.Series([False, False])).round(3).tolist()
    [0.1, 0.0]
    """
    difference = (values - best).where(~maximised, best - values)
    share = np.where(difference > 0, np.inf, 0.0)  # of nothing
    np.divide(difference, best.abs(), out=share, where=best.to_numpy(float) != 0)
    return pd.Series(share, index=values.index).where(values.notna())


def times_to_target(runs: pd.DataFrame, curves: pd.DataFrame, tolerance: float = TOLERANCE) -> pd.Series:
    """Seconds until each run was within `tolerance` of the best known value; infinite if it never was."""
    moments = _moments(runs, curves)
    reached = moments[moments["excess"] <= tolerance].groupby("run")["seconds"].min()
    return runs["key"].map(reached).fillna(np.inf)


def progress_times(runs: pd.DataFrame, curves: pd.DataFrame, tolerance: float) -> pd.Series:
    """Seconds until each run made all but a share `tolerance` of the progress that is known to be possible.

    This is the test of Moré and Wild (2009): progress goes from the worst first value of any solver on the problem to
    the best value known.
    """
    moments = _moments(runs, curves)
    first = moments.sort_values("seconds").groupby("run")["excess"].first()
    firsts = runs.assign(first=runs["key"].map(first)).groupby(PROBLEM)["first"].transform("max")
    limit = (tolerance * firsts).set_axis(runs["key"])
    reached = moments[moments["excess"] <= moments["run"].map(limit)].groupby("run")["seconds"].min()
    return runs["key"].map(reached).fillna(np.inf)


def _moments(runs: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """The moments of the curves of runs that succeeded, with how far each is from the best known value."""
    runs = runs[runs["outcome"] == "done"]
    known = runs.assign(best=best_known(runs), maximised=to_be_large(runs)).set_index("key")[["best", "maximised"]]
    moments = curves[curves["value"].notna() & curves["run"].isin(runs["key"])].join(known, on="run")
    return moments.assign(excess=excess(moments["value"], moments["best"], moments["maximised"].astype(bool)))


def indicators(runs: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """For every front its hypervolume, as a share of the best one known, and its IGD+ to all fronts taken together.

    The IGD+ is measured on objectives scaled so that the non-dominated points of all fronts of a dataset and model
    span 0 to 1 in each.
    """
    fronts = runs[(runs["answer"] == "front") & runs["value"].notna()]
    rows = []
    for _, instance in fronts.groupby(INSTANCE, sort=False):
        senses: dict[str, str] = json.loads(str(instance["senses"].iat[0]))
        signs = np.array([1.0 if sense == "min" else -1.0 for sense in senses.values()])
        of_run = {key: group[list(senses)].to_numpy(float) * signs for key, group in points.groupby("run")}
        found = [of_run[key] for key in instance["key"]]
        union = moocore.filter_dominated(np.vstack(found))
        low = union.min(axis=0)
        span = np.ptp(union, axis=0)
        span = np.where(span > 0, span, 1.0)
        scaled = (union - low) / span
        for run, front in zip(instance.to_dict("records"), found, strict=True):
            distance = moocore.igd_plus((front - low) / span, ref=scaled)
            share = run["value"] / instance["value"].max() if instance["value"].max() else 0.0
            rows.append({**{name: run[name] for name in (*PROBLEM, "solver")}, "hypervolume": share, "igd+": distance})
    return pd.DataFrame(rows, columns=[*PROBLEM, "solver", "hypervolume", "igd+"])


def overview(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every solver: the share of its runs that found something, how far above the best known, how long.

    `excess` is how much worse a run's value is than the best of any run for that dataset and model, as a share.
    """
    found = runs.assign(
        solved=(runs["outcome"] == "done") & runs["value"].notna(),
        excess=excess(runs["value"].astype(float), best_known(runs), to_be_large(runs)),
    )
    by_solver = found.groupby("solver", sort=False)
    solved = found[found["solved"]].groupby("solver", sort=False)
    return pd.DataFrame(
        {
            "solved": by_solver["solved"].mean(),
            "excess": solved["excess"].median(),
            "worst_excess": solved["excess"].max(),
            "seconds": solved["seconds"].median(),
            "most_seconds": solved["seconds"].max(),
        }
    )


def summary(runs: pd.DataFrame, measure: str = "value", statistic: Statistic = "median") -> pd.DataFrame:
    """A row for every dataset and model, a column for every solver: the median (mean, min, ...) over repetitions.

    The measure is any column of numbers; a cell is empty where no repetition was solved.
    """
    if measure not in runs.select_dtypes("number").columns:
        raise unknown("measure", measure, [name for name in get_args(Measure) if name != "time-to-target"])
    done = runs[(runs["outcome"] == "done") & runs["value"].notna()]
    solvers = list(dict.fromkeys(runs["solver"]))
    found = done.pivot_table(index=INSTANCE, columns="solver", values=measure, aggfunc=statistic, sort=False)
    order = pd.MultiIndex.from_frame(runs[INSTANCE].drop_duplicates())
    return found.reindex(index=order, columns=solvers)


def to_be_large(runs: pd.DataFrame) -> pd.Series:
    """Whether the value of each run is to be large."""
    senses = runs["senses"].map(lambda text: json.loads(text) if isinstance(text, str) else {})
    pairs: NDArray[np.bool_] = np.array(
        [
            answer == "front" or of.get(target) == "max"
            for answer, of, target in zip(runs["answer"], senses, runs["target"], strict=True)
        ],
        dtype=bool,
    )
    return pd.Series(pairs, index=runs.index)
