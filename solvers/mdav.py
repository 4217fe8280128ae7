"""MDAV (Domingo-Ferrer and Torra 2005): classes cut around the records furthest from the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, meets
from optmodels.price import Codes, Floats
from optmodels.problem import ClassAdditive, Problem
from optmodels.solver import Run, Solver
from solvers.repair import merge_until_met


@dataclass(frozen=True)
class Mdav(Solver):
    """Maximum distance to average vector, for numeric and mixed data, with class-wise conditions.

    The record furthest from the remaining records' centroid, and the record furthest from that one, each
    take their nearest neighbours: k of them, and more while the class does not yet meet the conditions.
    What cannot meet them at the end is merged with its nearest classes.
    """

    name: ClassVar[str] = "mdav"
    summary: ClassVar[str] = "classes cut around the furthest records; fast, deterministic, heuristic"

    def refuses(self, problem: Problem) -> str | None:
        """MDAV needs classes with a centroid and no prescribed number of them."""
        if not isinstance(problem, ClassAdditive) or problem.price.name != "spread":
            return "it needs a model that prices classes by their spread around a centroid."
        if problem.n_classes is not None:
            return "the number of classes follows from k, so it cannot be prescribed."
        return None

    def search(self, problem: Problem, run: Run) -> None:
        """Construct one partition and offer it."""
        assert isinstance(problem, ClassAdditive)
        run.offer(construct(problem))


def construct(problem: ClassAdditive) -> NDArray[np.int64]:
    """The MDAV partition of a problem's records."""
    price, test = problem.price, problem.test
    labels = mdav(price.numeric, price.codes, price.code_weights, test)
    return labels if test.only_size else merge_until_met(price, test, labels)


@njit(cache=True)
def mdav(numeric: Floats, codes: Codes, code_weights: Floats, test: ClassTest) -> NDArray[np.int64]:
    """Class labels by MDAV; the last class may break conditions beyond its size."""
    n = len(numeric)
    labels = np.full(n, -1, np.int64)
    left = np.arange(n)
    n_codes = np.zeros(codes.shape[1], np.int64)
    for j in range(codes.shape[1]):
        n_codes[j] = codes[:, j].max() + 1
    label = 0
    while len(left) >= 2 * test.k:
        mean, mode = _centroid(numeric, codes, n_codes, left)
        distance = _distances(numeric, codes, code_weights, left, mean, mode)
        first = left[np.argmax(distance)]
        distance = _distances(numeric, codes, code_weights, left, numeric[first], codes[first])
        second = left[np.argmax(distance)]
        pair = len(left) >= 3 * test.k
        left = _cut(left, distance, test, labels, label)
        label += 1
        if pair and len(left) >= 2 * test.k:
            if labels[second] >= 0:  # all of the rest went into the first class on its way to the conditions
                second = left[0]
            distance = _distances(numeric, codes, code_weights, left, numeric[second], codes[second])
            left = _cut(left, distance, test, labels, label)
            label += 1
    labels[left] = label
    return labels


@njit(cache=True)
def _centroid(
    numeric: Floats, codes: Codes, n_codes: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[Floats, Codes]:
    mean = np.zeros(numeric.shape[1])
    for i in rows:
        for j in range(len(mean)):
            mean[j] += numeric[i, j]
    mode = np.zeros(len(n_codes), np.int32)
    for j in range(len(n_codes)):
        counts = np.zeros(n_codes[j], np.int64)
        for i in rows:
            counts[codes[i, j]] += 1
        mode[j] = np.argmax(counts)
    return mean / len(rows), mode


@njit(cache=True)
def _distances(
    numeric: Floats, codes: Codes, code_weights: Floats, rows: NDArray[np.int64], point: Floats, point_codes: Codes
) -> Floats:
    distance = np.zeros(len(rows))
    for a in range(len(rows)):
        i = rows[a]
        for j in range(numeric.shape[1]):
            distance[a] += (numeric[i, j] - point[j]) ** 2
        for j in range(codes.shape[1]):
            if codes[i, j] != point_codes[j]:
                distance[a] += code_weights[j]
    return distance


@njit(cache=True)
def _cut(
    left: NDArray[np.int64], distance: Floats, test: ClassTest, labels: NDArray[np.int64], label: int
) -> NDArray[np.int64]:
    """Label the nearest records as one class, and return the records still left; ties go to earlier records."""
    counts = np.zeros(test.starts[-1], np.int64)
    threshold = np.partition(distance, test.k - 1)[test.k - 1]
    size = 0
    for strict in (True, False):
        for a in range(len(left)):
            if size < test.k and (distance[a] < threshold if strict else distance[a] == threshold):
                size = _join(left[a], test, counts, labels, label, size)
    if not meets(test, counts, size):
        for a in np.argsort(distance, kind="mergesort"):
            if labels[left[a]] < 0:
                size = _join(left[a], test, counts, labels, label, size)
                if meets(test, counts, size):
                    break
    return left[labels[left] < 0]


@njit(cache=True)
def _join(
    record: int, test: ClassTest, counts: NDArray[np.int64], labels: NDArray[np.int64], label: int, size: int
) -> int:
    labels[record] = label
    for j in range(test.codes.shape[1]):
        counts[test.codes[record, j]] += 1
    return size + 1
