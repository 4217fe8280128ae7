"""The data of pictures of classes: how large they are, what is sensitive in them, which are riskiest.

A class is what an attacker meets: records with equal quasi-identifiers in a table as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.partition import class_sizes, group_frame, histograms
from optmodels.plot.bands import MOST, Bands, bands_of

_EACH = 24  # sizes that are shown one by one; more are put together
_BANDS = 14

Sizes = NDArray[np.int64]
Order = Sequence[object] | pd.Index


def sizes_of(frame: pd.DataFrame, quasi: Sequence[str]) -> Sizes:
    """The sizes of a table's classes, in the order of their first records."""
    return class_sizes(group_frame(frame, list(quasi)))


def class_size_counts(sizes: Sizes) -> pd.DataFrame:
    """How many classes, and records in them, there are of each size: size, classes, records.

    >>> class_size_counts(np.array([5, 7, 5])).values.tolist()
    [[5, 2, 10], [7, 1, 7]]
    """
    found, classes = np.unique(np.asarray(sizes, np.int64), return_counts=True)
    return pd.DataFrame({"size": found, "classes": classes, "records": found * classes})


def class_size_bands(sizes: Sizes) -> pd.DataFrame:
    """The same for a picture, many sizes put together in ever wider bands: label, low, high, classes, records.

    >>> class_size_bands(np.array([5, 7, 5]))[["label", "classes"]].values.tolist()
    [['5', 2], ['6', 0], ['7', 1]]
    """
    counts = class_size_counts(sizes)
    if counts.empty:
        return pd.DataFrame(columns=["label", "low", "high", "classes", "records"])
    least, most = int(counts["size"].iloc[0]), int(counts["size"].iloc[-1])
    if most - least < _EACH:
        starts = np.arange(least, most + 2)
    else:
        starts = np.unique(np.rint(np.geomspace(least, most + 1, _BANDS + 1)).astype(np.int64))
    place = np.searchsorted(starts, counts["size"], side="right") - 1
    lows, highs = starts[:-1], starts[1:] - 1
    labels = [str(a) if a == b else f"{a:,} to {b:,}" for a, b in zip(lows.tolist(), highs.tolist(), strict=True)]

    def summed(name: str) -> Sizes:
        return np.bincount(place, weights=counts[name], minlength=len(lows)).astype(np.int64)

    return pd.DataFrame(
        {"label": labels, "low": lows, "high": highs, "classes": summed("classes"), "records": summed("records")}
    )


def sensitive_in_classes(
    frame: pd.DataFrame, quasi: Sequence[str], attribute: str, *, order: Order | None = None, most: int = MOST
) -> pd.DataFrame:
    """What is sensitive in each class, against the whole table: class, size, value, count, share, whole.

    Values are put into bands where there are many; bands that a class has none of are left out.

    >>> people = pd.DataFrame({"age": [30, 30, 40, 40], "illness": ["flu", "cold", "flu", "flu"]})
    >>> sensitive_in_classes(people, ["age"], "illness")[["class", "value", "share", "whole"]].values.tolist()
    [[0, 'flu', 0.5, 0.75], [0, 'cold', 0.5, 0.25], [1, 'flu', 1.0, 0.75]]
    """
    labels = group_frame(frame, list(quasi))
    bands = bands_of(frame[attribute], order=order, most=most)
    codes = bands.of(frame[attribute])
    found = histograms(labels, codes)
    classes = np.repeat(np.arange(len(found.sizes)), np.diff(found.starts))
    whole = np.bincount(codes, minlength=len(bands)) / max(1, len(frame))
    return pd.DataFrame(
        {
            "class": classes,
            "size": found.sizes[classes],
            "value": [bands.labels[value] for value in found.values],
            "count": found.counts,
            "share": found.counts / found.sizes[classes],
            "whole": whole[found.values],
        }
    )


def sensitive_range(
    frame: pd.DataFrame, quasi: Sequence[str], attribute: str, *, order: Order | None = None, most: int = MOST
) -> pd.DataFrame:
    """For each value its share in the whole table, and its least and largest share in a class.

    The columns are value, whole, least, most and without, the number of classes that do not have it at all.

    >>> people = pd.DataFrame({"age": [30, 30, 40, 40], "illness": ["flu", "cold", "flu", "flu"]})
    >>> sensitive_range(people, ["age"], "illness").values.tolist()
    [['flu', 0.75, 0.5, 1.0, 0], ['cold', 0.25, 0.0, 0.5, 1]]
    """
    bands = bands_of(frame[attribute], order=order, most=most)
    codes, labels = bands.of(frame[attribute]), group_frame(frame, list(quasi))
    return range_of(bands, codes, labels)


def range_of(bands: Bands, codes: NDArray[np.int64], labels: NDArray[np.int64]) -> pd.DataFrame:
    """The same from the band and the class of each record."""
    found = histograms(labels, codes)
    classes = np.repeat(np.arange(len(found.sizes)), np.diff(found.starts))
    shares = found.counts / found.sizes[classes]
    present = np.bincount(found.values, minlength=len(bands))
    least, largest = np.full(len(bands), np.inf), np.zeros(len(bands))
    np.minimum.at(least, found.values, shares)
    np.maximum.at(largest, found.values, shares)
    without = len(found.sizes) - present
    return pd.DataFrame(
        {
            "value": bands.labels,
            "whole": np.bincount(codes, minlength=len(bands)) / max(1, len(codes)),
            "least": np.where(without > 0, 0.0, least),
            "most": largest,
            "without": without,
        }
    )


def riskiest_classes(
    frame: pd.DataFrame, quasi: Sequence[str], sensitive: Sequence[str] = (), *, most: int = 10
) -> pd.DataFrame:
    """The classes that give away most: those whose sensitive value is surest to be guessed, then the smallest.

    There is a row for each: class, size, found (the chance to pick a member's record, 1 / size), guessed (the largest
    share of one sensitive value), the value `of` which attribute that is, and the quasi-identifiers by their names.

    >>> people = pd.DataFrame({"age": [30, 30, 40, 40, 40], "illness": ["flu", "cold", "flu", "flu", "flu"]})
    >>> riskiest_classes(people, ["age"], ["illness"])[["size", "guessed", "of", "age"]].values.tolist()
    [[3, 1.0, 'illness: flu', 40], [2, 0.5, 'illness: cold', 30]]
    """
    labels = group_frame(frame, list(quasi))
    sizes = class_sizes(labels)
    first = np.zeros(len(sizes), np.int64)
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)  # written last, and so kept: the first appearance
    guessed, whose = np.zeros(len(sizes)), np.full(len(sizes), -1)
    values = np.zeros(len(sizes), np.int64)
    levels: list[pd.Index] = []
    for at, name in enumerate(sensitive):
        codes, known = pd.factorize(frame[name].astype(object), sort=False, use_na_sentinel=False)
        levels.append(pd.Index(known))
        found = histograms(labels, codes)
        largest = np.maximum.reduceat(found.counts, found.starts[:-1])
        entries = np.where(found.counts == np.repeat(largest, np.diff(found.starts)), np.arange(len(found.counts)), -1)
        entry = np.maximum.reduceat(entries, found.starts[:-1])
        share = largest / sizes
        surer = share > guessed
        guessed, whose = np.where(surer, share, guessed), np.where(surer, at, whose)
        values = np.where(surer, found.values[entry], values)
    order = np.lexsort((np.arange(len(sizes)), sizes, -guessed))[:most]
    said = [f"{sensitive[whose[c]]}: {levels[whose[c]][values[c]]}" if whose[c] >= 0 else "" for c in order]
    table = pd.DataFrame(
        {"class": order, "size": sizes[order], "found": 1.0 / sizes[order], "guessed": guessed[order], "of": said}
    )
    known_of_them = frame[list(quasi)].take(first[order]).reset_index(drop=True)
    clashing = {name: f"{name} (quasi-identifier)" for name in quasi if name in table.columns}
    return pd.concat([table, known_of_them.rename(columns=clashing)], axis=1)
