"""Pieces of a table that lies in Parquet files: read one at a time, cleaned as a table is, never all together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from optmodels.errors import InputError
from optmodels.files import write_whole
from optmodels.roles import Roles
from optmodels.table import Table
from optmodels.whole import Whole

PIECE_ROWS = 500_000


@dataclass(frozen=True)
class Piece:
    """Some row groups of a file; `number` tells pieces apart."""

    number: int
    file: str
    row_groups: tuple[int, ...]

    def table(self, roles: Roles, columns: Sequence[str]) -> Table:
        """The records of the piece, checked and cleaned."""
        try:
            found = read_row_groups(self.file, self.row_groups, columns)
            return Table.with_roles(found, roles)
        except InputError as problem:
            raise InputError(f"In '{self.file}': {problem}") from problem


def pieces_of(folder: Path, rows: int = PIECE_ROWS) -> tuple[list[Piece], tuple[str, ...]]:
    """The pieces of a folder of Parquet files, and the names of its columns.

    A row group is the least that is read at a time, so files with giant row groups take as much memory.
    """
    files = sorted(path for path in folder.rglob("*.parquet") if not path.name.startswith(("_", ".")))
    if not files:
        raise InputError(f"The folder '{folder}' has no Parquet files (*.parquet).")
    pieces: list[Piece] = []
    names: tuple[str, ...] | None = None
    for file in files:
        try:
            source = pq.ParquetFile(file)
        except (OSError, pa.ArrowException) as problem:
            raise InputError(f"Cannot read '{file}': {' '.join(str(problem).split())}") from problem
        found = tuple(name for name in source.schema_arrow.names if not name.startswith("__index_level_"))
        if names is not None and set(found) != set(names):
            odd = sorted(set(found) ^ set(names))[0]
            raise InputError(f"'{file}' and '{files[0]}' do not have the same columns: see '{odd}'.")
        names = names or found
        some: list[int] = []
        held = 0
        for group in range(source.metadata.num_row_groups):
            size = source.metadata.row_group(group).num_rows
            if some and held + size > rows:
                pieces.append(Piece(len(pieces), str(file), tuple(some)))
                some, held = [], 0
            if size:
                some.append(group)
                held += size
        if some:
            pieces.append(Piece(len(pieces), str(file), tuple(some)))
    if not pieces or names is None:
        raise InputError(f"The files in '{folder}' have columns but no records.")
    return pieces, names


def check_roles(roles: Roles) -> None:
    """What needs all of a column at once cannot be done piece by piece."""
    if roles.missing in ("impute", "category"):
        raise InputError(
            f"missing='{roles.missing}' needs all of a column at once, and a folder is read in pieces: fill the gaps "
            "beforehand, or use missing='drop' or 'error'."
        )
    for name, bins in roles.bins.items():
        if isinstance(bins, int):
            raise InputError(
                f"{bins} quantiles of '{name}' need all of it at once, and a folder is read in pieces: give the edges "
                f"of the bins, such as bins={{'{name}': [0, 10, 20]}}."
            )


def plain_types(file: Path, columns: Sequence[str], roles: Roles) -> pa.Schema:
    """The types of the columns that are released as they are, so that all parts have the same."""
    kept = [name for name in columns if name not in roles.quasi and name not in roles.bins]
    schema = pq.read_schema(file)
    plain = [
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_large_string,
    ]
    return pa.schema([schema.field(name) for name in kept if any(is_(schema.field(name).type) for is_ in plain)])


def sum_up(piece: Piece, roles: Roles, columns: Sequence[str]) -> Whole:
    """What the whole has to know of a piece."""
    return Whole.of(piece.table(roles, columns))


def read_row_groups(file: str, groups: Sequence[int], columns: Sequence[str]) -> pd.DataFrame:
    """Some row groups of a Parquet file as a frame; text becomes categories, which is small."""
    return _frame(pq.ParquetFile(file).read_row_groups(list(groups), columns=list(columns)).select(list(columns)))


def read_together(places: Sequence[tuple[str, int]]) -> pa.Table:
    """Row groups of several files, one after the other; whole numbers become floating ones where one file has those."""
    found = [pq.ParquetFile(file).read_row_group(group) for file, group in places]
    return pa.concat_tables(found, promote_options="permissive")


def frame_together(places: Sequence[tuple[str, int]]) -> pd.DataFrame:
    """Row groups of several files as one frame."""
    return _frame(read_together(places))


def _frame(table: pa.Table) -> pd.DataFrame:
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(at, field.name, table.column(at).dictionary_encode())
    frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas()
    return frame


def _plain(table: pa.Table) -> pa.Table:
    """Categories as the values they stand for: two files number them differently."""
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    return table


def write_sorted(frame: pd.DataFrame, key: NDArray[np.integer[Any]], path: Path) -> Mapping[int, int]:
    """Write rows by key, a row group for each; the number of the row group of every key that occurs.

    The file appears whole or not at all, so work that is done again after a worker died finds nothing half done.
    """
    order = np.argsort(key, kind="stable")
    table = _plain(pa.Table.from_pandas(frame.take(order), preserve_index=False))
    keys, starts = np.unique(key[order], return_index=True)
    ends = [*starts[1:].tolist(), len(order)]

    def fill(draft: Path) -> None:
        with pq.ParquetWriter(draft, table.schema) as writer:
            for start, end in zip(starts.tolist(), ends, strict=True):
                writer.write_table(table.slice(start, end - start), row_group_size=max(end - start, 1))

    write_whole(path, fill)
    return {int(k): place for place, k in enumerate(keys.tolist())}


def peak_megabytes() -> float:
    """The most memory that this process has held so far."""
    try:
        import resource
    except ImportError:  # not on every system
        return 0.0
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held / (1024**2 if os.uname().sysname == "Darwin" else 1024)
