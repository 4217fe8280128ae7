"""Kernels become machine code whole: what only they call gets none of its own, and nothing else is different."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary

from optmodels import whole_kernels
from optmodels.kernels import kernel, part


@part
def _mean(x):  # type: ignore[no-untyped-def]
    if len(x) == 0:
        raise ValueError("nothing to take the mean of")
    return x.sum() / len(x)


@part
def _spread(x):  # type: ignore[no-untyped-def]
    middle, total = _mean(x), 0.0
    for value in x:
        total += (value - middle) ** 2
    return total


@kernel
def _spreads(x):  # type: ignore[no-untyped-def]
    found = np.empty(len(x))
    for row in range(len(x)):
        found[row] = _spread(x[row])
    return found


@kernel
def _both(x):  # type: ignore[no-untyped-def]
    return _spreads(x).sum() + _mean(x[0])


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions for which machine code is made."""
    names: list[str] = []
    usual = JITCodeLibrary._finalize_final_module

    def noting(library: Any) -> None:
        names.append(library.name)
        usual(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_final_module", noting)
    return names


def _again(function: Any) -> Any:
    """A kernel that nobody has compiled."""
    return kernel(function.py_func)


def test_machine_code_is_made_for_the_kernel_alone(made: list[str]) -> None:
    fresh = _again(_both)
    fresh._cache.load_overload = lambda *_: None
    x = np.arange(6.0).reshape(2, 3)
    assert fresh(x) == 5.0
    assert [name for name in made if name in {"_mean", "_spread", "_spreads", "_both"}] == ["_both"]


def test_a_kernel_that_others_call_can_be_called_from_python_too() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert _both(x) == 5.0
    assert _spreads(x).tolist() == [2.0, 2.0]
    assert _mean(x[1]) == 4.0


def test_errors_come_out_of_the_depth() -> None:
    for x in (np.empty((1, 0)), np.empty((3, 0), np.int64)):
        with pytest.raises(ValueError, match="nothing to take the mean of"):
            _spreads(x)


def test_anyones_functions_may_call_ours_before_and_after() -> None:
    """What is left unfinished is finished when somebody else links it."""

    @part
    def double(x):  # type: ignore[no-untyped-def]
        return np.full(3, 2 * x).sum()

    @kernel
    def ours(x):  # type: ignore[no-untyped-def]
        return double(x) + 1

    @njit
    def theirs(x):  # type: ignore[no-untyped-def]
        return double(x) + ours(x)

    @njit
    def others(x):  # type: ignore[no-untyped-def]
        return np.full(3, 2 * x).sum()  # numba's own parts, which ours left unfinished

    assert (ours(1), theirs(1), others(1), ours(1.5), theirs(2.5)) == (7, 13, 6, 10.0, 31.0)


@kernel
def _factorial(n):  # type: ignore[no-untyped-def]
    return 1 if n < 2 else n * _factorial(n - 1)


@njit
def _even(n):  # type: ignore[no-untyped-def]
    return True if n == 0 else _odd(n - 1)


@njit
def _odd(n):  # type: ignore[no-untyped-def]
    return False if n == 0 else _even(n - 1)


@kernel
def _parity(n):  # type: ignore[no-untyped-def]
    return _even(n)


def test_functions_that_call_themselves_and_each_other() -> None:
    _parity._cache = NullCache()  # numba's own cache crashes with functions that call each other in a circle
    assert _factorial(5) == 120
    assert [bool(_parity(n)) for n in range(4)] == [True, False, True, False]


def test_constants_of_parts_are_kept_while_their_code_is(capsys: pytest.CaptureFixture[str]) -> None:
    """What Python is to do for a part is found through an object of its own: it must outlive the compiling."""
    table = np.arange(5.0)

    @part
    def looked_up(at):  # type: ignore[no-untyped-def]
        print("at", at)  # noqa: T201
        return table[at]

    @kernel
    def both(at):  # type: ignore[no-untyped-def]
        return looked_up(at) + looked_up(0)

    assert both(1) == 1.0
    gc.collect()
    assert both(0) == 0.0
    assert capsys.readouterr().out.split() == ["at", "1", "at", "0", "at", "0", "at", "0"]


def test_compiling_that_is_interrupted_can_be_taken_up_again() -> None:
    from optmodels.clock import Compiling, telling

    fresh = _again(_both)
    fresh._cache.load_overload = lambda *_: None

    def stop(_: Compiling) -> None:
        raise KeyboardInterrupt

    x = np.arange(6.0).reshape(2, 3)
    with telling(stop), pytest.raises(KeyboardInterrupt):
        fresh(x)
    codegen = fresh.targetctx.codegen()
    assert not {"_library_class", "set_env"} & set(vars(codegen))
    assert fresh(x) == 5.0


def test_where_numba_is_not_as_expected_it_goes_its_usual_way(monkeypatch: pytest.MonkeyPatch, made: list[str]) -> None:
    monkeypatch.setattr(whole_kernels, "EXPECTED", False)

    @part
    def more(x):  # type: ignore[no-untyped-def]
        return x + 1

    @kernel
    def much_more(x):  # type: ignore[no-untyped-def]
        return more(more(x))

    much: Callable[[int], int] = much_more
    assert much(1) == 3
    assert len([name for name in made if "more" in name]) == 2
