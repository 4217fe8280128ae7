"""Blocks handed out, time shared out, and the classes of all blocks put together."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from optmodels.partition import LEFT_OUT, Labels
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from solvers.blocks.backends import Workshop
from solvers.blocks.cutting import Cuts
from solvers.blocks.work import Orders, Solved, block_seed, median_cuts, solve_block

BATCH_RECORDS = 20_000  # sent to a worker at once, about: a few megabytes
SHORT_SECONDS = 1.0  # a block that gets less is handed out alone: one that takes longer takes from all, not the next
BATCHES_PER_WORKER = 8  # at least, so that no worker waits long for the last one


class Stitching:
    """The classes of the blocks solved so far; neighbours may be solved together, as a run of blocks."""

    def __init__(self, cuts: Cuts) -> None:
        self.cuts = cuts
        self.labels = np.zeros(len(cuts.order), np.int64)
        self.classes = np.zeros(len(cuts), np.int64)  # of each block; of a run the last block has all
        self.done = np.zeros(len(cuts), np.bool_)
        self.first = np.arange(len(cuts))  # of the run that a block is in
        self.by_inner = np.zeros(len(cuts), np.bool_)
        self.by_median_cuts = 0
        self.merged = 0
        self.lost = ""

    @property
    def solved(self) -> int:
        """How many blocks are."""
        return int(self.done.sum())

    @property
    def complete(self) -> bool:
        """Whether all are."""
        return bool(self.done.all())

    def put(self, block: int, solved: Solved, last: int | None = None) -> None:
        """Keep the classes of a block, or of a run of blocks up to the last; nothing where none were found."""
        if solved.labels is None:
            return
        last = block if last is None else last
        self.labels[self.cuts.rows(block, last)] = solved.labels
        self.classes[block : last + 1] = 0
        self.classes[last] = solved.labels.max() + 1
        self.done[block : last + 1] = True
        self.first[block : last + 1] = block
        self.by_inner[block : last + 1] = solved.by_inner
        self.by_median_cuts += not solved.by_inner

    def alone(self, block: int) -> bool:
        """Whether a block was solved by the inner solver, and in no run with others."""
        return bool(self.by_inner[block]) and bool((self.first == self.first[block]).sum() == 1)

    def finish(self, problem: Problem, inner: Solver, run: Run) -> None:
        """Cut the blocks that nobody solved at medians, and merge those that have no classes even so."""
        for block in np.flatnonzero(~self.done).tolist():
            self.put(block, median_cuts(self.cuts.part(problem, block)))
        self._merge(problem, inner, run)

    def _merge(self, problem: Problem, inner: Solver, run: Run) -> None:
        """Solve blocks in which nothing was found together with their neighbours, with ever more of them.

        Class-wise conditions never make it necessary. A prescribed number of classes under further conditions may, and
        so may bounds on the whole release.
        """
        while not self.complete:
            block = int(np.argmin(self.done))
            first, last = self._run(block)
            if last - first + 1 == len(self.cuts):
                return
            neighbours = [place for place in (first - 1, last + 1) if 0 <= place < len(self.cuts)]
            nearest = min(neighbours, key=lambda place: len(self.cuts.rows(*self._run(place))))
            first, last = min(first, self._run(nearest)[0]), max(last, self._run(nearest)[1])
            self.first[first : last + 1], self.done[first : last + 1] = first, False
            self.merged += 1
            part, seed = self.cuts.part(problem, first, last), block_seed(run.seed, len(self.cuts) + first)
            limit = None if run.time_limit is None else run.remaining
            self.put(first, solve_block(part, inner, limit, seed, run.interrupt), last)

    def _run(self, block: int) -> tuple[int, int]:
        members = np.flatnonzero(self.first == self.first[block])
        return int(members[0]), int(members[-1])

    def stitched(self) -> Labels:
        """The classes of all blocks, numbered on from block to block."""
        before = np.cumsum(self.classes) - self.classes
        labels = np.empty_like(self.labels)
        labels[self.cuts.order] = shifted(self.labels[self.cuts.order], np.repeat(before, self.cuts.sizes))
        return labels

    def details(self) -> dict[str, object]:
        """What became of the blocks."""
        details: dict[str, object] = {"blocks_by_median_cuts": self.by_median_cuts}
        if self.merged:
            details["blocks_merged"] = self.merged
        return details | {"workers_lost": self.lost} if self.lost else details


def shifted(labels: Labels, by: NDArray[np.int64]) -> Labels:
    """Labels raised by so much; who is left out stays so.

    >>> shifted(np.array([0, -1, 1]), np.array([5, 5, 5])).tolist()
    [5, -1, 6]
    """
    return np.where(labels == LEFT_OUT, LEFT_OUT, labels + by)


def solve_blocks(stitching: Stitching, workshop: Workshop, inner: Solver, run: Run, *, held_back: float = 0.0) -> None:
    """Hand out all blocks; each gets the time that is left times the workers over the blocks not finished yet.

    `held_back` is the share of the time limit that is wanted for something else afterwards.
    """
    total, workers = len(stitching.cuts), workshop.pool.workers
    batches = _batches(stitching.cuts, workers, run.time_limit)
    finished = 0

    def remaining() -> float:
        run.interrupt.heed()
        return run.remaining - held_back * (run.time_limit or 0.0)

    def orders(blocks: range, _: int) -> Orders:
        unfinished = total - finished
        share = remaining() * min(workshop.pool.workers, unfinished) / unfinished
        seeds = [block_seed(run.seed, block) for block in blocks]
        return Orders(inner, None if run.time_limit is None else share, seeds)

    def take(batch: int, solved: list[Solved]) -> None:
        nonlocal finished
        for block, one in zip(batches[batch], solved, strict=True):
            stitching.put(block, one)
        finished += len(solved)

    def lost(batch: int, error: BaseException) -> None:
        reason = " ".join(str(error).split())
        stitching.lost = f"workers died again and again, and their blocks were cut at medians: {reason}"

    workshop.pool.do(
        [workshop.step(blocks, partial(orders, blocks)) for blocks in batches],
        take=take,
        lost=lost,
        report=lambda: run.report(f"{finished} of {total} blocks", done=finished, total=total),
        remaining=remaining,
    )
    if finished < total and run.time_limit is not None:
        run.stop = Stop.TIME


def _batches(cuts: Cuts, workers: int, time_limit: float | None) -> list[range]:
    total = len(cuts)
    if time_limit is not None and time_limit * workers < SHORT_SECONDS * total:
        return [range(block, block + 1) for block in range(total)]
    size = max(1, min(BATCH_RECORDS * total // len(cuts.order), total // (BATCHES_PER_WORKER * workers)))
    return [range(low, min(low + size, total)) for low in range(0, total, size)]
