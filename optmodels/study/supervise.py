"""A place in which runs are made one after the other, each within its limits; whatever happens there is a record."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import psutil

from optmodels.errors import OptmodelsError
from optmodels.parallel import CORES
from optmodels.study.spec import Limits
from optmodels.study.trials import Trial
from optmodels.study.worker import kill_group

_LOOK_SECONDS = 0.05
_FAMILY_SECONDS = 1.0  # between looks for processes that a run has started
_LOOKS_SHARE = 0.05  # of the time may go into counting pages that several processes share
_START_SECONDS = 600.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_SHOWN = 1_000  # characters of what a crashed run said first, and last

Record = dict[str, Any]


class WorkerError(OptmodelsError):
    """No process for runs can be started."""


class Place:
    """One worker process and the run under way in it; a new worker is started where the last one is lost."""

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._worker: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # the worker's stderr, for as long as this place exists
        self._held = b""
        self._environment: dict[str, Any] = {}
        self._closed = False

    def run(self, trial: Trial) -> Record:
        """Make the run, and tell what came of it.

        Raises:
            WorkerError: no process can be started, or this place was stopped, which is no result of the run.
        """
        worker = self._asked(trial)
        watch = _Watch(Limits(**trial.limits))
        record: Record = {}
        for message in self._messages(worker):
            if message is None:
                watch.look()
                continue
            watch.process = message.get("process", watch.process)
            watch.enter(message.get("phase"))
            record |= message.get("record", {})
            if "ended" in message:
                record |= watch.verdict() or self._crash(message["ended"], record, watch.phase)
                break
        else:
            self.close_worker()
            if self._closed:
                raise WorkerError("This place for runs was closed while a run was under way.")
            record |= watch.verdict() or {"outcome": "crashed", "reason": f"its worker ended during {watch.phase}"}
        record["peak_memory"] = max(record.get("peak_memory") or 0, watch.peak) or None
        if watch.phase == "solve":
            record.setdefault("seconds", watch.seconds)
        return record | {"environment": self._environment}

    def stop(self) -> None:
        """Let the run under way be killed, from whichever thread; its record is worth nothing."""
        self._closed = True
        if (worker := self._worker) is not None and worker.stdin is not None:
            with suppress(OSError):
                worker.stdin.close()

    def close(self) -> None:
        """End the worker and whatever it runs."""
        self.stop()
        self.close_worker()
        self._said.close()

    def close_worker(self, *, starting: bool = False) -> None:
        """End the worker, if there is one; its input ends, so it takes its run with it.

        One that is still starting has no run, and does not look at its input: it is not waited for.
        """
        worker, self._worker = self._worker, None
        if worker is None:
            return
        assert worker.stdin is not None
        assert worker.stdout is not None
        with suppress(OSError):
            worker.stdin.close()
        try:
            worker.wait(0 if starting else 2)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        worker.stdout.close()

    def _asked(self, trial: Trial) -> subprocess.Popen[bytes]:
        """The worker that has been given the trial."""
        while True:
            worker = self._ready()
            assert worker.stdin is not None
            try:
                worker.stdin.write(trial.to_json().encode() + b"\n")
                worker.stdin.flush()
            except (OSError, ValueError):  # it was lost, or stopped, since it was last looked at
                self.close_worker()
            else:
                return worker

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise WorkerError("This place for runs is closed.")
        if self._worker is not None and self._worker.poll() is None:
            return self._worker
        self.close_worker()
        self._held = b""
        paths = os.pathsep.join(path for path in sys.path if path)
        self._worker = worker = subprocess.Popen(
            [sys.executable, "-m", "optmodels.study.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **dict.fromkeys((*_THREADS, CORES), str(self._threads)), "PYTHONPATH": paths},
            start_new_session=True,
        )
        deadline = monotonic() + _START_SECONDS
        for message in self._messages(worker):
            if message is not None:
                self._environment = message["environment"]
                return worker
            if self._closed or monotonic() > deadline:  # who stops it does not wait for a start
                break
        self.close_worker(starting=True)
        raise WorkerError(f"The process for runs does not start: {self._last_said() or 'it says nothing'}")

    def _messages(self, worker: subprocess.Popen[bytes]) -> Iterator[dict[str, Any] | None]:
        """What the worker says, None whenever it is silent for a moment; the end if it is lost."""
        assert worker.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(worker.stdout, selectors.EVENT_READ)
            while True:
                while b"\n" in self._held:
                    line, self._held = self._held.split(b"\n", 1)
                    with suppress(ValueError):  # nothing, or cut short when a run was killed
                        yield json.loads(line)
                if not selector.select(_LOOK_SECONDS):
                    yield None
                    continue
                piece = os.read(worker.stdout.fileno(), 1 << 16)
                if not piece:
                    return
                self._held += piece

    def _crash(self, code: int, record: Record, phase: str) -> Record:
        if code == 0 and "outcome" in record:
            return {}
        if code < 0:
            how = f"killed by {signal.Signals(-code).name}"
        else:
            how = f"ended with exit code {code}" if code else "ended without a record"
        last = self._last_said()
        return {"outcome": "crashed", "reason": f"{how} during {phase}", "trace": last}

    def _last_said(self) -> str:
        said = os.pread(self._said.fileno(), 1 << 20, 0).decode(errors="replace")
        # Python's fault handler ends with all modules that are loaded, which tells nobody anything.
        said = said.split("Extension modules:")[0].strip("\0\n ")
        return said if len(said) <= 2 * _SHOWN else f"{said[:_SHOWN]}\n...\n{said[-_SHOWN:]}"


class _Watch:
    """The clock and the memory of one run; when it is over a limit it is killed, and the verdict says why."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.process: int | None = None
        self.phase = "setup"
        self.peak = 0
        self._since = monotonic()
        self._family: list[psutil.Process] = []
        self._looked = 0.0
        self._together, self._count_after = 0, 0.0
        self._verdict: Record | None = None

    def enter(self, phase: str | None) -> None:
        """The run has come to another phase."""
        if phase is not None:
            if phase == "solve":
                self._since, self.peak = monotonic(), 0
            self.phase = phase

    def look(self) -> None:
        """Kill the run if it is over a limit."""
        if self.process is None or self._verdict is not None:
            return
        limit = self._limits.kill_after if self.phase == "solve" else self._limits.setup
        memory = self._memory()
        self.peak = max(self.peak, memory)
        if limit is not None and self.seconds > limit:
            self._kill("overtime", f"killed after {limit:g} s of {self.phase}")
        elif (most := self._limits.memory_bytes) is not None and memory > most:
            self._kill("memory", f"killed during {self.phase}: it held more than {most / 1e6:.0f} MB")

    @property
    def seconds(self) -> float:
        """Seconds since the run came to its phase."""
        return monotonic() - self._since

    def verdict(self) -> Record | None:
        """Why the run was killed, or None."""
        return self._verdict

    def _kill(self, outcome: str, reason: str) -> None:
        assert self.process is not None
        self._verdict = {"outcome": outcome, "reason": reason}
        kill_group(self.process)

    def _memory(self) -> int:
        """Bytes that the run's processes hold, what they share counted once as far as the system tells."""
        if monotonic() - self._looked > _FAMILY_SECONDS:
            self._looked = monotonic()
            with suppress(psutil.Error):
                head = psutil.Process(self.process)
                self._family = [head, *head.children(recursive=True)]
        largest = max((_resident(member) for member in self._family), default=0)
        if len(self._family) > 1 and monotonic() >= self._count_after:
            began = monotonic()
            self._together = sum(_proportional(member) for member in self._family)
            self._count_after = monotonic() + (monotonic() - began) / _LOOKS_SHARE
        return max(largest, self._together if len(self._family) > 1 else 0)


def _resident(process: psutil.Process) -> int:
    """Bytes that a process holds, shared ones as well; 0 if it is gone."""
    with suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def _proportional(process: psutil.Process) -> int:
    """Bytes that a process holds, of what n of them share an n-th; all of that where the system does not count it."""
    with suppress(psutil.Error, AttributeError):
        return int(process.memory_full_info().pss)
    return _resident(process)
