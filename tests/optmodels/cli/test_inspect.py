"""`optmodels inspect` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from optmodels.table.roles import Roles
from tests.optmodels.cli.conftest import Run


def test_a_role_file_is_written_that_anonymize_takes(run: Run, people: Path) -> None:
    seen = run("inspect", people, "--out", "roles.toml")
    assert seen.exit_code == 0, seen.output
    assert "name as identifier" in seen.output
    assert set(Roles.load("roles.toml").quasi) == {"age", "sex", "town"}
    made = run("anonymize", people, "--roles", "roles.toml", "--k", 4, "--solver", "mdav", "--out", "release.csv")
    assert made.exit_code == 0, made.output


def test_what_was_seen_as_json(run: Run, people: Path, unchanged: None) -> None:
    seen = json.loads(run("inspect", people, "--json").stdout)
    assert seen["records"] == 40
    assert seen["columns"]["name"]["role"] == "identifier"
    assert {finding["kind"] for finding in seen["findings"]} == {"nearly unique"}


def test_a_dataset_is_inspected(run: Run, unchanged: None) -> None:
    assert run("inspect", "german", "--json").exit_code == 0


def test_the_file_itself_is_not_overwritten(run: Run, people: Path, unchanged: None) -> None:
    refused = run("inspect", people, "--out", people)
    assert refused.exit_code != 0
    assert "name another file" in refused.output
