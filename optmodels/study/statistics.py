"""Whether differences between solvers are more than chance: tests, effect sizes, correction for many tests.

Problems are the unit: where solvers are compared on several problems, repetitions of one problem are first reduced to
their median, since they are not independent problems; a solver that failed in any of them has failed on the problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from optmodels.errors import InputError, unknown
from optmodels.study.measures import INSTANCE, relative

Correction = Literal["holm", "bh", "none"]
Floats = NDArray[np.float64]


def a12(one: ArrayLike, other: ArrayLike) -> float:
    """Vargha and Delaney's A: the chance that a value of `one` is larger than one of `other`, ties counting half.

    >>> a12([1, 2, 3], [1, 2, 3]), a12([4, 5], [1, 2])
    (0.5, 1.0)
    """
    x, y = _sample(one), _sample(other)
    ranks = stats.rankdata(np.concatenate([x, y]))
    return float((ranks[: len(x)].sum() / len(x) - (len(x) + 1) / 2) / len(y))


def cliffs_delta(one: ArrayLike, other: ArrayLike) -> float:
    """Cliff's delta: the chance of a larger value less that of a smaller one, from -1 to 1.

    >>> cliffs_delta([4, 5], [1, 2])
    1.0
    """
    return 2 * a12(one, other) - 1


def mann_whitney(one: ArrayLike, other: ArrayLike) -> tuple[float, float]:
    """Mann and Whitney's U of the first sample and its two-sided p: two independent samples."""
    found = stats.mannwhitneyu(_sample(one), _sample(other), alternative="two-sided")
    return float(found.statistic), float(found.pvalue)


def wilcoxon(one: ArrayLike, other: ArrayLike) -> tuple[float, float]:
    """Wilcoxon's signed ranks: the smaller sum and its two-sided p; pairs, ties split between the sides.

    >>> wilcoxon([1, 2, 3], [1, 2, 3])
    (3.0, 1.0)
    """
    x, y = _sample(one), _sample(other)
    if len(x) != len(y):
        raise InputError(f"Wilcoxon's test compares pairs, and there are {len(x)} values and {len(y)}.")
    if np.array_equal(x, y):
        return len(x) * (len(x) + 1) / 4, 1.0
    found = stats.wilcoxon(x, y, zero_method="zsplit")
    return float(found.statistic), float(found.pvalue)


def corrected(p_values: ArrayLike, how: Correction = "holm") -> Floats:
    """P values adjusted for many tests: Holm's step-down (family-wise) or Benjamini and Hochberg's (false discoveries).

    >>> corrected([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    if how not in get_args(Correction):
        raise unknown("correction", how, get_args(Correction))
    if how == "none" or not p.size:
        return p
    if how == "bh":
        return np.asarray(stats.false_discovery_control(p, method="bh"))
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of solvers over problems, with Nemenyi's critical difference of mean ranks.

    `groups` are the solvers that do not differ from each other by more than the critical difference.
    """

    statistic: float
    p: float
    ranks: pd.Series  # mean rank of every solver, best first
    problems: int
    critical_difference: float
    alpha: float

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Largest sets of neighbouring solvers within the critical difference, two or more in each."""
        names, ranks = list(self.ranks.index), self.ranks.to_numpy()
        found: list[tuple[str, ...]] = []
        reach = 0
        for i in range(len(ranks)):
            last = int(np.searchsorted(ranks, ranks[i] + self.critical_difference, side="right"))
            if last > reach and last - i > 1:
                found.append(tuple(map(str, names[i:last])))
            reach = max(reach, last)
        return tuple(found)


def friedman(costs: pd.DataFrame, alpha: float = 0.05) -> Friedman:
    """Friedman's test on costs, a row for each problem and a column for each solver; failures share the last ranks."""
    whole = costs.dropna()
    n, k = whole.shape
    if n < 2 or k < 2:
        raise InputError(f"Friedman's test needs two problems and two solvers or more, not {n} and {k}.")
    ranked = whole.rank(axis=1)
    places = ranked.to_numpy()
    if not np.ptp(places, axis=1).any():  # all solvers are equal on all problems
        statistic, p = 0.0, 1.0
    elif k == 2:  # scipy wants three; with two solvers it is the sign test's own statistic
        statistic, p = _two(places)
    else:
        found = stats.friedmanchisquare(*places.T)  # of ranks, since failures cost infinitely much
        statistic, p = float(found.statistic), float(found.pvalue)
    ranks = ranked.mean().sort_values(kind="stable")
    return Friedman(statistic, p, ranks, n, critical_difference(k, n, alpha), alpha)


def critical_difference(solvers: int, problems: int, alpha: float = 0.05) -> float:
    """Nemenyi's least difference of mean ranks that is significant.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - alpha, solvers, np.inf)) / sqrt(2)
    return q * sqrt(solvers * (solvers + 1) / (6 * problems))


def _two(places: Floats) -> tuple[float, float]:
    differences = places[:, 0] - places[:, 1]
    statistic = float(differences.sum() ** 2 / np.count_nonzero(differences))
    return statistic, float(stats.chi2.sf(statistic, 1))


def pairwise(costs: pd.DataFrame, correction: Correction = "holm") -> pd.DataFrame:
    """Every pair of solvers over problems: wins, Wilcoxon's p, that after correction, and effect sizes.

    Costs are compared as ratios to the lesser of the two, so that problems of different magnitudes count alike and what
    is said of a pair does not depend on who else took part. `a12` is the chance that `one` costs more than `other` on
    problems drawn for each, so less than a half is in favour of `one`. Infinite costs, of failures, count as larger
    than all others.
    """
    rows = []
    for one, other in combinations(map(str, costs.columns), 2):
        whole = costs[[one, other]].dropna()
        if not len(whole):
            continue
        ratios = relative(whole)
        x, y = _ranked(ratios[one], ratios[other])
        statistic, p = wilcoxon(x, y)
        wins, losses = int((whole[one] < whole[other]).sum()), int((whole[one] > whole[other]).sum())
        rows.append(
            {
                "one": one,
                "other": other,
                "problems": len(whole),
                "wins": wins,
                "losses": losses,
                "wilcoxon": statistic,
                "p": p,
                "a12": a12(x, y),
                "cliffs_delta": cliffs_delta(x, y),
            }
        )
    frame = pd.DataFrame(rows)
    if not len(frame):
        raise InputError(
            "There is no pair of solvers to compare: the study has one, or no problem that two were run on."
        )
    return frame.assign(p_corrected=corrected(frame["p"], correction))


def by_problem(costs: pd.DataFrame, levels: Sequence[str] = INSTANCE) -> pd.DataFrame:
    """Costs with the repetitions of a problem reduced to their median, and infinite where any of them failed.

    The median alone would not see a solver crash in two of five repetitions, and it could win on what it survives.
    """
    of_problems = costs.groupby(level=list(levels), sort=False)
    return of_problems.median().where(~np.isinf(of_problems.max()), np.inf)


def on_each_problem(costs: pd.DataFrame, correction: Correction = "holm") -> pd.DataFrame:
    """On every problem, every pair of solvers over its repetitions: Mann and Whitney's U, p, corrected, and effects."""
    rows = []
    for problem, repeated in costs.dropna().groupby(level=INSTANCE, sort=False):
        for one, other in combinations(map(str, costs.columns), 2):
            x, y = _ranked(repeated[one], repeated[other])
            u, p = mann_whitney(x, y)
            place = dict(zip(INSTANCE, map(str, problem), strict=True))
            effects = {"u": u, "p": p, "a12": a12(x, y), "cliffs_delta": cliffs_delta(x, y)}
            rows.append({**place, "one": one, "other": other, "repetitions": len(repeated), **effects})
    frame = pd.DataFrame(rows)
    if len(frame):
        frame = frame.assign(p_corrected=corrected(frame["p"], correction))
    return frame


def _ranked(one: pd.Series, other: pd.Series) -> tuple[Floats, Floats]:
    """Two samples with what is infinite just beyond all that is not, as tests by ranks see it."""
    x, y = one.to_numpy(float), other.to_numpy(float)
    both = np.concatenate([x, y])
    finite = both[np.isfinite(both)]
    beyond = (finite.max() + (np.ptp(finite) or 1.0) * 2) if finite.size else 1.0
    return np.where(np.isfinite(x), x, beyond), np.where(np.isfinite(y), y, beyond)


def _sample(values: ArrayLike) -> Floats:
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or not sample.size or np.isnan(sample).any():
        raise InputError("A sample is one number or more, none of them missing.")
    return sample
