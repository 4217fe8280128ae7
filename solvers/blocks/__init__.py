"""Blocks: a table of any size, cut into blocks that any solver solves, in threads, processes or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

import numpy as np

from optmodels import registry
from optmodels.errors import InputError, unknown, whole
from optmodels.problem import Problem, Separable
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from solvers.blocks import backends, crew, seams
from solvers.blocks.cutting import Cut, Cuts, cut_into_blocks
from solvers.blocks.stitching import Stitching, solve_blocks

__all__ = ["Blocks"]

# What local search does by default where no time limit says how long it may take.
ROUNDS_PER_RECORD = 2.0
# Inner solvers that are compiled and let go of the interpreter; others take turns in one process.
_SIDE_BY_SIDE = ("local_search", "mondrian", "mdav")


@dataclass(frozen=True)
class Blocks(Solver):
    """Cut the table into blocks, solve each with `inner`, and put the classes together.

    `cut` is "kd" (median cuts along the dearest attribute) or "strata" (every cut halves each combination of sensitive
    values, so that blocks mirror the table). k, l and t against the whole table's distribution hold for all classes,
    since blocks are measured as the whole is. `backend` is "in-process", "processes" or "dask", which needs
    the `address` of a scheduler or a `distributed.Client`. For one seed the answer is the same on every
    backend and with any number of workers, unless a time limit decides how long each block is worked on.

    With `compare` the details say what the seams cost: a table of few blocks is solved as one block too, of others some
    pairs of neighbouring blocks are, which takes a tenth of the time where there are 80 blocks or more.

    >>> import optmodels as om
    >>> from formulations import Microaggregation
    >>> problem = Microaggregation(k=5).build(om.dataset("german"))
    >>> solution = Blocks(block_size=250).solve(problem)
    >>> solution.details["blocks"], problem.evaluate(solution.labels).feasible
    (5, True)
    """

    name: ClassVar[str] = "blocks"
    summary: ClassVar[str] = "any size: cuts the table into blocks for any solver, in processes or on Dask; heuristic"

    inner: str = "local_search"
    inner_options: Mapping[str, Any] | None = None
    block_size: int = 4_000
    cut: Cut = "kd"
    backend: crew.Backend = "in-process"
    workers: int | None = None
    address: Any = field(default=None, compare=False)
    compare: bool = True

    def __post_init__(self) -> None:
        if self.inner == self.name:
            raise InputError("The inner solver of 'blocks' solves single blocks: name another, such as 'local_search'.")
        if not isinstance(self.inner_options, Mapping | None):
            raise InputError(
                f"inner_options are options by name, such as {{'iterations': 1000}}, not {self.inner_options!r}."
            )
        self._configured(1, timed=False)  # a misspelt name or option of the inner solver is met now
        whole("block_size", self.block_size, 2)
        if self.cut not in get_args(Cut):
            raise unknown("cut", str(self.cut), get_args(Cut))
        if self.backend not in get_args(crew.Backend):
            raise unknown("backend", str(self.backend), get_args(crew.Backend))
        if self.workers is not None:
            whole("workers", self.workers, 1)
        if not isinstance(self.compare, bool):
            raise InputError(f"compare must be True or False, not {self.compare!r}.")
        if (self.address is None) == (self.backend == "dask"):
            raise InputError(
                "backend='dask' needs the address of a scheduler, or a client: address='tcp://host:8786'."
                if self.address is None
                else f"address={self.address!r} is for backend='dask', and the backend is '{self.backend}'."
            )

    def refuses(self, problem: Problem) -> str | None:
        """Blocks need a problem that can be taken apart, and an inner solver that takes its parts."""
        if not isinstance(problem, Separable):
            return (
                "it needs a model whose classes have a price and conditions of their own, and "
                f"'{problem.formulation.name}' with the target '{problem.target.name}' ties classes together."
            )
        if problem.n_classes is not None:
            return f"it cannot promise {problem.n_classes} classes over all blocks: leave their number free."
        sample = problem.restricted(np.arange(min(problem.price.n, self.block_size)))
        if reason := self._configured(self.block_size, timed=False).refuses(sample):
            return f"its inner solver '{self.inner}' does not take blocks of it: {reason}"
        return None

    def search(self, problem: Problem, run: Run) -> None:
        """Cut, solve block after block while time is left, and offer the classes of all of them together."""
        assert isinstance(problem, Separable)
        with crew.dask_client(self.address) as client:  # first: a dead address is to be met at once
            run.report("cutting into blocks")
            cuts = cut_into_blocks(
                problem.price,
                problem.test,
                self.block_size,
                self.cut,
                halted=lambda: run.interrupt.pressed or run.remaining <= 0,
            )
            run.details |= {"inner": self.inner, "cut": self.cut, "backend": self.backend, **cuts.told()}
            self._solve(problem, cuts, client, run)
        run.interrupt.heed()
        if self.inner == "local_search":
            counted = run.time_limit is None or "iterations" in (self.inner_options or {})
            run.stop = Stop.ITERATIONS if counted and run.stop is Stop.CONVERGED else Stop.TIME

    def _solve(self, problem: Separable, cuts: Cuts, client: Any, run: Run) -> None:
        timed = run.time_limit is not None
        stitching = Stitching(cuts)
        inner = self._configured(int(cuts.sizes.max()), timed=timed)
        held_back = seams.TIME_SHARE if self.compare else 0.0
        try:
            with backends.opened(
                self.backend, _taker_apart(problem), cuts, self.worker_count, client, run.interrupt
            ) as shop:
                run.details["workers"] = shop.crew.workers
                solve_blocks(stitching, shop, inner, run, held_back=held_back)
            if self.compare and stitching.solved == len(cuts) and not run.expired:
                larger = self._configured(seams.records_merged(cuts), timed=timed)
                found = seams.compare(stitching, problem, larger, run)
                if found is not None:
                    run.details |= {"one_block": found.told(), "remark": found.said(len(cuts), self.inner)}
        finally:
            stitching.fill(problem)
            run.offer(stitching.stitched())
            run.details |= stitching.told()

    @property
    def worker_count(self) -> int:
        """How many workers there are to be in threads or processes; a cluster has its own."""
        if self.workers is not None:
            return self.workers
        return crew.cores() if self.backend != "in-process" or self.inner in _SIDE_BY_SIDE else 1

    def _configured(self, records: int, *, timed: bool) -> Solver:
        """The inner solver; blocks are what is done side by side, so within one there is one worker."""
        kind = registry.solver(self.inner)
        options = dict(self.inner_options or {})
        if "workers" in kind.options():
            options.setdefault("workers", 1)
        if self.inner == "local_search" and not timed:
            options.setdefault("iterations", int(ROUNDS_PER_RECORD * records))
        return registry.configured(kind, options)


def _taker_apart(problem: Separable) -> Separable:
    """Whose parts the blocks are: a problem that is only judged otherwise leaves that to its original.

    The original consists of data alone and can be sent to other processes; ways to judge cannot.
    """
    owner = getattr(problem.restricted, "__self__", problem)
    return owner if isinstance(owner, Separable) else problem
