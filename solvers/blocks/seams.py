"""What the seams between blocks cost: the same inner solver on merged blocks, with as much effort per record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from optmodels.objectives import Objective, Sense
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Parts
from solvers.blocks.cutting import Cuts
from solvers.blocks.stitching import Stitching, shifted
from solvers.blocks.work import Solved, block_seed, solve_block

WHOLE_BLOCKS = 5  # a table of up to so many blocks is solved as one for comparison
FEWEST_PAIRS, PAIRS = 4, 8  # one pair may be much better or worse than the others
BLOCKS_PER_PAIR = 20  # so that of many blocks merged pairs take a tenth of the work
TIME_SHARE = 0.1

NOT_COMPARED = "not estimated: {}"
MEASURED = "measured: the whole table solved as one block, {}"
ESTIMATED = (
    "estimated from neighbouring blocks, {} of them, merged in pairs and solved again, {}; "
    "{}; from pair to pair the excess is {:.2%} to {:.2%}"
)
SAME_EFFORT = "with the same effort per record"
TIME_LEFT = (
    f"in the {TIME_SHARE:.0%} of the time that are held back for it, with another effort per record than blocks had"
)
OF_STAND_IN = "; all of this in what blocks optimise in the place of the table's own objective"
LOSS = Objective("loss")
LARGER_ARE_BETTER = "blocks twice as large would save this much, what one block for the whole table would is not known"
LARGER_ARE_NO_BETTER = "blocks twice as large would save nothing"


@dataclass(frozen=True)
class SeamCost:
    """The loss of blocks beside the loss of the same records in fewer blocks; both in the problem's own units."""

    how: str
    blocks: float
    merged: float
    range: tuple[float, float] | None = None  # of the excess over pairs
    sense: Sense = "min"

    def details(self) -> dict[str, object]:
        """The comparison by name, with the excess as a share of the smaller loss."""
        return {
            "how": self.how,
            "loss_in_blocks": self.blocks,
            "loss_merged": self.merged,
            "excess": self.excess,
            **({} if self.range is None else {"excess_of_pairs": list(self.range)}),
        }

    @property
    def excess(self) -> float:
        """By how much blocks lose more, as a share of what fewer blocks lose; negative where they lose less."""
        return _excess(self.blocks, self.merged, self.sense)

    @classmethod
    def of_pairs(
        cls,
        losses: Sequence[tuple[float, float]],
        target: Objective = LOSS,
        stand_in: bool = False,
        effort: str = SAME_EFFORT,
    ) -> Self:
        """An estimate from the losses of pairs of blocks, apart and merged."""
        apart, together = (sum(of_pair) for of_pair in zip(*losses, strict=True))
        each = [_excess(*pair, target.sense) for pair in losses]
        found = cls("", apart, together, (min(each), max(each)), target.sense)
        how = ESTIMATED.format(2 * len(losses), effort, found.verdict, min(each), max(each))
        return replace(found, how=how + (OF_STAND_IN if stand_in else ""))

    @property
    def verdict(self) -> str:
        """What an estimate from pairs says of larger blocks."""
        return LARGER_ARE_BETTER if self.excess > 0 else LARGER_ARE_NO_BETTER

    def said(self, blocks: int, inner: str) -> str:
        """The comparison in one sentence."""
        return said(blocks, inner, self.excess, self.how)


def said(blocks: int, inner: str, excess: float, how: str) -> str:
    """What blocks lose beside merged ones, in one sentence."""
    than = "less" if excess < 0 else "more"
    return f"{blocks:,} blocks by {inner} lose {abs(excess):.2%} {than} than merged ones ({how})."


def _excess(blocks: float, merged: float, sense: Sense) -> float:
    more = blocks - merged if sense == "min" else merged - blocks
    return more / abs(merged) if merged else 0.0


def records_merged(cuts: Cuts) -> int:
    """How many records are solved together for comparison, at most: the effort of the inner solver follows."""
    return len(cuts.order) if len(cuts) <= WHOLE_BLOCKS else 2 * int(cuts.sizes.max())


def compare(stitching: Stitching, problem: Problem, inner: Solver, run: Run) -> SeamCost | None:
    """Solve the whole table as one block if it is small, or some pairs of neighbours; what is better is kept.

    Pairs are kept only where losses of blocks add up. None where there is one block only, where no two blocks came from
    one cut, or where time is over.
    """
    cuts = stitching.cuts
    if len(cuts) == 1:
        return None
    if len(cuts) <= WHOLE_BLOCKS:
        return _whole(stitching, problem, inner, run)
    wanted = min(PAIRS, max(FEWEST_PAIRS, -(-len(cuts) // BLOCKS_PER_PAIR)))
    apart = [pair for pair in cuts.pairs.tolist() if stitching.alone(pair) and stitching.alone(pair + 1)]
    pairs = np.random.default_rng(run.seed).permutation(np.array(apart, np.int64))[:wanted]
    losses: list[tuple[float, float]] = []
    for tried, first in enumerate(pairs.tolist()):
        if run.time_limit is not None and run.expired:
            break
        run.report(f"merging blocks for comparison: {len(losses)} of {len(pairs)} pairs")
        rows, part = cuts.rows(first, first + 1), cuts.part(problem, first, first + 1)
        before = _value(part, shifted(stitching.labels[rows], _offset(stitching, first, len(rows))))
        merged = _merged(part, inner, run, run.remaining / (len(pairs) - tried), len(cuts) + first)
        if merged is None:
            continue
        losses.append((before, _value(part, merged)))
        if problem.require(Parts).stand_in is None and part.target.worse(losses[-1][1], before) < 0:
            stitching.put(first, Solved(merged.astype(np.int32), True), first + 1)
    if not losses:
        return None
    return SeamCost.of_pairs(losses, problem.target, problem.require(Parts).stand_in is not None, _effort(run))


def _whole(stitching: Stitching, problem: Problem, inner: Solver, run: Run) -> SeamCost | None:
    run.report("solving the whole table as one block for comparison")
    merged = _merged(problem, inner, run, run.remaining, len(stitching.cuts))
    if merged is None:
        return None
    blocks, one = _value(problem, stitching.stitched()), _value(problem, merged)
    run.offer(merged)
    return SeamCost(MEASURED.format(_effort(run)), blocks, one, sense=problem.target.sense)


def _effort(run: Run) -> str:
    return SAME_EFFORT if run.time_limit is None else TIME_LEFT


def _merged(part: Problem, inner: Solver, run: Run, seconds: float, block: int) -> NDArray[np.int64] | None:
    limit = None if run.time_limit is None else seconds
    solved = solve_block(part, inner, limit, block_seed(run.seed, block), run.interrupt)
    run.interrupt.heed()
    return solved.labels.astype(np.int64) if solved.by_inner and solved.labels is not None else None


def _value(part: Problem, labels: NDArray[np.int64]) -> float:
    return part.evaluate(labels).values[part.target.name]


def _offset(stitching: Stitching, first: int, size: int) -> NDArray[np.int64]:
    """The second block's classes come after the first one's."""
    length = int(stitching.cuts.sizes[first])
    return np.repeat([0, stitching.classes[first]], [length, size - length])


def details_of(found: SeamCost | None, cuts: Cuts, inner: str, run: Run) -> dict[str, object]:
    """The comparison, or why there is none, as it stands in a run's details."""
    if found is not None:
        return {"one_block": found.details(), "remark": found.said(len(cuts), inner)}
    if len(cuts) == 1:
        return {"one_block": NOT_COMPARED.format("all records are one block")}
    why = NOT_COMPARED.format(
        "no time was left" if run.expired else "no two neighbouring blocks could be solved together"
    )
    return {"one_block": why, "remark": not_said(len(cuts), why)}


def not_said(blocks: int, why: str) -> str:
    """That it is not known what seams cost, and why, in one sentence."""
    return f"What seams between {blocks:,} blocks cost is {why}."
