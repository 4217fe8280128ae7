"""Compiled functions: kernels, and the parts that they are made of.

A kernel is called from Python. A part is called by kernels: it gets none of the code that takes Python's objects apart
and puts them together again, which for tuples of many arrays is much of what there is to compile.

With `NUMBA_DISABLE_JIT=1` both stay plain Python, so that coverage and mutation testing see into them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numba import config, njit, types
from numpy.typing import NDArray

from optmodels.kernel_cache import KernelCache
from optmodels.whole_kernels import whole_kernels

Compiled = TypeVar("Compiled", bound=Callable[..., Any])
Item = TypeVar("Item", bound=np.generic)


class Random(Protocol):
    """What compiled code knows of numpy's generators; whole numbers that they draw are `int` there."""

    def random(self) -> float:
        """A number from 0 up to, and without, 1."""

    def integers(self, low: int, high: int, /) -> Any:
        """A whole number from `low` up to, and without, `high`."""


@overload
def kernel(function: Compiled) -> Compiled: ...


@overload
def kernel(**options: Any) -> Callable[[Compiled], Compiled]: ...


def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function when it is called first, and keep the code for later processes; the options are numba's."""

    def compiled(function: FunctionType) -> Any:
        if config.DISABLE_JIT:
            return function
        dispatcher = _dispatcher(function, options)
        dispatcher._cache = KernelCache(function)
        if function.__name__ not in function.__code__.co_names:  # numba sees to functions that call themselves
            within: Any = part(function, **options)  # other kernels need no way in from Python
            dispatcher.get_call_template, dispatcher.get_overload = within.get_call_template, within.get_overload
        return dispatcher

    return compiled if function is None else compiled(function)


@overload
def part(function: Compiled) -> Compiled: ...


@overload
def part(**options: Any) -> Callable[[Compiled], Compiled]: ...


def part(function: Any = None, **options: Any) -> Any:
    """Compile a function that kernels call; should Python call it, it is compiled once more for that."""

    def compiled(function: FunctionType) -> Any:
        if config.DISABLE_JIT:
            return function
        dispatcher = _dispatcher(function, {"no_cpython_wrapper": True, **options})

        @cache
        def for_python() -> Any:
            return njit(**options)(function)

        def take(code: Any) -> None:
            """Let kernels find the code, and Python not: there is no way into it from there."""
            dispatcher.overloads[tuple(code.signature.args)] = code

        template_for = dispatcher.get_call_template

        def template(arguments: Any, named: Any) -> Any:
            """How a call is typed: a number written into it is a number like others, and needs no code of its own."""
            plain = {name: types.unliteral(kind) for name, kind in named.items()}
            return template_for(tuple(map(types.unliteral, arguments)), plain)

        dispatcher.get_call_template = template
        dispatcher.add_overload = take
        dispatcher._compile_for_args = lambda *arguments, **named: for_python()
        return dispatcher

    return compiled if function is None else compiled(function)


def _dispatcher(function: FunctionType, options: dict[str, Any]) -> Any:
    dispatcher = njit(no_cfunc_wrapper=True, **options)(function)
    one_by_one = dispatcher.compile

    def compile(signature: Any) -> Any:
        with whole_kernels(dispatcher.targetctx.codegen()):
            return one_by_one(signature)

    dispatcher.compile = compile
    return dispatcher


@part
def copy_into(target: NDArray[Item], source: NDArray[Item]) -> None:
    """Copy an array to the beginning of another one.

    In a kernel `target[:n] = source` is the same, with an error for shapes that do not fit, whose text takes longer to
    compile than most kernels do.
    """
    for at in range(len(source)):
        target[at] = source[at]
