"""Kernels that will be wanted next, compiled by another process while this one has to compile its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess

from optmodels import clock
from optmodels.parallel import cores


@contextmanager
def compiled_beside(task: Callable[[], object]) -> Iterator[None]:
    """While it lasts, and as soon as anything is compiled here, a process of its own does the task.

    It is waited for at the end, so that what it compiled is found in the cache from then on. Where nothing needs to be
    compiled, or only one core is there, nothing is started.
    """
    started: list[SpawnProcess] = []

    def begin(_: clock.Compiling) -> None:
        if not started and cores() > 1:
            started.append(get_context("spawn").Process(target=task, daemon=True))
            started[0].start()

    try:
        with clock.telling(begin):
            yield
        for process in started:
            process.join()
    finally:
        for process in started:
            process.terminate()
