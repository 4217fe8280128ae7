"""Cutting a table whose number of classes is prescribed: classes, and their centres, are shared out with the records.

A cut halves the classes, and gives each half as many records as its classes take: for classes of equal size their
share, for others what lies on the side of their centres, or else their share. Shares of a whole number are rounded down
or up, and so are the shares of every capped value where records are cut within strata. Caps of one attribute that
the whole can keep, both halves can keep then: a half that holds its share of a value, rounded up, is within its caps,
since those are a whole number that is no less than the share, and likewise with floors. Cut down to single classes, it
makes a partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import ClassTest, count_values, meets
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.structures import Assignment, ClassCount
from solvers._construction.places import dear_price
from solvers.blocks.cutting import Cuts, places_by_price

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Allotment:
    """How many records the classes take, together and of capped values, and where their centres are."""

    least: NDArray[np.int64]
    most: NDArray[np.int64]
    groups: NDArray[np.int32]  # (n, s) as in Assignment
    floors: tuple[NDArray[np.int64], ...]
    caps: tuple[NDArray[np.int64], ...]
    places: Floats  # of records
    centres: Floats | None  # of classes, in the same space
    test: ClassTest

    @classmethod
    def of(cls, problem: Problem) -> Allotment | None:
        """What the classes of a problem take, or None where their number is free."""
        assignment, wanted = problem.structure(Assignment), problem.structure(ClassCount)
        if wanted is None:
            return None
        if assignment is not None:
            bounds = assignment.least, assignment.most, assignment.groups, assignment.floors, assignment.caps
        else:
            least, most = np.full(wanted.n, problem.test.k), np.full(wanted.n, problem.n)
            bounds = least, most, np.zeros((problem.n, 0), np.int32), (), ()
        if assignment is not None and assignment.centres is not None:
            return cls(*bounds, assignment.points, assignment.centres, problem.test)
        return cls(*bounds, np.asarray(places_by_price(dear_price(problem)), np.float64), None, problem.test)

    def fits(self, rows: Rows, classes: Rows) -> bool:
        """Whether the records can be the members of these classes, as far as sums tell."""
        if not self.least[classes].sum() <= len(rows) <= self.most[classes].sum():
            return False
        for j, (floors, caps) in enumerate(zip(self.floors, self.caps, strict=True)):
            held = np.bincount(self.groups[rows, j], minlength=caps.shape[1])
            if (held < floors[classes].sum(axis=0)).any() or (held > caps[classes].sum(axis=0)).any():
                return False
        return self.test.only_size or bool(meets(self.test, count_values(self.test, rows), len(rows)))


def cut_with_classes(
    allotment: Allotment, size: int, *, by_strata: bool = False, halted: Callable[[], bool] = lambda: False
) -> Cuts:
    """Blocks of at most `size` records, or of one class, with the classes that are theirs.

    A part stays whole that no cut leaves two halves of that can have their classes, and so do all once halted; where
    only single classes will do (a size of 0), all do once one does.
    """
    cutter = _Halver(allotment, by_strata)
    blocks: list[tuple[Rows, Rows]] = []
    pairs: list[int] = []
    stuck = False

    def cut(rows: Rows, classes: Rows) -> None:
        nonlocal stuck
        ended = len(rows) <= size or len(classes) == 1 or stuck or halted()
        halves = None if ended else cutter.halves(rows, classes)
        if halves is None:
            stuck = stuck or (size == 0 and len(classes) > 1)
            blocks.append((rows, classes))
            return
        before = len(blocks)
        for half in halves:
            cut(*half)
        if len(blocks) == before + 2:
            pairs.append(before)

    cut(np.arange(len(allotment.places)), np.arange(len(allotment.least)))
    return Cuts(
        np.concatenate([rows for rows, _ in blocks]),
        _starts([rows for rows, _ in blocks]),
        np.array(pairs, np.int64),
        np.concatenate([classes for _, classes in blocks]),
        _starts([classes for _, classes in blocks]),
    )


def _starts(parts: list[Rows]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)


class _Halver:
    """Finds two halves of some records and classes; capped values and sensitive ones make strata."""

    def __init__(self, allotment: Allotment, by_strata: bool) -> None:
        self.of = allotment
        self.by_strata = by_strata
        columns = [*allotment.groups.T]
        if by_strata or not allotment.test.only_size:
            columns += [*allotment.test.codes.T]
        self.strata = _ranked_together(columns, len(allotment.places))

    def halves(self, rows: Rows, classes: Rows) -> tuple[tuple[Rows, Rows], tuple[Rows, Rows]] | None:
        """The records and the classes of two halves, or None where no cut leaves both what they need."""
        places = self.of.places[rows]
        axis = int(np.ptp(places, axis=0).argmax()) if places.shape[1] else None
        along = np.zeros(len(rows)) if axis is None else places[:, axis]
        centres = None if self.of.centres is None or axis is None else self.of.centres[classes, axis]
        if centres is not None:
            classes = classes[np.argsort(centres, kind="stable")]
        low, high = np.split(classes, [len(classes) // 2])
        order = np.argsort(along, kind="stable")
        wanted = len(rows) * len(low) // len(classes)
        if centres is not None:
            between = np.sort(centres)[len(low) - 1 : len(low) + 1].mean()
            wanted = int(np.searchsorted(along[order], between))
        ways = [self._by_rank(order, self._allowed(len(rows), low, high, wanted))]
        ways.insert(0 if self.by_strata else 1, self._within_strata(rows, order, len(low), len(classes)))
        for first in ways:
            lower, upper = rows[first], rows[~first]
            if self.of.fits(lower, low) and self.of.fits(upper, high):
                return (lower, low), (upper, high)
        return None

    def _allowed(self, n: int, low: Rows, high: Rows, wanted: int) -> int:
        """How many records the lower classes get, as near to what is wanted as sizes allow."""
        least = max(int(self.of.least[low].sum()), n - int(self.of.most[high].sum()))
        most = min(int(self.of.most[low].sum()), n - int(self.of.least[high].sum()))
        return min(max(wanted, least), most)

    def _by_rank(self, order: Rows, count: int) -> NDArray[np.bool_]:
        first = np.zeros(len(order), np.bool_)
        first[order[:count]] = True
        return first

    def _within_strata(self, rows: Rows, order: Rows, low: int, both: int) -> NDArray[np.bool_]:
        """The lower classes' share of every stratum, and of every value of the first attribute, rounded down or up."""
        strata = self.strata[rows]
        grouped = order[np.argsort(strata[order], kind="stable")]
        sizes = np.bincount(strata)
        ends = np.cumsum(sizes)
        quota = np.diff(ends * low // both, prepend=0)
        kind = strata[grouped]
        first = np.zeros(len(rows), np.bool_)
        first[grouped[np.arange(len(rows)) - (ends - sizes)[kind] < quota[kind]]] = True
        return first


def _ranked_together(columns: Sequence[NDArray[np.int32]], n: int) -> NDArray[np.int64]:
    """Combinations of values, numbered in the order of the first column, then of the second, and so on."""
    ranks = np.zeros(n, np.int64)
    for column in columns:
        ranks = np.unique(ranks * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return ranks
