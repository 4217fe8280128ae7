"""Partitions of records into classes: labels, sizes, members, histograms, and the grouping of equal rows.

Everything here is linear in the number of records. A partition is an array of labels, one per record;
`canonical` labels are 0..C-1 in order of first appearance, which is what every other function expects. A record that
is left out of all classes has the label `LEFT_OUT`, and no class counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from optmodels.errors import InputError
from optmodels.kernels import copy_into, kernel, part
from optmodels.parallel import threads

Labels = NDArray[np.int64]

Item = TypeVar("Item")

LEFT_OUT = -1  # the label of a record that is in no class

_CHUNK = 65_536  # rows


class Histograms(NamedTuple):
    """How often each value occurs in each class; class c owns the entries starts[c]:starts[c + 1].

    Only values that occur are stored, in ascending order of their codes.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]


def canonical(labels: ArrayLike) -> Labels:
    """The same partition with labels 0..C-1 in order of first appearance; records that are left out stay so.

    >>> canonical([7, 7, -1, 7, 3])
    array([ 0,  0, -1,  0,  1])
    """
    given = _whole_numbers(labels)
    if given.size and given.min() >= LEFT_OUT and given.max() < 4 * given.size:
        return np.asarray(_relabel(given, int(given.max()) + 1))
    found = np.asarray(_hash_keys(given.view(np.uint64))[0])
    left_out = given == LEFT_OUT
    if left_out.any():
        found -= found > found[left_out][0]
        found[left_out] = LEFT_OUT
    return found


def class_sizes(labels: ArrayLike) -> NDArray[np.int64]:
    """Number of records of each class 0..C-1.

    >>> class_sizes([0, 0, 1, 0, 2]), class_sizes([0, -1, 0])
    (array([3, 1, 1]), array([2]))
    """
    given = _whole_numbers(labels)
    return np.bincount(_inside(given)).astype(np.int64, copy=False)


def people_in(labels: ArrayLike, people: ArrayLike | None) -> NDArray[np.int64]:
    """How many different people each class 0..C-1 has; `people` says whose each record is, None that each is another's.

    >>> people_in([0, 0, 1, 1], [7, 7, 7, 8])
    array([1, 2])
    """
    if people is None:
        return class_sizes(labels)
    classes, whose = _whole_numbers(labels), _whole_numbers(people)
    classes, whose = _inside(classes), whose[classes >= 0]
    apart = np.unique(classes * (int(whose.max(initial=0)) + 1) + whose)
    return np.bincount(apart // (int(whose.max(initial=0)) + 1), minlength=int(classes.max(initial=-1)) + 1)


def members(labels: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Records sorted by class, and where each class starts: class c is order[starts[c]:starts[c + 1]].

    >>> order, starts = members([0, 1, 0, 1, 1])
    >>> order[starts[1]:starts[2]]
    array([1, 3, 4])
    """
    given = _whole_numbers(labels)
    starts = _bounds(class_sizes(given))
    return _counting_sort(given, starts), starts


def histograms(labels: ArrayLike, codes: ArrayLike) -> Histograms:
    """Values of each class and their counts, from canonical labels and value codes 0..m-1.

    >>> found = histograms([0, 0, 0, 1], [2, 0, 2, 1])
    >>> found.starts, found.values, found.counts, found.sizes
    (array([0, 2, 3]), array([0, 2, 1], dtype=int32), array([1, 2, 1]), array([3, 1]))
    """
    given, values = _whole_numbers(labels), np.ascontiguousarray(codes, dtype=np.int32)
    if values.size != given.size:
        raise InputError(f"histograms: {given.size} labels but {values.size} value codes; give one of each per record.")
    if values.size and min(given.min() - LEFT_OUT, values.min()) < 0:
        raise InputError("histograms: labels and value codes start at 0; give a missing value a code of its own.")
    sizes = class_sizes(given)
    starts, present, counts = _histograms(given, values, _bounds(sizes), int(values.max(initial=-1)) + 1)
    return Histograms(starts, present, counts, sizes)


def group_rows(columns: Sequence[NDArray[np.generic]]) -> Labels:
    """Canonical labels of equal rows of some columns of one length; NaN equals NaN and 0.0 equals -0.0.

    Rows are hashed, grouped by hash, and then compared with the first row of their group, so the answer
    is exact: if two different rows ever share a hash, the table is hashed again with another seed.

    >>> group_rows([np.array([1.5, np.nan, 1.5, np.nan]), np.array(["a", "b", "a", "c"])])
    array([0, 1, 0, 2])
    """
    if not columns:
        raise InputError("group_rows: give at least one column")
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"group_rows: columns differ in length: {[len(column) for column in columns]}")
    numbers = [_numbers(column) for column in columns]
    for seed in count():
        labels, first = _hash_keys(_hash_rows(numbers, seed))
        if all(_same_as_first(column, labels, first) for column in numbers):
            break
    return np.asarray(labels)


def group_frame(frame: pd.DataFrame, names: Sequence[str]) -> Labels:
    """Canonical labels of equal rows of the named columns; a missing value equals another missing value.

    >>> group_frame(pd.DataFrame({"a": [1, 1, 2], "b": ["x", "x", None]}), ["a", "b"])
    array([0, 0, 1])
    """
    if not names:
        return np.zeros(len(frame), np.int64)
    return group_rows([column_codes(frame[name]) for name in names])


def column_codes(column: pd.Series) -> NDArray[np.generic]:
    """A plain array whose cells are equal exactly when the cells of the column are (missing ones too)."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.cat.codes)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufmM":
        return column.to_numpy()
    try:
        codes: NDArray[np.generic] = pd.factorize(column)[0]
    except TypeError as problem:
        raise not_comparable(str(column.name), problem) from problem
    return codes


def not_comparable(name: str, problem: TypeError) -> InputError:
    """What to tell about a column of lists, dictionaries or the like."""
    return InputError(f"Column '{name}' holds values that cannot be compared ({problem}); turn them into text.")


def _whole_numbers(values: ArrayLike) -> NDArray[np.int64]:
    return np.ascontiguousarray(values, dtype=np.int64)


def _inside(labels: Labels) -> Labels:
    """The labels of those records that are in a class."""
    return labels[labels >= 0] if labels.size and labels.min() < 0 else labels


def _bounds(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _numbers(column: NDArray[np.generic]) -> NDArray[np.generic]:
    """The column itself if its cells are numbers of some kind, else a number for each different cell."""
    return column if column.dtype.kind in "biufmM" else pd.factorize(column)[0]


def _comparable(cells: NDArray[np.generic]) -> NDArray[np.int64]:
    """Integers that are equal exactly when the numbers are."""
    match cells.dtype.kind:
        case "f":
            floats = cells.astype(np.float64, copy=False) + 0.0  # adding zero turns -0.0 into 0.0
            floats[np.isnan(floats)] = np.nan  # there are many NaNs; this one stands for all
            return floats.view(np.int64)
        case "m" | "M":
            return np.ascontiguousarray(cells).view(np.int64)
    return np.ascontiguousarray(cells.astype(np.int64, copy=False))


def _hash_rows(columns: Sequence[NDArray[np.generic]], seed: int) -> NDArray[np.uint64]:
    hashes = np.empty(len(columns[0]), np.uint64)

    def fill(rows: slice) -> None:
        hashes[rows] = seed
        for column in columns:
            _mix(hashes[rows], _comparable(column[rows]))

    _over_chunks(len(hashes), fill)
    return hashes


def _same_as_first(column: NDArray[np.generic], labels: Labels, first: NDArray[np.int64]) -> bool:
    """Is every cell equal to the first cell of its group?"""
    expected = _comparable(column[first])
    return all(_over_chunks(len(labels), lambda rows: bool(_agree(_comparable(column[rows]), expected, labels[rows]))))


def _over_chunks(n: int, work: Callable[[slice], Item]) -> list[Item]:
    """Run work that mostly lets go of the interpreter lock on chunks of n rows, small enough to stay in cache."""
    chunks = [slice(start, start + _CHUNK) for start in range(0, n, _CHUNK)]
    if len(chunks) < 2:
        return [work(rows) for rows in chunks]
    with threads() as pool:
        return list(pool.map(work, chunks))


@kernel(nogil=True)
def _mix(hashes: NDArray[np.uint64], column: NDArray[np.int64]) -> None:
    """Fold a column into the row hashes, in place (the finaliser of MurmurHash3)."""
    for i in range(hashes.size):
        h = hashes[i] * np.uint64(0x9E3779B97F4A7C15) + np.uint64(column[i])
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
        hashes[i] = h ^ (h >> np.uint64(33))


@kernel(nogil=True)
def _agree(column: NDArray[np.int64], expected: NDArray[np.int64], labels: Labels) -> bool:
    for i in range(labels.size):  # noqa: SIM110  (a generator does not compile)
        if column[i] != expected[labels[i]]:
            return False
    return True


@kernel(nogil=True)
def _hash_keys(keys: NDArray[np.uint64]) -> tuple[Labels, NDArray[np.int64]]:
    """Labels of equal keys in order of first appearance, and the first row of each label.

    Open addressing; key and label lie side by side, so a lookup is one trip to memory, and the table grows
    with the number of distinct keys, not of rows, so few classes stay in cache.
    """
    capacity = 1024
    shift = np.uint64(64 - 10)
    table = np.full((capacity, 2), -1, np.int64)
    labels = np.empty(keys.size, np.int64)
    first = np.empty(min(keys.size, 1024), np.int64)
    found = 0
    for i in range(keys.size):
        key = np.int64(keys[i])
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while table[slot, 1] >= 0 and table[slot, 0] != key:
            slot = (slot + 1) & (capacity - 1)
        if table[slot, 1] < 0:
            table[slot, 0] = key
            table[slot, 1] = found
            if found == first.size:
                longer = np.empty(2 * found, np.int64)
                copy_into(longer, first)
                first = longer
            first[found] = i
            labels[i] = found
            found += 1
            if 3 * found > 2 * capacity:
                old = table
                capacity *= 4
                shift -= np.uint64(2)
                table = np.full((capacity, 2), -1, np.int64)
                for s in range(old.shape[0]):
                    if old[s, 1] >= 0:
                        slot = np.int64((np.uint64(old[s, 0]) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
                        while table[slot, 1] >= 0:
                            slot = (slot + 1) & (capacity - 1)
                        table[slot, 0] = old[s, 0]
                        table[slot, 1] = old[s, 1]
        else:
            labels[i] = table[slot, 1]
    return labels, first[:found].copy()


@kernel(nogil=True)
def _relabel(labels: Labels, bound: int) -> Labels:
    renamed = np.full(bound, -1, np.int64)
    result = np.empty_like(labels)
    found = 0
    for i in range(labels.size):
        if labels[i] < 0:
            result[i] = labels[i]
            continue
        if renamed[labels[i]] < 0:
            renamed[labels[i]] = found
            found += 1
        result[i] = renamed[labels[i]]
    return result


@kernel(nogil=True)
def _counting_sort(labels: Labels, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    position = starts.copy()
    order = np.empty(starts[-1], np.int64)
    for i in range(labels.size):
        if labels[i] >= 0:
            order[position[labels[i]]] = i
            position[labels[i]] += 1
    return order


@part
def sort_small(values: NDArray[np.integer[Any]]) -> None:
    """Sort an array in place; most classes are so small that insertion is quickest."""
    if values.size > 32:
        values.sort()
        return
    for i in range(1, values.size):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@kernel(nogil=True)
def _histograms(
    labels: Labels, codes: NDArray[np.int32], bounds: NDArray[np.int64], n_values: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Deal the codes to their classes, then count each class; the counted entries overwrite the dealt codes."""
    dealt = np.empty(codes.size, np.int32)
    position = bounds[:-1].copy()
    for i in range(codes.size):
        if labels[i] >= 0:
            dealt[position[labels[i]]] = codes[i]
            position[labels[i]] += 1
    counts = np.empty(codes.size, np.int64)
    starts = np.zeros(bounds.size, np.int64)
    tally = np.zeros(n_values, np.int64)
    end = 0
    for c in range(bounds.size - 1):
        low, high = bounds[c], bounds[c + 1]
        if high - low >= n_values:  # as many records as values: a look at every value costs no more than this class
            for i in range(low, high):
                tally[dealt[i]] += 1
            for value in range(n_values):
                if tally[value]:
                    dealt[end], counts[end] = value, tally[value]
                    tally[value] = 0
                    end += 1
        else:
            sort_small(dealt[low:high])
            i = low
            while i < high:
                value, begin = dealt[i], i
                while i < high and dealt[i] == value:
                    i += 1
                dealt[end], counts[end] = value, i - begin
                end += 1
        starts[c + 1] = end
    if 2 * end < codes.size:  # a copy lets go of more memory than it takes
        return starts, dealt[:end].copy(), counts[:end].copy()
    return starts, dealt[:end], counts[:end]


@part
def root_of(links: NDArray[np.int64], i: int) -> int:
    """The first from i on that is linked to itself, among things that are linked in chains; the way becomes shorter."""
    while links[i] != i:
        links[i] = links[links[i]]
        i = links[i]
    return i
