"""What seams cost from folder to folder: pairs of blocks of some groups, apart and merged.

Of a sampled group two blocks that one cut made are solved apart and together; and its block that is nearest to the next
group, with the block there that is nearest to it. A worker holds one group while it picks blocks of it, and two blocks
while it solves them, so the bound on its memory stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.folders.groups import places_of
from optmodels.folders.plan import Plan
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solver.interrupt import Interrupt
from optmodels.structures import Priced
from optmodels.suppression import left_out
from optmodels.table import Table
from solvers.blocks.cutting import Cuts
from solvers.blocks.seams import FEWEST_PAIRS, OF_STAND_IN, PAIRS, SeamCost
from solvers.blocks.stitching import shifted
from solvers.blocks.watching import pressed_once
from solvers.blocks.work import block_seed, solve_block

Members = Sequence[tuple[str, int]]
FROM_GROUPS = (
    "estimated from {pairs} pairs of neighbouring blocks, {across} of them across two groups of records, solved apart "
    "and merged with the same effort per record; {verdict}; from pair to pair the excess is {least:.2%} to {most:.2%}"
)


class SeamPair(NamedTuple):
    """What two blocks lose apart and merged, and whether they belong to two groups."""

    apart: float
    together: float
    across: bool


@dataclass(frozen=True)
class Estimate:
    """The pairs that were looked at."""

    pairs: Sequence[SeamPair]
    stand_in: bool = False  # whether blocks optimise something in the place of the whole's target

    def to_dict(self) -> dict[str, object]:
        """The estimate by name: the excess over merged blocks, its range, from how many pairs and how."""
        found = SeamCost.of_pairs([(pair.apart, pair.together) for pair in self.pairs])
        assert found.range is not None
        across = sum(pair.across for pair in self.pairs)
        least, most = found.range
        how = FROM_GROUPS.format(pairs=len(self.pairs), across=across, verdict=found.verdict, least=least, most=most)
        how += OF_STAND_IN if self.stand_in else ""
        return {
            "how": how,
            "excess": found.excess,
            "excess_of_pairs": [least, most],
            "pairs": len(self.pairs),
            "pairs_across_groups": across,
        }


def sampled_groups(groups: int, seed: int) -> list[int]:
    """The groups whose seams are looked at: each gives a pair of its own, and one with the group after it."""
    wanted = min(groups, ceil(PAIRS / 2), max(ceil(FEWEST_PAIRS / 2), ceil(groups / 10)))
    return sorted(np.random.default_rng([seed, groups]).permutation(groups)[:wanted].tolist())


def pairs_of(
    number: int, members: Members, neighbour: Members | None, plan: Plan, seconds: float | None
) -> list[SeamPair]:
    """What seams of a group cost: within it, and towards a neighbouring group if there is one."""
    there = None if neighbour is None else _Group.of(neighbour, plan).middles
    group = _Group.of(members, plan)
    chosen: list[tuple[list[pd.DataFrame], bool]] = []
    if len(group.cuts.pairs):
        first = int(np.random.default_rng([plan.seed, number]).choice(group.cuts.pairs))
        chosen.append(([group.frame(first), group.frame(first + 1)], False))
    if neighbour is not None and there is not None:
        away = np.square(group.middles[:, None] - there).sum(axis=2)
        mine, theirs = divmod(int(away.argmin()), len(there))
        own = group.frame(mine)
        del group  # one group at a time
        chosen.append(([own, _Group.of(neighbour, plan).frame(theirs)], True))
    found = []
    with pressed_once(plan.stopped) as interrupt:
        for place, (frames, across) in enumerate(chosen):
            limit = None if seconds is None else seconds / len(chosen)
            pair = _solved(frames, across, plan, block_seed(plan.seed, 2 * number + place), limit, interrupt)
            found += [] if pair is None else [pair]
    return found


@dataclass(frozen=True)
class _Group:
    """The records of a group, where they lie, and the blocks that it is cut into."""

    records: pd.DataFrame
    cuts: Cuts
    middles: NDArray[np.float64]  # of blocks

    @classmethod
    def of(cls, members: Members, plan: Plan) -> _Group:
        problem = plan.read(members)
        cuts = plan.solver.cut_up(problem)
        places = places_of(problem)[cuts.order]
        middles = np.add.reduceat(places, cuts.starts[:-1], axis=0) / cuts.sizes[:, None]
        return cls(problem.table.frame, cuts, middles)

    def frame(self, block: int) -> pd.DataFrame:
        """The records of a block."""
        return self.records.iloc[self.cuts.rows(block)]


def _solved(
    frames: list[pd.DataFrame], across: bool, plan: Plan, seed: int, seconds: float | None, interrupt: Interrupt
) -> SeamPair | None:
    """Two blocks solved apart and merged; None where there was no time for one of the three."""
    largest = max(map(len, frames))
    found: list[Labels] = []
    for share, some in ((1, frames[:1]), (1, frames[1:]), (2, frames)):
        part = plan.posed(Table.with_roles(pd.concat(some, ignore_index=True), plan.roles_once_cleaned))
        inner = plan.solver.configured(plan.solver.inner_for(part), share * largest, timed=seconds is not None)
        limit = None if seconds is None else seconds * share / 4
        solved = solve_block(part, inner, limit, seed, interrupt)
        if solved.labels is None or not solved.by_inner:
            return None
        found.append(solved.labels.astype(np.int64))
    first, second, merged = found
    apart = np.concatenate([first, shifted(second, np.full(len(second), first.max() + 1))])
    return SeamPair(_cost(part, apart), _cost(part, merged), across)


def _cost(part: Problem, labels: Labels) -> float:
    """What classes cost, so that it adds up over pairs: the price, or else every record the target's value."""
    priced = part.structure(Priced)
    if priced is not None:
        return priced.price.total(labels) + left_out(labels) * priced.left_out_price
    return part.n * part.values(labels)[part.target.name]
