"""Whatever takes long runs in a process of its own, which is asked and answers by files in a folder.

A page that is closed, a second one that looks on and a job that crashes harm nothing. When the explorer ends, however
it ends, its jobs end, too: each watches the pipe that it was started with.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

from optmodels.errors import InputError

REQUEST, PROGRESS, RESULT, ERRORS = "request.json", "progress.jsonl", "result.json", "errors.txt"
_LOOK_SECONDS = 0.1
_ALIVE_SECONDS = 10.0  # between signs of life, by which a server notices that a page was closed
_LEAVE_SECONDS = 5.0  # that jobs have to save what they have found when the explorer ends


class Job:
    """A process at work, or what it left."""

    def __init__(self, number: str, kind: str, title: str, folder: Path) -> None:
        self.number, self.kind, self.title, self.folder = number, kind, title, folder
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        with open(folder / ERRORS, "wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "optmodels.explorer.work", kind, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=environment,
                start_new_session=True,  # Ctrl-C in the terminal is the explorer's, which passes it on
            )

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self._process.poll() is None

    def result(self) -> dict[str, Any]:
        """What came of it; an error says why nothing did."""
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads((self.folder / RESULT).read_text(encoding="utf-8"))
            return found
        said = (self.folder / ERRORS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        why = said[-1] if said else f"it ended with code {self._process.returncode}"
        return {"error": f"The job did not come to its end: {why}."}

    def document(self) -> dict[str, Any]:
        """What the page lists of it."""
        running = self.running
        return {
            "id": self.number,
            "kind": self.kind,
            "title": self.title,
            "running": running,
            **({} if running else {"result": self.result()}),
        }

    def events(self) -> Iterator[dict[str, Any] | None]:
        """Everything that it has told and tells, then its result; None now and then is a sign of life."""
        place, said = 0, monotonic()
        while True:
            running = self.running
            told = self._events_from(place)
            place += len(told)
            for line in told.splitlines():
                said = monotonic()
                yield {"progress": json.loads(line)}
            if not running:
                yield {"result": self.result()}
                return
            if monotonic() - said > _ALIVE_SECONDS:
                said = monotonic()
                yield None
            sleep(_LOOK_SECONDS)

    def _events_from(self, place: int) -> bytes:
        """What it has told from a place in its file on, in whole lines."""
        try:
            with open(self.folder / PROGRESS, "rb") as file:
                file.seek(place)
                lines, end, _ = file.read().rpartition(b"\n")
                return lines + end
        except FileNotFoundError:
            return b""

    def stop(self) -> None:
        """Ask it to end with the best that it has, as Ctrl-C does."""
        if self.running:
            self._process.send_signal(signal.SIGINT)

    def end(self, seconds: float) -> None:
        """See to it that nothing of it is left."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Jobs:
    """The jobs of one explorer."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="optmodels-explorer-"))
        self._jobs: dict[str, Job] = {}
        self._lock = Lock()

    def start(
        self,
        kind: str,
        title: str,
        request: Mapping[str, Any],
        files: Mapping[str, Callable[[Path], object]] | None = None,
    ) -> Job:
        """Start a job of a kind that `work` knows; `files` are written into its folder first, by their names."""
        with self._lock:
            number = str(len(self._jobs) + 1)
            folder = self._folder / number
            folder.mkdir()
            for name, write in (files or {}).items():
                write(folder / name)
            (folder / REQUEST).write_text(json.dumps(request), encoding="utf-8")
            self._jobs[number] = Job(number, kind, title, folder)
            return self._jobs[number]

    def __getitem__(self, number: str) -> Job:
        if number not in self._jobs:
            raise InputError(f"There is no job '{number}' in this explorer: load the page again.")
        return self._jobs[number]

    def document(self) -> list[dict[str, Any]]:
        """All jobs, the oldest first."""
        return [job.document() for job in list(self._jobs.values())]

    def close(self) -> None:
        """Let jobs save what they have, then end them; the folder of what they said goes with them."""
        jobs, until = list(self._jobs.values()), monotonic() + _LEAVE_SECONDS
        for job in jobs:
            job.stop()
        for job in jobs:
            job.end(max(0.0, until - monotonic()))
        shutil.rmtree(self._folder, ignore_errors=True)
