"""What a command leaves behind: strict JSON on stdout, and files that appear together or not at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from optmodels.errors import InputError
from optmodels.files import Writer, check_writable, write_together
from optmodels.jsonable import plain

__all__ = [
    "Writer",
    "check_folder",
    "check_outputs",
    "made_folder",
    "page_writer",
    "put_json",
    "to_json",
    "write_together",
]


def to_json(document: object) -> str:
    """The document as JSON that any reader accepts; what is not finite becomes null.

    >>> print(to_json({"gap": float("inf"), "k": 5}))
    {
      "gap": null,
      "k": 5
    }
    """
    return json.dumps(plain(document), indent=2, allow_nan=False)


def put_json(document: object) -> None:
    """The document on stdout."""
    sys.stdout.write(to_json(document) + "\n")


def page_writer(page: str) -> Writer:
    """What writes a page that is there already."""
    return lambda file: file.write_text(page, encoding="utf-8")


def check_outputs(asked: Mapping[str, Path | None], *, inputs: Sequence[Path | None], force: bool = True) -> None:
    """Every file asked for can be written, before any work is done; none replaces an input or another output.

    Nor, without force, does what --out or --save-roles names replace anything that is there already.
    """
    taken = {path.resolve(): "is read" for path in inputs if path is not None}
    for option, path in asked.items():
        if path is None:
            continue
        if path.resolve() in taken:
            raise InputError(f"{option} '{path}' {taken[path.resolve()]} by this very command: name another file.")
        taken[path.resolve()] = f"is written for {option}"
        if not force and option.startswith(("--out", "--save-roles")) and path.is_file():
            raise InputError(f"{option} '{path}' exists already: name another, or replace it with --force.")
        check_writable(path)


def check_folder(folder: Path, *, force: bool) -> None:
    """A folder whose files are known only once the work is done has none yet, unless they may be replaced."""
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"The folder '{folder}' exists already and is not empty: name another with --out, or replace what is in "
            "the way with --force."
        )


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """The folder exists while files are put into it; if that fails, whatever had to be made for it is gone again."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise InputError(
                f"Cannot make the folder '{folder}': {failure.strerror}. Name another with --out."
            ) from failure
        yield
    except BaseException:
        for place in made:
            with suppress(OSError):
                place.rmdir()
        raise
