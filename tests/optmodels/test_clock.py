"""Time limits are counted on a clock that stands still while kernels are compiled, and whoever listens hears of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numba import njit

from formulations import Microaggregation
from optmodels import clock
from optmodels.clock import Compiling, compile_seconds, now, telling
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Progress, Run, Solver
from optmodels.testing import small_table


def _fresh() -> Any:
    """A kernel, and one that it calls, that nobody has compiled."""

    @njit
    def twice(x):  # type: ignore[no-untyped-def]
        return 2 * x

    @njit
    def four_times(x):  # type: ignore[no-untyped-def]
        return twice(twice(x))

    return four_times


class _Stopwatch:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> _Stopwatch:
    found = _Stopwatch()
    monkeypatch.setattr(clock, "perf_counter", found)
    return found


def test_it_stands_still_while_kernels_are_compiled(watch: _Stopwatch) -> None:
    began, compiled = now(), compile_seconds()
    seen: list[float] = []

    def pass_time(_: Compiling) -> None:
        watch.time += 100.0
        seen.append(now() - began)

    with telling(pass_time):
        assert _fresh()(1) == 4
    assert seen == [0.0, 0.0]
    assert now() == began
    assert compile_seconds() - compiled == 200.0
    watch.time += 3.0
    assert now() - began == 3.0


def test_what_is_compiled_already_takes_time_like_anything_else(watch: _Stopwatch) -> None:
    kernel = _fresh()
    kernel(1)
    heard: list[Compiling] = []
    began = now()
    with telling(heard.append):
        kernel(1)
    watch.time += 1.0
    assert (heard, now() - began) == ([], 1.0)


def test_a_kernel_that_cannot_be_compiled_stops_the_clock_no_longer_than_it_takes(watch: _Stopwatch) -> None:
    @njit
    def wrong(x):  # type: ignore[no-untyped-def]
        return x.no_such_thing

    began = now()
    with pytest.raises(Exception, match="no_such_thing"):
        wrong(1)
    watch.time += 1.0
    assert now() - began == 1.0


def test_a_listener_can_end_the_compiling_and_the_clock_goes_on(watch: _Stopwatch) -> None:
    kernel, began = _fresh(), now()

    def stop(state: Compiling) -> None:
        if state.name == "twice":
            raise KeyboardInterrupt

    with telling(stop), pytest.raises(KeyboardInterrupt):
        kernel(1)
    watch.time += 1.0
    assert now() - began == 1.0
    assert kernel(1) == 4


@njit
def _one_more(x):  # type: ignore[no-untyped-def]
    return x + 1


@njit
def _two_more(x):  # type: ignore[no-untyped-def]
    return _one_more(_one_more(x))


def test_listeners_hear_how_many_there_are() -> None:
    heard: list[Compiling] = []
    with telling(heard.append):
        _two_more(1)
    assert heard == [Compiling("_two_more", 1, 2), Compiling("_one_more", 2, 2)]


@dataclass(frozen=True)
class _Cold(Solver):
    """A solver whose kernels are never compiled beforehand; compiling takes a hundred seconds for each."""

    name: ClassVar[str] = "cold"
    summary: ClassVar[str] = "for tests"

    def search(self, problem: Problem, run: Run) -> None:
        _fresh()(1)
        if not run.expired:
            run.offer(np.zeros(problem.n, np.int64))


def test_a_cold_run_with_a_short_limit_finds_what_a_warm_one_finds(watch: _Stopwatch) -> None:
    notes: list[str] = []

    def tell(state: Progress) -> None:
        if "compiling" in state.note:
            watch.time += 100.0
            notes.append(state.note)

    problem = Microaggregation(k=3).build(small_table(8))
    found = _Cold().solve(problem, time_limit=1.0, on_progress=tell)
    assert found.value is not None
    assert (found.stop, found.seconds) == (Stop.CONVERGED, 0.0)
    assert {"compiling, once (1 of 2)", "compiling, once (2 of 2)"} <= set(notes)
