"""What the seams between blocks cost: the same inner solver on merged blocks, with as much effort per record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.partition import canonical
from optmodels.problem import Separable
from optmodels.solver import Run, Solver
from solvers.blocks.cutting import Cuts
from solvers.blocks.stitching import Stitching
from solvers.blocks.work import Solved, block_seed, solve_block

WHOLE_BLOCKS = 5  # a table of up to so many blocks is solved as one for comparison
PAIRS = 8
BLOCKS_PER_PAIR = 20  # so that merged pairs take a tenth of the work
TIME_SHARE = 0.1

MEASURED = "measured: the whole table solved as one block, with the same effort per record"
ESTIMATED = (
    "estimated from neighbouring blocks, {} of them, merged in pairs and solved again with the same effort per record; "
    "blocks twice as large would save this much, one block for the whole table more"
)


@dataclass(frozen=True)
class Comparison:
    """The loss of blocks beside the loss of the same records in fewer blocks; both in the problem's own units."""

    how: str
    blocks: float
    merged: float

    def told(self) -> dict[str, object]:
        """The comparison by name, with the excess as a share of the smaller loss."""
        return {
            "how": self.how,
            "loss_in_blocks": self.blocks,
            "loss_merged": self.merged,
            "excess": self.excess,
        }

    @property
    def excess(self) -> float:
        """By how much blocks lose more, as a share of what fewer blocks lose; negative where they lose less."""
        return self.blocks / self.merged - 1 if self.merged > 0 else 0.0

    def said(self, blocks: int, inner: str) -> str:
        """The comparison in one sentence."""
        than = "less" if self.excess < 0 else "more"
        return f"{blocks:,} blocks by {inner} lose {abs(self.excess):.2%} {than} than merged ones ({self.how})."


def records_merged(cuts: Cuts) -> int:
    """How many records are solved together for comparison, at most: the effort of the inner solver follows."""
    return len(cuts.order) if len(cuts) <= WHOLE_BLOCKS else 2 * int(cuts.sizes.max())


def compare(stitching: Stitching, problem: Separable, inner: Solver, run: Run) -> Comparison | None:
    """Solve the whole table as one block if it is small, or some pairs of neighbours; what is better is kept.

    None where there is one block only, where no two blocks came from one cut, or where time is over.
    """
    cuts = stitching.cuts
    if len(cuts) == 1:
        return None
    if len(cuts) <= WHOLE_BLOCKS:
        return _whole(stitching, problem, inner, run)
    pairs = np.random.default_rng(run.seed).permutation(cuts.pairs)[: min(PAIRS, -(-len(cuts) // BLOCKS_PER_PAIR))]
    apart = together = 0.0
    seen = 0
    for first in pairs.tolist():
        if run.time_limit is not None and run.expired:
            break
        run.report(f"merging blocks for comparison: {seen} of {len(pairs)} pairs")
        rows = cuts.order[cuts.starts[first] : cuts.starts[first + 2]]
        before = _loss(problem, rows, stitching.labels[rows] + _offset(stitching, first, len(rows)))
        merged = _merged(problem, rows, inner, run, run.remaining / (len(pairs) - seen), len(cuts) + first)
        if merged is None:
            continue
        apart, together, seen = apart + before, together + _loss(problem, rows, merged), seen + 1
        if _loss(problem, rows, merged) < before:
            stitching.put_pair(first, Solved(merged.astype(np.int32), True))
    return Comparison(ESTIMATED.format(2 * seen), apart, together) if seen else None


def _whole(stitching: Stitching, problem: Separable, inner: Solver, run: Run) -> Comparison | None:
    everyone = np.arange(problem.price.n)
    run.report("solving the whole table as one block for comparison")
    merged = _merged(problem, everyone, inner, run, run.remaining, len(stitching.cuts))
    if merged is None:
        return None
    blocks, one = _loss(problem, everyone, stitching.stitched()), _loss(problem, everyone, merged)
    run.offer(merged)
    return Comparison(MEASURED, blocks, one)


def _merged(
    problem: Separable, rows: NDArray[np.int64], inner: Solver, run: Run, seconds: float, block: int
) -> NDArray[np.int64] | None:
    limit = None if run.time_limit is None else seconds
    solved = solve_block(problem.restricted(rows), inner, limit, block_seed(run.seed, block), run.interrupt)
    run.interrupt.heed()
    return solved.labels.astype(np.int64) if solved.by_inner else None


def _loss(problem: Separable, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    return problem.price.take(rows).total(canonical(labels)) / problem.price_scale


def _offset(stitching: Stitching, first: int, size: int) -> NDArray[np.int64]:
    """The second block's classes come after the first one's."""
    length = int(stitching.cuts.sizes[first])
    return np.repeat([0, stitching.classes[first]], [length, size - length])
