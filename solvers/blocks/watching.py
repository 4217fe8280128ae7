"""Workers that nobody can reach learn by looking that they are to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from optmodels.solver.interrupt import Interrupt

LOOK_SECONDS = 0.25  # between two looks


@contextmanager
def pressed_once(over: Callable[[], bool]) -> Iterator[Interrupt]:
    """An interrupt that is pressed as soon as it is over, seen by a thread that looks now and then."""
    interrupt, left = Interrupt(), threading.Event()

    def watch() -> None:
        while not interrupt.pressed and not left.wait(LOOK_SECONDS):
            interrupt.pressed = over()

    interrupt.pressed = over()
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield interrupt
    finally:
        left.set()
