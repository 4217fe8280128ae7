"""Steps of a folder's release, each done by all workers side by side, under one clock and one Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from optmodels.clock import now
from optmodels.errors import NoSolutionError
from optmodels.solver import OnProgress, Progress
from optmodels.solver.interrupt import Interrupt
from solvers.blocks.worker_pool import Step, WorkerPool

Result = TypeVar("Result")


def _whenever(arguments: tuple[Any, ...], _: int) -> tuple[Any, ...]:
    """The arguments of a step that are the same however many steps are unfinished."""
    return arguments


class Steps:
    """Workers, the time that is left for them, and who is told where they are."""

    def __init__(self, workers: WorkerPool, time_limit: float | None, on_progress: OnProgress | None) -> None:
        self.workers, self.time_limit, self.on_progress = workers, time_limit, on_progress
        self.interrupt = Interrupt()
        self.began = now()
        self.held_back = 0.0  # seconds that are wanted for something else afterwards

    @property
    def seconds(self) -> float:
        """Seconds since the first step began."""
        return now() - self.began

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self.interrupt.pressed

    @property
    def remaining(self) -> float:
        """Seconds left; none after Ctrl-C."""
        if self.interrupted:
            return 0.0
        return float("inf") if self.time_limit is None else self.time_limit - self.seconds

    def share(self, unfinished: int) -> float | None:
        """The seconds of one of so many steps that are not finished yet; None without a limit."""
        left = self.remaining if self.interrupted else self.remaining - self.held_back
        share = left * min(self.workers.workers, unfinished) / unfinished
        return None if share == float("inf") else share

    def each(self, note: str, work: Callable[..., Result], given: Sequence[tuple[Any, ...]]) -> list[Result]:
        """The results of some work on each of these arguments."""
        return self._all(note, [Step(work, partial(_whenever, one)) for one in given])

    def stoppable(self, note: str, stop_file: Path, steps: Sequence[Step[Result]]) -> list[Result]:
        """The results of steps that look for a file while they are under way, which Ctrl-C makes."""

        def pass_on() -> None:
            if self.interrupted:
                stop_file.touch()

        try:
            return self._all(note, steps, pass_on)
        except BaseException:  # a second Ctrl-C, or a group without a solution: nobody waits for the others
            stop_file.touch()
            raise

    def _all(
        self, note: str, steps: Sequence[Step[Result]], meanwhile: Callable[[], object] = lambda: None
    ) -> list[Result]:
        results: dict[int, Result] = {}

        def report() -> None:
            if self.on_progress is not None:
                self.on_progress(Progress("blocks", self.seconds, None, None, None, note, len(results), len(steps)))
            meanwhile()

        def lost(step: int, error: BaseException) -> None:
            raise NoSolutionError(
                f"Workers died again and again ({' '.join(str(error).split())}): most likely they ran out of memory. "
                "Lower group_rows, or give them more."
            ) from error

        self.workers.do(steps, take=results.__setitem__, lost=lost, report=report)
        return [results[step] for step in range(len(steps))]
