"""Whose the records of a table are: how many people, and what classes protect if each counts once per value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.audit.levels import SensitiveLevels
from optmodels.partition import Histograms, Labels, class_sizes, group_rows, histograms


@dataclass(frozen=True)
class People:
    """The people of a table in which some have several records.

    Attributes:
        people: how many there are.
        most_records: how many records one person has at most.
        sensitive: what the worst class protects of each sensitive attribute if a person counts once for each value.
            Conditions count records, so that the union of two classes that keep one keeps it; where a person's many
            records hide how alike the others are, these levels are lower.
    """

    people: int
    most_records: int
    sensitive: Mapping[str, SensitiveLevels]


def once_per_value(labels: Labels, people: NDArray[np.int64], codes: NDArray[np.integer]) -> Histograms:
    """How many people of each class have each value.

    >>> once_per_value(np.zeros(4, np.int64), np.array([0, 0, 1, 2]), np.array([5, 5, 5, 6])).counts
    array([2, 1])
    """
    same = group_rows([labels, people, np.asarray(codes)])
    first = np.unique(same, return_index=True)[1]
    return histograms(labels[first], np.asarray(codes)[first])


def most_records(people: NDArray[np.int64]) -> int:
    """How many records one person has at most."""
    return int(class_sizes(people).max(initial=0))
