"""Blocks: a table of any size, cut into blocks that any solver solves, in threads, processes or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

import numpy as np

from optmodels import registry
from optmodels.errors import InputError, unknown, whole
from optmodels.parallel import cores
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from optmodels.solver.leaving_out import leave_out_who_pays
from optmodels.structures import Parts, Priced, Structure
from solvers._construction.places import dear_price
from solvers.auto import choice
from solvers.blocks import backends, seams, worker_pool
from solvers.blocks.allotting import Allotment, cut_with_classes
from solvers.blocks.cutting import Cut, Cuts, cut_into_blocks
from solvers.blocks.stitching import Stitching, solve_blocks

__all__ = ["Blocks"]

USUAL = "local_search"
# What it does where no time limit says how long it may take.
ROUNDS_PER_RECORD = 2.0
# Inner solvers that are compiled and let go of the interpreter; others take turns in one process.
_SIDE_BY_SIDE = ("local_search", "mondrian", "mdav")


@dataclass(frozen=True)
class Blocks(Solver):
    """Cut the table into blocks, solve each with `inner`, and put the classes together.

    A block has up to `block_size` records. `inner` is any solver that takes the blocks, with `inner_options`; unless
    given it is local search where classes have a price, and what 'auto' would choose elsewhere. Classes whose number is
    prescribed, and their centres, are shared out with the records. Where what a model optimises is no sum over blocks,
    they optimise a stand-in, which the details name; the value is the whole problem's own.

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
    >>> solution = Blocks(block_size=250, inner_options={"iterations": 200}).solve(problem)
    >>> solution.details["blocks"], problem.evaluate(solution.labels).feasible
    (5, True)
    """

    name: ClassVar[str] = "blocks"
    summary: ClassVar[str] = "any size: cuts the table into blocks for any solver, in processes or on Dask; heuristic"
    needs: ClassVar[tuple[type[Structure], ...]] = (Parts,)

    inner: str | None = None
    inner_options: Mapping[str, Any] | None = None
    block_size: int = 4_000
    cut: Cut = "kd"
    backend: worker_pool.Backend = "in-process"
    workers: int | None = None
    address: Any = field(default=None, compare=False)
    compare: bool = True

    def __post_init__(self) -> None:
        if self.inner == self.name:
            raise InputError(f"The inner solver of 'blocks' solves single blocks: name another, such as '{USUAL}'.")
        if not isinstance(self.inner_options, Mapping | None):
            raise InputError(
                f"inner_options are options by name, such as {{'iterations': 1000}}, not {self.inner_options!r}."
            )
        inner = self.configured(self.inner or USUAL, 1, timed=False)  # a misspelt name or option is met now
        if getattr(inner, "recentre", False):
            raise InputError("recentre moves the centres of all classes, and a block has some of them: leave it out.")
        whole("block_size", self.block_size, 2)
        if self.cut not in get_args(Cut):
            raise unknown("cut", str(self.cut), get_args(Cut))
        if self.backend not in get_args(worker_pool.Backend):
            raise unknown("backend", str(self.backend), get_args(worker_pool.Backend))
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

    def cannot(self, problem: Problem) -> str | None:
        """There must be an inner solver that takes parts of the problem."""
        try:
            sample = self._sample(problem)
        except InputError as lacking:
            return f"blocks of it cannot be judged by '{problem.target.name}': {lacking}"
        name = self.inner_for(sample)
        if reason := self.configured(name, self.block_size, timed=False).refuses(sample):
            return f"its inner solver '{name}' does not take blocks of it: {reason}"
        return None

    def _sample(self, problem: Problem) -> Problem:
        """A part about as large as blocks are."""
        n = min(problem.n, self.block_size)
        allotment = Allotment.of(problem)
        if allotment is None:
            return problem.part(np.arange(n))
        return problem.restricted(np.arange(n), np.arange(max(1, len(allotment.least) * n // problem.n)))

    def inner_for(self, sample: Problem) -> str:
        """The name of the inner solver: as given, or what suits such a part."""
        if self.inner is not None:
            return self.inner
        priced = sample.structure(Priced)
        return USUAL if priced is not None and priced.compiled is not None else choice(sample).name

    def decides_suppression(self, problem: Problem) -> bool:
        """Every block leaves out its share of the records where the inner solver decides whom."""
        sample = self._sample(problem)
        return self.configured(self.inner_for(sample), self.block_size, timed=False).decides_suppression(sample)

    def search(self, problem: Problem, run: Run) -> None:
        """Cut, solve block after block while time is left, and offer the classes of all of them together."""
        with worker_pool.dask_client(self.address) as client:  # first: a dead address is to be met at once
            run.report("cutting into blocks")
            cuts = self.cut_up(problem, lambda: run.interrupt.pressed or run.remaining <= 0)
            inner = self.inner_for(self._sample(problem))
            run.details |= {"inner": inner, "cut": self.cut, "backend": self.backend, **cuts.details()}
            run.details |= blocks_optimise(problem.require(Parts).stand_in if len(cuts) > 1 else None)
            self._solve(problem, cuts, inner, client, run)
        if problem.suppression.most and run.leaves_out and not run.expired:
            leave_out_who_pays(problem, run)  # shares are rounded down, and some blocks have less to gain than others
        run.interrupt.heed()
        if inner == USUAL:
            counted = run.time_limit is None or "iterations" in (self.inner_options or {})
            run.stop = Stop.ITERATIONS if counted and run.stop is Stop.CONVERGED else Stop.TIME

    def cut_up(self, problem: Problem, halted: Callable[[], bool] = lambda: False) -> Cuts:
        """The blocks of a problem; once halted, parts stay as they are."""
        allotment = Allotment.of(problem)
        if allotment is not None:
            return cut_with_classes(allotment, self.block_size, by_strata=self.cut == "strata", halted=halted)
        return cut_into_blocks(dear_price(problem), problem.test, self.block_size, self.cut, halted=halted)

    def _solve(self, problem: Problem, cuts: Cuts, inner: str, client: Any, run: Run) -> None:
        timed = run.time_limit is not None
        stitching = Stitching(cuts)
        solver = self.configured(inner, int(cuts.sizes.max()), timed=timed)
        workers = self.workers_for(inner)
        try:
            with backends.opened(self.backend, problem, cuts, workers, client, run.interrupt) as shop:
                run.details["workers"] = shop.pool.workers
                solve_blocks(stitching, shop, solver, run, held_back=seams.TIME_SHARE if self.compare else 0.0)
            stitching.finish(problem, solver, run)
            if stitching.complete and self.compare:
                larger = self.configured(inner, seams.records_merged(cuts), timed=timed)
                found = None if run.expired else seams.compare(stitching, problem, larger, run)
                run.details |= seams.details_of(found, cuts, inner, run)
        finally:
            stitching.finish(problem, solver, run)
            if stitching.complete:
                run.offer(stitching.stitched())
            if run.labels is None:
                run.details["remark"] = (
                    f"No classes that keep all conditions were found, not even in one block by {inner}."
                )
            run.details |= stitching.details()
            if stitching.lost:
                said = run.details.get("remark", "")
                run.details["remark"] = f"{said} Not all blocks are solved: {stitching.lost}".lstrip()

    def workers_for(self, inner: str) -> int:
        """How many workers there are to be in threads or processes; a cluster has its own."""
        if self.workers is not None:
            return self.workers
        return cores() if self.backend != "in-process" or inner in _SIDE_BY_SIDE else 1

    def configured(self, inner: str, records: int, *, timed: bool) -> Solver:
        """The inner solver; blocks are what is done side by side, so within one there is one worker."""
        kind = registry.solver(inner)
        options = dict(self.inner_options or {})
        if "workers" in kind.options():
            options.setdefault("workers", 1)
        if inner == USUAL and not timed:
            options.setdefault("iterations", int(ROUNDS_PER_RECORD * records))
        return registry.configured(kind, options)


def blocks_optimise(stand_in: str | None) -> dict[str, str]:
    """What has to be told where blocks optimise something in the place of the whole's target."""
    if stand_in is None:
        return {}
    return {"blocks_optimise": f"{stand_in}: a stand-in, so nothing is proven of the whole"}
