"""What quasi-identifiers count if they are to count by what they tell about the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from optmodels.errors import InputError

# The word that stands for weights in roles.
IMPORTANCE = "importance"
# What an attribute counts of which the target tells nothing: it may be lost sooner than others, not for nothing.
_LEAST = 0.1
_MOST_ROWS = 10_000
_MOST_LEVELS = 20  # of a numeric target, beyond which it is a quantity
_FEWEST = 6  # rows, of which a third is asked about


def importance_weights(columns: Mapping[str, pd.Series], quasi: Sequence[str], target: str | None) -> dict[str, float]:
    """What each quasi-identifier counts by its importance to a forest that predicts the target; 1 on average.

    Importance is how much worse the forest knows a third of the people, whom it has not seen, once the attribute is
    shuffled among them: the share of that, times the number of attributes, but never less than a tenth.
    Where nothing tells anything about the target, all count 1.

    >>> draw = np.random.default_rng(0)
    >>> age = draw.integers(20, 80, 600)
    >>> columns = {"age": age, "shoe": draw.integers(36, 47, 600), "ill": np.where(age > 50, "yes", "no")}
    >>> series = {name: pd.Series(values) for name, values in columns.items()}
    >>> found = importance_weights(series, ["age", "shoe"], "ill")
    >>> found["age"] > 1.8, found["shoe"] < 0.2, round(sum(found.values()), 3)
    (True, True, 2.0)

    Raises:
        InputError: there is no target, or nothing to be told about it.
    """
    if target is None:
        raise InputError(
            f"weights='{IMPORTANCE}' are what quasi-identifiers tell about a target, and none is named: give target=, "
            "or weights by name, {'age': 2}."
        )
    wanted = columns[target]
    if wanted.nunique() < 2 or len(wanted) < _FEWEST:
        raise InputError(
            f"weights='{IMPORTANCE}' need a target that varies and at least {_FEWEST} records; '{target}' has "
            f"{wanted.nunique()} value{'s' * (wanted.nunique() != 1)} in {len(wanted)} records."
        )
    rows = np.arange(len(wanted))
    if len(rows) > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False))
    features = np.column_stack([_numbers(columns[name].iloc[rows]) for name in quasi])
    drops = np.maximum(_drops(features, wanted.iloc[rows]), 0.0)
    if not drops.sum() > 0:
        return dict.fromkeys(quasi, 1.0)
    weights = _LEAST + (1 - _LEAST) * len(quasi) * drops / drops.sum()
    return {name: round(float(weight), 4) for name, weight in zip(quasi, weights, strict=True)}


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """Numbers as they are; anything else by the places of its values in their order."""
    if types.is_numeric_dtype(column.dtype):
        return column.to_numpy(np.float64)
    return pd.factorize(column.astype(str), sort=True)[0].astype(np.float64)


def _drops(features: NDArray[np.float64], target: pd.Series) -> NDArray[np.float64]:
    """How much worse a forest scores on held-out rows when each feature is shuffled there, a mean of shuffles."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    quantity = types.is_float_dtype(target.dtype) and target.nunique() > _MOST_LEVELS
    answers = target.to_numpy(np.float64) if quantity else pd.factorize(target, sort=True)[0]
    kind, scoring = (RandomForestRegressor, "r2") if quantity else (RandomForestClassifier, "f1_macro")
    few = not quantity and np.bincount(answers).min() < 2
    learned, asked, known, truth = train_test_split(
        features, answers, test_size=1 / 3, random_state=0, stratify=None if quantity or few else answers
    )
    forest = kind(n_estimators=100, min_samples_leaf=3, random_state=0).fit(learned, known)
    found = permutation_importance(forest, asked, truth, scoring=scoring, n_repeats=5, random_state=0)
    return np.asarray(found.importances_mean, np.float64)
