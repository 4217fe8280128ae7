"""A real study in a real process, killed by the kernel in the middle of its runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from optmodels.errors import InputError
from optmodels.study import differences, load_study, open_study, run

SPEC = """
seeds = 2
warm_up = false
[[dataset]]
name = "german"
rows = 40
[[formulation]]
name = "microaggregation"
parameters.k = [3, 4]
[[solver]]
name = "together"
options.wait = 0.3
[[solver]]
name = "local_search"
options = { iterations = 50, workers = 1 }
"""


def finished(path: Path) -> int:
    try:
        return len(open_study(path).runs())
    except InputError:  # it is not there yet
        return 0


def begun(spec: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "optmodels", "study", "run", str(spec), "--out", str(out), "--workers", "2"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def wait_for(condition: Callable[[], bool], seconds: float = 300.0) -> None:
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "it takes too long"
        sleep(0.05)


def a_run_is_under_way(study: subprocess.Popen[bytes]) -> bool:
    """Whether a worker has forked a process for a run."""
    workers = psutil.Process(study.pid).children()
    return any(worker.children() for worker in workers)


@pytest.mark.usefixtures("third_party")
def test_killed_and_resumed_is_as_if_never_killed(tmp_path: Path, written: Callable[[str], Path]) -> None:
    spec, out = written(SPEC), tmp_path / "killed.db"
    study = begun(spec, out)
    wait_for(lambda: finished(out) >= 3 and a_run_is_under_way(study))
    family = psutil.Process(study.pid).children(recursive=True)
    assert len(family) >= 3  # two workers, and a run at least
    study.kill()
    wait_for(lambda: psutil.Process(study.pid).status() == psutil.STATUS_ZOMBIE)
    assert open_study(out).status()["running"] is None  # although nobody has taken note of its end yet
    study.communicate()
    assert study.returncode == -signal.SIGKILL
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive  # nothing goes on that nobody waits for

    before = open_study(out).runs().set_index("key")["finished"]
    assert 3 <= len(before) < 8
    status = open_study(out).status()
    assert (status["running"], status["waiting"]) == (None, 8 - len(before))
    done = run(load_study(spec), out, workers=2)
    assert done.made == 8 - len(before)
    after = open_study(out).runs().set_index("key")["finished"]
    assert after[before.index].equals(before)  # no finished run was lost or repeated
    run(load_study(spec), tmp_path / "whole.db", workers=1)
    assert differences(open_study(out), open_study(tmp_path / "whole.db")).empty


def test_ctrl_c_stops_at_once_and_keeps_what_is_finished(
    third_party: Path, tmp_path: Path, written: Callable[[str], Path]
) -> None:
    spec, out = (
        written(SPEC.replace("wait = 0.3", "wait = 30.0").replace("seeds = 2", "seeds = 1")),
        tmp_path / "runs.db",
    )
    study = begun(spec, out)
    wait_for(lambda: finished(out) >= 1 and a_run_is_under_way(study))
    family = psutil.Process(study.pid).children(recursive=True)
    os.killpg(study.pid, signal.SIGINT)
    _, told = study.communicate(timeout=25)
    assert study.returncode == 3
    assert b"goes on from there" in told
    assert b"Traceback" not in told
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive
    runs = open_study(out).runs()
    assert set(runs["outcome"]) == {"done"}  # what was running is not taken for a result
    assert "interrupted" not in set(runs["stop"])
    assert open_study(out).status()["running"] is None
