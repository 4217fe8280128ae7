"""Heuristics at work beside a proof: they offer what they find to the same run, from the first second on.

A proof needs good partitions to prune with, and who waits for a proof that does not come in time wants the best
partition there is. So heuristics search in a thread of their own, by kernels that let go of the interpreter, for as
long as they may still find something; where there is but one core they share it. One judge, one clock and one
Ctrl-C: theirs are those of the run that they search for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from optmodels.parallel import begin_worker, cores
from optmodels.partition import LEFT_OUT, Labels
from optmodels.solver import Run, Solver

LOOK_SECONDS = 0.1
MOST_KEPT = 200  # partitions whose classes the master may combine, the last ones


class Companion:
    """Solvers that search one after the other beside whoever made it, each for so many seconds, from the best so far.

    It ends with the `with` that it is used in, or when its solvers have: an error of theirs is raised there.
    """

    def __init__(self, run: Run, solvers: list[tuple[Solver, float]]) -> None:
        self.found: list[Labels] = []
        self._run, self._solvers = run, solvers
        self._share = cores()
        self._current: Run | None = None
        self._stopped = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="companion", daemon=True)

    def __enter__(self) -> Self:
        if self._solvers:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped = True
        if self._current is not None:
            self._current.interrupt.pressed = True
        if self._thread.ident is not None:
            self._thread.join()
        if self._error is not None and error is None:
            raise self._error from None

    @property
    def searching(self) -> bool:
        """Whether it is still at work."""
        return self._thread.is_alive()

    def wait(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Wait so long, or until it has ended or there is enough; Ctrl-C is heeded and progress reported."""
        end = self._run.seconds + seconds
        while self.searching and self._run.seconds < end and not enough() and not self._run.expired:
            self._thread.join(min(LOOK_SECONDS, max(end - self._run.seconds, 0.0)))
            self._run.report("local search")
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        begin_worker(self._share)
        try:
            for solver, seconds in self._solvers:
                if self._stopped or self._run.remaining <= 0:
                    return
                self._current = _Beside(self._run, solver.name, min(seconds, self._run.remaining), self.found)
                if self._stopped:
                    return
                solver.search(self._run.problem, self._current)
        except BaseException as error:
            if not (self._stopped and isinstance(error, KeyboardInterrupt)):  # which is how it is stopped
                self._error = error


class _Beside(Run):
    """A run whose partitions are another's, too."""

    def __init__(self, main: Run, solver: str, seconds: float, found: list[Labels]) -> None:
        # heuristics move records between classes; who is left out of all of them, the proof decides
        start = None if main.labels is None or (main.labels == LEFT_OUT).any() else main.labels
        super().__init__(main.problem, solver, time_limit=seconds, seed=main.seed, start=start)
        self._main, self._found = main, found

    def offer(self, labels: NDArray[np.integer[Any]]) -> bool:
        """Keep it if it is the best of this search, and let the other run judge it as well."""
        better = super().offer(labels)
        if better and self.labels is not None:
            self._found.append(self.labels)
            del self._found[:-MOST_KEPT]
            self._main.offer(self.labels)
        return better
