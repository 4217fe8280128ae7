"""Public names of a package, imported when first asked for: who needs one class waits for no other's libraries.

A package says once which module has which names, and for type checkers once more as imports under `TYPE_CHECKING`; a
test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

Exports = tuple[list[str], Callable[[str], object], Callable[[], list[str]]]


def lazy(package: str, homes: Mapping[str, Sequence[str]]) -> Exports:
    """The names of a package, sorted, its `__getattr__` and its `__dir__`, from the modules that have them.

    >>> homes = {"optmodels.table": ["Table"], "optmodels.datasets": ["load as dataset"]}
    >>> names, get, listed = lazy("optmodels", homes)
    >>> names, get("dataset").__name__, "Table" in listed()
    (['Table', 'dataset'], 'load', True)
    >>> get("Tabel")
    Traceback (most recent call last):
    AttributeError: module 'optmodels' has no attribute 'Tabel'
    """
    found: dict[str, tuple[str, str]] = {}
    for module, names in homes.items():
        for name in names:
            own, _, public = name.partition(" as ")
            found[public or own] = module, own

    def get(name: str) -> object:
        if name not in found:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, own = found[name]
        return getattr(import_module(module), own)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *found})

    return sorted(found), get, listed
