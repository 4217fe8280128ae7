"""A flag for compiled loops, which cannot look at a clock themselves.

Kernels that may take long are given the flag, an array of one number, and end early once it is no longer 0. A thread
raises it, so they must have let go of the interpreter (`nogil`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from optmodels.parallel import beside

Flag = NDArray[np.uint8]

LOOK_SECONDS = 0.05  # between two looks at what is waited for


def lowered() -> Flag:
    """A flag that nobody raises."""
    return np.zeros(1, np.uint8)


@contextmanager
def raised_when(over: Callable[[], bool], flag: Flag) -> Iterator[None]:
    """While it lasts, a thread raises the flag as soon as it is over.

    >>> flag = lowered()
    >>> with raised_when(lambda: True, flag):
    ...     while not flag[0]:
    ...         pass
    """
    done = threading.Event()

    def watch() -> None:
        while not over():
            if done.wait(LOOK_SECONDS):
                return
        flag[0] = 1

    with beside(watch, done, "halting"):
        yield
