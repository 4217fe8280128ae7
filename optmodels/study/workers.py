"""Those who make the runs of a study: what an engine asks of them, and those of this machine."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

from optmodels.study.supervise import Place, Record
from optmodels.study.trials import Trial

Ended = Callable[[Trial, Record | BaseException], None]


class Workers(Protocol):
    """Those who make runs: `begin` returns at once, and `ended` is called from some thread when the run has ended."""

    @property
    def size(self) -> int:
        """How many runs it makes at a time."""

    def begin(self, trial: Trial, ended: Ended) -> None:
        """Begin a run."""


class LocalWorkers:
    """Places on this machine, a thread waiting for each."""

    def __init__(self, size: int, threads: int) -> None:
        self.size = size
        self._idle: queue.SimpleQueue[Place] = queue.SimpleQueue()
        self._places = [Place(threads) for _ in range(size)]
        for place in self._places:
            self._idle.put(place)
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="study")

    def begin(self, trial: Trial, ended: Ended) -> None:
        """Make the run in an idle place."""
        self._pool.submit(self._make, trial, ended)

    def _make(self, trial: Trial, ended: Ended) -> None:
        place = self._idle.get()
        try:
            ended(trial, place.run(trial))
        except BaseException as error:
            ended(trial, error)
        finally:
            self._idle.put(place)

    def close(self) -> None:
        """End all places and what runs in them."""
        for place in self._places:
            place.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for place in self._places:
            place.close()


@contextmanager
def local_workers(size: int, threads: int) -> Iterator[LocalWorkers]:
    """So many places on this machine, ended with whatever runs in them."""
    pool = LocalWorkers(size, threads)
    try:
        yield pool
    finally:
        pool.close()
