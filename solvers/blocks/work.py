"""What is done with blocks, wherever that is: each is solved by the inner solver, or cut by Mondrian if it fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.clock import now
from optmodels.partition import Labels, canonical
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.solver.interrupt import Interrupt
from optmodels.structures import Priced
from solvers._construction.places import dear_price
from solvers.blocks.allotting import Allotment, cut_with_classes
from solvers.mondrian import MedianCuts

SmallLabels = NDArray[np.int32]


class Solved(NamedTuple):
    """The classes of a block, numbered from 0, or None where nothing was found; and whether by the inner solver."""

    labels: SmallLabels | None
    by_inner: bool


@dataclass(frozen=True)
class Orders:
    """How to solve a batch of blocks: by what, in how many seconds each, from which seeds."""

    inner: Solver
    seconds: float | None
    seeds: Sequence[int]


def solve_batch(parts: Iterable[Problem], orders: Orders, interrupt: Interrupt) -> list[Solved]:
    """The classes of some blocks; time that one leaves over goes to those after it."""
    solved: list[Solved] = []
    deadline = None if orders.seconds is None else now() + orders.seconds * len(orders.seeds)
    for place, (part, seed) in enumerate(zip(parts, orders.seeds, strict=True)):
        left = len(orders.seeds) - place
        seconds = None if deadline is None else (deadline - now()) / left
        solved.append(solve_block(part, orders.inner, seconds, seed, interrupt))
    return solved


def solve_block(part: Problem, inner: Solver, seconds: float | None, seed: int, interrupt: Interrupt) -> Solved:
    """The classes of one block, by the inner solver, or where it finds none in time by median cuts."""
    run = Run(part, inner.name, time_limit=seconds, seed=seed)
    run.interrupt = interrupt  # one Ctrl-C for all blocks
    if not interrupt.pressed and (seconds is None or seconds > 0):
        with suppress(KeyboardInterrupt):  # what was found until then is kept
            inner.search(part, run)
    if run.labels is not None:
        return Solved(run.labels.astype(np.int32), True)
    return median_cuts(part)


def median_cuts(part: Problem) -> Solved:
    """The classes of strict Mondrian: what a block becomes that nothing else was found for.

    All records of a block as one class meet class-wise conditions, and so do the halves of every cut that is made;
    whether they keep what a model asks beyond those, the part itself judges.
    """
    allotment = Allotment.of(part)
    if allotment is not None:
        labels = _single_classes(allotment)
    else:
        cuts = MedianCuts(dear_price(part), part.test)
        cuts.make()
        labels = canonical(cuts.labels())
    if part.structure(Priced) is not None and labels is not None:
        return Solved(labels.astype(np.int32), False)
    for classes in (labels, np.zeros(part.n, np.int64)):
        if classes is not None and part.evaluate(classes).feasible:
            return Solved(classes.astype(np.int32), False)
    return Solved(None, False)


def _single_classes(allotment: Allotment) -> Labels | None:
    """The prescribed number of classes by cuts down to single ones; None where cuts do not come so far."""
    cuts = cut_with_classes(allotment, 0)
    if len(cuts) < len(allotment.least):
        return None
    labels = np.empty(len(cuts.order), np.int64)
    labels[cuts.order] = np.repeat(np.arange(len(cuts)), cuts.sizes)
    return labels


def block_seed(seed: int, block: int) -> int:
    """A seed of its own for every block, whoever solves it and when."""
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])
