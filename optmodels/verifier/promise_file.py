"""The promise of a release in a file beside it: strict JSON, sealed so that an edited one is known for one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optmodels.errors import BrokenPromiseError, InputError

FORMAT = "optmodels promise 1"
_MOST_BYTES = 1 << 28


def beside(release: str | Path) -> Path:
    """Where the promise of a release is.

    >>> beside("out/release.csv").name, beside("out/folder").name
    ('release.promise.json', 'folder.promise.json')
    """
    path = Path(release) if Path(release).name not in ("", "..") else Path(release).resolve()
    stem = path.stem if path.suffix.lower() in (".csv", ".parquet") else path.name
    return path.parent / f"{stem}.promise.json"


def sealed(document: Mapping[str, Any], form: str = FORMAT) -> dict[str, Any]:
    """The promise with a seal: the SHA-256 of everything else that it says."""
    said = {"format": form, **{name: value for name, value in document.items() if name != "seal"}}
    return {**said, "seal": _seal(said)}


def load_promise(path: str | Path) -> dict[str, Any]:
    """The promise in a file.

    Raises:
        InputError: there is no such file, or it holds no promise.
        BrokenPromiseError: it was changed since it was written.
    """
    return load_sealed(path, "promise", FORMAT)


def load_sealed(path: str | Path, what: str, form: str) -> dict[str, Any]:
    """What a sealed file of this format holds.

    Raises:
        InputError: there is no such file, or it is none of these.
        BrokenPromiseError: it was changed since it was written.
    """
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
        found = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_no_number)
        said = {name: value for name, value in found.items() if name != "seal"} if isinstance(found, dict) else {}
        seal = _seal(said)  # there is none of 1e999, which JSON allows
    except OSError as problem:
        raise InputError(f"Cannot read the {what} '{path}': {problem.strerror or problem}.") from problem
    except (ValueError, RecursionError) as problem:
        raise InputError(f"'{path}' is no {what} that 'optmodels' wrote: {problem}.") from problem
    if said.get("format") != form:
        raise InputError(f"'{path}' is no {what} that 'optmodels' wrote: it does not say \"format\": \"{form}\".")
    if found.get("seal") != seal:
        raise BrokenPromiseError(
            f"The {what} '{path}' was changed after it was written: its seal does not fit what it says."
        )
    return dict(found)


def file_sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise InputError(f"Cannot read '{path}': {problem.strerror or problem}.") from problem


def _seal(said: Mapping[str, Any]) -> str:
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number in JSON")
