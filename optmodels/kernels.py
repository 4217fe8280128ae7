"""Compiled functions, and the cache that keeps them from one process to the next.

A kernel is called from Python. A part is called by kernels: it gets none of the code that takes Python's objects apart
and puts them together again, which for tuples of many arrays is much of what there is to compile.

numba's own cache looks at a function's file alone. Compiled code holds more than that: the code of all functions that
it calls, the constants that they name, the order of the fields of named tuples. Here all of it is looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import njit, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from optmodels.whole_kernels import whole_kernels


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function when it is called first, and keep the code for later processes; the options are numba's."""

    def compiled(function: FunctionType) -> Any:
        dispatcher = _dispatcher(function, options)
        dispatcher._cache = KernelCache(function)
        if function.__name__ not in function.__code__.co_names:  # numba sees to functions that call themselves
            within = part(function, **options)  # other kernels need no way in from Python
            dispatcher.get_call_template, dispatcher.get_overload = within.get_call_template, within.get_overload
        return dispatcher

    return compiled if function is None else compiled(function)  # type: ignore[arg-type]


def part(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that kernels call; should Python call it, it is compiled once more for that."""

    def compiled(function: FunctionType) -> Any:
        dispatcher = _dispatcher(function, {"no_cpython_wrapper": True, **options})

        @cache
        def for_python() -> Any:
            return njit(**options)(function)

        def take(code: Any) -> None:
            """Let kernels find the code, and Python not: there is no way into it from there."""
            dispatcher.overloads[tuple(code.signature.args)] = code

        dispatcher.add_overload = take
        dispatcher._compile_for_args = lambda *arguments, **named: for_python()
        return dispatcher

    return compiled if function is None else compiled(function)  # type: ignore[arg-type]


def _dispatcher(function: FunctionType, options: dict[str, Any]) -> Any:
    dispatcher = njit(no_cfunc_wrapper=True, **options)(function)
    one_by_one = dispatcher.compile

    def compile(signature: Any) -> Any:
        with whole_kernels(dispatcher.targetctx.codegen()):
            return one_by_one(signature)

    dispatcher.compile = compile
    return dispatcher


@part
def copy_into(target, source):  # type: ignore[no-untyped-def]
    """Copy an array to the beginning of another one.

    In a kernel `target[:n] = source` is the same, with an error for shapes that do not fit, whose text takes longer to
    compile than most kernels do.
    """
    for at in range(len(source)):
        target[at] = source[at]


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
            return super().load_overload(sig, target_context)
        except Exception:  # made of other sources: it names what is no longer there, or is damaged
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature; where that cannot be done it is compiled again next time."""
        self._stamp()
        with suppress(OSError):
            super().save_overload(sig, data)

    def _stamp(self) -> None:
        """Ask for the sources only now: while a module is imported, what its functions call is not there yet."""
        if not self._stamped:
            self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp(self._function))
            self._stamped = True

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
