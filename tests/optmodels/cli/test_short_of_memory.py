"""Too little memory is told as such, however libraries and the system report it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from optmodels.cli import memory
from optmodels.cli.errors import exit_code
from optmodels.errors import InputError


def _chained() -> None:
    try:
        raise OSError("libllvmlite.so: failed to map segment from shared object")
    except OSError as error:
        raise OSError("Could not find/load shared object file") from error


def _unread() -> None:
    try:
        raise OSError("malloc of size 131072 failed")
    except OSError as error:
        raise InputError("Cannot read 'data.csv'.") from error


def _raising(error: Exception) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    "command",
    [
        _raising(MemoryError()),
        _raising(ImportError("libscipy_openblas.so: failed to map segment from shared object")),
        _raising(OSError(12, "Cannot allocate memory")),
        _raising(RuntimeError("can't start new thread")),
        _raising(OSError("Failed to launch worker thread: Resource temporarily unavailable")),
        _chained,
        _unread,
    ],
)
def test_no_memory_is_no_mistake(command: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(command) == 1
    told = capsys.readouterr().err
    assert "not enough memory" in told
    assert "mistake" not in told


def test_other_errors_are_mistakes_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(_raising(ImportError("no module named x"))) == 1
    assert "mistake in optmodels" in capsys.readouterr().err


def test_whatever_fails_where_no_addresses_are_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "_limit", lambda: 1 << 20)
    assert exit_code(_raising(SystemError("error return without exception set"))) == 1
    assert "not enough memory" in capsys.readouterr().err
    monkeypatch.setattr(memory, "_limit", lambda: 1 << 60)
    assert not memory.was_near_limit()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux keeps to the limit")
def test_nothing_is_started_where_libraries_would_crash_or_wait_for_ever() -> None:
    """With 580 MB linear algebra waited for a buffer until it was killed."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (580 << 20,) * 2)"
    started = f"{limited}; from optmodels.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", started, "inspect", "data.csv"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "580 MB of addresses" in " ".join(done.stderr.split())
    helped = subprocess.run([sys.executable, "-c", started, "--help"], capture_output=True, text=True, timeout=60)
    assert helped.returncode == 0, helped.stderr
