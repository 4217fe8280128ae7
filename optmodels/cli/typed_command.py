"""What was typed: a report says by which command its table came about, and from which data."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from click import get_current_context


@dataclass(frozen=True)
class Typed:
    """The words after the program's name; the command line remembers them while a command runs."""

    words: tuple[str, ...]


def source(data: str, sha256: str | None = None) -> dict[str, str]:
    """Where a report's data comes from: its name, its SHA-256 where it is a file or a dataset, and the command."""
    from optmodels.front_folder import fingerprint

    found = {"data": data}
    if sha256 is not None or not Path(data).is_dir():
        found["sha256"] = sha256 or fingerprint(data)
    context = get_current_context(silent=True)
    typed = None if context is None else context.find_object(Typed)
    return found if typed is None else {**found, "command": shlex.join(["optmodels", *typed.words])}
