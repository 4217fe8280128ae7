"""The split algorithm of Liang and Samavi (2020): few sorted groups at a time go to an exact solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from optmodels import registry
from optmodels.errors import InputError, whole
from optmodels.partition import Labels, canonical
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from optmodels.structures import ClassCount, Parts, Priced, Structure
from solvers._construction.box_tree import Rows
from solvers.liang.greedy import by_increasing_variance

_LEAST_SECONDS = 1e-3  # for the subproblem in which time runs out


@dataclass(frozen=True)
class LiangSplit(Solver):
    """Sorted records are cut into groups of k, and the groups improved exactly, a few at a time.

    Records are sorted by attributes in increasing order of their variance. `groups` of them at a time are one small
    problem for the exact `solver`; classes in which one of its last k records ends up are open again in the next. When
    time is over, the groups not reached stay as they are.

    >>> import pandas as pd
    >>> from formulations import LiangSamavi
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> LiangSplit().solve(LiangSamavi(k=3).build(table)).labels
    array([0, 1, 0, 1, 0, 1])
    """

    name: ClassVar[str] = "liang-split"
    summary: ClassVar[str] = "sorted groups of k, a few at a time solved exactly; feasible, heuristic"
    needs: ClassVar[tuple[type[Structure], ...]] = (Priced, Parts)
    rejects: ClassVar[tuple[type[Structure], ...]] = (ClassCount,)
    only: ClassVar[str] = "k alone"

    groups: int = 3
    solver: str = "columns"

    def __post_init__(self) -> None:
        whole("groups", self.groups, 1, "that many groups of k records are solved at a time")
        if not registry.solver(self.solver).exact:
            raise InputError(f"The solver '{self.solver}' proves nothing: subproblems need an exact one, as 'columns'.")

    def cannot(self, problem: Problem) -> str | None:
        """Groups of k neighbours must be classes, so only size may matter."""
        if not problem.test.only_size:
            return "groups of k sorted neighbours need not be diverse or close: ask for k only."
        return None

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the sorted groups, and then what the exact solver makes of them."""
        order, k = by_increasing_variance(problem.table), problem.test.k
        n_groups = problem.n // k
        # A class is named by one of its records, so that no name is ever given twice.
        labels = np.empty(problem.n, np.int64)
        labels[order] = order[k * np.minimum(np.arange(problem.n) // k, n_groups - 1)]
        run.offer(labels)
        carried = np.zeros(0, np.int64)
        try:
            for group in range(0, n_groups, self.groups):
                if run.expired:
                    break
                end = problem.n if group + self.groups >= n_groups else (group + self.groups) * k
                rows = np.concatenate([carried, order[group * k : end]])
                self._improve(problem, run, labels, rows, (n_groups - group) / self.groups)
                carried = rows[np.isin(labels[rows], labels[rows[-k:]])]
                run.report("records in their classes", done=end, total=problem.n)
        finally:
            run.offer(labels)

    def _improve(self, problem: Problem, run: Run, labels: Labels, rows: Rows, left: float) -> None:
        """Replace the classes of some rows by the best ones, in place; `left` tells how many such steps there are."""
        priced = problem.require(Priced)
        if priced.compiled is not None and priced.price.take(rows).total(canonical(labels[rows])) == 0.0:
            return  # classes of equal records, than which there are no better ones
        # a plain price takes as long as it is given, a compiled one hardly ever
        share = run.remaining / (1.0 if priced.compiled is not None else max(left, 1.0))
        time_limit = None if run.remaining == float("inf") else max(share, _LEAST_SECONDS)
        part = problem.part(rows).allowing(0)
        found = registry.solver(self.solver)().solve(part, time_limit=time_limit, seed=run.seed, start=labels[rows])
        if found.labels is not None:
            first = np.unique(found.labels, return_index=True)[1]
            labels[rows] = rows[first][found.labels]
        if found.stop is Stop.TIME:
            run.stop = Stop.TIME
        if found.stop is Stop.INTERRUPTED:  # it was the inner run that listened
            raise KeyboardInterrupt
