"""DATA on the command line: a file or a known dataset, with roles from options, a role file or the dataset itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from optmodels.datasets import DATASETS, frame
from optmodels.errors import InputError, nearest
from optmodels.table import Table
from optmodels.table.reading import column_names, is_text_file, read_frame
from optmodels.table.role_types import Kind, SomeRoles
from optmodels.table.roles import Roles
from optmodels.table.spelling import typed

if TYPE_CHECKING:
    import pandas as pd


def is_dataset(data: str) -> bool:
    """Whether the data is one of the known sets; a file of the same name is written ./name.

    Raises:
        InputError: it is neither a dataset nor anything like a file.
    """
    if data in DATASETS:
        return True
    path = Path(data)
    if not path.exists() and not path.suffix and path.name == data:
        raise InputError(
            f"'{data}' is neither a file nor a known dataset.{nearest(data, DATASETS)} "
            f"Datasets: {', '.join(sorted(DATASETS))}."
        )
    return False


def table_of(data: str, asked: SomeRoles, role_file: Path | None) -> Table:
    """The table to be anonymised."""
    if is_dataset(data):
        known = Roles.load(role_file) if role_file else DATASETS[data].roles
        whole, roles = frame(data), known.reassigned(**asked)
        _check_decided(tuple(whole.columns), roles)
        return Table.with_roles(whole, roles)
    return Table.from_file(data, roles=roles_of(data, asked, role_file)).sorted()


def roles_of(data: str, asked: SomeRoles, role_file: Path | None) -> Roles:
    """The roles of a file's columns, every one of which has one or is dropped."""
    if role_file is None and not asked.get("quasi"):
        raise InputError(
            f"Which columns of '{data}' are quasi-identifiers? Name them with --numeric, --categorical and --ordinal, "
            f"or give a role file with --roles. The columns are {', '.join(_columns(data, asked))}."
        )
    known = Roles.load(role_file) if role_file else Roles(quasi=asked.get("quasi") or {}, scaling="alike")
    roles = known.reassigned(**asked)
    _check_decided(column_names(data, **roles.text_format), roles)
    return roles


def audited_frame(data: str, quasi: tuple[str, ...], asked: SomeRoles) -> tuple[pd.DataFrame, Roles]:
    """The columns to be audited and their roles; what is not said of a dataset is its own."""
    of_kinds = asked.get("quasi") or {}
    for column in quasi:
        if column in of_kinds:
            raise InputError(f"Column '{column}' has two roles, quasi and {of_kinds[column]}; give it one.")
    quasi = (*quasi, *of_kinds)
    kinds: dict[str, Kind] = dict.fromkeys(quasi, "categorical")
    said: SomeRoles = {**asked, "quasi": kinds or None}
    if is_dataset(data):
        return frame(data), DATASETS[data].roles.reassigned(**said)
    if not quasi:
        raise InputError(
            f"Which columns of '{data}' are quasi-identifiers? Name them with --quasi a,b. "
            f"The columns are {', '.join(_columns(data, asked))}."
        )
    roles = Roles(quasi=kinds, others="drop").revised(**said)
    text = (*quasi, *roles.sensitive, *([] if roles.person is None else [roles.person]))
    # as written: 01 and 1, or two long numbers that a floating point number cannot tell apart, are not equal
    kept = roles.columns_kept(column_names(data, **roles.text_format))
    wanted = (*kept, *([] if roles.person is None else [roles.person]))
    released = read_frame(data, columns=wanted, text=text, **roles.text_format)
    for name in roles.sensitive if is_text_file(data) else ():
        released[name] = typed(released[name], roles.decimal or ".")
    return released, roles


def _columns(data: str, asked: SomeRoles) -> tuple[str, ...]:
    return column_names(
        data, separator=asked.get("separator"), decimal=asked.get("decimal"), encoding=asked.get("encoding")
    )


def _check_decided(present: tuple[str, ...], roles: Roles) -> None:
    """The columns without a role, in the words of the command line; wrong names are left to the table."""
    undecided = roles.undecided(present)
    if not undecided or roles.absent(present):
        return
    raise InputError(
        f"These columns have no role: {', '.join(undecided)}. Name them with --numeric, --categorical, --ordinal, "
        "--sensitive, --target, --person or --identifier (always dropped), or decide on the rest with --others drop or "
        "--others keep (kept as they are)."
    )
