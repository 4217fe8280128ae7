"""Progress where there is no terminal."""

from __future__ import annotations

import pytest

from optmodels.cli import show


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [0.0]
    monkeypatch.setattr(show, "perf_counter", lambda: clock[0])
    with show.steps("round") as tell:
        for done in range(1, 5):
            clock[0] += show.LOG_SECONDS / 2
            tell(done, 4)
    assert capsys.readouterr().err.split("\n") == ["round 2 of 4", "round 4 of 4", ""]
