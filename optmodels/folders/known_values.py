"""What all of a folder's values tell before any piece can be measured: how dates are written, and hierarchies.

A piece of a table may hold days that are read in two ways, or some of the values that a hierarchy is to be made of; all
pieces together hold them all. So columns of dates, and those with a hierarchy that is said in a line, are looked at
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import pandas as pd

from optmodels.errors import InputError
from optmodels.folders.pieces import Columns, Piece
from optmodels.table.cleaning import cleaned
from optmodels.table.dates import chosen_format, formats_in
from optmodels.table.hierarchy_spec import HierarchySpec
from optmodels.table.prepared import with_hierarchies
from optmodels.table.roles import Roles

Formats = Mapping[str, tuple[str, ...] | None]  # of each column of dates; None where it has no value


def undated(roles: Roles) -> tuple[str, ...]:
    """The columns of dates of which nobody said how they are written."""
    return tuple(name for name, form in roles.dates.items() if not form)


def unmade(roles: Roles) -> tuple[str, ...]:
    """The columns whose hierarchies are still to be made of their values."""
    return tuple(name for name, tree in roles.hierarchies.items() if isinstance(tree, HierarchySpec))


def piece_formats(piece: Piece, roles: Roles, columns: Columns) -> Formats:
    """In which formats all dates of a piece can be read."""
    names = undated(roles)
    frame = piece.frame(roles, {name: columns[name] for name in names})
    columns_of_dates = {str(name): column for name, column in frame.items()}
    return {name: formats_in(column) for name, column in cleaned(columns_of_dates, roles.clean, {}).items()}


def with_formats(roles: Roles, found: Sequence[Formats]) -> Roles:
    """The roles with the formats of dates that fit all pieces.

    Raises:
        InputError: none does, or days and months cannot be told apart.
    """
    forms: dict[str, str] = {}
    for name in undated(roles):
        given = [one[name] for one in found if one[name] is not None]
        common = reduce(_common, given) if given else None
        try:
            forms[name] = "" if common is None else chosen_format(common)
        except InputError as problem:
            raise InputError(f"Column '{name}': {problem}") from problem
    return roles.revised(dates={**roles.dates, **forms})


def _common(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(form for form in one or () if form in (other or ()))


def piece_values(piece: Piece, roles: Roles, columns: Columns) -> dict[str, list[object]]:
    """The different values of those columns of a piece that hierarchies are to be made of."""
    names = unmade(roles)
    plain = roles.revised(hierarchies={name: tree for name, tree in roles.hierarchies.items() if name not in names})
    frame = piece.table(plain, columns).frame
    return {name: frame[name].dropna().unique().tolist() for name in names}


def with_trees(roles: Roles, found: Sequence[Mapping[str, list[object]]]) -> Roles:
    """The roles with hierarchies of all values."""
    together = {
        name: pd.Series(pd.unique(pd.Series([value for one in found for value in one[name]]))) for name in unmade(roles)
    }
    return with_hierarchies(roles, together)
