"""DATA on the command line: a file or a known dataset, with roles from options, a role file or the dataset itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from optmodels.cli.values import chosen, literal, names, pairs
from optmodels.datasets import DATASETS, frame
from optmodels.errors import InputError, nearest
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.reading import column_names, read_frame
from optmodels.table.roles import Bins, Kind, Missing, Others, Roles, Scaling

if TYPE_CHECKING:
    import pandas as pd

OTHERS: tuple[Others, ...] = ("drop", "keep")


@dataclass(frozen=True)
class AskedRoles:
    """What the options say about the columns; what they do not say is empty or None."""

    quasi: Mapping[str, Kind] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    target: str | None = None
    others: Others | None = None
    missing: Missing | None = None
    scaling: Scaling | None = None
    gamma: float | None = None
    bins: Mapping[str, Bins] = field(default_factory=dict)
    orders: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    @property
    def columns(self) -> set[str]:
        """The columns that are given a role."""
        return {*self.quasi, *self.sensitive, *self.identifiers, *({self.target} if self.target else ())}

    def over(self, known: Roles) -> Roles:
        """These roles where they say something, the known ones elsewhere; a new role replaces a column's old one."""
        asked = {name: value for name, value in vars(self).items() if value not in (None, (), {})}
        kept: dict[str, Any] = {
            "quasi": {name: kind for name, kind in known.quasi.items() if name not in self.columns},
            "sensitive": tuple(name for name in known.sensitive if name not in self.columns),
            "identifiers": tuple(name for name in known.identifiers if name not in self.columns),
            "target": None if known.target in self.columns else known.target,
        }
        if isinstance(known.others, Mapping):
            kept["others"] = {name: choice for name, choice in known.others.items() if name not in self.columns}
        settled = {**kept, **asked}
        described = {*settled["quasi"], *settled["sensitive"]}
        for extra in ("weights", "bins", "orders", "hierarchies"):
            of_known = {name: value for name, value in getattr(known, extra).items() if name in described}
            settled[extra] = {**of_known, **settled.get(extra, {})}
        return replace(known, **settled)


def hierarchy_files(typed: Iterable[str] | None) -> dict[str, Path]:
    """The files of the hierarchies that --hierarchy names, by column."""
    return {column: Path(file) for column, file in pairs("--hierarchy", typed or ()).items()}


def asked_roles(
    *,
    numeric: Iterable[str] | None,
    categorical: Iterable[str] | None,
    ordinal: Iterable[str] | None,
    sensitive: Iterable[str] | None,
    identifier: Iterable[str] | None,
    target: str | None,
    others: str | None,
    missing: str | None,
    scaling: str | None,
    gamma: float | None,
    order: Iterable[str] | None,
    bins: Iterable[str] | None,
    hierarchy: Iterable[str] | None,
) -> AskedRoles:
    """The roles that the options, as typed, ask for; each word is checked and each column in one of the lists only."""
    kinds: dict[str, Kind] = {}
    listed: tuple[tuple[Kind, Iterable[str] | None], ...]
    listed = ("numeric", numeric), ("categorical", categorical), ("ordinal", ordinal)
    for kind, columns in listed:
        for column in names(f"--{kind}", columns or ()):
            if column in kinds:
                raise InputError(f"Column '{column}' has two roles, {kinds[column]} and {kind}; give it one.")
            kinds[column] = kind
    return AskedRoles(
        quasi=kinds,
        sensitive=names("--sensitive", sensitive or ()),
        identifiers=names("--identifier", identifier or ()),
        target=target,
        others=None if others is None else chosen("--others", others, OTHERS),
        missing=None if missing is None else chosen("--missing", missing, get_args(Missing)),
        scaling=None if scaling is None else chosen("--scaling", scaling, get_args(Scaling)),
        gamma=gamma,
        orders={column: names("--order", [values]) for column, values in pairs("--order", order or ()).items()},
        bins={column: literal(text) for column, text in pairs("--bins", bins or ()).items()},
        hierarchies={column: Hierarchy.from_csv(file) for column, file in hierarchy_files(hierarchy).items()},
    )


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


def table_of(data: str, asked: AskedRoles, role_file: Path | None) -> Table:
    """The table to be anonymised."""
    if is_dataset(data):
        known = Roles.load(role_file) if role_file else DATASETS[data].roles
        whole, roles = frame(data), asked.over(known)
        _check_settled(tuple(whole.columns), roles)
        return Table.with_roles(whole, roles)
    return Table.from_file(data, roles=roles_of(data, asked, role_file))


def roles_of(data: str, asked: AskedRoles, role_file: Path | None) -> Roles:
    """The roles of a file's columns, every one of them settled."""
    known = Roles.load(role_file) if role_file else None
    if known is None and not asked.quasi:
        raise InputError(
            f"Which columns of '{data}' are quasi-identifiers? Name them with --numeric, --categorical and --ordinal, "
            f"or give a role file with --roles. The columns are {', '.join(column_names(data))}."
        )
    roles = asked.over(known or Roles(quasi=asked.quasi))
    _check_settled(column_names(data), roles)
    return roles


def frame_of(data: str, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> tuple[pd.DataFrame, Roles]:
    """The columns to be audited and their roles; what is not said of a dataset is its own."""
    asked = AskedRoles(quasi=dict.fromkeys(quasi, "categorical"), sensitive=sensitive)
    if is_dataset(data):
        return frame(data), asked.over(DATASETS[data].roles)
    if not quasi:
        raise InputError(
            f"Which columns of '{data}' are quasi-identifiers? Name them with --quasi a,b. "
            f"The columns are {', '.join(column_names(data))}."
        )
    roles = asked.over(Roles(quasi=asked.quasi, others="drop"))
    # as written: 01 and 1, or two long numbers that a floating point number cannot tell apart, are not equal
    released = read_frame(data, columns=roles.settle(column_names(data)), text=(*quasi, *sensitive))
    for name in sensitive:
        released[name] = _as_numbers(released[name])
    return released, roles


def _as_numbers(column: pd.Series) -> pd.Series:
    """The column as numbers where it has nothing else and no two of its values are the same number."""
    import pandas as pd

    values = pd.Series(column.dropna().unique())
    numbers = pd.to_numeric(values.astype(str), errors="coerce") if len(values) else values
    if not len(values) or numbers.isna().any() or numbers.nunique() < len(values):
        return column
    return column.map(dict(zip(values, numbers, strict=True))).astype("float64")


def _check_settled(present: tuple[str, ...], roles: Roles) -> None:
    """The columns without a role, in the words of the command line; wrong names are left to the table."""
    others = roles.others if isinstance(roles.others, Mapping) else ()
    given = {*roles.quasi, *roles.sensitive, *roles.identifiers, *others, roles.target}
    unsettled = [name for name in present if name not in given]
    if roles.others in ("keep", "drop") or not unsettled or given - {*present, None}:
        return
    raise InputError(
        f"These columns have no role: {', '.join(unsettled)}. Name them with --numeric, --categorical, --ordinal, "
        "--sensitive, --target or --identifier (always dropped), or settle the rest with --others drop or "
        "--others keep (kept as they are)."
    )
