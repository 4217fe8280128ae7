"""Original records do not outlive the process that was given them, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pandas as pd
import psutil
import pytest

from optmodels.solver.interrupt import Interrupt
from solvers.blocks.scratch import scratch_folder

CHILD = """
import os, sys, time
from pathlib import Path
import numpy as np
from solvers.blocks.worker_pool import Step, worker_pool
from solvers.blocks.scratch import scratch_folder
from solvers.blocks.shared import shared

def load(where):
    load.kept = where.load()

if __name__ == "__main__":
    with (
        scratch_folder(".unfinished-", Path(sys.argv[1])) as scratch,
        shared(np.arange(1_000_000)) as where,
        worker_pool("processes", 2, begin=load, given=(where,)) as workers,
    ):
        (scratch / "piece-0.parquet").write_text("original records")
        pids = {}
        workers.do([Step(os.getpid, lambda _: ())] * 4, take=pids.__setitem__, lost=print, report=lambda: None)
        print(os.path.dirname(where.file), *set(pids.values()), flush=True)
        time.sleep(600)
"""


def soon(holds: Callable[[], bool]) -> bool:
    deadline = monotonic() + 60
    while not holds() and monotonic() < deadline:
        sleep(0.1)
    return holds()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_by_a_process_that_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    place = tmp_path / "place"
    place.mkdir()
    with subprocess.Popen([sys.executable, script, place], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        shared, *workers = child.stdout.readline().split()
        assert Path(shared).exists()
        assert [path.stat().st_mode & 0o77 for path in place.iterdir()] == [0], "nobody else may look into it"
        child.send_signal(number)
        child.wait()
    assert soon(lambda: not list(place.iterdir())), "scratch with original records"
    assert soon(lambda: not Path(shared).exists()), "shared memory"
    assert soon(lambda: not any(psutil.pid_exists(int(pid)) for pid in workers)), "workers"


def test_the_next_start_removes_what_nobody_holds_any_more(tmp_path: Path) -> None:
    left = tmp_path / ".unfinished-dead"
    left.mkdir()
    (left / "owner.lock").touch()
    (left / "piece-0.parquet").write_text("original records")
    stranger = tmp_path / ".unfinished-stranger"  # a folder of someone else's, without our lock
    stranger.mkdir()
    with (
        scratch_folder(".unfinished-", tmp_path) as one,
        scratch_folder(".unfinished-", tmp_path) as other,
    ):
        assert one.exists(), "it is held"
        assert sorted(tmp_path.iterdir()) == sorted([one, other, stranger])
    assert list(tmp_path.iterdir()) == [stranger]


def test_sigterm_is_noted_only_where_it_is_ctrl_c() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        outer, inner = Interrupt(), Interrupt()
        with outer.listening(), inner.listening():
            os.kill(os.getpid(), signal.SIGTERM)
            assert soon(lambda: inner.pressed)
        assert not outer.pressed
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with Interrupt().listening():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "a library leaves a program's own way alone"
    finally:
        signal.signal(signal.SIGTERM, before)


def test_sigterm_ends_a_command_as_ctrl_c_does(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    frame = pd.DataFrame({"age": [float(i % 70) for i in range(20_000)], "illness": ["flu", "cold"] * 10_000})
    frame.to_parquet(tmp_path / "in" / "people.parquet")
    command = [sys.executable, "-m", "optmodels", "anonymize", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    command += ["--numeric", "age", "--sensitive", "illness", "--k", "5", "--option", "workers=1", "--solver", "blocks"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        assert soon(lambda: any(tmp_path.glob(".unfinished-*/*.parquet")))
        run.send_signal(signal.SIGTERM)
        _, said = run.communicate(timeout=300)
    assert run.returncode in (0, 3), said
    assert not list(tmp_path.glob(".unfinished-*")), "original records"
