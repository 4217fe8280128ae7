"""What there is to choose from: for every k of a ladder a front of loss and entropy, each point with its risks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.metrics import risk
from optmodels.partition import LEFT_OUT, Labels, class_sizes, histograms
from optmodels.problem import Formulation, Problem
from optmodels.table import Table
from solvers import pareto, solve

# Each k about half as large again: the loss of neighbours on the ladder differs by more than a search does.
LADDER = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
_FEWEST_CLASSES = 20  # there must be room for at the largest k
_ENTROPY = "entropy"


@dataclass(frozen=True)
class TuningPoint:
    """One point of the front of one k; `k` is the largest of the ladder that its smallest class keeps.

    `lost` is the loss as a share of what one class of everybody loses, `found` the expected share of the people who are
    found when everybody is looked for, `guessed` how often an attacker who takes the most frequent sensitive value of
    a class is right, 0 without any. `low` and `high` are between which the weight lambda of entropy lies for which no
    other point of its front has a better loss - lambda * entropy; both are missing where there is no such weight.
    """

    k: int
    classes: int
    loss: float
    entropy: float
    lost: float
    found: float
    guessed: float
    low: float
    high: float
    sizes: NDArray[np.int64]
    labels: Labels

    @property
    def lam(self) -> float:
        """One weight of entropy that leads here; missing where none does."""
        if np.isnan(self.low):
            return float("nan")
        if self.high == inf:
            return 2 * self.low if self.low > 0 else 0.0
        return float(np.sqrt(self.low * self.high)) if self.low > 0 else self.high / 2


def ladder(records: int) -> tuple[int, ...]:
    """The values of k that are tried for so many records: up to what leaves room for twenty classes.

    >>> ladder(1000), ladder(30)
    ((2, 3, 5, 8, 12, 20, 30, 50), (2, 3))
    """
    return tuple(k for k in LADDER if k <= max(records // _FEWEST_CLASSES, 3))


def candidates(
    table: Table, model: Formulation, k: int, *, solver: str, evaluations: int, seed: int
) -> list[TuningPoint]:
    """The points of one k; none where nothing feasible was found."""
    problem = replace(model, k=k).build(table, seed)  # type: ignore[call-arg]
    if problem.impossible() is not None:
        return []
    everybody = abs(problem.evaluate(np.zeros(table.n, np.int64)).values[problem.target.name]) or 1.0
    options = {"evaluations": evaluations}
    if not table.sensitive:
        one = solve(problem, solver=solver, options=options, seed=seed)
        return [] if one.labels is None else [_candidate(problem, k, one.values, one.labels, everybody)]
    front = pareto(problem.with_objectives("loss", _ENTROPY), solver=solver, options=options, seed=seed)
    found = [
        _candidate(problem, k, point.values, point.labels, everybody) for point in front if point.labels is not None
    ]
    return weighed(found)


def _candidate(problem: Problem, k: int, values: Mapping[str, float], labels: Labels, everybody: float) -> TuningPoint:
    sizes = class_sizes(labels)
    inside = labels[labels != LEFT_OUT]
    secrets = [histograms(inside, codes[labels != LEFT_OUT]) for codes in problem.table.sensitive_codes.T]
    loss = values.get("loss", values.get(problem.target.name, 0.0))
    return TuningPoint(
        k=max([k, *(rung for rung in LADDER if rung <= sizes.min())]),
        classes=len(sizes),
        loss=loss,
        entropy=values.get(_ENTROPY, 0.0),
        lost=loss / everybody,
        found=risk.marketer(sizes),
        guessed=risk.disclosure(secrets) if secrets else 0.0,
        low=float("nan"),
        high=float("nan"),
        sizes=sizes,
        labels=labels,
    )


def weighed(front: list[TuningPoint]) -> list[TuningPoint]:
    """The points with the weights of entropy for which each is best.

    A point is best from the weight on at which it overtakes all that have less entropy, until the first that has more
    overtakes it; where the former is larger, a line between two others passes below it.
    """
    told = []
    for one in front:
        slopes = [
            (one.loss - other.loss) / (one.entropy - other.entropy) for other in front if other.entropy < one.entropy
        ]
        climbs = [
            (other.loss - one.loss) / (other.entropy - one.entropy) for other in front if other.entropy > one.entropy
        ]
        low, high = max([0.0, *slopes]), min([inf, *climbs])
        told.append(replace(one, low=low, high=high) if low <= high else one)
    return told


def frame_of(found: list[TuningPoint]) -> pd.DataFrame:
    """One row a candidate, in the order given."""
    columns = ("k", "classes", "loss", "entropy", "lost", "found", "guessed", "low", "high", "lam")
    return pd.DataFrame([{name: getattr(one, name) for name in columns} for one in found], columns=columns)
