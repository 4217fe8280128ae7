"""Where blocks are solved: in threads of this process, in processes that map the problem, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from optmodels.parallel import limited_to, share_of
from optmodels.problem import Problem
from optmodels.solver.interrupt import Interrupt
from solvers.blocks.cutting import Cuts
from solvers.blocks.shared import Shared, shared
from solvers.blocks.watching import pressed_once
from solvers.blocks.work import Orders, Solved, solve_batch
from solvers.blocks.worker_pool import Backend, Step, WorkerPool, worker_pool


@dataclass(frozen=True)
class Workshop:
    """Workers, and how they are told which blocks to solve."""

    pool: WorkerPool
    work: Callable[..., list[Solved]]
    tell: Callable[[Sequence[int]], tuple[Any, ...]]

    def step(self, blocks: Sequence[int], orders: Callable[[int], Orders]) -> Step[list[Solved]]:
        """The step that solves these blocks, by orders that are given when its turn comes."""
        return Step(self.work, lambda unfinished: (*self.tell(blocks), orders(unfinished)))


@contextmanager
def opened(
    backend: Backend, problem: Problem, cuts: Cuts, workers: int, client: Any, interrupt: Interrupt
) -> Iterator[Workshop]:
    """The workshop, ready; whatever was started for it is ended in the end."""

    def parts(blocks: Sequence[int]) -> list[Problem]:
        return [cuts.part(problem, block) for block in blocks]

    def work_in_thread(blocks: Sequence[int], orders: Orders) -> list[Solved]:
        return solve_batch(parts(blocks), orders, interrupt)

    if backend == "in-process":
        # compiled solvers let go of the interpreter, so threads work side by side
        with worker_pool(backend, workers) as threads:
            yield Workshop(threads, work_in_thread, lambda blocks: (blocks,))
    elif backend == "processes":
        # a flag without a lock: an Event would wait for a worker that was killed while it waited
        stopped = get_context("spawn").RawValue("b", False)
        with (
            shared((problem, cuts)) as where,
            worker_pool(backend, workers, begin=_begin_work, given=(where, stopped)) as processes,
        ):
            try:
                yield Workshop(processes, _work_in_process, lambda blocks: (blocks,))
            finally:
                stopped.value = True  # whatever is under way, nobody waits for it: Ctrl-C, an error, time that is up
    else:
        # every step carries the records of its blocks, so a lost worker loses nothing but time
        with worker_pool(backend, workers, client) as cluster:
            yield Workshop(cluster, _work_on_dask, lambda blocks: (parts(blocks),))


# What a worker process knows: a pool has no other place for what its tasks share.
_here: dict[str, Any] = {}


def _begin_work(where: Shared, stopped: Any) -> None:
    _here["problem"], _here["cuts"] = where.load()
    _here["stopped"] = stopped


def _work_in_process(blocks: Sequence[int], orders: Orders) -> list[Solved]:
    parts = (_here["cuts"].part(_here["problem"], block) for block in blocks)
    with pressed_once(lambda: bool(_here["stopped"].value)) as interrupt:
        return solve_batch(parts, orders, interrupt)


def _work_on_dask(parts: list[Problem], orders: Orders) -> list[Solved]:
    from distributed import get_worker

    worker = get_worker()
    with pressed_once(_unwanted(worker)) as interrupt, limited_to(share_of(worker.state.nthreads)):
        return solve_batch(parts, orders, interrupt)


def _unwanted(worker: Any) -> Callable[[], bool]:
    """Whether nobody waits any more for the task that asks, on its Dask worker.

    Dask lets a task that is under way run to its end, though it was cancelled, its client is gone or its worker lost
    the scheduler: it knows of no way to stop a thread. So the task looks itself at what its worker knows of it.
    """
    task = worker.state.tasks[worker.get_current_task()]
    return lambda: task.state == "cancelled" or worker.status.name in ("closing", "closed", "failed")
