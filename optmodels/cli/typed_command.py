"""What was typed: a report says by which command its table came about, and from which data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_TYPED: ContextVar[tuple[str, ...] | None] = ContextVar("typed", default=None)


@contextmanager
def typed(words: Sequence[str]) -> Iterator[None]:
    """While a command runs, the words after the program's name are remembered."""
    token = _TYPED.set(tuple(map(str, words)))
    try:
        yield
    finally:
        _TYPED.reset(token)


def source(data: str, sha256: str | None = None) -> dict[str, str]:
    """Where a report's data comes from: its name, its SHA-256 where it is a file or a dataset, and the command."""
    from optmodels.front_folder import fingerprint

    found = {"data": data, "sha256": sha256 or fingerprint(data)}
    return {**found, **command()}


def command() -> dict[str, str]:
    """What was typed, where anything was."""
    words = _TYPED.get()
    return {} if words is None else {"command": shlex.join(["optmodels", *words])}
