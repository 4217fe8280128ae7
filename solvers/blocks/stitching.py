"""Blocks handed out, time shared out, and the classes of all blocks put together."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import count

import numpy as np

from optmodels.partition import Labels
from optmodels.problem import Separable
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from solvers.blocks.backends import Backend, WorkerLostError
from solvers.blocks.cutting import Cuts
from solvers.blocks.work import Orders, Solved, block_seed, median_cuts

BATCH_RECORDS = 20_000  # sent to a worker at once, about: a few megabytes
BATCHES_PER_WORKER = 8  # at least, so that no worker waits long for the last one
WAITING = 2  # batches for each worker that are handed out ahead
LOOK_SECONDS = 0.25
GRACE_SECONDS = 5.0  # beyond a time limit, for workers that are slow to answer or gone


class Stitching:
    """The classes of the blocks solved so far."""

    def __init__(self, cuts: Cuts) -> None:
        self.cuts = cuts
        self.labels = np.zeros(len(cuts.order), np.int64)
        self.classes = np.zeros(len(cuts), np.int64)  # of each block
        self.done = np.zeros(len(cuts), np.bool_)
        self.by_median_cuts = 0
        self.lost = ""

    @property
    def solved(self) -> int:
        """How many blocks are."""
        return int(self.done.sum())

    def put(self, block: int, solved: Solved) -> None:
        """Keep the classes of a block."""
        self.labels[self.cuts.rows(block)] = solved.labels
        self.classes[block] = solved.labels.max() + 1
        self.done[block] = True
        self.by_median_cuts += not solved.by_inner

    def put_pair(self, first: int, solved: Solved) -> None:
        """Put the classes that two neighbouring blocks have together in the place of their own."""
        self.labels[self.cuts.rows(first)] = solved.labels[: self.cuts.sizes[first]]
        # the second block's classes are numbered on from the first one's: here from the same number
        self.labels[self.cuts.rows(first + 1)] = solved.labels[self.cuts.sizes[first] :]
        self.classes[first], self.classes[first + 1] = 0, solved.labels.max() + 1

    def fill(self, problem: Separable) -> None:
        """Cut the blocks that nobody solved at medians."""
        for block in np.flatnonzero(~self.done).tolist():
            rows = self.cuts.rows(block)
            labels = median_cuts(problem.price.take(rows), problem.test.take(rows))
            self.put(block, Solved(labels.astype(np.int32), False))

    def stitched(self) -> Labels:
        """The classes of all blocks, numbered on from block to block."""
        before = np.cumsum(self.classes) - self.classes
        labels = np.empty_like(self.labels)
        labels[self.cuts.order] = self.labels[self.cuts.order] + np.repeat(before, self.cuts.sizes)
        return labels

    def told(self) -> dict[str, object]:
        """What became of the blocks."""
        told: dict[str, object] = {"blocks_by_median_cuts": self.by_median_cuts}
        return told | {"workers_lost": self.lost} if self.lost else told


def solve_blocks(stitching: Stitching, backend: Backend, inner: Solver, run: Run, *, held_back: float = 0.0) -> None:
    """Hand out all blocks; each gets the time that is left times the workers over the blocks not finished yet.

    `held_back` is the share of the time limit that is wanted for something else afterwards.
    """
    kept = held_back * (run.time_limit or 0.0)
    total = len(stitching.cuts)
    batches = _batches(stitching.cuts, backend.workers)
    under_way: dict[Future[list[Solved]], range] = {}
    left = total
    try:
        while left or under_way:
            while left and len(under_way) < WAITING * backend.workers and _time_left(run, kept) > 0:
                blocks = next(batches)
                orders = Orders(
                    inner, _share(_time_left(run, kept), backend.workers, total - stitching.solved), _seeds(run, blocks)
                )
                under_way[backend.submit(blocks, orders)] = blocks
                left -= len(blocks)
            if not under_way or run.remaining < -GRACE_SECONDS:
                break  # out of time
            done, _ = wait(under_way, LOOK_SECONDS, FIRST_COMPLETED)
            for future in done:
                _take(stitching, under_way.pop(future), future)
            run.report(f"{stitching.solved} of {total} blocks", done=stitching.solved, total=total)
    finally:
        for future in under_way:
            future.cancel()
    if stitching.solved < total and run.time_limit is not None:
        run.stop = Stop.TIME


def _take(stitching: Stitching, blocks: range, future: Future[list[Solved]]) -> None:
    try:
        solved = future.result()
    except WorkerLostError as lost:  # its blocks are cut at medians in the end
        stitching.lost = str(lost)
        return
    for block, one in zip(blocks, solved, strict=True):
        stitching.put(block, one)


def _batches(cuts: Cuts, workers: int) -> Iterator[range]:
    total = len(cuts)
    size = max(1, min(BATCH_RECORDS * total // len(cuts.order), total // (BATCHES_PER_WORKER * workers)))
    return (range(low, min(low + size, total)) for low in count(0, size) if low < total)


def _time_left(run: Run, kept: float) -> float:
    run.interrupt.heed()
    return run.remaining - kept


def _share(time_left: float, workers: int, unfinished: int) -> float | None:
    return None if time_left == float("inf") else time_left * min(workers, unfinished) / unfinished


def _seeds(run: Run, blocks: range) -> list[int]:
    return [block_seed(run.seed, block) for block in blocks]
