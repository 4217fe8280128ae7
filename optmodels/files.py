"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from optmodels.errors import InputError

Writer = Callable[[Path], object]

_NEW_FILE = 0o666  # less what the user's umask takes away


def write_whole(path: str | Path, write: Writer) -> Path:
    """Let `write` fill a draft beside the target, then put the draft in the target's place in one step.

    Whatever goes wrong on the way, the target is as it was before and nothing else is left behind.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_whole(folder / "note.txt", lambda file: file.write_text("whole")).read_text()
    'whole'
    """
    target = _file_at(path)
    draft = _draft_beside(target)
    try:
        write(draft)
        _make_durable(draft)
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        draft.replace(target)
    except OSError as problem:
        raise _unwritable(target, problem) from problem
    finally:
        draft.unlink(missing_ok=True)
    return Path(path)


def write_together(files: Sequence[tuple[Path, Writer]]) -> None:
    """Write all files or none: each takes its place only after the contents of all of them are ready."""
    if not files:
        return
    (path, write), *rest = files

    def fill(draft: Path) -> None:
        write(draft)
        write_together(rest)

    write_whole(path, fill)


def check_writable(path: str | Path) -> Path:
    """The path, or an error now rather than after a long run if no file can be written there."""
    _draft_beside(_file_at(path)).unlink()
    return Path(path)


def _file_at(path: str | Path) -> Path:
    target = Path(path).resolve()  # a link stays a link to the file that is replaced
    if target.exists() and not target.is_file():
        what = "a folder; name a file in it" if target.is_dir() else "not a plain file; name another"
        raise InputError(f"Cannot write '{path}': it is {what}.")
    return target


def _draft_beside(target: Path) -> Path:
    # the target's ending is kept because some writers choose a compression by it
    draft = target.with_name(f".unfinished-{secrets.token_hex(8)}{target.suffix}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _NEW_FILE))
    except OSError as problem:
        raise _unwritable(target, problem) from problem
    return draft


def _make_durable(file: Path) -> None:
    with open(file, "rb+") as written:
        os.fsync(written.fileno())


def _unwritable(target: Path, problem: OSError) -> InputError:
    reason = problem.strerror or str(problem)
    return InputError(f"Cannot write '{target}': {reason}. Choose a folder that exists and may be written to.")
