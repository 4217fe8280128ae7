"""Files into frames: CSV, Parquet and Arrow, only the columns asked for, in little more memory than they need."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from pandas.api import types

from optmodels.errors import InputError, nearest

SEPARATORS = (",", ";", "\t", "|", " ")
# What a cell may hold for want of a value: what Arrow, pandas and R take for missing.
MISSING_WORDS = frozenset(pa.csv.ConvertOptions().null_values)
_SAMPLE = 1 << 18
_COPIES = 3  # that memory has to hold, at least: as read, as converted, as worked on
# Whole numbers with gaps, in pandas.
NULLABLE = {
    pa.type_for_alias(str(kind).lower()): kind
    for kind in (
        *(pd.Int8Dtype(), pd.Int16Dtype(), pd.Int32Dtype(), pd.Int64Dtype()),
        *(pd.UInt8Dtype(), pd.UInt16Dtype(), pd.UInt32Dtype(), pd.UInt64Dtype()),
    )
}
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def as_frame(data: object) -> pd.DataFrame:
    """A DataFrame from anything tabular in memory: pandas, Arrow, or whatever exports Arrow (Polars, DuckDB, ...).

    >>> as_frame(pa.table({"age": [31, 45]}))["age"].tolist()
    [31, 45]
    """
    if isinstance(data, pd.DataFrame):
        return data
    if hasattr(data, "__arrow_c_stream__") or isinstance(data, pa.RecordBatch):
        frame: pd.DataFrame = pa.table(data).to_pandas()
        return frame
    raise InputError(
        f"A table is made from a pandas DataFrame or Arrow data, not from {type(data).__name__}; "
        "for a file use Table.from_file(path, ...)."
    )


class TextFormat(TypedDict, total=False):
    """How a text file is written, as keyword arguments; what is None or not given is found out, or usual."""

    separator: str | None
    decimal: str | None
    encoding: str | None


def is_text_file(path: str | Path) -> bool:
    """Whether a file is text, whose cells have no types, and not Parquet or Arrow."""
    return _format(_existing(path)) == "csv"


def column_names(
    path: str | Path, *, separator: str | None = None, decimal: str | None = None, encoding: str | None = None
) -> tuple[str, ...]:
    """The names of a file's columns, without reading the rest."""
    file = _existing(path)
    with _file_errors(file):
        match _format(file):
            case "parquet":
                names = tuple(_parquet_schema(file).names)
            case "arrow":
                with pa.memory_map(str(file)) as source:
                    names = tuple(_arrow_reader(source).schema.names)
            case _:
                names = _dialect(file, separator, decimal, encoding).header
    _check_unique(file, names)
    return names


def read_frame(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    text: Collection[str] = (),
    verbatim: Collection[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> pd.DataFrame:
    """Read a file; the separator and the encoding of a CSV are found out unless given, decimals follow a point.

    Text becomes a column of categories, which is small. The types of CSV columns are inferred, except that
    those named in `text` are taken literally (a postcode 01234 keeps its zero), and of those in `verbatim` an empty
    cell or NA is a text like any other. Whole numbers of more than 64 bits are inferred as floating point and lose
    digits; name such a column in `text` to keep them.
    """
    file = _existing(path)
    names = column_names(file, separator=separator, decimal=decimal, encoding=encoding)
    wanted = names if columns is None else tuple(columns)
    for name in wanted:
        if name not in names:
            raise InputError(f"'{file}' has no column '{name}'.{nearest(name, names)} It has {', '.join(names)}.")
    with _file_errors(file):
        match _format(file):
            case "parquet":
                frame = _read_parquet(file, wanted)
            case "arrow":
                frame = _read_arrow(file, wanted)
            case _:
                dialect = _dialect(file, separator, decimal, encoding)
                frame = _read_csv(file, wanted, {*text, *verbatim}, dialect, encoding)
                for name in wanted:
                    if name not in verbatim:
                        frame[name] = without_missing_words(frame[name])
    if frame.empty:
        raise InputError(f"'{file}' has columns but no records.")
    return frame


def without_missing_words(column: pd.Series) -> pd.Series:
    """A column of texts with gaps where a text only says that there is no value."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        said = [word for word in column.cat.categories if word in MISSING_WORDS]
        return column.cat.remove_categories(said) if said else column
    if types.is_object_dtype(column.dtype) or types.is_string_dtype(column.dtype):
        return column.mask(column.isin(MISSING_WORDS))
    return column


@contextmanager
def _file_errors(file: Path) -> Iterator[None]:
    """Turn what the file system and Arrow complain about into an error of ours that names the file."""
    try:
        yield
    except InputError:
        raise
    except (OSError, pa.ArrowException, UnicodeError) as problem:
        reason = " ".join(str(problem).split()).rstrip(".")
        raise InputError(f"Cannot read '{file}': {reason}.") from problem


def _existing(path: str | Path) -> Path:
    file = Path(path)
    if file.is_dir() and next(file.rglob("*.parquet"), None) is None:
        raise InputError(f"'{file}' is a folder without Parquet files; give the name of a CSV, Parquet or Arrow file.")
    if not file.exists():
        beside = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        raise InputError(f"There is no file '{file}'.{nearest(file.name, beside)}")
    return file


def _check_unique(file: Path, names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"'{file}' has more than one column '{twice[0]}'; rename or remove its copies.")


def _format(file: Path) -> str:
    if file.is_dir():
        return "parquet"
    with open(file, "rb") as source:
        start = source.read(6)
    if start[:4] == b"PAR1":
        return "parquet"
    if start == b"ARROW1" or file.suffix.lower() in (".arrow", ".arrows", ".feather", ".ipc"):
        return "arrow"
    return "csv"


def _to_frame(table: pa.Table) -> pd.DataFrame:
    # one block per column, and each Arrow column is let go once converted: never two copies of the whole table
    gaps = {
        field.name
        for field, column in zip(table.schema, table.columns, strict=True)
        if pa.types.is_integer(field.type) and column.null_count
    }
    numbers = table.select(sorted(gaps))
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True, types_mapper=_exact)
    for name in gaps:  # as floating point numbers, which have gaps, large whole numbers would lose digits
        frame[name] = numbers.column(name).to_pandas(types_mapper=NULLABLE.get)
    return frame


def _exact(kind: pa.DataType) -> pd.ArrowDtype | None:
    """The type of pandas that keeps all that a type of Arrow says, where the usual one does not."""
    return pd.ArrowDtype(kind) if pa.types.is_decimal(kind) else None


def _is_undecoded(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _parquet_schema(file: Path) -> pa.Schema:
    """The schema of a file, or of a folder of files; a pandas index that was stored along is no column."""
    if not file.is_dir():
        return pa.parquet.read_schema(file)
    schema = pa.parquet.ParquetDataset(file).schema
    return pa.schema([field for field in schema if not field.name.startswith("__index_level_")])


def _check_room(file: Path, kinds: Sequence[pa.DataType]) -> None:
    """Refuse what cannot fit: a few MB of Parquet may say that they are billions of records."""
    rows = sum(part.count_rows() for part in pa.parquet.ParquetDataset(file).fragments)
    free = psutil.virtual_memory().available
    if _COPIES * rows * sum(_least_bytes(kind) for kind in kinds) > free:
        raise InputError(
            f"'{file}' has {rows:,} records, which do not fit into the {free / 2**30:.1f} GB of memory that are free. "
            "Read fewer columns, or give the folder of its parts, which is worked on part by part."
        )


def _least_bytes(kind: pa.DataType) -> float:
    """What a cell takes in memory, at least; texts become codes."""
    try:
        return float(kind.bit_width) / 8
    except ValueError:
        return 4.0


def _read_parquet(file: Path, wanted: Sequence[str]) -> pd.DataFrame:
    schema = _parquet_schema(file)
    texts = [name for name in wanted if _is_text(schema.field(name).type)]
    _check_room(file, [schema.field(name).type for name in wanted])
    table = pa.parquet.read_table(file, columns=list(wanted), read_dictionary=texts)
    return _to_frame(table.replace_schema_metadata(None))  # a stored pandas index would come back as the index


def _arrow_reader(source: pa.NativeFile) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    try:
        return pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)


def _read_arrow(file: Path, wanted: Sequence[str]) -> pd.DataFrame:
    with pa.memory_map(str(file)) as source:
        table = _arrow_reader(source).read_all().select(list(wanted))
        for at, name in enumerate(wanted):
            if _is_text(table.schema.field(name).type):
                table = table.set_column(at, name, table.column(name).dictionary_encode())
        return _to_frame(table.replace_schema_metadata(None))


@dataclass(frozen=True)
class _Dialect:
    separator: str
    decimal: str
    encoding: str
    header: tuple[str, ...]
    has_records: bool


def _dialect(file: Path, separator: str | None, decimal: str | None, encoding: str | None) -> _Dialect:
    if separator is not None and len(separator) != 1:
        raise InputError(f"The separator must be a single character, not {separator!r}.")
    if decimal not in (None, ".", ","):
        raise InputError(f"The decimal mark is a point or a comma, not {decimal!r}.")
    if separator is not None and separator == decimal:
        raise InputError(f"{decimal!r} cannot both separate cells and be the decimal mark of numbers.")
    with pa.input_stream(str(file), compression="detect") as source:
        sample: bytes = source.read(_SAMPLE)
    if not sample.strip():
        raise InputError(f"'{file}' is empty.")
    found = _encoding(file, sample, encoding)
    # the sample may end within a character, which the incremental decoder holds back
    lines = codecs.getincrementaldecoder(found)().decode(sample).lstrip("\r\n").splitlines(keepends=True)
    if len(sample) == _SAMPLE and len(lines) > 1:
        lines.pop()
    chosen = separator or _sniff(lines, [one for one in SEPARATORS if one != decimal])
    rows = csv.reader(lines, delimiter=chosen)
    header = tuple(next(rows))
    if "" in header:
        raise InputError(
            f"Column {header.index('') + 1} of '{file}' has no name; every column needs one in the first line."
        )
    return _Dialect(chosen, decimal or ".", found, header, has_records=len(sample) == _SAMPLE or any(rows))


def _encoding(file: Path, sample: bytes, given: str | None) -> str:
    if given is not None:
        try:
            found = codecs.lookup(given).name
        except LookupError as problem:
            raise InputError(
                f"There is no encoding '{given}'; try 'utf-8', 'latin-1', 'cp1252' or 'utf-16'."
            ) from problem
        return "utf-8-sig" if found == "utf-8" else found
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in sample:
        raise InputError(
            f"'{file}' is not a text file; save it as CSV or Parquet (or, if it is UTF-16 text, "
            "give encoding='utf-16-le')."
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _western(sample)
    return "utf-8-sig"


def _western(sample: bytes) -> str:
    """Latin-1, or what Windows writes in its place: the bytes by which they differ are no signs in Latin-1."""
    with suppress(UnicodeDecodeError):
        sample.decode("cp1252")
        return "cp1252" if any(0x80 <= byte < 0xA0 for byte in sample) else "latin-1"
    return "latin-1"


def _sniff(lines: Sequence[str], separators: Sequence[str]) -> str:
    """The separator that cuts the most lines into as many cells as the header has; ties go to more cells."""

    def score(separator: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(lines[:200], delimiter=separator) if row]
        except csv.Error:
            return 0.0, 0
        return (widths.count(widths[0]) / len(widths), widths[0]) if widths[0] > 1 else (0.0, 1)

    # a space occurs within values, so it separates only where nothing else does
    proper = max(separators[:-1], key=score)
    return proper if score(proper)[0] > 0 or score(" ")[0] < 1 else " "


def _read_csv(
    file: Path, wanted: Sequence[str], text: Collection[str], dialect: _Dialect, encoding: str | None
) -> pd.DataFrame:
    if not dialect.has_records:  # Arrow stumbles over a header without an end of line
        return pd.DataFrame(columns=list(wanted))
    literal = {name for name in wanted if name in text}
    try:
        try:
            table = _parse(file, wanted, literal, dialect)
        except pa.ArrowInvalid:
            _check_widths(file, dialect)  # Arrow tells what a row of another width holds, not where it is
            raise
        if any(_is_undecoded(kind) for kind in table.schema.types):
            raise pa.ArrowInvalid("invalid UTF8 data")  # how Arrow leaves text it could not decode
    except pa.ArrowInvalid as problem:
        if encoding is not None or dialect.encoding != "utf-8-sig" or "UTF8" not in str(problem):
            raise
        # the first bytes looked like UTF-8, later ones are not
        return _read_csv(file, wanted, text, replace(dialect, encoding="latin-1"), encoding)
    dated = {field.name for field in table.schema if pa.types.is_temporal(field.type)}
    if dated:  # dates are kept as they are written
        del table
        table = _parse(file, wanted, literal | dated, dialect)
    return _to_frame(table)


def _check_widths(file: Path, dialect: _Dialect) -> None:
    """Raise an error that names the first line with more or fewer cells than the header has."""
    wide = len(dialect.header)
    with (
        pa.input_stream(str(file), compression="detect") as source,
        io.TextIOWrapper(source, encoding=dialect.encoding, errors="replace", newline="") as text,
    ):
        rows = csv.reader(text, delimiter=dialect.separator)
        try:
            for row in rows:
                if row and len(row) != wide:
                    break
            else:
                return
        except csv.Error:
            return
    raise InputError(
        f"Line {rows.line_num:,} of '{file}' has {len(row)} cell{'' if len(row) == 1 else 's'} where the header has "
        f"{wide}: names of columns belong into the first line, a value with the separator {dialect.separator!r} in it "
        "into quotes, and another separator is given by separator='...'."
    )


def _parse(file: Path, wanted: Sequence[str], literal: Collection[str], dialect: _Dialect) -> pa.Table:
    return pa.csv.read_csv(
        file,
        read_options=pa.csv.ReadOptions(encoding="utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding),
        parse_options=pa.csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            include_columns=list(wanted),
            column_types=dict.fromkeys(literal, _DICTIONARY),
            strings_can_be_null=False,  # what the words for missing values mean is for the column's role to say
            decimal_point=dialect.decimal,
            auto_dict_encode=True,
            auto_dict_max_cardinality=100_000,
        ),
    )
