"""The cache that keeps compiled code from one process to the next.

numba's own cache looks at a function's file alone. Compiled code holds more than that: the code of all functions that
it calls, the constants that they name, the order of the fields of named tuples. Here all of it is looked at; and code
that came with the package is taken where this machine has compiled none of its own.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from optmodels import shipped_kernels


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Code on disk, where numba keeps it, that is taken for no other sources than it was made of."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)
        self._function = function
        self._stamped = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, or None if it must be compiled."""
        self._stamp()
        try:
            own = super().load_overload(sig, target_context)
        except Exception:  # made of other sources: it names what is no longer there, or is damaged
            own = None
            with suppress(OSError):
                self.flush()
        return self._shipped(sig, target_context) if own is None else own

    def _shipped(self, sig: Any, target_context: Any) -> Any:
        """The code that came with the package, or None; damaged, it is as if there was none."""
        with suppress(Exception):
            code = shipped_kernels.kept(*self._anywhere(sig, target_context.codegen()))
            if code is not None:
                target_context.refresh()
                return self._impl.rebuild(target_context, pickle.loads(code))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature; where that cannot be done it is compiled again next time."""
        self._stamp()
        with suppress(OSError):
            super().save_overload(sig, data)
        if self._impl.check_cachable(data):
            shipped_kernels.collect(dumps(self._impl.reduce(data)), *self._anywhere(sig, data.codegen))

    def _stamp(self) -> None:
        """Ask for the sources only now: while a module is imported, what its functions call is not there yet."""
        if not self._stamped:
            self._made_of = stamp(self._function)
            self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._made_of)
            self._stamped = True

    def _anywhere(self, sig: Any, codegen: Any) -> tuple[object, ...]:
        """What code is made of, said without naming this machine."""
        kind, _, *rest = self._index_key(sig, codegen)
        return self._function.__module__, self._function.__qualname__, self._made_of, kind, *rest

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), tuple(_fields(sig if isinstance(sig, tuple) else sig.args)))


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one function: an index, and a file for every signature.

    numba numbers the latter, so that two processes that compile different signatures at once can take the same number
    for both. Here a signature has a name of its own; and the index names nothing that is not there yet.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep code under a key."""
        name = self._data_name(int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:5]))
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


def stamp(function: FunctionType) -> str:
    """A fingerprint of the sources of a function and of all kernels that it calls, however far down.

    >>> len(stamp(stamp))
    64
    """
    digest = hashlib.sha256()
    seen: set[FunctionType] = set()
    ahead = [function]
    files: set[str] = set()
    constants: list[str] = []
    while ahead:
        here = ahead.pop()
        if here in seen:
            continue
        seen.add(here)
        files.add(here.__code__.co_filename)
        for name, value in _named(here):
            if isinstance(value, Dispatcher):
                ahead.append(value.py_func)
            elif isinstance(value, bool | int | float | str | tuple | frozenset):
                constants.append(f"{name}={value!r}")
    for file in sorted(files):
        digest.update(_hash_of(file))
    digest.update("\n".join(sorted(constants)).encode())
    return digest.hexdigest()


def _named(function: FunctionType) -> Iterator[tuple[str, object]]:
    """What the globals of a function, and the scopes that it is in, hold under the names that it uses."""
    yield from ((name, function.__globals__.get(name)) for name in function.__code__.co_names)
    yield from zip(
        function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()), strict=True
    )


def _hash_of(file: str) -> bytes:
    try:
        status = Path(file).stat()
    except OSError:  # in an archive
        return b""
    return _hash_at(file, status.st_mtime_ns, status.st_size)


@cache
def _hash_at(file: str, modified: int, size: int) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()


def _fields(arguments: tuple[Any, ...]) -> Iterator[tuple[str, ...]]:
    """The fields of all named tuples among some types, in their order."""
    for kind in arguments:
        if isinstance(kind, types.BaseNamedTuple):
            yield tuple(kind.fields)
        if isinstance(kind, types.BaseTuple):
            yield from _fields(tuple(kind))
