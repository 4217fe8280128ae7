"""Recoding: the quasi-identifiers of every class made equal, by centroid, by interval or set, or by hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from optmodels.errors import InputError, unknown
from optmodels.partition import Histograms, Labels, canonical, class_sizes, histograms, members
from optmodels.values import spelled

if TYPE_CHECKING:
    from optmodels.table import Table

Method = Literal["centroid", "interval", "hierarchy"]


def recode(
    table: Table, labels: ArrayLike, method: Method = "centroid", *, levels: NDArray[np.int64] | None = None
) -> pd.DataFrame:
    """The table with the quasi-identifiers of every class made equal, rows in the table's order.

    - `centroid`: mean of numbers, with as many decimals as the column has and no more than tell a thousandth of its
      range (`mean_decimals`); middle level of ordinals (the lower of two), most frequent category.
    - `interval`: `[a-b]` for numbers and ordinals, `{a,b}` for categories; a single value stays as it is.
    - `hierarchy`: the lowest node of the attribute's hierarchy that covers the class, or where `levels` (classes,
      quasi) says a higher one for it. Classes are numbered in the order of their first records. Without levels,
      numbers and ordinals that have no hierarchy become intervals.

    >>> from optmodels.table import Table
    >>> table = Table(pd.DataFrame({"job": ["cook", "nurse", "cook"]}), quasi={"job": "categorical"})
    >>> recode(table, [0, 0, 1], "interval")["job"].tolist()
    ['{cook,nurse}', '{cook,nurse}', 'cook']
    """
    if method not in get_args(Method):
        raise unknown("recoding method", str(method), get_args(Method))
    classes = canonical(labels)
    if len(classes) != table.n:
        raise InputError(f"The table has {table.n} records, but {len(classes)} class labels were given; give one each.")
    if levels is not None and method != "hierarchy":
        raise InputError(f"Levels are those of hierarchies: recode by 'hierarchy', not by '{method}', or without them.")
    by_method: dict[Method, Callable[[Table, str, Labels], pd.Series]] = {
        "centroid": _centroids,
        "interval": _extents,
        "hierarchy": lambda table, name, classes: _ancestors(table, name, classes, levels),
    }
    frame = table.frame
    for name in table.quasi:
        frame[name] = by_method[method](table, name, classes)
    return frame


def _centroids(table: Table, name: str, labels: Labels) -> pd.Series:
    if table.kinds[name] == "numeric":
        column = table.measured.index(name)
        values, own = table.values[:, column], table.decimals[name]
        places, kind = mean_decimals(own, float(table.ranges[column])), table.frame[name].dtype
        means = _means(values, labels)
        if places is not None:
            equal = np.bincount(labels, weights=values != means[labels]) == 0
            if own is not None:
                equal &= rounded(means, own) == means  # what fills a gap has more decimals than was measured
            means = np.where(equal, means, rounded(means, places)) + 0.0  # a mean of -0.2 is 0, and not -0
        if own == 0 and (values != np.rint(values)).any():
            kind = np.dtype(np.int64)  # whole numbers, which are floating ones for what filled their gaps
        return pd.Series(means[labels], name=name).astype(kind)
    found = _level_histograms(table, name, labels)
    if table.kinds[name] == "ordinal":
        before = np.concatenate([[0], np.cumsum(found.sizes)[:-1]])
        reached = np.cumsum(found.counts) - _per_entry(before, found)
        typical = 2 * reached >= _per_entry(found.sizes, found)
    else:
        most = np.maximum.reduceat(found.counts, found.starts[:-1])
        typical = found.counts == _per_entry(most, found)
    first = np.where(typical, np.arange(len(typical)), len(typical))
    chosen = found.values[np.minimum.reduceat(first, found.starts[:-1])]
    return pd.Series(table.levels[name].take(chosen[labels]), name=name)


def mean_decimals(decimals: int | None, reach: float) -> int | None:
    """How many decimals a mean is released with, of a column that has so many (None: all) and reaches so far.

    Whoever knows a mean to the last digit and all members of a class but one knows that one, too. So a mean tells no
    more than between a thousandth and a ten-thousandth of the column's range; whole numbers stay whole numbers.

    >>> mean_decimals(0, 60_000.0), mean_decimals(2, 5000.0), mean_decimals(None, 4.2), mean_decimals(2, 5e6)
    (0, 0, 3, -3)
    """
    if decimals == 0 or not 0 < reach < np.inf:
        return decimals
    enough = 3 - int(np.floor(np.log10(reach)))
    return enough if decimals is None else min(decimals, enough)


def rounded(numbers: NDArray[np.float64], places: int) -> NDArray[np.float64]:
    """Numbers with so many decimals; those that have no room for so many stay as they are."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.round(numbers, places)
    return np.where(np.isfinite(found), found, numbers)


def _extents(table: Table, name: str, labels: Labels) -> pd.Series:
    original = table.frame[name]
    if table.kinds[name] == "numeric":
        order, starts = members(labels)
        values = original.to_numpy()[order]
        low, high = np.minimum.reduceat(values, starts[:-1]), np.maximum.reduceat(values, starts[:-1])
        if bool((low == high).all()):
            return original
        lows, highs = (table.as_dates(name, ends) or _as_typed(spelled(ends), table) for ends in (low, high))
        return _texts_of(_ranges(lows, highs, [*lows, *highs]), labels, name)
    found = _level_histograms(table, name, labels)
    if len(found.values) == len(found.sizes):
        return pd.Series(table.levels[name].take(found.values[labels]), name=name)
    known = [str(level) for level in table.levels[name]]
    if table.kinds[name] == "ordinal":
        lows = [known[value] for value in found.values[found.starts[:-1]]]
        highs = [known[value] for value in found.values[found.starts[1:] - 1]]
        return _texts_of(_ranges(lows, highs, known), labels, name)
    return _texts_of(_sets(found, known), labels, name)


def _ancestors(table: Table, name: str, labels: Labels, wanted: NDArray[np.int64] | None) -> pd.Series:
    if name not in table.hierarchies and table.kinds[name] != "categorical" and wanted is None:
        return _extents(table, name, labels)
    hierarchy, leaves = table.hierarchy(name), table.leaf_codes(name)
    levels = hierarchy.common_level(labels, leaves)
    if wanted is not None:
        _check_levels(wanted, len(levels), table.quasi)
        asked = wanted[:, table.quasi.index(name)]
        if (asked < levels).any() or (asked >= hierarchy.n_levels).any():
            c = int(np.flatnonzero((asked < levels) | (asked >= hierarchy.n_levels))[0])
            raise InputError(
                f"Class {c} cannot be released on level {asked[c]} of '{name}': its records are equal from level "
                f"{levels[c]} on, and the highest level is {hierarchy.n_levels - 1}."
            )
        levels = asked
    if not levels.any() and table.kinds[name] == "numeric":
        return table.frame[name]
    if not levels.any():  # levels, not cells: 1 and 1.0 in one column are equal, but written differently
        return pd.Series(table.levels[name].take(table.level_codes(name)), name=name)
    anyone = np.empty(len(levels), leaves.dtype)
    anyone[labels] = leaves
    return _texts_of([str(node) for node in hierarchy.labels[hierarchy.nodes[anyone, levels]]], labels, name)


def _check_levels(levels: NDArray[np.int64], n_classes: int, quasi: tuple[str, ...]) -> None:
    if levels.shape != (n_classes, len(quasi)):
        raise InputError(
            f"Give a level for each of {n_classes} classes and {len(quasi)} quasi-identifiers, not an array of shape "
            f"{levels.shape}."
        )


def _means(values: NDArray[np.float64], labels: Labels) -> NDArray[np.float64]:
    """Class means, measured from a member so that the mean of equal numbers is that very number."""
    sizes = class_sizes(labels)
    anyone = np.empty(len(sizes))
    anyone[labels] = values
    means: NDArray[np.float64] = anyone + np.bincount(labels, weights=values - anyone[labels]) / sizes
    return means


def _level_histograms(table: Table, name: str, labels: Labels) -> Histograms:
    return histograms(labels, table.level_codes(name))


def _per_entry(per_class: NDArray[np.int64], found: Histograms) -> NDArray[np.int64]:
    return np.repeat(per_class, np.diff(found.starts))


def _as_typed(texts: list[str], table: Table) -> list[str]:
    """Numbers with the decimal mark of the file that they were read from."""
    return texts if table.roles.decimal != "," else [text.replace(".", ",") for text in texts]


def _ranges(lows: list[str], highs: list[str], known: Iterable[str]) -> list[str]:
    separator = _separator(("-", "..", " to "), known)
    return [low if low == high else f"[{low}{separator}{high}]" for low, high in zip(lows, highs, strict=True)]


def _sets(found: Histograms, known: list[str]) -> list[str]:
    separator = _separator((",", ";", "|"), known)
    values, starts = found.values.tolist(), found.starts.tolist()
    return [
        known[values[low]] if high - low == 1 else "{" + separator.join(known[v] for v in values[low:high]) + "}"
        for low, high in pairwise(starts)
    ]


def _separator(usual: tuple[str, ...], known: Iterable[str]) -> str:
    """One that occurs in no known value, so that values joined by it are written like no value and no other values.

    Nor may a value end in a part of it: the separator is to be met first where it was put.
    """
    values = set(known)
    candidates = chain(usual, (f"<{n}>" for n in count()))
    return next(s for s in candidates if all((value + s).find(s) == len(value) for value in values))


def _texts_of(texts: list[str], labels: Labels, name: str) -> pd.Series:
    return pd.Series(pd.Index(texts, dtype="str").take(labels), name=name)
