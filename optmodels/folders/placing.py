"""Where a release in a folder goes: it and its promise stand there whole, or what stood there before does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optmodels.errors import InputError
from optmodels.release.promise import promise_writer
from optmodels.verifier import beside

AUDIT_FILE = "_audit.json"  # readers of Parquet folders pass over names that begin so


def check_place(target: Path, *, force: bool) -> None:
    """Nothing is in the way there but, with force, an older release in a folder.

    Raises:
        InputError: something is, or there is nowhere to write.
    """
    if target.exists() and not force:
        raise InputError(
            f"The folder '{target}' exists already: name a new one, or replace a release that is there with --force."
        )
    if target.exists() and not (target / AUDIT_FILE).is_file():
        raise InputError(f"'{target}' is not the folder of a release, and only such a one is replaced: name another.")
    if beside(target).exists() and not force:
        raise InputError(f"The promise '{beside(target)}' exists already: name a new folder, or add --force.")
    if not target.parent.is_dir():
        raise InputError(f"There is no folder '{target.parent}' to write '{target.name}' into.")


def put_in_place(draft: Path, target: Path, promise: Mapping[str, Any]) -> None:
    """Move a finished folder to where it is wanted, with its promise beside it; what is replaced goes to the draft's.

    >>> from tempfile import mkdtemp
    >>> place = Path(mkdtemp())
    >>> draft = place / "scratch" / "draft"
    >>> draft.mkdir(parents=True)
    >>> put_in_place(draft, place / "out", {})
    >>> sorted(path.name for path in place.iterdir())
    ['out', 'out.promise.json', 'scratch']
    """
    promised, replaced = draft.parent / "promise.json", draft.parent / "replaced"
    promise_writer(promise, promised)
    replaced.mkdir()
    moves = [(place, replaced / place.name) for place in (target, beside(target)) if place.exists()]
    moves += [(promised, beside(target)), (draft, target)]
    try:
        for old, new in moves:
            old.replace(new)
    except BaseException:  # Ctrl-C, too, leaves both as they were
        for old, new in reversed(moves):
            if new.exists() and not old.exists():
                new.replace(old)
        raise
