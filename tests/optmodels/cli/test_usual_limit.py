"""Commands end by themselves in about a minute, and say how to give them more."""

from __future__ import annotations

from pathlib import Path

import pytest

from optmodels import registry
from optmodels.cli import usual_limit
from optmodels.cli.usual_limit import USUAL_SECONDS
from tests.optmodels.cli.conftest import ROLES, Run


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("auto", {}, USUAL_SECONDS),
        ("columns", {}, USUAL_SECONDS),
        ("milp", {}, USUAL_SECONDS),
        ("epsilon", {}, USUAL_SECONDS),
        ("local_search", {}, USUAL_SECONDS),
        ("local_search", {"iterations": 10}, None),
        ("nsga2", {}, None),
        ("blocks", {}, None),
    ],
)
def test_only_what_would_not_end_has_a_limit(name: str, options: dict[str, object], expected: float | None) -> None:
    solver = registry.configured(registry.solver(name), options)
    assert usual_limit.usual_limit(solver, None) == expected
    assert usual_limit.usual_limit(solver, 3.0) == 3.0


def test_a_run_that_would_not_end_ends_and_says_so(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usual_limit, "USUAL_SECONDS", 1.0)
    words = ("anonymize", people, *ROLES, "--k", "4", "--solver", "local_search", "--option", "workers=1")
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "--time-limit 600" in result.stdout
    assert "--time-limit 600" not in run(*words, "--time-limit", "1").stdout
