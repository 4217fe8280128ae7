"""The clock of every time limit: it stands still while kernels are compiled.

Compiling happens once on a machine and says nothing about the work that a limit is for. A limit counted on this clock
leaves a first run as much time as any later one, and so lets it find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FunctionType
from typing import Any, NamedTuple

from numba.core import event
from numba.core.dispatcher import Dispatcher


class Compiling(NamedTuple):
    """What is being compiled: a kernel, and which one it is of those that are compiled together."""

    name: str
    number: int
    total: int


OnCompiling = Callable[[Compiling], object]


class _Meter(event.Listener):  # type: ignore[misc]
    """Seconds that this process has spent compiling.

    A kernel is compiled together with those that it calls, so that events nest; numba lets one thread compile at a
    time, so that one depth is enough.
    """

    def __init__(self) -> None:
        self.listeners: list[OnCompiling] = []
        # When the compiling under way began, if one is, and the seconds before it; one value, as other threads look.
        self._spent: tuple[float | None, float] = None, 0.0
        self._depth = self._number = self._total = 0

    def now(self) -> float:
        began, spent = self._spent
        return (perf_counter() if began is None else began) - spent

    @property
    def seconds(self) -> float:
        began, spent = self._spent
        return spent if began is None else spent + perf_counter() - began

    @property
    def at_work(self) -> bool:
        return self._depth > 0

    def on_start(self, started: event.Event) -> None:
        kernel = started.data["dispatcher"]
        if self._depth == 0:
            self._spent = perf_counter(), self._spent[1]
            self._number, self._total = 0, _missing(kernel)
        self._depth += 1
        self._number += 1
        state = Compiling(kernel.py_func.__name__, self._number, max(self._total, self._number))
        for listener in tuple(self.listeners):
            listener(state)

    def on_end(self, ended: event.Event) -> None:
        self._depth -= 1
        began, spent = self._spent
        if self._depth == 0 and began is not None:
            self._spent = None, spent + perf_counter() - began


def _missing(kernel: Any) -> int:
    """How many kernels have no code in this process yet: this one and all that it calls."""
    found, ahead = {kernel}, [kernel]
    while ahead:
        for callee in _named(ahead.pop().py_func):
            if isinstance(callee, Dispatcher) and callee not in found and not callee.overloads:
                found.add(callee)
                ahead.append(callee)
    return len(found)


def _named(function: FunctionType) -> Iterator[object]:
    """What the globals of a function, and the scopes that it is in, hold under the names that it uses."""
    yield from (function.__globals__.get(name) for name in function.__code__.co_names)
    yield from (cell.cell_contents for cell in function.__closure__ or ())


_meter = _Meter()
event.register("numba:compile", _meter)


def now() -> float:
    """Seconds on a clock that stands still while kernels are compiled; only differences mean anything.

    >>> began = now()
    >>> now() >= began
    True
    """
    return _meter.now()


def compile_seconds() -> float:
    """Seconds that this process has spent compiling so far.

    >>> compile_seconds() >= 0.0
    True
    """
    return _meter.seconds


def compiling() -> bool:
    """Whether a kernel is being compiled at this moment, in whichever thread.

    >>> compiling()
    False
    """
    return _meter.at_work


@contextmanager
def telling(listener: OnCompiling) -> Iterator[None]:
    """While it lasts, the listener hears of every kernel that is about to be compiled, in whichever thread that is.

    What it raises ends the compiling, and comes out where the kernel was called.
    """
    _meter.listeners.append(listener)
    try:
        yield
    finally:
        _meter.listeners.remove(listener)
