"""Columns that a release keeps as they are: what they give away, whatever k the quasi-identifiers have."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError
from optmodels.partition import class_sizes, column_codes, group_rows

# A column in which more than this share of the records have a value of their own is as good as a name.
NEAR_UNIQUE = 0.5
_TOGETHER = "alone_with_quasi_and_kept"


@dataclass(frozen=True)
class Kept:
    """Shares of records that are alone: with their value of a kept column, and with all that is released of them.

    `together` is of quasi-identifiers and kept columns at once: whoever knows these too finds so many records.
    """

    columns: Mapping[str, float]
    together: float

    @property
    def near_unique(self) -> tuple[str, ...]:
        """The columns in which most records have a value of their own."""
        return tuple(name for name, alone in self.columns.items() if alone > NEAR_UNIQUE)

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        return {"columns": dict(self.columns), _TOGETHER: self.together}


def kept_columns(frame: pd.DataFrame, quasi: Sequence[str], sensitive: Sequence[str] = ()) -> Kept | None:
    """What the columns without a role, and a target that is not sensitive, give away; None if there are none.

    >>> found = kept_columns(pd.DataFrame({"age": [30, 30], "visit": [17, 18]}), quasi=["age"])
    >>> found.columns, found.together
    ({'visit': 1.0}, 1.0)
    """
    names = [name for name in frame.columns if name not in quasi and name not in sensitive]
    if not names:
        return None
    codes = {name: _codes(frame[name]) for name in (*quasi, *names)}
    return Kept({name: _alone([codes[name]]) for name in names}, _alone(list(codes.values())))


def merged_kept(
    one: Mapping[str, Any] | None, records: int, other: Mapping[str, Any] | None, others: int
) -> dict[str, object] | None:
    """What two parts of a table give away, with so many records each, equal quasi-identifiers being in one part.

    The share of those alone with quasi-identifiers and kept columns is exact; of one column it is an upper bound, as a
    value may occur in both parts.
    """
    if one is None or other is None:
        return None

    def mean(mine: float, theirs: float) -> float:
        return (mine * records + theirs * others) / (records + others)

    columns = {name: mean(alone, other["columns"][name]) for name, alone in one["columns"].items()}
    return Kept(columns, mean(one[_TOGETHER], other[_TOGETHER])).to_dict()


def check_kept(kept: Kept | None, allowed: Collection[str] = ()) -> None:
    """Columns that are as good as a name are not kept unless they are allowed to be.

    Raises:
        InputError: there is one that is not.
    """
    found = [] if kept is None else [name for name in kept.near_unique if name not in allowed]
    if kept is not None and found:
        shares = ", ".join(f"'{name}' ({kept.columns[name]:.0%} of the records)" for name in found)
        typed = shlex.quote(",".join(found))
        raise InputError(
            f"In these columns, which are to be kept as they are, most records have a value that nobody else has: "
            f"{shares}. Whoever knows it finds the person, whatever k is. Drop them with --others drop or --identifier "
            f"{typed}, name them as quasi-identifiers, or, if nobody can know them, keep them with "
            f"--allow-unique {typed}."
        )


def _codes(column: pd.Series) -> NDArray[np.generic]:
    try:
        return column_codes(column)
    except InputError:  # lists and the like, in a column that is kept as it is
        return column_codes(column.map(repr))


def _alone(codes: Sequence[NDArray[np.generic]]) -> float:
    labels = group_rows(list(codes))
    return float((class_sizes(labels) == 1).sum() / max(1, len(labels)))
