"""How useful each quasi-identifier is: what a random forest that predicts a sensitive attribute does without it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optmodels.partition import group_rows
from optmodels.table import Table
from optmodels.table.spelling import is_number_type

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

# What a forest learns of a few columns does not change with more records than this; they are drawn at random.
MOST_RECORDS = 50_000
# Ratios beyond these weigh nothing or everything already, and exp() of much more overflows.
_LARGEST_RATIO = 100.0
# A sensitive number of more values is learnt in so many bins: trees cannot tell values apart that few records have.
_BINS = 20


def usefulness(
    table: Table, *, trees: int, seed: int, tried: int | None = None, rebuilt: bool = False
) -> NDArray[np.float64]:
    """Weights of the quasi-identifiers in their order, summing to 100 (Majeed and Hwang, equations 3 to 8).

    The most useful is the one whose shuffling hurts the prediction least. The paper's ratios are negative wherever
    shuffling hurts, and how it makes them weights is not said: here they go through a softmax, which keeps their
    order and makes them positive. Of several sensitive attributes the mean counts; one of numbers with more than 20
    values is predicted in 20 bins of about as many records each. `tried` is their mtry, `rebuilt` grows every tree
    again on shuffled values, as their text has it; without it the tree that was grown is asked about shuffled ones.
    """
    draw = np.random.default_rng(seed)
    rows = draw.choice(table.n, MOST_RECORDS, replace=False) if table.n > MOST_RECORDS else np.arange(table.n)
    # Trees ask what is larger and no more: ranks will do, which single precision, unlike large numbers, tells apart.
    columns = {name: _ranks(table.values[rows, j]) for j, name in enumerate(table.measured)}
    columns |= {name: table.codes[rows, j] for j, name in enumerate(table.categorical)}
    features = np.column_stack([columns[name] for name in table.quasi]).astype(np.float32)
    weights = np.zeros(len(table.quasi))
    for codes, ordered, levels in zip(
        table.sensitive_codes[rows].T, table.sensitive_ordered, table.sensitive_levels, strict=True
    ):
        secret = _binned(codes) if ordered or is_number_type(levels.dtype) else codes
        ratios = np.clip(
            permutation_ratios(features, secret, trees, draw, tried, rebuilt), -_LARGEST_RATIO, _LARGEST_RATIO
        )
        powers = np.exp(ratios - ratios.max())
        weights += 100 * powers / powers.sum()
    return weights / len(table.sensitive)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


def _binned(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Codes in the order of their values, in bins of about as many records where there are many different ones."""
    if len(np.unique(codes)) <= _BINS:
        return codes
    edges = np.unique(np.quantile(codes, np.arange(1, _BINS) / _BINS))
    return np.searchsorted(edges, codes, side="right").astype(np.int32)


def permutation_ratios(
    features: NDArray[np.float32],
    secret: NDArray[np.int32],
    trees: int,
    draw: np.random.Generator,
    tried: int | None = None,
    rebuilt: bool = False,
) -> NDArray[np.float64]:
    """For each feature mean/deviation over trees of (out-of-bag error before - after shuffling it).

    A tree tries a random few of the features at each node, `tried` or the square root of their number. Equal records
    are learnt from once, with their number as weight.
    """
    n, width = features.shape
    most = "sqrt" if tried is None else min(tried, width)
    changes = []
    for _ in range(trees):
        drawn: NDArray[np.int64] = draw.integers(n, size=(n,))
        outside = np.flatnonzero(np.bincount(drawn, minlength=n) == 0)
        if not outside.size:
            continue
        sown = int(draw.integers(2**31))
        tree = _grown(features, secret, drawn, most, sown)
        before = _errors(tree, features[outside], secret[outside])
        change = np.empty(width)
        shuffled = features.copy() if rebuilt else features[outside]
        for j in range(width):
            kept = shuffled[:, j].copy()
            shuffled[:, j] = draw.permutation(kept)
            if rebuilt:
                other = _grown(shuffled, secret, drawn, most, sown)
                change[j] = before - _errors(other, shuffled[outside], secret[outside])
            else:
                change[j] = before - _errors(tree, shuffled, secret[outside])
            shuffled[:, j] = kept
        changes.append(change)
    if len(changes) < 2:
        return np.zeros(width)
    means, deviations = np.mean(changes, axis=0), np.std(changes, axis=0, ddof=1)
    tiny = np.finfo(np.float64).tiny
    return np.where(means == 0, 0.0, means / np.maximum(deviations, tiny))


def _grown(
    features: NDArray[np.float32], secret: NDArray[np.int32], drawn: NDArray[np.int64], most: int | str, seed: int
) -> DecisionTreeClassifier:
    """A tree of the records drawn, equal ones with their number as weight."""
    from sklearn.tree import DecisionTreeClassifier

    cell = group_rows([*features[drawn].T, secret[drawn]])
    learnt = np.empty(int(cell.max()) + 1, np.int64)
    learnt[cell] = drawn  # any of the equal ones
    tree = DecisionTreeClassifier(max_features=most, random_state=seed)
    with warnings.catch_warnings():
        # Almost as many values as records are no reason to predict numbers: there is no order in them.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        return tree.fit(features[learnt], secret[learnt], sample_weight=np.bincount(cell))


def _errors(tree: DecisionTreeClassifier, features: NDArray[np.float32], secret: NDArray[np.int32]) -> float:
    return float((tree.predict(features) != secret).mean())
