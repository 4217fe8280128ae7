"""Workers for steps that can be done again: threads, processes or a Dask cluster, with one way to keep them busy."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

from optmodels.errors import NoSolutionError
from solvers.blocks.backends import Name, dask_client

Result = TypeVar("Result")

WAITING = 2  # steps for each worker that are handed out ahead
ATTEMPTS = 3
LOOK_SECONDS = 0.25


class Crew:
    """Workers that do steps; a step is a function and its arguments, or what makes them when its turn comes.

    What makes them is told how many steps are not finished yet.
    """

    def __init__(self, make: Callable[[], Executor], count: Callable[[], int]) -> None:
        self._make = make
        self._count = count
        self.executor = make()

    @property
    def workers(self) -> int:
        """How many there are."""
        return max(1, self._count())

    def do(self, steps: Sequence[tuple[Callable[..., Result], Any]], report: Callable[[int], None]) -> list[Result]:
        """The results of all steps, in their order; steps of workers that die are done again.

        Raises:
            NoSolutionError: workers died again and again.
        """
        results: dict[int, Result] = {}
        under_way: dict[Future[Result], int] = {}
        ahead = list(range(len(steps)))[::-1]
        lost = 0
        try:
            while len(results) < len(steps):
                while ahead and len(under_way) < WAITING * self.workers:
                    step = ahead.pop()
                    work, given = steps[step]
                    arguments = given(len(steps) - len(results)) if callable(given) else given
                    under_way[self.executor.submit(work, *arguments)] = step
                done, _ = wait(under_way, LOOK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    step = under_way.pop(future)
                    error = future.exception()
                    if error is None:
                        results[step] = future.result()
                    elif isinstance(error, BrokenProcessPool) and lost < ATTEMPTS:
                        ahead += [step, *under_way.values()]
                        under_way.clear()
                        lost += 1
                        self.executor = self._make()
                        break
                    elif isinstance(error, BrokenProcessPool) or type(error).__name__ == "KilledWorker":
                        raise NoSolutionError(
                            f"Workers died again and again ({' '.join(str(error).split())}): most likely they ran out "
                            "of memory. Lower group_rows, or give them more."
                        ) from error
                    else:
                        raise error
                report(len(results))
        finally:
            for future in under_way:
                future.cancel()
        return [results[step] for step in range(len(steps))]


@contextmanager
def crew(name: Name, workers: int, address: Any) -> Iterator[Crew]:
    """The workers, ready; those that were started for this are gone in the end."""
    with dask_client(address) as client:
        if name == "dask":
            yield Crew(lambda: client.get_executor(pure=False), lambda: sum(client.nthreads().values()))
            return
        made: list[Executor] = []

        def make() -> Executor:
            if name == "processes":
                made.append(ProcessPoolExecutor(workers, get_context("spawn"), _ignore_ctrl_c))
            else:
                made.append(ThreadPoolExecutor(workers))
            return made[-1]

        try:
            yield Crew(make, lambda: workers)
        finally:
            for pool in made:
                pool.shutdown(wait=True, cancel_futures=True)


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all, and the parent decides
