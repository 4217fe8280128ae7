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
from optmodels.recoding import Method
from optmodels.table import Table
from optmodels.table.reading import NULLABLE
from optmodels.table.roles import Roles
from optmodels.table.summary import Whole

Columns = Mapping[str, pa.DataType | None]  # what is read, as which type; None: as each file has it

PIECE_ROWS = 500_000


@dataclass(frozen=True)
class Piece:
    """Some row groups of a file; `number` tells pieces apart."""

    number: int
    file: str
    row_groups: tuple[int, ...]

    def table(self, roles: Roles, columns: Columns) -> Table:
        """The records of the piece, checked and cleaned."""
        return self.records(roles, columns)[0]

    def records(self, roles: Roles, columns: Columns) -> tuple[Table, pd.Series | None]:
        """The same, and whose each record is, as it is written, where that is known."""
        try:
            frame = self.frame(roles, columns)
            table = Table.with_roles(frame, roles)
        except InputError as problem:
            raise InputError(f"In '{self.file}': {problem}") from problem
        return table, whose_in(frame, table)

    def frame(self, roles: Roles, columns: Columns) -> pd.DataFrame:
        """Some columns of the piece as they are, each of the type that it has in all files."""
        names = list(columns)
        found = pq.ParquetFile(self.file).read_row_groups(list(self.row_groups), columns=names).select(names)
        return _small_frame(_alike(found, roles, columns))


def pieces_of(folder: Path, rows: int = PIECE_ROWS) -> tuple[list[Piece], dict[str, pa.Schema]]:
    """The pieces of a folder of Parquet files, and the columns of every file that has records.

    A row group is the least that is read at a time, so files with giant row groups take as much memory.
    """
    files = sorted(path for path in folder.rglob("*.parquet") if not path.name.startswith(("_", ".")))
    if not files:
        raise InputError(f"The folder '{folder}' has no Parquet files (*.parquet).")
    pieces: list[Piece] = []
    names: set[str] | None = None
    schemas: dict[str, pa.Schema] = {}
    for file in files:
        try:
            source = pq.ParquetFile(file)
        except (OSError, pa.ArrowException) as problem:
            raise InputError(f"Cannot read '{file}': {' '.join(str(problem).split())}") from problem
        schema = pa.schema([field for field in source.schema_arrow if not field.name.startswith("__index_level_")])
        found = set(schema.names)
        if names is not None and found != names:
            odd = sorted(found ^ names)[0]
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
            schemas[str(file)] = schema
    if not pieces:
        raise InputError(f"The files in '{folder}' have columns but no records.")
    return pieces, schemas


def check_roles(roles: Roles) -> None:
    """What needs all of a column at once cannot be done piece by piece."""
    if roles.missing in ("impute", "category"):
        raise InputError(
            f"missing='{roles.missing}' needs all of a column at once, and a folder is read in pieces: fill the gaps "
            "beforehand, or use missing='drop' or missing='error'."
        )
    for name, bins in roles.bins.items():
        if isinstance(bins, int):
            raise InputError(
                f"{bins} quantiles of '{name}' need all of it at once, and a folder is read in pieces: give the edges "
                f"of the bins, such as bins={{'{name}': [0, 10, 20]}}."
            )


def whose_in(frame: pd.DataFrame, table: Table) -> pd.Series | None:
    """Whose each record of a table is, as the frame it was made from has it; None where every record is a person."""
    person = table.roles.person
    if person is None:
        return None
    whose = frame[person].take(table.rows).reset_index(drop=True)
    return whose.astype(whose.cat.categories.dtype) if isinstance(whose.dtype, pd.CategoricalDtype) else whose


def columns_read(roles: Roles, names: Sequence[str]) -> tuple[str, ...]:
    """The columns that are kept, and the one that says whose a record is."""
    kept = roles.columns_kept(names)
    return kept if roles.person is None else (*kept, roles.person)


def common_types(schemas: Mapping[str, pa.Schema], names: Sequence[str], roles: Roles) -> Columns:
    """The type of each column that holds what any of the files has in it, or an error that says which two differ."""
    common: dict[str, pa.DataType | None] = {}
    for name in names:
        kind: pa.DataType | None = pa.null()
        widest = (pa.null(), "")  # the type that a file has, and the file, that `kind` was widened for last
        for file, schema in schemas.items():
            found = _held(schema.field(name).type, name, roles)
            if kind is None or found == kind:
                continue
            try:
                both = [pa.schema([(name, kind)]), pa.schema([(name, found)])]
                wider = pa.unify_schemas(both, promote_options="permissive").field(name).type
            except pa.ArrowException as problem:
                if roles.is_number(name):  # text that reads as numbers is as good
                    kind = None
                    continue
                raise InputError(
                    f"Column '{name}' has the type {widest[0]} in '{widest[1]}' and {found} in '{file}', which no type "
                    "holds both of: write it as one type in all files, such as text."
                ) from problem
            if wider != kind:
                kind, widest = wider, (found, file)
        common[name] = kind
    return common


def _held(kind: pa.DataType, name: str, roles: Roles) -> pa.DataType:
    """The type of what a table holds of a column: values instead of their numbers, text instead of dates as levels."""
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    levels = name in roles.quasi and not roles.is_number(name)
    return pa.string() if levels and pa.types.is_temporal(held) else held


def _alike(table: pa.Table, roles: Roles, columns: Columns) -> pa.Table:
    """The table with the types that all files have in common; categories and their order stay as they are."""
    for at, field in enumerate(table.schema):
        held, wanted = _held(field.type, field.name, roles), columns[field.name]
        if wanted is None or held == wanted or (_is_text(held) and _is_text(wanted)):
            continue
        try:
            table = table.set_column(at, field.name, table.column(at).cast(wanted))
        except pa.ArrowException as problem:
            raise InputError(
                f"Column '{field.name}' has the type {held} here and other types in other files, and as {wanted}, "
                f"which is for all of them, it would not be the same ({' '.join(str(problem).split())}): write it as "
                "one type in all files, such as text."
            ) from problem
    return table


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def released_types(columns: Columns, roles: Roles, method: Method) -> pa.Schema:
    """The types of the columns that are released as they came, so that all parts have the same.

    Those are the columns that are not anonymised, and numbers that are released as numbers.
    """
    as_numbers = [name for name, kind in roles.quasi.items() if kind == "numeric"] if method == "centroid" else []
    anonymised = {*roles.quasi, *roles.bins, roles.person} - ({*as_numbers} - {*roles.dates})
    kept = {name: kind for name, kind in columns.items() if name not in anonymised}
    return pa.schema(
        [(name, kind) for name, kind in kept.items() if kind is not None and not _is_other(name, kind, roles)]
    )


def _is_other(name: str, kind: pa.DataType, roles: Roles) -> bool:
    """Whether a column is read as something else than it is stored as: truth values or text as numbers."""
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(pa.types.is_null(kind) or (roles.is_number(name) and not number))


def first_records(folder: Path, roles: Roles) -> pd.DataFrame:
    """The columns that are kept of the first piece's first records: for a look before long work."""
    pieces, schemas = pieces_of(folder)
    first = pieces[0]
    kept = list(roles.columns_kept(schemas[first.file].names))
    return _small_frame(pq.ParquetFile(first.file).read_row_group(first.row_groups[0], columns=kept))


def sum_up(piece: Piece, roles: Roles, columns: Columns) -> Whole:
    """What the whole has to know of a piece."""
    return piece.table(roles, columns).summary


def read_together(places: Sequence[tuple[str, int]]) -> pa.Table:
    """Row groups of several files, one after the other; whole numbers become floating ones where one file has those."""
    found = [pq.ParquetFile(file).read_row_group(group) for file, group in places]
    return pa.concat_tables(found, promote_options="permissive")


def frame_together(places: Sequence[tuple[str, int]]) -> pd.DataFrame:
    """Row groups of several files as one frame."""
    return _small_frame(read_together(places))


def _small_frame(table: pa.Table) -> pd.DataFrame:
    """The table as a frame, text as categories, which is small."""
    for at, field in enumerate(table.schema):
        if _is_text(field.type):
            table = table.set_column(at, field.name, table.column(at).dictionary_encode())
    return whole_numbered_frame(table)


def whole_numbered_frame(table: pa.Table) -> pd.DataFrame:
    """The table as a frame; whole numbers with gaps stay whole, since as floating ones large numbers lose digits."""
    frame: pd.DataFrame = table.replace_schema_metadata(None).to_pandas()
    for column, field in zip(table.columns, table.schema, strict=True):
        if pa.types.is_integer(field.type) and column.null_count:
            frame[field.name] = column.to_pandas(types_mapper=NULLABLE.get)
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
