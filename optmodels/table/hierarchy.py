"""Generalisation hierarchies: for each value of a column, the ever coarser nodes it may be replaced by."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from optmodels.errors import InputError, nearest
from optmodels.markup import MOST_CELLS, grid, named, notebook

ROOT = "*"


class Hierarchy:
    """A tree over the values of one column, every leaf at the same depth.

    `levels[l]` gives every value's label at level l + 1; level 0 are the values themselves. A root `*` is added
    unless the last level is a single node already, so any two values have a common ancestor. Nodes are numbered
    through: the values first, in the order given, then level 1, and so on up to the root.

    >>> jobs = Hierarchy(["nurse", "doctor", "cook"], [["health", "health", "kitchen"]])
    >>> jobs.n_levels
    3
    >>> jobs.generalise(["cook", "nurse"], 1).tolist()
    ['kitchen', 'health']
    >>> jobs.lca_level([0, 0, 0], [0, 1, 2])
    array([0, 1, 2])
    """

    values: pd.Index  # the leaves
    nodes: NDArray[np.int32]  # (values, levels): the node each value belongs to at each level
    labels: NDArray[np.object_]  # label of each node
    node_levels: NDArray[np.int32]  # level of each node
    parents: NDArray[np.int32]  # parent of each node, -1 for the root
    leaf_counts: NDArray[np.int64]  # values below each node
    spec: Mapping[str, Any] | None = None  # what it was made from, if that was said in a line

    def __init__(self, values: Iterable[Hashable], levels: Sequence[Sequence[str]]) -> None:
        leaves = pd.Index(list(values))
        columns = [[str(label) for label in level] for level in levels]
        self._check_shape(leaves, columns)
        if not columns or len(set(columns[-1])) > 1:
            columns.append([ROOT] * len(leaves))

        self.values = leaves
        self.nodes = np.empty((len(leaves), len(columns) + 1), np.int32)
        self.nodes[:, 0] = np.arange(len(leaves))
        labels = [leaves.to_numpy(object)]
        start = len(leaves)
        for level, column in enumerate(columns, start=1):
            codes, distinct = pd.factorize(np.asarray(column, object))
            self.nodes[:, level] = start + codes
            labels.append(distinct)
            start += len(distinct)
        self.labels = np.concatenate(labels)
        self.node_levels = np.repeat(np.arange(len(labels), dtype=np.int32), [len(level) for level in labels])
        self.leaf_counts = np.bincount(self.nodes.ravel(), minlength=start).astype(np.int64)
        self.parents = self._parents()
        self._texts = pd.Index([_text(value) for value in leaves], dtype=object)

    @staticmethod
    def _check_shape(leaves: pd.Index, columns: list[list[str]]) -> None:
        if leaves.empty:
            raise InputError("A hierarchy needs at least one value.")
        if leaves.hasnans:
            raise InputError("A hierarchy has a missing value among its leaves; remove it.")
        if leaves.has_duplicates:
            twice = leaves[leaves.duplicated()][0]
            raise InputError(f"A hierarchy lists the value {twice!r} twice; keep one line for it.")
        for level, column in enumerate(columns, start=1):
            if len(column) != len(leaves):
                raise InputError(
                    f"Level {level} of a hierarchy has {len(column)} labels for {len(leaves)} values; "
                    "give every value one label on every level."
                )

    def _parents(self) -> NDArray[np.int32]:
        parents = np.full(len(self.labels), -1, np.int32)
        for level in range(self.n_levels - 1):
            below, above = self.nodes[:, level], self.nodes[:, level + 1]
            parents[below] = above
            astray = np.flatnonzero(parents[below] != above)
            if astray.size:
                first = astray[0]
                one, two = self.labels[above[first]], self.labels[parents[below[first]]]
                raise InputError(
                    f"A hierarchy is not monotone: '{self.labels[below[first]]}' on level {level} lies below both "
                    f"'{one}' and '{two}' on level {level + 1}; values that meet on one level must stay together."
                )
        return parents

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Hierarchy:
        """One row per value: the value, then its label on each level.

        >>> Hierarchy.from_frame(pd.DataFrame({"age": [1, 2], "decade": ["0-9", "0-9"]})).n_levels
        2
        """
        rows = frame.drop_duplicates()
        if rows.shape[1] == 0:
            raise InputError("A hierarchy needs a column of values; this frame has none.")
        if rows.isna().to_numpy().any():
            row = int(np.flatnonzero(rows.isna().to_numpy().any(axis=1))[0])
            raise InputError(f"A hierarchy has an empty cell in the line of {rows.iloc[row, 0]!r}; fill every level.")
        return cls(rows.iloc[:, 0].tolist(), [rows.iloc[:, level].tolist() for level in range(1, rows.shape[1])])

    @classmethod
    def from_csv(cls, path: str | Path, *, separator: str = ";", encoding: str = "utf-8-sig") -> Hierarchy:
        """Read the form ARX uses: no header, one line per value, first the value and then ever coarser labels."""
        try:
            with open(path, newline="", encoding=encoding) as file:
                lines = [line for line in csv.reader(file, delimiter=separator) if line]
        except (OSError, UnicodeError, csv.Error) as problem:
            raise InputError(
                f"Cannot read the hierarchy '{path}': {getattr(problem, 'strerror', None) or problem}."
            ) from problem
        if not lines:
            raise InputError(f"The hierarchy '{path}' is empty.")
        if len(lines[0]) == 1:
            raise InputError(
                f"The hierarchy '{path}' has values without labels, '{lines[0][0]}' first: write each value and its "
                f"ever coarser labels on a line, separated by '{separator}'."
            )
        for number, line in enumerate(lines, start=1):
            if len(line) != len(lines[0]):
                raise InputError(
                    f"Line {number} of the hierarchy '{path}' has {len(line)} cells but line 1 has {len(lines[0])}; "
                    f"give every value a label on every level, separated by '{separator}'."
                )
        try:
            return cls.from_frame(pd.DataFrame(lines, dtype=object))
        except InputError as problem:
            raise InputError(f"In the hierarchy '{path}': {problem}") from problem

    @classmethod
    def intervals(cls, values: ArrayLike, widths: Sequence[float], *, origin: float = 0.0) -> Hierarchy:
        """Numbers in half-open intervals of growing width, aligned at `origin`; each width a multiple of the last.

        >>> ages = Hierarchy.intervals([31, 34, 37, 62], widths=[5, 10])
        >>> ages.generalise([31, 37], 1).tolist(), ages.generalise([31, 37], 2).tolist()
        (['[30, 35)', '[35, 40)'], ['[30, 40)', '[30, 40)'])
        """
        numbers = _distinct_numbers(values)
        if not widths or not all(np.isfinite(width) and width > 0 for width in widths):
            raise InputError(f"Interval widths must be positive numbers, not {list(widths)}.")
        bins = np.floor((numbers.to_numpy(float) - origin) / widths[0]).astype(np.int64)
        levels = [_interval_labels(bins, widths[0], origin)]
        for finer, coarser in pairwise(widths):
            ratio = round(coarser / finer)
            if ratio < 1 or not np.isclose(ratio * finer, coarser):
                raise InputError(
                    f"Interval width {coarser:g} is not a multiple of {finer:g}, so the intervals would not nest; "
                    "choose widths such as 5, 10, 20."
                )
            bins = bins // ratio  # from the finer intervals, not from the numbers, so that rounding cannot un-nest them
            levels.append(_interval_labels(bins, coarser, origin))
        return cls(numbers.tolist(), levels)

    @classmethod
    def automatic(cls, values: ArrayLike | pd.Series, *, fanout: int = 2) -> Hierarchy:
        """A balanced tree: `fanout` neighbours in sorted order are joined on each level until one node is left.

        Numbers become closed intervals, anything else becomes sets.

        >>> Hierarchy.automatic([4, 1, 2, 9]).generalise([1, 9], 1).tolist()
        ['[1, 2]', '[4, 9]']
        >>> Hierarchy.automatic(["b", "a", "c"]).generalise(["a", "c"], 1).tolist()
        ['{a, b}', 'c']
        """
        if fanout < 2:
            raise InputError(f"A hierarchy joins at least 2 nodes at a time, not fanout={fanout}.")
        distinct = pd.Index(pd.Series(values).dropna().unique())
        numeric = pd.api.types.is_numeric_dtype(distinct.dtype) and not pd.api.types.is_bool_dtype(distinct.dtype)
        leaves = _distinct_numbers(values) if numeric else distinct[np.argsort([_text(value) for value in distinct])]
        return cls.of_neighbours(leaves, fanout=fanout, intervals=numeric)

    @classmethod
    def of_neighbours(cls, leaves: pd.Index, *, fanout: int = 2, intervals: bool = True) -> Hierarchy:
        """The same tree over values that are in order already; `intervals` names nodes by their ends, not as sets.

        >>> Hierarchy.of_neighbours(pd.Index(["low", "middle", "high"])).generalise(["low", "high"], 1).tolist()
        ['[low, middle]', 'high']
        """
        levels: list[list[str]] = []
        groups = np.arange(len(leaves))
        while len(leaves) and groups[-1] > 0:
            groups = groups // fanout
            if groups[-1] > 0:
                starts = np.searchsorted(groups, np.arange(groups[-1] + 2))
                names = [_set_label(leaves[a:b], intervals) for a, b in pairwise(starts)]
                levels.append([names[group] for group in groups])
        return cls(leaves.tolist(), levels)

    def with_values(self, values: Iterable[Hashable]) -> Hierarchy:
        """The same tree over other values, one for each leaf in its order; what nodes are called stays.

        >>> Hierarchy(["may", "june"], []).with_values([5, 6]).generalise([6], 0).tolist()
        ['june']
        """
        other = copy(self)
        other.values = pd.Index(list(values))
        other._texts = pd.Index([_text(value) for value in other.values], dtype=object)
        return other

    @property
    def n_levels(self) -> int:
        """Number of levels, the values themselves (level 0) and the root included."""
        return int(self.nodes.shape[1])

    def codes(self, values: ArrayLike | pd.Series | pd.Index) -> NDArray[np.int32]:
        """Leaf number of each value; a number matches a leaf written as text, as hierarchies from files are."""
        found, distinct = pd.factorize(_one_dimensional(values))
        position = self.values.get_indexer(distinct)
        if (position < 0).any():
            by_text = self._texts.get_indexer(pd.Index([_text(value) for value in distinct], dtype=object))
            position = np.where(position < 0, by_text, position)
        if (position < 0).any():
            strangers = [_text(value) for value in distinct[position < 0]]
            more = f" and {len(strangers) - 5} more" if len(strangers) > 5 else ""
            raise InputError(
                f"The hierarchy does not cover {', '.join(map(repr, strangers[:5]))}{more}."
                f"{nearest(strangers[0], self._texts)} Add a line for every value of the column."
            )
        if (found < 0).any():
            raise InputError("The hierarchy does not cover missing values; fill them in or drop them first.")
        return position[found].astype(np.int32)

    def generalise(self, values: ArrayLike | pd.Series, level: int | NDArray[np.integer[Any]]) -> NDArray[np.object_]:
        """The labels of some values at one level, or at a level of its own for each value."""
        wanted = np.asarray(level)
        if wanted.size and not (wanted.min() >= 0 and wanted.max() < self.n_levels):
            raise InputError(f"This hierarchy has levels 0 to {self.n_levels - 1}, not {wanted.max()}.")
        labels: NDArray[np.object_] = self.labels[self.nodes[self.codes(values), wanted]]
        return labels

    def label(self, node: int) -> object:
        """What a node is called in a released table."""
        return self.labels[node]

    def lca_level(self, a_codes: ArrayLike, b_codes: ArrayLike) -> NDArray[np.int64]:
        """Level of the lowest common ancestor of each pair of leaves."""
        a, b = np.asarray(a_codes), np.asarray(b_codes)
        # pairs that have met stay together, so the levels at which they are apart are all below their ancestor
        return sum(
            (self.nodes[a, level] != self.nodes[b, level] for level in range(self.n_levels)),
            start=np.zeros(np.broadcast(a, b).shape, np.int64),
        )

    def depth_first(self) -> NDArray[np.int64]:
        """The place of each leaf in an order in which the leaves below any node follow each other.

        >>> Hierarchy(["nurse", "cook", "doctor"], [["health", "kitchen", "health"]]).depth_first()
        array([0, 2, 1])
        """
        places = np.empty(len(self.values), np.int64)
        places[np.lexsort(self.nodes.T)] = np.arange(len(places))  # the root is the first key, the leaves the last
        return places

    def common_level(self, labels: ArrayLike, codes: ArrayLike) -> NDArray[np.int64]:
        """For each class 0..C-1 the lowest level at which its leaves are one node.

        >>> Hierarchy.automatic([1, 2, 3, 4]).common_level([0, 0, 1, 1, 2], [0, 1, 1, 2, 3])
        array([1, 2, 0])
        """
        classes, leaves = np.asarray(labels, np.int64), np.asarray(codes)
        levels = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
        anyone = np.zeros(len(levels), leaves.dtype)
        anyone[classes] = leaves
        np.maximum.at(levels, classes, self.lca_level(leaves, anyone[classes]))
        return levels

    def to_frame(self) -> pd.DataFrame:
        """One row per value, one column per level; the inverse of `from_frame`."""
        return pd.DataFrame({level: self.labels[self.nodes[:, level]] for level in range(self.n_levels)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.to_frame().equals(other.to_frame())

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        levels = self.to_frame().head(MOST_CELLS)
        rows = [[named(cell) for cell in row] for row in levels.itertuples(index=False)]
        more = f"{len(self.values) - len(rows):,} more values" if len(self.values) > len(rows) else None
        titles = [f"level {level}" for level in levels.columns]
        return notebook(f"Hierarchy of {len(self.values):,} values", {}, grid(titles, rows), more)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.values)} values, {self.n_levels} levels)"


def _one_dimensional(values: ArrayLike | pd.Series | pd.Index) -> Any:
    if isinstance(values, pd.Series | pd.Index | pd.Categorical):
        return values
    array = np.asarray(values)
    return array.ravel() if array.dtype.kind in "biuf" else np.asarray(values, object).ravel()


def _text(value: object) -> str:
    """How a value is written in a file: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _distinct_numbers(values: ArrayLike | pd.Series) -> pd.Index:
    numbers = pd.Index(pd.Series(values).dropna().unique())
    if not pd.api.types.is_numeric_dtype(numbers.dtype):
        raise InputError(f"Intervals need numbers, but the values are of type {numbers.dtype}.")
    if not np.isfinite(numbers.to_numpy(float)).all():
        raise InputError("Intervals need finite numbers, but the values contain an infinity.")
    ordered: pd.Index = pd.Index(np.sort(numbers.to_numpy()))
    return ordered


def _interval_labels(bins: NDArray[np.int64], width: float, origin: float) -> list[str]:
    def edge(position: int) -> str:
        return _text(float(f"{origin + position * width:.12g}"))  # 12 digits hide 0.30000000000000004

    names = {position: f"[{edge(position)}, {edge(position + 1)})" for position in np.unique(bins).tolist()}
    return [names[position] for position in bins.tolist()]


def _set_label(leaves: pd.Index, numeric: bool) -> str:
    if len(leaves) == 1:
        return _text(leaves[0])
    if numeric:
        return f"[{_text(leaves[0])}, {_text(leaves[-1])}]"
    return "{" + ", ".join(_text(value) for value in leaves) + "}"
