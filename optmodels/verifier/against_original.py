"""What only the original tells of a release: that it was made of it, and what the whole was like."""

from __future__ import annotations

import codecs
import csv
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from optmodels.errors import InputError
from optmodels.verifier.attributes import Counts
from optmodels.verifier.cells import MISSING, read_cells, rows_of
from optmodels.verifier.check import Check


def against_original(
    path: Path, promise: Mapping[str, Any], released: Mapping[str, Counts], encoding: str | None = None
) -> tuple[list[Check], Mapping[str, Counts] | None]:
    """The checks, and how many records of the original have each value of the sensitive attributes.

    `released` has how many rows have each text in the columns that are released as they are. Where values were filled
    in, cleaned or binned on the way, the original does not say what the whole was like: then it is None. How the
    original's characters are written is found out unless given.
    """
    checks = [_same_file(path, promise["data"])]
    if not path.is_file() or path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--original '{path}' must be the CSV or Parquet file that the release was made of.")
    written = "utf-8" if path.suffix.lower() != ".csv" else _encoding(path, encoding)
    separator = _separator(path, [*promise["columns"], *promise["dropped"]], written)
    columns = read_cells(path, separator, written)
    leaked = [name for name in promise["dropped"] if name in promise["columns"]]
    named = "none of them" if not leaked else ", ".join(leaked)
    checks.append(Check("columns left out", ", ".join(promise["dropped"]) or "none", named, not leaked))
    records, out = promise["data"]["records"], promise["suppressed"]["records"]
    found = rows_of(columns)
    dropped = promise["missing"] == "drop"
    kept = found >= records if dropped else found == records
    checks.append(Check("records of the original", f"{records:,}", f"{found:,}", kept))
    whole: dict[str, Counts] = {}
    for name, counts in released.items():
        if name not in columns:
            checks.append(Check(f"'{name}' as it was", "a column of the original", "no such column", False))
            continue
        cells = columns[name]
        before = cells.counts()
        if not cells.plain or dropped or any(gap in before for gap in ("", MISSING)):
            why = "values were filled in, or are written otherwise in another format"
            checks.append(Check(f"'{name}' as it was", "the values of the original", why, None))
            continue
        mine, theirs = _by_value(counts), _by_value(before)
        more = next((text for text, count in mine.items() if count > theirs.get(text, 0)), None)
        fewer = sum(theirs.values()) - sum(mine.values())
        kept = more is None and fewer == out
        said = "the same" if kept else f"'{more}' more often" if more is not None else f"{fewer:,} fewer"
        checks.append(Check(f"'{name}' as it was", "the values of the original", said, kept))
        whole[name] = before
    sensitive = promise["conditions"]["sensitive"]
    return checks, whole if all(name in whole for name in sensitive) else None


def _same_file(path: Path, data: Mapping[str, Any]) -> Check:
    if data.get("sha256") is None:
        return Check("data", "a file", "the promise does not say which, because the release was made in memory", None)
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as problem:
        raise InputError(f"Cannot read '{path}': {problem.strerror or problem}.") from problem
    return Check("data", f"SHA-256 {data['sha256'][:12]}", found[:12], found == data["sha256"])


def _encoding(path: Path, given: str | None) -> str:
    """How the characters of a CSV are written: as is said, or else the first way that makes sense of all of them."""
    if given is not None:
        try:
            name = codecs.lookup(given).name
        except LookupError as problem:
            raise InputError(f"There is no encoding '{given}'; try 'utf-8', 'latin-1' or 'cp1252'.") from problem
        return "utf-8-sig" if name == "utf-8" else name
    with open(path, "rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
    for name in ("utf-8-sig", "cp1252"):
        with suppress(UnicodeDecodeError), open(path, encoding=name) as file:
            for _ in file:
                pass
            return name
    return "latin-1"


def _separator(path: Path, names: list[str], encoding: str) -> str:
    """What parts the cells of a CSV: the character by which its first line has these names in it."""
    if path.suffix.lower() != ".csv":
        return ","
    with open(path, encoding=encoding, errors="replace", newline="") as file:
        line = file.readline()
    candidates = (",", ";", "\t", "|")
    return max(candidates, key=lambda one: len(set(names) & set(next(csv.reader([line], delimiter=one), []))))


def _by_value(counts: Counts) -> dict[object, int]:
    """Counts of texts as counts of what they stand for: of numbers 2.50 is 2.5, and 3 is 3.0."""
    found: dict[object, int] = {}
    for text, count in counts.items():
        try:
            value: object = Decimal(text)
        except InvalidOperation:
            value = text
        found[value] = found.get(value, 0) + count
    return found
