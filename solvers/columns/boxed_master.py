"""A restricted master problem in HiGHS whose duals are kept in a box: classes as columns, groups of records as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from optmodels.price import Floats

# Missing or surplus classes are never worth this much; it only keeps the first masters feasible.
_CLASS_PENALTY = 1e3
_ZERO = 1e-7


class BoxedMaster:
    """min cost x, each row covered exactly, the number of classes within two bounds; grown class by class.

    Two further columns a row, surplus and shortage, have the box's ends as their prices, so no dual leaves it.
    """

    def __init__(self, counts: NDArray[np.int64], fewest: int, most: int) -> None:
        self._rows = len(counts)
        self._known: dict[bytes, float] = {}
        self._members: list[NDArray[Any]] = []
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        nothing = np.zeros(0, np.int32), np.zeros(0)
        for low, high in (*zip(counts, counts, strict=True), (fewest, most)):
            self._highs.addRow(float(low), float(high), 0, *nothing)
        for row in range(self._rows + 1):
            for sign in (1.0, -1.0):
                self._highs.addCol(0.0, 0.0, highspy.kHighsInf, 1, np.array([row], np.int32), np.array([sign]))
        self._first = 2 * (self._rows + 1)

    @property
    def n_columns(self) -> int:
        """Number of classes in the master."""
        return len(self._members)

    def add(self, cost: float, members: NDArray[Any]) -> bool:
        """Add a class that takes members[r] records of row r, or fractions, unless it is there as cheap."""
        key = members.tobytes()
        if cost >= self._known.get(key, np.inf):
            return False
        self._known[key] = cost
        self._members.append(members.copy())
        index = np.append(np.flatnonzero(members), self._rows).astype(np.int32)
        entries = np.append(members[members > 0], 1).astype(np.float64)
        self._highs.addCol(cost, 0.0, highspy.kHighsInf, len(index), index, entries)
        return True

    def box(self, centre: Floats, width: float) -> None:
        """Keep the rows' duals within `width` of `centre`."""
        ends = np.column_stack([centre + width, width - centre]).ravel()
        classes = _CLASS_PENALTY * (float(np.abs(centre).sum()) + width)
        prices = np.append(ends, [classes, classes])
        self._highs.changeColsCost(len(prices), np.arange(len(prices), dtype=np.int32), prices)

    def solve(self, seconds: float = np.inf) -> tuple[float, Floats, float]:
        """The linear master's value, the duals of its rows and the dual of the number of classes.

        The value is -inf where that took too many seconds: the duals are then those that were reached.
        """
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        self._highs.run()
        duals = np.array(self._highs.getSolution().row_dual)
        late = self._highs.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
        value = -np.inf if late else float(self._highs.getInfo().objective_function_value)
        return value, duals[:-1], float(duals[-1])

    def box_binds(self) -> bool:
        """Whether the last solution leans on the box: it buys surplus or shortage."""
        return float(np.sum(self._highs.getSolution().col_value[: self._first])) > _ZERO

    def integer(self, seconds: float) -> Iterator[list[NDArray[Any]]]:
        """The classes of the best integer combination found in so many seconds, if there is one."""
        highs, count = self._highs, self._first + self.n_columns
        for column in range(self._first):
            highs.changeColBounds(column, 0.0, 0.0)
        integer = np.full(count, highspy.HighsVarType.kInteger)
        highs.changeColsIntegrality(count, np.arange(count, dtype=np.int32), integer)
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds)
        highs.run()
        if highs.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            taken = np.rint(np.array(highs.getSolution().col_value)[self._first :]).astype(np.int64)
            yield [self._members[c] for c in np.flatnonzero(taken) for _ in range(taken[c])]
