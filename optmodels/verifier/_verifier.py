"""A release checked against its promise: read as text, its classes found again, every condition worked out anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from optmodels.errors import InputError, OptmodelsError
from optmodels.verifier import definitions
from optmodels.verifier.against_original import against_original
from optmodels.verifier.attributes import Attribute, Counts, counted
from optmodels.verifier.cells import MISSING, Cells, numbered, read_cells, rows_of
from optmodels.verifier.check import Check
from optmodels.verifier.fingerprints import fingerprint, total

_HAIR = 1e-6  # of a record, by which a share of them may miss a whole number
_NOTHING = ("", MISSING, "*")


@dataclass(frozen=True)
class Verdict:
    """What became of every promise of a release."""

    checks: tuple[Check, ...]

    @property
    def broken(self) -> list[str]:
        """Every promise that is not kept, in words."""
        return [check.said for check in self.checks if check.kept is False]

    @property
    def unchecked(self) -> list[str]:
        """Every promise of which the files at hand do not tell, in words."""
        return [check.said for check in self.checks if check.kept is None]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "kept": not self.broken,
            "broken": self.broken,
            "unchecked": self.unchecked,
            "checks": [vars(check) for check in self.checks],
        }


def verify(
    release: str | Path,
    promise: Mapping[str, Any],
    *,
    original: str | Path | None = None,
    encoding: str | None = None,
    people: ArrayLike | None = None,
    whole: Mapping[str, Counts] | None = None,
) -> Verdict:
    """Check a release, a CSV or Parquet file or a folder of Parquet files, against what was promised of it.

    The `original` tells what a release alone does not: that it was made of it, and how far classes are from a whole of
    which records were left out; its `encoding` is found out unless given. Only the maker of a release knows whose its
    rows are (`people`, row by row) and what the whole was like (`whole`, how many records have each value of an
    attribute) without reading it again.

    Raises:
        InputError: a file cannot be read, or the promise is none.
    """
    try:
        return Verdict(tuple(_checks(Path(release), promise, original, encoding, people, whole)))
    except OptmodelsError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError) as problem:
        raise InputError(
            f"The promise is not as 'optmodels' writes it ({type(problem).__name__}: {problem})."
        ) from problem


def _checks(
    release: Path,
    promise: Mapping[str, Any],
    original: str | Path | None,
    encoding: str | None,
    people: ArrayLike | None,
    whole: Mapping[str, Counts] | None,
) -> Iterator[Check]:
    names, conditions = list(promise["columns"]), promise["conditions"]
    files = _files(release, folder=promise["file"]["format"] == "folder")
    separator = promise["file"].get("separator", ",")
    held = [read_cells(files[0], separator)] if len(files) == 1 else None
    parts = held if held is not None else (read_cells(file, separator) for file in files)
    rows, tallies, prints, columns_kept = 0, dict[str, Counts](), list[str](), True
    unused = set[str]()
    as_is = dict[str, Counts]()
    for part in parts:
        if sorted(part) != sorted(names):
            columns_kept = False
            break
        rows += rows_of(part)
        prints.append(fingerprint(part))
        unused |= {name for name, cells in part.items() if cells.unused}
        seen = _without_silent(part, promise["suppressed"])
        for name in conditions["sensitive"]:
            tallies[name] = counted(seen[name], into=tallies.get(name))
        for name in promise["as_is"] if original is not None else ():
            as_is[name] = counted(seen[name], into=as_is.get(name))
    yield Check("columns", ", ".join(names), "the same" if columns_kept else ", ".join(part), columns_kept)
    if not columns_kept:
        return
    yield Check("rows", f"{promise['rows']:,}", f"{rows:,}", rows == promise["rows"])
    if unused:
        yield Check("values that no row has", "none", f"some of {', '.join(sorted(unused))}", False)
    out, most = promise["suppressed"]["records"], promise["suppressed"]["most"]
    records = rows - (out if promise["suppressed"]["how"] == "star" else 0)
    if out or most:
        share = out / max(records + out, 1)
        yield Check(
            "suppressed", f"at most {most:g} of all records", f"{share:.6g}", out <= most * (records + out) + _HAIR
        )
    compared = _Compared(whole, out)
    if original is not None:
        found, wholes = against_original(Path(original), promise, as_is, encoding)
        yield from found
        compared = _Compared(wholes, out)
    attributes = {
        name: Attribute.of(asked, tallies[name], compared.counts(name), promise["file"].get("decimal", "."))
        for name, asked in conditions["sensitive"].items()
    }
    findings, before = list[_Findings](), 0
    for part in held if held is not None else (read_cells(file, separator) for file in files):
        # whose rows are, file after file
        own = None if people is None else np.asarray(people)[before : before + rows_of(part)]
        findings.append(_of_part(part, promise, attributes, own))
        before += rows_of(part)
    classes, smallest = sum(one.classes for one in findings), min((one.smallest for one in findings), default=0)
    yield from _size_checks(conditions, smallest, min((one.records for one in findings), default=0), people)
    yield Check("classes", f"{promise['classes']:,}", f"{classes:,}", classes == promise["classes"])
    for name, attribute in attributes.items():
        yield from attribute.checks(name, [one.mixes[name] for one in findings], compared.reason)
    same = total(prints) == promise["fingerprint"]
    yield Check("cells", "those that were released", "the same" if same else "others", same)


@dataclass(frozen=True)
class _Compared:
    """What the shares of values are compared with: the release itself, or a whole of which records are left out."""

    whole: Mapping[str, Counts] | None
    left_out: int

    def counts(self, name: str) -> Counts | None:
        return None if self.whole is None else self.whole.get(name)

    @property
    def reason(self) -> str | None:
        """Why distances from the whole cannot be told."""
        if self.left_out and self.whole is None:
            return f"{self.left_out:,} records are left out, so that it takes the original to tell"
        return None


@dataclass(frozen=True, eq=False)
class _Findings:
    classes: int
    smallest: int  # of people where they are known
    records: int  # of the smallest class in records
    mixes: Mapping[str, definitions.Mix]


def _of_part(
    part: Mapping[str, Cells], promise: Mapping[str, Any], attributes: Mapping[str, Attribute], people: ArrayLike | None
) -> _Findings:
    part = _without_silent(part, promise["suppressed"])
    labels = numbered(part, list(promise["quasi"]), rows_of(part))
    if not len(labels):
        raise InputError("The release has no records.")
    sizes = np.bincount(labels)
    heads = sizes if people is None else _people_in(labels, np.asarray(people))
    return _Findings(
        len(sizes),
        int(heads.min()),
        int(sizes.min()),
        {name: attribute.mix(labels, part[name]) for name, attribute in attributes.items()},
    )


def _people_in(labels: NDArray[np.int64], people: NDArray[Any]) -> NDArray[np.int64]:
    """How many different people each class has."""
    once = pd.DataFrame({"label": labels, "person": people}).drop_duplicates()
    return np.bincount(once["label"].to_numpy())


def _size_checks(
    conditions: Mapping[str, Any], smallest: int, records: int, people: ArrayLike | None
) -> Iterator[Check]:
    k, counts_people = conditions["k"], conditions["person"] is not None
    if counts_people and people is not None:
        yield Check("k", f"at least {k} people", f"{smallest}", smallest >= k)
        return
    yield Check("k", f"at least {k} records", f"{records}", records >= k)
    if counts_people:
        why = f"whose its records are ('{conditions['person']}') is not in a release; it was checked as it was made"
        yield Check("k", f"at least {k} people", why, None)


def _without_silent(part: Mapping[str, Cells], suppressed: Mapping[str, Any]) -> Mapping[str, Cells]:
    """The rows without those that stand for records left out, which say nothing; they are the last ones that do not."""
    if suppressed["how"] != "star" or not suppressed["records"]:
        return part
    silent = np.ones(rows_of(part), bool)
    for cells in part.values():
        silent &= np.array([text in _NOTHING for text in cells.texts], bool)[cells.codes]
    kept = np.ones(len(silent), bool)
    kept[np.flatnonzero(silent)[-suppressed["records"] :]] = False
    return {name: cells.take(np.flatnonzero(kept)) for name, cells in part.items()}


def _files(release: Path, *, folder: bool) -> Sequence[Path]:
    if not folder:
        if not release.is_file():
            raise InputError(f"'{release}' is no file; the promise is of one.")
        return [release]
    if not release.is_dir():
        raise InputError(f"'{release}' is no folder; the promise is of one.")
    files = sorted(file for file in release.iterdir() if not file.name.startswith(("_", ".")))
    strangers = [file.name for file in files if file.suffix.lower() != ".parquet" or not file.is_file()]
    if strangers or not files:
        found = f"has '{strangers[0]}'" if strangers else "is empty"
        raise InputError(f"The folder '{release}' {found}, and releases are folders of Parquet files.")
    return files
