"""What is installed under a group of entry points; reading that takes long, and it is asked for often."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


def installed(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, in the order of their names; none of them is loaded."""
    return _on_path(group, tuple(sys.path))


@lru_cache(maxsize=8)
def _on_path(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: entry.name)}
