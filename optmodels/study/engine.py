"""Running a study: every run that nothing came of yet, in processes here or on Dask, written as it ends."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from optmodels.errors import InputError, MissingDependencyError, whole
from optmodels.parallel import cores
from optmodels.study.building import planned
from optmodels.study.spec import Study
from optmodels.study.store import HEARTBEAT_SECONDS, OUTCOMES, Store, opened
from optmodels.study.supervise import Record
from optmodels.study.time_left import TimeLeft
from optmodels.study.trials import Trial
from optmodels.study.workers import Workers, local_workers

DONE = OUTCOMES[0]
_TICK_SECONDS = 0.25


@dataclass(frozen=True)
class StudyProgress:
    """Where a study is: runs done, of how many, what became of the last, and the seconds since it was begun."""

    done: int
    total: int
    resumed: int  # of those done, before this time
    failed: int
    seconds: float
    running: int
    last: str = ""
    remaining: float | None = None  # seconds still to go, as far as is known


OnStudyProgress = Callable[[StudyProgress], None]


@dataclass(frozen=True)
class Done:
    """What a call of `run` has come to."""

    made: int
    total: int
    interrupted: bool

    @property
    def complete(self) -> bool:
        """Whether no run is left."""
        return not self.interrupted


def run(
    study: Study,
    out: str | Path,
    *,
    workers: int | None = None,
    dask: str | None = None,
    retry: Sequence[str] = (),
    on_progress: OnStudyProgress | None = None,
) -> Done:
    """Make the runs of a study that are not in the file `out` yet.

    Each run is a process of its own, `workers` of them at a time (as many as there are cores by default), or on the
    Dask cluster at the address `dask`. Killed at any moment, it is called again and goes on; Ctrl-C ends it the same
    way, and what was running then is made again. `retry` names outcomes (crashed, memory, ...) whose runs are made
    again.

    >>> import tempfile
    >>> from optmodels.study import DatasetSpec, FormulationSpec, SolverSpec, open_study
    >>> study = Study("tiny", [DatasetSpec("german", rows=50)], [FormulationSpec("microaggregation", {"k": [3, 5]})],
    ...               [SolverSpec("mdav"), SolverSpec("mondrian")])
    >>> file = Path(tempfile.mkdtemp()) / "runs.db"
    >>> run(study, file, workers=1).made
    4
    >>> open_study(file).runs()["outcome"].tolist()
    ['done', 'done', 'done', 'done']
    """
    if not hasattr(os, "fork"):
        raise InputError("Studies need a system whose processes can fork: Linux, macOS, or WSL on Windows.")
    trials = planned(study)
    if workers is not None:
        whole("workers", workers, 1)
    for outcome in retry:
        if outcome not in OUTCOMES[1:]:
            raise InputError(f"retry names outcomes of runs, {', '.join(OUTCOMES[1:])}, not '{outcome}'.")
    with opened(out) as store, store.owned() as beat:
        store.plan(study.name, trials)
        if retry:
            store.forget(tuple(retry))
        known = store.finished()
        waiting = [trial for trial in trials if trial.key not in known]
        if not waiting:
            return Done(0, len(trials), interrupted=False)
        with _workers_of(study, workers, dask, len(waiting)) as pool:
            return _Dispatch(store, trials, waiting, on_progress).follow(pool, beat)


class _Dispatch:
    """One call of `run`: what waits, what is under way, what has come back."""

    def __init__(
        self, store: Store, trials: Sequence[Trial], waiting: list[Trial], on_progress: OnStudyProgress | None
    ) -> None:
        self._store = store
        self._total, self._resumed = len(trials), len(trials) - len(waiting)
        self._waiting = iter(waiting)
        self._left = len(waiting)
        self._time_left = TimeLeft(trial.solver for trial in waiting)
        self._places = 1
        self._failed = 0
        self._running = 0
        self._began = monotonic()
        self._on_progress = on_progress
        self._back: queue.SimpleQueue[tuple[Trial, Record | BaseException]] = queue.SimpleQueue()

    def follow(self, pool: Workers, beat: Callable[[], None]) -> Done:
        made, beaten = 0, monotonic()
        try:
            self._tell("")
            while self._left:
                self._fill(pool)
                if monotonic() - beaten > HEARTBEAT_SECONDS:
                    beat()
                    beaten = monotonic()
                try:
                    trial, record = self._back.get(timeout=_TICK_SECONDS)
                except queue.Empty:
                    self._tell("")
                    continue
                if isinstance(record, BaseException):
                    raise record
                self._store.write(trial.key, record)
                made += 1
                self._left -= 1
                self._running -= 1
                self._failed += record["outcome"] != DONE
                self._time_left.ended(trial.solver, record)
                self._tell(_described(trial, record))
        except KeyboardInterrupt:
            return Done(made, self._total, interrupted=True)
        return Done(made, self._total, interrupted=False)

    def _fill(self, pool: Workers) -> None:
        self._places = pool.size
        while self._running < self._places and (trial := next(self._waiting, None)) is not None:
            self._running += 1
            pool.begin(trial, lambda trial, record: self._back.put((trial, record)))

    def _tell(self, last: str) -> None:
        if self._on_progress is not None:
            self._on_progress(
                StudyProgress(
                    done=self._total - self._left,
                    total=self._total,
                    resumed=self._resumed,
                    failed=self._failed,
                    seconds=monotonic() - self._began,
                    running=self._running,
                    last=last,
                    remaining=self._time_left.remaining(self._places),
                )
            )


def _described(trial: Trial, record: Record) -> str:
    run = f"{trial.solver} on {trial.dataset}, {trial.model}, {trial.repetition}"
    if record["outcome"] != DONE:
        return f"{run}: {record['outcome']}, {record['reason']}"
    value = "nothing" if record.get("value") is None else f"{record['value']:.6g}"
    return f"{run}: {value} in {record['seconds']:.2f} s"


def _workers_of(study: Study, workers: int | None, dask: str | None, most: int) -> AbstractContextManager[Workers]:
    if dask is not None:
        if workers is not None:
            raise InputError(
                "Give the number of workers or the address of a Dask cluster, which has its own, not both."
            )
        try:
            from optmodels.study.on_dask import dask_workers
        except ImportError as error:
            raise MissingDependencyError("Dask is not installed: pip install 'optmodels[dask]'.") from error

        return dask_workers(dask, study.threads)
    return local_workers(min(workers or max(1, cores() // study.threads), most), study.threads)
