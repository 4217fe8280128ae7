"""The process behind one place of a study: it imports everything once, then forks a process for every run.

It speaks JSON lines: a trial comes in; its process's id, its phases, its record and how it ended go out. When whoever
started it is gone, its input ends, and it takes the run under way with it: nothing is left behind by a killed study.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

_LOOK_SECONDS = 0.02
_ONCE = 1 << 16
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG

Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Serve runs until the input ends."""
    requests, send = _taken_over()
    _import_everything()
    from optmodels.study.machine import environment

    send({"environment": environment()})
    for line in _lines(requests):
        _serve(line, requests, send)


def _taken_over() -> tuple[int, Send]:
    """Input and output for this module alone: whatever libraries read or print goes elsewhere."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        # A line begins anew even where a run was killed in the middle of one.
        rest = memoryview(f"\n{json.dumps(message)}\n".encode())
        while rest:
            rest = rest[os.write(replies, rest) :]

    return requests, send


def _import_everything() -> None:
    """What every run needs, so that no run waits for it."""
    import numpy

    from optmodels import registry
    from optmodels.testing import small_table

    with suppress(Exception):  # compiled code that every run would load otherwise
        model = registry.configured(registry.formulation("microaggregation"), {"k": 3})
        model.build(small_table(30)).evaluate(numpy.zeros(30, int))


def _import_parts(line: str) -> None:
    """What the runs of this formulation and this solver need."""
    from optmodels import registry
    from optmodels.study.trials import Trial

    trial = Trial.from_json(line)
    with suppress(Exception):  # one that cannot be imported is told so by the run itself
        registry.formulation(trial.formulation)
        registry.solver(trial.method)


def _lines(requests: int) -> Iterator[str]:
    held = b""
    while piece := os.read(requests, _ONCE):
        held += piece
        while b"\n" in held:
            line, held = held.split(b"\n", 1)
            yield line.decode()


def _serve(line: str, requests: int, send: Send) -> None:
    """Fork, wait for the run to end, and tell how it did."""
    os.ftruncate(2, 0)  # what is said on stderr belongs to one run
    os.lseek(2, 0, os.SEEK_SET)
    _import_parts(line)
    starts, started = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(requests)
        os.close(started)
        os.read(starts, 1)  # two processes on one pipe: this one speaks only after the worker has
        _run(line, send)
    os.close(starts)
    send({"process": process})
    os.close(started)
    while True:
        ended, status, _ = os.wait4(process, os.WNOHANG)
        if ended:
            break
        if select.select([requests], [], [], _LOOK_SECONDS)[0]:  # nothing is sent while a run is under way: the end
            kill_group(process)
            os._exit(0)
    kill_group(process)  # processes that the run started and left behind
    send({"ended": os.waitstatus_to_exitcode(status)})


def _run(line: str, send: Send) -> None:
    """The forked process: one run, then the end."""
    code = 1
    try:
        os.setsid()  # a group of its own: it can be killed whole, and Ctrl-C is for the study, not for the solver
        _die_with_parent()
        faulthandler.enable()
        from optmodels.study.attempt import attempt
        from optmodels.study.trials import Trial

        trial = Trial.from_json(line)
        send({"record": attempt(trial, lambda phase: send({"phase": phase}))})
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


def _die_with_parent() -> None:
    """On Linux the kernel kills this process if the worker is killed; elsewhere only the end of input does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def kill_group(process: int) -> None:
    """Kill a run and all that it started, as far as it still exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)  # it may not have come as far as having its group


if __name__ == "__main__":
    main()
