"""How values are written: released in the words in which they were read, and measured again from released words."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from pandas.api import types

from optmodels.table import dates
from optmodels.table.encoded import Encoded
from optmodels.table.encoding import level_column
from optmodels.table.roles import Roles
from optmodels.table.spelling import typed


def as_read(columns: Encoded, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of the same records with what is not anonymised in the words in which it was read."""
    words = columns.as_read
    for name in columns.roles.dates:
        if types.is_numeric_dtype(frame[name].dtype):
            codes, numbers = pd.factorize(frame[name])
            frame = frame.assign(**{name: pd.Index(as_dates(columns.roles, name, numbers), dtype="str").take(codes)})
    return frame.assign(**{str(name): column for name, column in words.items()}) if len(words.columns) else frame


def as_dates(roles: Roles, name: str, numbers: Iterable[float]) -> list[str]:
    """Numbers of a quasi-identifier as the dates that they stand for; nothing where it has no dates.

    >>> as_dates(Roles(quasi={"seen": "date"}, dates={"seen": "%d.%m.%Y"}), "seen", [19755])
    ['02.02.2024']
    """
    return dates.written(numbers, roles.dates[name]) if name in roles.dates else []


def as_measured(columns: Encoded, released: pd.DataFrame) -> pd.DataFrame:
    """A release, its sensitive attributes measured as the table's are, from the released words."""
    measured = {}
    for name in (name for name in columns.roles.sensitive if name in columns.as_read):
        numbers = types.is_numeric_dtype(columns.frame[name].dtype)
        decimal = columns.roles.decimal or "."
        measured[name] = level_column(typed(released[name], decimal) if numbers else released[name], name)
    return released.assign(**measured) if measured else released
