"""A search that takes no notice of its clock is broken off, but never in the middle of compiling."""

from __future__ import annotations

import threading
from time import sleep

import pytest

from optmodels import clock
from optmodels.solver.interrupt import Interrupt


def _take_no_notice() -> None:
    for _ in range(10_000):
        sleep(0.001)


def test_what_takes_no_notice_is_broken_off() -> None:
    interrupt = Interrupt()
    with pytest.raises(KeyboardInterrupt), interrupt.listening(), interrupt.breaking_off(lambda: True):
        _take_no_notice()
    assert interrupt.overdue


def test_not_while_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt, compiling, looks = Interrupt(), threading.Event(), threading.Semaphore(0)
    compiling.set()
    monkeypatch.setattr(clock, "compiling", compiling.is_set)

    def over() -> bool:
        looks.release()
        return True

    def compile_and_go_on() -> None:
        for _ in range(3):  # it is over, again and again, and nothing happens
            looks.acquire()
        compiling.clear()
        _take_no_notice()

    with pytest.raises(KeyboardInterrupt), interrupt.listening(), interrupt.breaking_off(over):
        compile_and_go_on()
    assert not compiling.is_set()


def test_a_signal_that_arrives_when_compiling_has_begun_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt = Interrupt()
    answers = iter([False, True])  # the watcher sees nothing compiled, the signal finds the compiler at work
    monkeypatch.setattr(clock, "compiling", lambda: next(answers, False))
    with pytest.raises(KeyboardInterrupt), interrupt.listening(), interrupt.breaking_off(lambda: True):
        _take_no_notice()
    assert next(answers, None) is None


class SlowToGo:
    """Whatever is raised while it goes is swallowed by Python."""

    def __del__(self) -> None:
        sleep(0.3)


def test_what_is_swallowed_is_pressed_again() -> None:
    interrupt, last = Interrupt(), [SlowToGo()]

    def let_go_and_go_on() -> None:
        last.clear()
        _take_no_notice()

    with pytest.raises(KeyboardInterrupt), interrupt.listening(), interrupt.breaking_off(lambda: True):
        let_go_and_go_on()
