"""Threads in which HiGHS may be late, and which are waited for before Python ends.

HiGHS looks at its clock only now and then, so that a search goes on without it. But a thread that calls back when the
interpreter is gone is ended by force amid code in C++, and takes the process down with it, whatever had been written.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from threading import Thread
from time import perf_counter
from weakref import WeakSet

_PATIENCE_SECONDS = 60.0  # for all of them
_begun: WeakSet[Thread] = WeakSet()


def begun(work: Callable[[], object]) -> Thread:
    """A thread at work."""
    thread = Thread(target=work, daemon=True)
    _begun.add(thread)
    thread.start()
    return thread


@atexit.register
def _wait() -> None:
    end = perf_counter() + _PATIENCE_SECONDS
    for thread in list(_begun):
        thread.join(max(0.0, end - perf_counter()))
