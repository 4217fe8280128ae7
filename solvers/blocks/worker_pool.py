"""Workers that are kept busy: threads, processes or a Dask cluster, and steps that can be done again.

What comes of a step depends on its arguments alone, so it does not matter which worker does it, in which order, or
whether it had to be done twice because a worker died.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from math import inf
from multiprocessing import get_context, parent_process
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from optmodels.errors import InputError, MissingDependencyError, NoSolutionError
from optmodels.parallel import begin_worker, share_of
from solvers.blocks.watching import LOOK_SECONDS

Backend = Literal["in-process", "processes", "dask"]
Result = TypeVar("Result")

WAITING = 2  # steps for each worker that are handed out ahead
ATTEMPTS = 3  # of a step whose worker dies though it does nothing else
GRACE_SECONDS = 5.0  # beyond a time limit, for workers that are slow to answer or gone
CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 1.0  # that a scheduler may take to say how many workers it has


class Step(NamedTuple, Generic[Result]):
    """Some work, and what makes its arguments when its turn comes, told how many steps are not finished yet."""

    work: Callable[..., Result]
    arguments: Callable[[int], tuple[Any, ...]]


class WorkerPool:
    """Workers that do steps, and are replaced when they die; `reached` raises when nobody reaches them any more."""

    def __init__(
        self, make: Callable[[], Executor], count: Callable[[], int], reached: Callable[[], object] = lambda: None
    ) -> None:
        self._make = make
        self._count = count
        self._reached = reached
        self._executor = make()

    @property
    def workers(self) -> int:
        """How many there are at this moment."""
        return max(1, self._count())

    def do(
        self,
        steps: Sequence[Step[Result]],
        *,
        take: Callable[[int, Result], object],
        lost: Callable[[int, BaseException], object],
        report: Callable[[], object],
        remaining: Callable[[], float] = lambda: inf,
    ) -> None:
        """Hand out all steps while time remains, and take what comes of each, in whichever order it comes.

        Where a worker dies, all steps that were under way are done again one at a time: a step that is alone when a
        worker dies is the one to blame, and if that happens again and again it is `lost`. `report` is called a few
        times a second, and may raise.
        """
        ahead, suspects, unfinished = deque(range(len(steps))), deque[int](), len(steps)
        under_way: dict[Future[Result], tuple[int, Executor]] = {}
        died: Counter[int] = Counter()
        alone: int | None = None
        try:
            while under_way or ((ahead or suspects) and remaining() > 0):
                self._reached()
                most = 1 if suspects or alone is not None else WAITING * self.workers
                while (suspects or ahead) and len(under_way) < most and remaining() > 0:
                    alone = suspects.popleft() if suspects else None
                    step = ahead.popleft() if alone is None else alone
                    under_way[self._submit(steps[step], unfinished)] = step, self._executor
                done, _ = wait(under_way, LOOK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    step, executor = under_way.pop(future)
                    error = future.exception()
                    was_alone, alone = step == alone, None if step == alone else alone
                    if isinstance(error, BrokenProcessPool):
                        self._replace(executor)
                        died[step] += was_alone
                        if died[step] < ATTEMPTS:
                            suspects.append(step)
                            continue
                    unfinished -= 1
                    if error is None:
                        take(step, future.result())
                    elif isinstance(error, BrokenProcessPool) or type(error).__name__ == "KilledWorker":
                        lost(step, error)
                    else:
                        raise error
                report()
                if remaining() < -GRACE_SECONDS:
                    return
        finally:
            for future in under_way:
                future.cancel()

    def _submit(self, step: Step[Result], unfinished: int) -> Future[Result]:
        arguments = step.arguments(unfinished)
        try:
            return self._executor.submit(step.work, *arguments)
        except BrokenProcessPool:  # a process died since the last look
            self._replace(self._executor)
            return self._executor.submit(step.work, *arguments)

    def _replace(self, broken: Executor) -> None:
        if self._executor is broken:
            self._executor = self._make()


@contextmanager
def worker_pool(
    backend: Backend,
    workers: int,
    client: Any = None,
    begin: Callable[..., object] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[WorkerPool]:
    """The workers, ready; those that were started for this are gone in the end. Processes begin with `begin`."""
    if backend == "dask":
        with _while_reached(client) as reached:
            yield WorkerPool(lambda: client.get_executor(pure=False), _threads_of(client), reached)
        return
    made: list[Executor] = []
    share = share_of(workers)

    def make() -> Executor:
        if backend == "processes":
            # a fresh interpreter: a fork would copy locks that threads of this process hold at that moment
            made.append(ProcessPoolExecutor(workers, get_context("spawn"), _begin, (share, begin, given)))
        else:
            made.append(ThreadPoolExecutor(workers, initializer=begin_worker, initargs=(share,)))
        return made[-1]

    try:
        yield WorkerPool(make, lambda: workers)
    finally:
        for executor in made:
            executor.shutdown(wait=True, cancel_futures=True)


def _threads_of(client: Any) -> Callable[[], int]:
    """How many threads a cluster has: as many as before where its scheduler takes long to say."""
    known = 1

    def count() -> int:
        nonlocal known
        with suppress(OSError):  # timeouts are among them
            known = sum(client.nthreads(callback_timeout=_ANSWER_SECONDS).values())
        return known

    return count


@contextmanager
def _while_reached(client: Any) -> Iterator[Callable[[], object]]:
    """Raises, by what it yields and instead of Dask's own errors, when the scheduler is gone.

    Its client would wait for a minute for it to come back, and for ever for what it was to do.
    """

    def reached() -> None:
        if client.status != "running":
            raise NoSolutionError(
                "The Dask scheduler no longer answers, and what it was to do is lost: nothing was written. Start it "
                "again with 'dask scheduler', or use backend=processes."
            )

    try:
        yield reached
    except (OSError, RuntimeError, CancelledError):  # timeouts are among them
        reached()
        raise


def _begin(share: int, begin: Callable[..., object] | None, given: tuple[Any, ...]) -> None:
    begin_worker(share)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all, and the parent decides
    if begin is not None:
        begin(*given)


def _end_with_parent() -> None:
    """Whoever was to take what this process finds is gone, killed perhaps: so is it, with all that it holds."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def dask_client(address: Any) -> Iterator[Any]:
    """A client of the cluster at an address, or None without one; a client that is handed in stays open.

    Raises:
        MissingDependencyError: dask.distributed is not installed.
        InputError: nobody answers there, or there are no workers.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as absent:
        raise MissingDependencyError(
            "Blocks on a Dask cluster need dask.distributed: pip install 'optmodels[dask]'."
        ) from absent
    if isinstance(address, Client):
        yield address
        return
    with ExitStack() as stack:
        try:
            client = stack.enter_context(Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
        except (OSError, ValueError) as dead:
            raise InputError(
                f"No Dask scheduler answers at '{address}': {str(dead).rstrip('.')}. Start one with 'dask scheduler', "
                "or leave the address out and use backend=processes."
            ) from dead
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as idle:
            raise InputError(
                f"The Dask scheduler at '{address}' has no workers: start some with 'dask worker {address}'."
            ) from idle
        yield client
