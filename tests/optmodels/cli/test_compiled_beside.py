"""Another process compiles what comes next, if anything has to be compiled at all."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from numba import njit

from optmodels.cli.compiled_beside import compiled_beside


def note(file: Path) -> None:
    file.write_text(str(os.getpid()))


def test_it_is_done_by_another_process_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optmodels.cli.compiled_beside.cores", lambda: 2)
    task = partial(note, tmp_path / "beside")

    @njit  # kept nowhere, so that it is compiled whenever it is called first
    def twice(x):  # type: ignore[no-untyped-def]
        return 2 * x

    with compiled_beside(task):
        assert twice(3) == 6
    assert int((tmp_path / "beside").read_text()) != os.getpid()


def test_nothing_is_started_where_nothing_is_compiled(tmp_path: Path) -> None:
    with compiled_beside(partial(note, tmp_path / "beside")):
        pass
    assert not (tmp_path / "beside").exists()
