"""Whose the records of a folder are: carried from piece to part, counted there, and never written.

Groups are formed before anyone knows all people. Whether a group has enough of them is told from heads: numbers that
people are given by a hash, fewer than people, so that different heads are different people.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.conditions import ClassTest
from optmodels.problem import Problem
from optmodels.table.roles import Roles

_HEADS = 16  # for each of the k people that are to be told apart
_FEWEST = 256


def most_heads(k: int) -> int:
    """How many heads there are."""
    return max(_FEWEST, _HEADS * k)


def heads(whose: pd.Series, k: int) -> NDArray[np.int64]:
    """The head of the person of each record.

    >>> one, other, again = heads(pd.Series(["P1", "P2", "P1"]), 5).tolist()
    >>> one == again, one == other
    (True, False)
    """
    return (_hashes(whose) % np.uint64(most_heads(k))).astype(np.int64)


def _hashes(whose: pd.Series) -> NDArray[np.uint64]:
    """The same number for the same text, wherever it is met."""
    codes, values = pd.factorize(whose)
    hashed = pd.util.hash_array(np.array([str(value) for value in values], object), categorize=False)
    return np.asarray(hashed[codes], np.uint64)


def routing_test(problem: Problem) -> ClassTest:
    """What groups of records have to meet, of which only counts of values and of heads are known; it has no records."""
    test = problem.test.of_records.take(np.zeros(0, np.int64))
    if problem.table.roles.person is None:
        return test
    many = most_heads(test.k)
    some = test._replace(codes=np.zeros((many, test.codes.shape[1]), np.int32)).counting(np.arange(many))
    return some._replace(codes=some.codes[:0])


def with_people(frame: pd.DataFrame, whose: pd.Series | None, roles: Roles) -> pd.DataFrame:
    """The frame with a column that says whose each row is, for files that are not released."""
    return frame if whose is None or roles.person is None else frame.assign(**{roles.person: whose.to_numpy()})


@dataclass(frozen=True)
class PartPeople:
    """Whose the rows of a written part are, in a file of its own, and how many rows each of these people has."""

    file: str
    hashes: NDArray[np.uint64]
    records: NDArray[np.int64]

    @classmethod
    def of(cls, whose: pd.Series, file: Path) -> PartPeople:
        """The people of a part, row by row."""
        found, records = np.unique(_hashes(whose), return_counts=True)
        np.save(file, pd.factorize(whose)[0].astype(np.int64))
        return cls(str(file), found, records.astype(np.int64))

    def rows(self) -> NDArray[np.int64]:
        """Whose each row of the part is: equal numbers, the same person."""
        rows: NDArray[np.int64] = np.load(self.file)
        return rows


def counted(parts: list[PartPeople]) -> tuple[int, int]:
    """How many people there are in all parts, and how many records one has at most."""
    found, places = np.unique(np.concatenate([part.hashes for part in parts]), return_inverse=True)
    records: NDArray[Any] = np.bincount(places, weights=np.concatenate([part.records for part in parts]))
    return len(found), int(records.max())
