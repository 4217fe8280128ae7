"""Propensity score matching: as many people without an outcome as with it, alike in what is known of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def matched_rows(
    frame: pd.DataFrame, outcome: str, positive: object, covariates: Sequence[str], *, seed: int = 0
) -> NDArray[np.int64]:
    """The rows with the outcome, and for each the one without it whose propensity is nearest among those left.

    The propensity is the chance of the outcome by a logistic regression on the covariates; who has the outcome is
    matched in random order, one to one, nobody twice (Rosenbaum and Rubin's nearest neighbours, without a caliper).

    >>> frame = pd.DataFrame({"age": [20, 21, 60, 61, 62], "ill": ["no", "no", "yes", "no", "no"]})
    >>> matched_rows(frame, "ill", "yes", ["age"]).tolist()
    [2, 3]
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    known = pd.get_dummies(frame[list(covariates)], dtype=float)
    has = (frame[outcome] == positive).to_numpy()
    scaled = StandardScaler().fit_transform(known.to_numpy())
    logit = LogisticRegression(max_iter=1000).fit(scaled, has).decision_function(scaled)
    with_it, without = np.flatnonzero(has), np.flatnonzero(~has)
    free = without[np.argsort(logit[without], kind="stable")]
    taken: list[int] = []
    left = np.ones(len(free), np.bool_)
    for row in np.random.default_rng(seed).permutation(with_it):
        if not left.any():
            break
        place = int(np.searchsorted(logit[free], logit[row]))
        above = place + int(np.argmax(left[place:])) if left[place:].any() else None
        below = place - 1 - int(np.argmax(left[:place][::-1])) if left[:place].any() else None
        near = [at for at in (below, above) if at is not None]
        best = min(near, key=lambda at: abs(logit[free[at]] - logit[row]))
        left[best] = False
        taken.append(int(free[best]))
    return np.sort(np.concatenate([with_it, np.array(taken, np.int64)]))
