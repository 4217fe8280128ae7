"""What a partition of a table costs: how far released values are from the true ones, or how much they hide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.parallel import threads
from optmodels.partition import Labels, class_sizes, histograms, members
from optmodels.recoding import Method, mean_decimals, recode, rounded

if TYPE_CHECKING:
    from optmodels.table import Table

ALL_BUT_LOST = 0.9  # share of what one class of everybody would lose from which on little is left of an attribute
_SHARED_OUT = 100_000  # records from which on attributes are measured two at a time


def information_loss(table: Table, labels: Labels) -> float:
    """IL of MO-OBAM: squared deviations from class means plus mismatches with class modes, relative to one class.

    In the table's scaling, weights and gamma. 0 is the original table, 1 a table with one class; a table without
    any variation loses nothing. With standardised numbers alone this is microaggregation's SSE / SST.

    >>> from optmodels.table import Table
    >>> table = Table(pd.DataFrame({"age": [20, 22, 50, 52]}), quasi={"age": "numeric"})
    >>> round(information_loss(table, np.array([0, 0, 1, 1])), 6)
    0.004425
    """
    return _ratio(_spread(table, labels), _spread(table, np.zeros(table.n, np.int64)))


def released_information_loss(table: Table, recoded: pd.DataFrame, of: Table | None = None) -> float:
    """The same IL for the centroids that are really released, from a recoded frame in the table's row order.

    It differs from `information_loss` only in ordinal attributes, which are released as a level, not as a mean rank.
    `of` is a table that these records are a part of, where the loss is to be relative to that table's one class.
    """
    total = 0.0
    for j, name in enumerate(table.measured):
        total += table.weights[name] / table.scales[j] ** 2 * _distance(table, name, recoded)
    for j, name in enumerate(table.categorical):
        total += float(table.mismatch_weights[j]) * _distance(table, name, recoded)
    whole = table if of is None else of
    return _ratio(total, _spread(whole, np.zeros(whole.n, np.int64)))


def attribute_losses(
    table: Table,
    labels: Labels,
    method: Method = "centroid",
    *,
    levels: NDArray[np.int64] | None = None,
    recoded: pd.DataFrame | None = None,
) -> dict[str, float]:
    """What a release of classes loses of each quasi-identifier: 0 nothing, 1 as much as one class of everybody would.

    Every attribute is measured by itself, whatever its scale, weight or number of values. Of centroids it is the
    squared distance of the released numbers or ranks from the true ones, or the number of categories that are changed;
    of intervals and hierarchies the mean share of the attribute's domain that a cell covers. What parts of a table
    lose adds up to what the whole loses.

    Args:
        table: the original.
        labels: the class of each record, from 0 on.
        method: how classes are recoded.
        levels: of hierarchies, on which classes are released, see `recode`.
        recoded: what `recode` makes of the classes, where that is known already.

    >>> from optmodels.table import Table
    >>> people = pd.DataFrame({"age": [20, 22, 50, 52], "sex": ["f", "m", "f", "m"]})
    >>> table = Table(people, quasi={"age": "numeric", "sex": "categorical"})
    >>> losses = attribute_losses(table, np.array([0, 0, 1, 1]))
    >>> {name: round(loss, 6) for name, loss in losses.items()}
    {'age': 0.004425, 'sex': 1.0}
    >>> all_but_lost(losses)
    ('sex',)
    """
    if method == "centroid":
        released = recode(table, labels) if recoded is None else recoded
        return {name: _ratio(_distance(table, name, released), _of_one_class(table, name)) for name in table.quasi}
    covered = _released_losses(table, labels, levels) if method == "hierarchy" else cell_losses(table, labels)
    shares = class_sizes(labels) @ covered / table.records_in_all
    return dict(zip(table.quasi, shares.tolist(), strict=True))


def all_but_lost(losses: Mapping[str, float]) -> tuple[str, ...]:
    """The attributes of which so much is lost that little can be learned from what is released of them."""
    return tuple(name for name, loss in losses.items() if loss >= ALL_BUT_LOST)


def cell_losses(table: Table, labels: Labels) -> NDArray[np.float64]:
    """(classes, quasi) share of an attribute's domain that a class covers, between 0 (one value) and 1 (all).

    Numbers and ranks: (z - y) / (U - L). Categories: (values in the class - 1) / (values in the table - 1), or with
    a hierarchy (leaves below the lowest common ancestor - 1) / (all leaves - 1). A constant attribute loses nothing.
    """

    def covered(name: str) -> NDArray[np.float64]:
        if table.kinds[name] != "categorical":
            j = table.measured.index(name)
            return _covered_range(table.values[:, j], labels, float(table.ranges[j]))
        if name in table.hierarchies:
            return _covered_leaves(table, name, labels)
        j = table.categorical.index(name)
        return _ratios(np.diff(histograms(labels, table.codes[:, j]).starts) - 1, int(table.occurring[j]) - 1)

    if table.n < _SHARED_OUT:
        return np.column_stack([covered(name) for name in table.quasi])
    _ = table.ranges, table.occurring  # encoded once, before several threads ask for them
    with threads() as pool:
        return np.column_stack(list(pool.map(covered, table.quasi)))


def loss_metric(table: Table, labels: Labels) -> float:
    """Iyengar's loss metric as Liang and Samavi use it: cell losses times attribute weights, summed over all cells.

    >>> from optmodels.table import Table
    >>> table = Table(pd.DataFrame({"age": [20, 22, 50, 60]}), quasi={"age": "numeric"})
    >>> loss_metric(table, np.array([0, 0, 1, 1]))
    0.6
    """
    weights = np.array([table.weights[name] for name in table.quasi])
    return float(class_sizes(labels) @ (cell_losses(table, labels) @ weights))


def general_loss_metric(table: Table, labels: Labels) -> float:
    """The loss metric's weighted mean over all cells, between 0 and 1 (MASS)."""
    return _ratio(loss_metric(table, labels), table.n * sum(table.weights.values()))


def ncp(table: Table, labels: Labels) -> float:
    """Normalised certainty penalty: cell losses summed over all cells, every attribute alike."""
    return float(class_sizes(labels) @ cell_losses(table, labels).sum(axis=1))


def gcp(table: Table, labels: Labels, levels: NDArray[np.int64] | None = None, *, method: Method = "interval") -> float:
    """Global certainty penalty: the mean cell loss, between 0 and 1.

    Released through hierarchies, on the lowest levels or on `levels` (classes, quasi), a cell loses (leaves below its
    node - 1) / (all leaves - 1), whatever the kind of its attribute.
    """
    if levels is None and method != "hierarchy":
        return ncp(table, labels) / (table.n * len(table.quasi))
    return float(class_sizes(labels) @ _released_losses(table, labels, levels).mean(axis=1)) / table.n


def generalisation_levels(table: Table, labels: Labels) -> NDArray[np.int64]:
    """(classes, quasi) lowest level of each attribute's hierarchy at which a class is one node."""
    return np.column_stack([table.hierarchy(name).common_level(labels, table.leaf_codes(name)) for name in table.quasi])


def distortion(
    table: Table, labels: Labels, levels: NDArray[np.int64] | None = None, weights: Mapping[str, float] | None = None
) -> float:
    """Distortion DM (Majeed and Hwang, equation 18): level used / highest level, times weight, over all cells.

    `levels` are those used per class and attribute, the lowest possible unless given; `weights` the table's
    unless given.
    """
    used = generalisation_levels(table, labels) if levels is None else levels
    chosen = table.weights if weights is None else weights
    highest = np.array([max(table.hierarchy(name).n_levels - 1, 1) for name in table.quasi])
    return float(class_sizes(labels) @ (used / highest @ np.array([chosen[name] for name in table.quasi])))


def discernibility(sizes: NDArray[np.int64]) -> int:
    """Every record is charged the size of its class.

    >>> discernibility(np.array([2, 3]))
    13
    """
    return int(np.square(sizes).sum())


def average_class_size(sizes: NDArray[np.int64]) -> float:
    """Records per class.

    >>> average_class_size(np.array([2, 4]))
    3.0
    """
    return float(sizes.mean()) if sizes.size else 0.0


def _spread(table: Table, labels: Labels) -> float:
    sizes = class_sizes(labels)
    total = 0.0
    for values in table.scaled.T:
        column = values - values[0]  # so that equal numbers, whose mean may be a hair off, lose nothing
        means = np.bincount(labels, weights=column) / sizes
        total += float(np.square(column - means[labels]).sum())
    for j, weight in enumerate(table.mismatch_weights.tolist()):
        found = histograms(labels, table.codes[:, j])
        total += weight * float((sizes - np.maximum.reduceat(found.counts, found.starts[:-1])).sum())
    return total


def _distance(table: Table, name: str, recoded: pd.DataFrame) -> float:
    """Squared distance of numbers or ranks from what is released of them, or the number of categories changed."""
    if table.kinds[name] == "categorical":
        return float((_level_codes(table, name, recoded) != table.level_codes(name)).sum())
    numeric = table.kinds[name] == "numeric"
    released = recoded[name].to_numpy(np.float64) if numeric else _level_codes(table, name, recoded)
    return float(np.square(table.values[:, table.measured.index(name)] - released).sum())


def _of_one_class(table: Table, name: str) -> float:
    """The same if everybody was in one class; of a part, everybody in the whole."""
    whole = table.summary
    if table.kinds[name] == "numeric":
        moments, reach = whole.moments[name], float(table.ranges[table.measured.index(name)])
        places = mean_decimals(whole.decimals[name], reach)
        off = 0.0 if places is None else moments.mean - float(rounded(np.array([moments.mean]), places)[0])
        return moments.squares + moments.n * off**2
    counts = whole.levels[name].counts
    if table.kinds[name] == "categorical":
        return float(counts.sum() - counts.max())
    middle = int(np.searchsorted(2 * np.cumsum(counts), counts.sum()))  # the level that is released
    return float(np.square(np.arange(len(counts)) - middle) @ counts)


def _level_codes(table: Table, name: str, recoded: pd.DataFrame) -> NDArray[np.intp]:
    return table.levels[name].get_indexer(pd.Index(recoded[name]))


def _covered_range(values: NDArray[np.float64], labels: Labels, reach: float) -> NDArray[np.float64]:
    order, starts = members(labels)
    by_class = values[order]
    extent = np.maximum.reduceat(by_class, starts[:-1]) - np.minimum.reduceat(by_class, starts[:-1])
    return _ratios(extent, reach)


def _covered_leaves(
    table: Table, name: str, labels: Labels, levels: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    hierarchy, leaves = table.hierarchies[name], table.leaf_codes(name)
    levels = hierarchy.common_level(labels, leaves) if levels is None else levels
    anyone = np.empty(len(levels), leaves.dtype)
    anyone[labels] = leaves
    below = hierarchy.leaf_counts[hierarchy.nodes[anyone, levels]]
    return _ratios(below - 1, len(hierarchy.values) - 1)


def _released_losses(table: Table, labels: Labels, levels: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """(classes, quasi) share of an attribute's domain that a class covers as it is released through hierarchies.

    Numbers and ordinals without one are intervals.
    """

    def covered(j: int, name: str) -> NDArray[np.float64]:
        if name in table.hierarchies or table.kinds[name] == "categorical" or levels is not None:
            table.hierarchy(name)
            return _covered_leaves(table, name, labels, None if levels is None else levels[:, j])
        column = table.measured.index(name)
        return _covered_range(table.values[:, column], labels, float(table.ranges[column]))

    return np.column_stack([covered(j, name) for j, name in enumerate(table.quasi)])


def _ratios(part: NDArray[np.float64] | NDArray[np.int64], whole: float) -> NDArray[np.float64]:
    return part / whole if whole > 0 else np.zeros(len(part))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
