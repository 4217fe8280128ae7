"""Where partitions come from: a construction first, then heuristics beside the proof."""

from __future__ import annotations

import numpy as np

from optmodels.parallel import cores
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Centroids, Priced, compiled_price
from solvers.columns.companion import Companion
from solvers.local_search import LocalSearch
from solvers.local_search.construct import first_partition as construct
from solvers.pso import Pso

_SMALL = 60  # records; column generation needs no head start below
# Of the time, for heuristics alone before column generation: most of it where the time, in seconds a record, is too
# short for a bound that is worth anything.
_HEAD_STARTS = ((0.008, 0.85), (0.022, 0.6))
_HEAD_START = 0.2
_HEAD_START_SECONDS = 12.0
_HEAD_START_A_RECORD = 0.01
_SWARM_SHARE = 0.6  # of the companion's time, where the number of classes is prescribed
_A_RECORD = 0.03  # seconds a record after which local search finds little more, and slows the proof down
_SHARE = 0.95  # of what is left of the time; the rest is for combining what was found


def first_partition(priced: Priced) -> Labels | None:
    """Some partition that meets the conditions, or None if none was found."""
    labels = construct(compiled_price(priced), priced.test, priced.n_classes)
    if labels is None and priced.n_classes in (None, 1):
        return np.zeros(priced.n, np.int64)
    return labels


def beside(problem: Problem, priced: Priced, run: Run, seconds: float | None = None) -> Companion:
    """The heuristics that search beside the proof, for so many seconds or for as long as they are of use."""
    if run.labels is None or priced.n <= _SMALL:
        return Companion(run, [])
    if seconds is None:
        hurried = run.remaining < _HEAD_STARTS[0][0] * priced.n  # too much so to combine anything
        seconds = min((1.0 if hurried else _SHARE) * run.remaining, _A_RECORD * priced.n)
    search = LocalSearch(workers=cores())
    chosen: list[tuple[Solver, float]] = [(search, seconds)]
    # few large classes around centroids are what swarms are good at
    if priced.n_classes is not None and problem.require(Centroids).scales:
        chosen = [(Pso(), _SWARM_SHARE * seconds), (search, (1 - _SWARM_SHARE) * seconds)]
    return Companion(run, chosen)


def head_start(priced: Priced, compared: int, run: Run) -> float:
    """Seconds that heuristics have alone: a proof, which compares so many records, begins from what they have found."""
    if priced.n_classes is not None and run.time_limit is not None:
        return _SWARM_SHARE * run.remaining
    a_record = run.remaining / compared
    short = next((share for seconds, share in _HEAD_STARTS if a_record < seconds), None)
    if short is not None:
        return short * run.remaining
    return min(_HEAD_START * run.remaining, _HEAD_START_SECONDS, _HEAD_START_A_RECORD * compared)
