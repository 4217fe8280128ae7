"""Where blocks are solved: in threads of this process, in processes that map the problem, or on a Dask cluster.

A backend takes batches of blocks and hands back futures. What a block becomes depends on its records and its seed
alone, so it does not matter which worker solves it, in which order, or whether it had to be done twice.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Any, Literal, Protocol

from optmodels.errors import InputError, MissingDependencyError
from optmodels.interrupt import Interrupt
from optmodels.problem import Problem, Separable
from solvers.blocks.cutting import Cuts
from solvers.blocks.shared import Shared, shared
from solvers.blocks.work import Orders, Solved, solve_batch

Name = Literal["in-process", "processes", "dask"]

_CONNECT_SECONDS = 10
_ATTEMPTS = 3  # of a batch whose worker process dies


class Backend(Protocol):
    """Takes batches of blocks; the futures may fail with `WorkerLostError`."""

    @property
    def workers(self) -> int:
        """How many batches are worked on at a time."""

    def submit(self, blocks: Sequence[int], orders: Orders) -> Future[list[Solved]]:
        """Solve these blocks."""


class WorkerLostError(Exception):
    """The workers that a batch was given to died, again and again."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def opened(
    name: Name, problem: Separable, cuts: Cuts, workers: int, client: Any, interrupt: Interrupt
) -> Iterator[Backend]:
    """The backend, ready to work; whatever it has started is ended at the end."""
    if name == "in-process":
        with ThreadPoolExecutor(workers) as pool:
            yield _Threads(problem, cuts, workers, interrupt, pool)
    elif name == "processes":
        with _processes(problem, cuts, workers, interrupt) as backend:
            yield backend
    else:
        yield _Dask(problem, cuts, client)


class _Threads:
    """Threads of this process: compiled inner solvers let go of the interpreter, so threads work side by side."""

    def __init__(
        self, problem: Separable, cuts: Cuts, workers: int, interrupt: Interrupt, pool: ThreadPoolExecutor
    ) -> None:
        self.problem, self.cuts, self.workers, self.interrupt, self.pool = problem, cuts, workers, interrupt, pool

    def submit(self, blocks: Sequence[int], orders: Orders) -> Future[list[Solved]]:
        """Solve these blocks in the next free thread."""
        return self.pool.submit(self._work, blocks, orders)

    def _work(self, blocks: Sequence[int], orders: Orders) -> list[Solved]:
        parts = (self.problem.restricted(self.cuts.rows(block)) for block in blocks)
        return solve_batch(parts, orders, self.interrupt)


class _Processes:
    """Processes that map the problem's arrays; they are told of blocks by number."""

    def __init__(self, where: Shared, workers: int, stopped: Event) -> None:
        self.workers = workers
        self._begin = (where, stopped)
        self._lock = threading.Lock()
        self.pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        # a fresh interpreter: a fork would copy locks that threads of this process hold at that moment
        return ProcessPoolExecutor(self.workers, get_context("spawn"), _begin_work, self._begin)

    def submit(self, blocks: Sequence[int], orders: Orders) -> Future[list[Solved]]:
        """Solve these blocks in the next free process, and once more in another one should that process die."""
        answer: Future[list[Solved]] = Future()
        self._try(blocks, orders, answer, _ATTEMPTS)
        return answer

    def _try(self, blocks: Sequence[int], orders: Orders, answer: Future[list[Solved]], attempts: int) -> None:
        from concurrent.futures.process import BrokenProcessPool

        pool = self.pool

        def pass_on(done: Future[list[Solved]]) -> None:
            error = done.exception() if not done.cancelled() else None
            if done.cancelled():
                answer.cancel()
            elif isinstance(error, BrokenProcessPool) and attempts > 1:
                self._renew(pool)
                self._try(blocks, orders, answer, attempts - 1)
            elif isinstance(error, BrokenProcessPool):
                answer.set_exception(WorkerLostError("its worker processes died"))
            elif error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(done.result())

        try:
            submitted = pool.submit(_work_in_process, blocks, orders)
        except BrokenProcessPool as broken:
            submitted = Future()
            submitted.set_exception(broken)
        submitted.add_done_callback(pass_on)

    def _renew(self, broken: ProcessPoolExecutor) -> None:
        with self._lock:
            if self.pool is broken:
                self.pool = self._new_pool()


@contextmanager
def _processes(problem: Separable, cuts: Cuts, workers: int, interrupt: Interrupt) -> Iterator[_Processes]:
    context = get_context("spawn")
    stopped = context.Event()
    with shared((problem, cuts)) as where:
        backend = _Processes(where, workers, stopped)
        try:
            yield backend
        finally:
            if interrupt.pressed:
                stopped.set()
            backend.pool.shutdown(wait=True, cancel_futures=True)


# What a worker process knows: a pool has no other place for what its tasks share.
_here: dict[str, Any] = {}


def _begin_work(where: Shared, stopped: Event) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all, and the parent decides
    interrupt = Interrupt()

    def wait() -> None:
        stopped.wait()
        interrupt.pressed = True

    threading.Thread(target=wait, daemon=True).start()
    _here["problem"], _here["cuts"] = where.load()
    _here["interrupt"] = interrupt


def _work_in_process(blocks: Sequence[int], orders: Orders) -> list[Solved]:
    parts = (_here["problem"].restricted(_here["cuts"].rows(block)) for block in blocks)
    return solve_batch(parts, orders, _here["interrupt"])


class _Dask:
    """A Dask cluster: every task carries the records of its blocks, so a lost worker loses nothing but time."""

    def __init__(self, problem: Separable, cuts: Cuts, client: Any) -> None:
        self.problem, self.cuts, self.client = problem, cuts, client
        self.executor: Executor = client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        """Threads of all workers at this moment: a cluster grows and shrinks."""
        return max(1, sum(map(int, self.client.nthreads().values())))

    def submit(self, blocks: Sequence[int], orders: Orders) -> Future[list[Solved]]:
        """Send these blocks to the cluster."""
        parts = [self.problem.restricted(self.cuts.rows(block)) for block in blocks]
        answer: Future[list[Solved]] = Future()

        def pass_on(done: Future[list[Solved]]) -> None:
            error = done.exception() if not done.cancelled() else None
            if done.cancelled():
                answer.cancel()
            elif error is not None and type(error).__name__ == "KilledWorker":
                answer.set_exception(WorkerLostError(str(error)))
            elif error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(done.result())

        self.executor.submit(_work_on_dask, parts, orders).add_done_callback(pass_on)
        return answer


def _work_on_dask(parts: list[Problem], orders: Orders) -> list[Solved]:
    return solve_batch(parts, orders, Interrupt())


@contextmanager
def dask_client(address: Any) -> Iterator[Any]:
    """A client of the cluster at an address, or None without one; a client that is handed in stays open.

    Raises:
        MissingDependencyError: dask.distributed is not installed.
        InputError: nobody answers there.
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
            client = stack.enter_context(Client(address, timeout=_CONNECT_SECONDS, set_as_default=False))
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError as idle:
            raise InputError(
                f"The Dask scheduler at '{address}' has no workers, or does not answer: start some with 'dask worker'."
            ) from idle
        except (OSError, ValueError) as dead:
            raise InputError(
                f"No Dask scheduler answers at '{address}': {str(dead).rstrip('.')}. Start one with 'dask scheduler', "
                "or leave the address out and use backend=processes."
            ) from dead
        yield client
