"""Progress where there is no terminal."""

from __future__ import annotations

import pytest

from optmodels.cli import show
from optmodels.solver import Progress


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [0.0]
    monkeypatch.setattr(show, "perf_counter", lambda: clock[0])
    with show.steps("round") as tell:
        for done in range(1, 5):
            clock[0] += show.LOG_SECONDS / 2
            tell(done, 4)
    assert capsys.readouterr().err.split("\n") == ["round 2 of 4", "round 4 of 4", ""]


def test_a_solver_in_a_log_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(show, "perf_counter", lambda: clock[0])
    with show.progress() as on_progress:
        for step in range(1, 5):
            clock[0] += show.LOG_SECONDS / 2
            on_progress(Progress("columns", clock[0], 0.5, 0.25, 0.5, f"round {step}"))
    said = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[-1] for line in said] == ["round 2", "round 4"]
    assert "gap 50.00%" in said[0]
