"""docs/your_file.md, executed: its file, its role file and its commands, from `inspect` to an audited release."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import optmodels as om
from optmodels.cli import app
from optmodels.inspection import inspect_file

TEXT = (Path(__file__).parents[1] / "docs" / "your_file.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
PATIENTS = next(code for language, code in BLOCKS if language == "csv")
ROLES = next(code for language, code in BLOCKS if language == "toml")
COMMANDS = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_text(PATIENTS)
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path


def test_the_page_from_top_to_bottom(folder: Path) -> None:
    said = {}
    for line in COMMANDS:
        result = CliRunner().invoke(app, shlex.split(line)[1:])
        assert result.exit_code == 0, f"{line}\n{result.output}"
        said[line.split()[1]] = " ".join(result.output.split())
    assert "k counts people (patient_id): 31 records of 16" in said["anonymize"]
    assert "Cleaned (unknown)" in said["anonymize"]
    released = pd.read_csv("release.csv", dtype=str)
    assert not {"patient_id", "name"} & set(released.columns)
    assert len(released) == 31
    assert Path("report.html").exists()


def test_the_release_has_enough_people_in_every_class(folder: Path) -> None:
    from formulations import Microaggregation
    from solvers import solve

    table = om.Table.from_file("patients.csv", roles="roles.toml")
    found = solve(Microaggregation(k=3, distinct_l=2).build(table), solver="mdav")
    audit = found.release(method="hierarchy").audit
    assert audit.people is not None
    assert (audit.records, audit.people.people) == (31, 16)
    assert audit.k >= 3
    assert audit.sensitive["illness"].distinct_l >= 2


def test_what_the_page_says_inspect_sees(folder: Path) -> None:
    seen = inspect_file("patients.csv")
    found = {(finding.column, finding.kind) for finding in seen.findings}
    assert {
        ("patient_id", "repeated identifier"),
        ("name", "repeated identifier"),
        ("sex", "inconsistent spelling"),
        ("age", "numbers for unknown"),
        ("illness", "words for unknown"),
        ("postcode", "leading zeros"),
        ("visited", "dates"),
    } <= found
    told = next(one for one in seen.findings if (one.column, one.kind) == ("patient_id", "repeated identifier"))
    assert "13 people" in told.what
    assert seen.proposed.person == "patient_id"
    assert seen.proposed.identifiers == ("name",)
    assert seen.proposed.sensitive == ("illness",)
    assert set(seen.proposed.quasi) == {"age", "sex", "postcode", "visited"}
