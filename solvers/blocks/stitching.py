"""Blocks handed out, time shared out, and the classes of all blocks put together."""

from __future__ import annotations

import numpy as np

from optmodels.partition import Labels
from optmodels.problem import Separable
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from solvers.blocks.backends import Workshop
from solvers.blocks.cutting import Cuts
from solvers.blocks.work import Orders, Solved, block_seed, median_cuts

BATCH_RECORDS = 20_000  # sent to a worker at once, about: a few megabytes
BATCHES_PER_WORKER = 8  # at least, so that no worker waits long for the last one


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


def solve_blocks(stitching: Stitching, workshop: Workshop, inner: Solver, run: Run, *, held_back: float = 0.0) -> None:
    """Hand out all blocks; each gets the time that is left times the workers over the blocks not finished yet.

    `held_back` is the share of the time limit that is wanted for something else afterwards.
    """
    total, workers = len(stitching.cuts), workshop.crew.workers
    batches = _batches(stitching.cuts, workers)

    def remaining() -> float:
        run.interrupt.heed()
        return run.remaining - held_back * (run.time_limit or 0.0)

    def orders(blocks: range) -> Orders:
        unfinished = total - stitching.solved
        share = remaining() * min(workshop.crew.workers, unfinished) / unfinished
        seeds = [block_seed(run.seed, block) for block in blocks]
        return Orders(inner, None if run.time_limit is None else share, seeds)

    def take(batch: int, solved: list[Solved]) -> None:
        for block, one in zip(batches[batch], solved, strict=True):
            stitching.put(block, one)

    def lost(batch: int, error: BaseException) -> None:
        stitching.lost = f"workers died again and again, and their blocks were cut at medians: {error}"

    workshop.crew.do(
        [workshop.step(blocks, lambda _, blocks=blocks: orders(blocks)) for blocks in batches],  # type: ignore[misc]
        take=take,
        lost=lost,
        report=lambda: run.report(f"{stitching.solved} of {total} blocks", done=stitching.solved, total=total),
        remaining=remaining,
    )
    if stitching.solved < total and run.time_limit is not None:
        run.stop = Stop.TIME


def _batches(cuts: Cuts, workers: int) -> list[range]:
    total = len(cuts)
    size = max(1, min(BATCH_RECORDS * total // len(cuts.order), total // (BATCHES_PER_WORKER * workers)))
    return [range(low, min(low + size, total)) for low in range(0, total, size)]
