"""Processes that look into points, so that the server that answers the page holds no data and can lack no memory.

Each reads requests, a line of JSON each, and answers with a line of JSON that says what follows, and so many bytes. One
that dies is an error of the request that it died of, and is started anew with the next.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import Any
from zlib import crc32

from optmodels.errors import InputError
from optmodels.explorer.reply import Reply

_PROCESSES = 2


class MistakeError(Exception):
    """Something of ours went wrong in the other process."""


class Aside:
    """One such process, which does one thing after the other."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def warm(self) -> None:
        """Have the process started, without waiting for it."""
        with self._lock:
            self._started()

    def ask(self, what: str, given: Mapping[str, Any]) -> Reply:
        """The answer to a request, once those before it are answered."""
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps({"what": what, "given": given}).encode() + b"\n")
                process.stdin.flush()
                head = json.loads(process.stdout.readline() or b"null")
                body = b"" if head is None else process.stdout.read(head["size"])
            except (OSError, ValueError):
                head, body = None, b""
            if head is None or len(body) < head["size"]:
                self._end()
                raise InputError(
                    "The process that looked into this was ended: it was killed, or ran out of memory. Ask again."
                )
        if head["error"] is not None:
            raise (MistakeError if head["mistake"] else InputError)(head["error"])
        return Reply(body, head["kind"], head["name"])

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "optmodels.explorer.looking"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in the terminal is the explorer's
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    assert pipe is not None
                    pipe.close()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        process = self._process
        if process is not None:
            process.kill()  # whoever waits for it is told, and lets go of the lock
        with self._lock:
            self._end()


class Asides:
    """A few of them; what is asked of one place is always asked of the same, which remembers its data."""

    def __init__(self) -> None:
        self._all = tuple(Aside() for _ in range(_PROCESSES))
        self._closed = False

    def warm(self, place: str) -> None:
        """Have the process of a place started."""
        self._of(place).warm()

    def ask(self, what: str, place: str, **given: Any) -> Reply:
        """What a request about a place is answered with."""
        return self._of(place).ask(what, {"place": place, **given})

    def _of(self, place: str) -> Aside:
        if self._closed:
            raise InputError("The explorer was ended.")
        return self._all[crc32(place.encode()) % len(self._all)]

    def close(self) -> None:
        """End all of them."""
        self._closed = True
        for one in self._all:
            one.close()
