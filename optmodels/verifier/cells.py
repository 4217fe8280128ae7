"""A released file as texts: what is written in every cell, and nothing that a library would make of it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow.parquet
from numpy.typing import NDArray

from optmodels.errors import InputError

MISSING = "\0"  # a cell of Parquet that is empty; no text is written so


@dataclass(frozen=True, eq=False)
class Cells:
    r"""A column: the different texts in it, and which of them each row has.

    >>> cells = Cells.of(pd.Series([2.5, 1.0, 2.5, None]))
    >>> cells.texts, cells.codes.tolist()
    (['2.5', '1.0', '\x00'], [0, 1, 0, 2])
    """

    codes: NDArray[np.int64]
    texts: list[str]
    plain: bool = True  # texts and numbers, and no dates and the like, which every format writes in its own way

    @classmethod
    def of(cls, column: pd.Series) -> Cells:
        """The cells of a column in memory; zeros of both signs are two values, as they are for who sees their bits."""
        nested = False
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, values = column.cat.codes.to_numpy(np.int64), column.cat.categories.tolist()
        elif column.dtype == np.float64:
            numbers = column.to_numpy()
            bits, first = np.unique(np.where(np.isnan(numbers), np.nan, numbers).view(np.int64), return_inverse=True)
            found, codes = bits.view(np.float64), first.astype(np.int64)
            order = pd.unique(codes)  # in the order of appearance, as for all other types
            place = np.empty(len(found), np.int64)
            place[order] = np.arange(len(order))
            values, codes = found[order].tolist(), place[codes]
        else:
            try:
                numbered, distinct = pd.factorize(column)
            except TypeError:  # lists and the like, which Parquet can hold
                nested = True
                numbered, distinct = pd.factorize(column.map(lambda value: repr(_listed(value)), na_action="ignore"))
            codes, values = numbered.astype(np.int64), distinct.tolist()
        gaps = np.array([*map(_is_missing, values), True])  # the code -1 points to the last
        texts = [text for text, gap in zip(map(str, values), gaps, strict=False) if not gap]
        places = np.where(gaps, len(texts), np.cumsum(~gaps) - 1)
        plain = not nested and all(isinstance(value, str | bool | int | float) for value in values[:1000])
        return (
            cls(places[codes], [*texts, MISSING], plain)
            if (places[codes] == len(texts)).any()
            else cls(places[codes], texts, plain)
        )

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[Any]) -> Cells:
        """Some of the rows."""
        return Cells(self.codes[rows], self.texts, self.plain)

    @property
    def unused(self) -> bool:
        """Whether there are texts that no row has, as categories in Parquet may be."""
        return len(np.unique(self.codes)) < len(self.texts)

    def counts(self) -> dict[str, int]:
        """How many rows have each text."""
        found = np.bincount(self.codes, minlength=len(self.texts)).tolist()
        return {text: count for text, count in zip(self.texts, found, strict=True) if count}


def read_cells(path: Path, separator: str = ",", encoding: str = "utf-8") -> dict[str, Cells]:
    """The columns of a CSV or Parquet file by their names.

    Raises:
        InputError: it is not there, or is no such file.
    """
    try:
        if path.suffix.lower() == ".csv":
            return _of_csv(path, separator, encoding)
        _check_room(path)
        frame = pd.read_parquet(path)
        if set(pyarrow.parquet.read_schema(path).names) != set(frame.columns):  # an index is written like any column
            frame = frame.reset_index()
        return {str(name): Cells.of(frame[name]) for name in frame.columns}
    except OSError as problem:
        raise InputError(f"Cannot read '{path}': {problem.strerror or problem}.") from problem
    except (ValueError, TypeError, KeyError, csv.Error, MemoryError) as problem:  # also of parsers and of Arrow
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise InputError(f"'{path}' cannot be read as a table: {reason}") from problem


def _check_room(path: Path) -> None:
    """A few MB of Parquet may say that they are billions of rows: what cannot fit is not read."""
    said = pyarrow.parquet.read_metadata(path)
    if 8 * said.num_rows * said.num_columns > psutil.virtual_memory().available:
        raise ValueError(f"it has {said.num_rows:,} rows, more than fit into memory.")


def _of_csv(path: Path, separator: str, encoding: str) -> dict[str, Cells]:
    with open(path, encoding=encoding, newline="") as file:
        names = next(csv.reader(file, delimiter=separator), [])
    if len(set(names)) < len(names):
        raise ValueError("two of its columns have the same name.")
    frame = pd.read_csv(
        path,
        sep=separator,
        encoding=encoding,
        dtype=object,  # of categories pandas makes numbers where it can: 01 and 1 would be one
        na_filter=False,
        skip_blank_lines=False,
        low_memory=False,
    )
    if not isinstance(frame.index, pd.RangeIndex) or len(frame.columns) != len(names):
        raise ValueError("its rows have more cells than it has columns.")
    return {name: Cells.of(frame.iloc[:, place]) for place, name in enumerate(names)}


def rows_of(columns: Mapping[str, Cells]) -> int:
    """How many rows there are."""
    return next((len(cells) for cells in columns.values()), 0)


def numbered(columns: Mapping[str, Cells], names: list[str], rows: int) -> NDArray[np.int64]:
    """Which of the different rows of some columns each row is, from 0 on."""
    code = np.zeros(rows, np.int64)
    for name in names:
        cells = columns[name]
        code = pd.factorize(code * len(cells.texts) + cells.codes)[0].astype(np.int64)
    return code


def _listed(value: Any) -> Any:
    """A nested value in Python's own lists, whose text leaves nothing out."""
    if isinstance(value, np.ndarray | list):
        return [_listed(one) for one in value]
    if isinstance(value, dict):
        return {name: _listed(one) for name, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value
