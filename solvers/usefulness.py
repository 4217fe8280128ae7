"""The construction of Majeed and Hwang (2023): records ranked by cosine similarity, cut into classes in that order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.kernels import kernel
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Assignment, ClassCount, Structure
from optmodels.table import Table
from solvers._construction.repair import offer_coarser

Vectors = NDArray[np.float64]

# Similarities closer than this are ties, settled by the values themselves.
_DIGITS = 12
_BLOCK = 4_000_000  # similarities computed at once


@dataclass(frozen=True)
class Usefulness(Solver):
    """Classes of k in the order of records' cosine similarity to the mean record; leftovers to the most similar class.

    Under further conditions a class grows along the order until it meets them.

    >>> import pandas as pd
    >>> from formulations import MajeedHwang
    >>> from optmodels import Table
    >>> people = pd.DataFrame({"age": [20, 61, 22, 60, 21], "illness": ["flu", "flu", "cold", "cold", "flu"]})
    >>> table = Table(people, quasi={"age": "numeric"}, sensitive="illness")
    >>> Usefulness().solve(MajeedHwang(k=2).build(table)).status
    <Status.FEASIBLE: 'feasible'>
    """

    name: ClassVar[str] = "usefulness"
    summary: ClassVar[str] = "classes of k in the order of cosine similarity (Majeed and Hwang); feasible, fast"
    rejects: ClassVar[tuple[type[Structure], ...]] = (ClassCount, Assignment)

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the classes along the order; where they break a condition, ever more neighbours as one class."""
        places = scaled_places(problem.table)
        vectors = places / np.linalg.norm(places, axis=1, keepdims=True)
        order = similarity_order(vectors, places)
        run.report("ranked records by similarity")
        ends = cut_along(order, problem.test)
        labels = _labels(order, ends)
        leftovers = np.flatnonzero(labels == len(ends))
        if len(ends) and leftovers.size:
            labels[leftovers] = most_similar(vectors, labels, leftovers, len(ends))
        offer_coarser(run, labels)


def scaled_places(table: Table) -> Vectors:
    """The quasi-identifiers of each record, every column from 1 to 2, categories in the order of their levels.

    From 1, because a vector of zeros has no direction; to 2, so that no unit of measurement outweighs the others.
    """
    columns = [*table.values.T, *table.codes.T]
    places = np.empty((table.n, len(columns)))
    for j, column in enumerate(columns):
        span = np.ptp(column)
        places[:, j] = 1 + (column - column.min()) / (span if span > 0 else 1)
    return places


def similarity_order(vectors: Vectors, places: Vectors) -> NDArray[np.int64]:
    """Records by falling cosine similarity to their mean; those as similar by their values, equal ones together."""
    similarity = np.round(vectors @ vectors.mean(axis=0), _DIGITS)
    return np.lexsort([*places.T, -similarity]).astype(np.int64)


def most_similar(vectors: Vectors, labels: Labels, rows: NDArray[np.int64], n_classes: int) -> Labels:
    """For each row the class, of the first so many, whose mean is most similar to it."""
    inside = labels < n_classes
    sums = np.column_stack([np.bincount(labels[inside], weights=column[inside]) for column in vectors.T])
    means = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    step = max(1, _BLOCK // n_classes)
    found = [np.argmax(vectors[rows[at : at + step]] @ means.T, axis=1) for at in range(0, len(rows), step)]
    return np.concatenate(found).astype(np.int64)


def _labels(order: NDArray[np.int64], ends: NDArray[np.int64]) -> Labels:
    """Classes numbered along the order; what comes after the last end has the number after the last."""
    labels = np.empty(len(order), np.int64)
    labels[order] = np.searchsorted(ends, np.arange(len(order)), side="right")
    return labels


@kernel(nogil=True)
def cut_along(order: NDArray[np.int64], test: ClassTest) -> NDArray[np.int64]:
    """Where classes end that take records in this order until they meet the conditions."""
    ends = np.empty(len(order) // test.k + 1, np.int64)
    counts = np.zeros(test.starts[-1], np.int64)
    found, size = 0, 0
    for place in range(len(order)):
        for j in range(test.codes.shape[1]):
            counts[test.codes[order[place], j]] += 1
        size += 1
        if size >= test.k and meets(test, counts, size):
            ends[found] = place + 1
            found += 1
            counts[:] = 0
            size = 0
    return ends[:found].copy()
