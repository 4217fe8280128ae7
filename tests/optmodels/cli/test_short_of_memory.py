"""Too little memory is told as such, however libraries and the system report it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from optmodels.cli.errors import exit_code


def _chained() -> None:
    try:
        raise OSError("libllvmlite.so: failed to map segment from shared object")
    except OSError as error:
        raise OSError("Could not find/load shared object file") from error


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
        _chained,
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
