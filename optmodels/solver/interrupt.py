"""Ctrl-C that is heeded between steps of work, never within one.

An exception that arrives while compiled code runs would lose what that code was about to return, or worse. So
Ctrl-C only leaves a note, which a run looks at whenever it looks at its clock; pressed twice, it acts at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether Ctrl-C was pressed while it was listening."""

    def __init__(self) -> None:
        self.pressed = False

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

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


def _is_ctrl_c(handler: object) -> bool:
    """Whether a signal is handled as Ctrl-C is, by Python or by an interrupt that listens already."""
    return handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Interrupt)
