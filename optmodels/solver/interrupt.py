"""Ctrl-C that is heeded between steps of work, never within one.

An exception that arrives while compiled code runs would lose what that code was about to return, or worse. So
Ctrl-C only leaves a note, which a run looks at whenever it looks at its clock; pressed twice, it acts at once. A
search that takes no notice of its clock is broken off in the same way, but not while kernels are compiled: the
compiler's own callbacks would swallow the exception and go on with half of a kernel. Nor while objects are cleared
away, where Python swallows it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep
from types import FrameType

from optmodels import clock

_LOOK_SECONDS = 0.1  # between two looks at whether it is over
_ARRIVING = 200  # thousandths of a second that a signal to oneself may take


class Interrupt:
    """Whether Ctrl-C was pressed while it was listening."""

    def __init__(self) -> None:
        self.pressed = False
        self.overdue = False  # whether it was pressed by the clock and not by a person
        self._acted = False

    def heed(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self.pressed:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take note of Ctrl-C; only the main thread can, in another the caller's handling stays as it is.

        SIGTERM is noted likewise where it is handled as Ctrl-C is, as on the command line.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        noted = [signal.SIGINT, *([signal.SIGTERM] if _is_ctrl_c(signal.getsignal(signal.SIGTERM)) else [])]
        before = {number: signal.signal(number, self._note) for number in noted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def breaking_off(self, over: Callable[[], bool]) -> Iterator[None]:
        """While it lasts and this is listening, end whatever runs once it is over, as Ctrl-C pressed twice would.

        Only what the main thread does can be ended, and compiled code only when it returns.
        """
        main = threading.main_thread()
        if threading.current_thread() is not main or main.ident is None:
            yield
            return
        caller, done, pressing = main.ident, threading.Event(), threading.Lock()

        def watch() -> None:
            while not (done.wait(_LOOK_SECONDS) or self._acted):
                if over() and not clock.compiling():
                    with pressing:
                        if not done.is_set():
                            self.pressed = self.overdue = True
                            signal.pthread_kill(caller, signal.SIGINT)

        watcher = threading.Thread(target=watch, name="breaking off", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            with pressing:
                done.set()
            for _ in range(_ARRIVING if self.overdue and not self._acted else 0):
                sleep(0.001)  # the signal is on its way, and must find whoever listens still listening
            watcher.join()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if not self.pressed:
            self.pressed = True
        elif not (self.overdue and (clock.compiling() or _clears_away(frame))):  # else whoever breaks off presses again
            self._acted = True
            raise KeyboardInterrupt


def _clears_away(frame: FrameType | None) -> bool:
    """Whether it runs, or is called by, what runs when an object is gone; no exception leaves that."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_globals.get("__name__") in ("weakref", "_weakrefset"):
            return True
        frame = frame.f_back
    return False


def _is_ctrl_c(handler: object) -> bool:
    """Whether a signal is handled as Ctrl-C is, by Python or by an interrupt that listens already."""
    return handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Interrupt)
