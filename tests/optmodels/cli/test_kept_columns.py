"""Columns that are kept as they are: said loudly, and refused where they are as good as a name."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from optmodels.audit.kept import kept_columns
from optmodels.conditions import Conditions
from optmodels.release import release
from optmodels.table import Table
from tests.optmodels.cli.conftest import Run

QUICK = ("--k", "5", "--solver", "mdav", "--numeric", "age", "--sensitive", "illness", "--others", "keep")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 90, 60),
            "illness": draw.choice(["flu", "cold"], 60),
            "ward": draw.choice(list("abc"), 60),
            "visit": np.arange(60) + 1000,
        }
    )
    frame.to_csv("people.csv", index=False)
    (tmp_path / "in").mkdir()
    frame.to_parquet(tmp_path / "in" / "people.parquet")
    return frame


@pytest.mark.parametrize(
    "words", [("anonymize", "people.csv", "--out", "release.csv"), ("anonymize", "in", "--out", "out")]
)
def test_a_near_unique_column_is_an_error_before_the_solve(run: Run, file, tmp_path, words) -> None:
    solver = () if words[1] == "in" else QUICK[2:4]
    done = run(*words, *QUICK[:2], *solver, *QUICK[4:])
    assert done.exit_code == 1
    for part in ("'visit' (100% of the records)", "--allow-unique visit", "--others drop"):
        assert part in done.output
    assert "'ward'" not in done.output
    assert not (tmp_path / words[-1]).exists()


def test_what_is_to_be_typed_is_quoted_for_the_shell(run: Run, file) -> None:
    file.rename(columns={"visit": "visit no"}).to_csv("spaced.csv", index=False)
    done = run("anonymize", "spaced.csv", *QUICK, "--out", "release.csv")
    assert done.exit_code == 1
    assert "--allow-unique 'visit no'" in done.output


def test_an_allowed_one_is_said_loudly_everywhere(run: Run, file, tmp_path) -> None:
    words = ("anonymize", "people.csv", *QUICK, "--allow-unique", "visit", "--out", "release.csv", "--force")
    done = run(*words, "--report", "report.html")
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "covered by no promise" in said
    assert "visit 100%" in said
    page = (tmp_path / "report.html").read_text()
    assert "covered by no promise: <bdi>ward</bdi> (0% alone with their value)" in page
    assert "<bdi>visit</bdi> (100% alone with their value)" in page
    kept = json.loads(run(*words, "--json").stdout)["audit"]["kept"]
    assert kept == {"columns": {"ward": 0.0, "visit": 1.0}, "alone_with_quasi_and_kept": 1.0}


def test_nothing_is_said_where_nothing_is_kept(run: Run, file) -> None:
    done = run("anonymize", "people.csv", *QUICK[:-1], "drop", "--json")
    assert json.loads(done.stdout)["audit"]["kept"] is None


def test_shares_are_those_of_the_release() -> None:
    frame = pd.DataFrame({"age": [30, 31, 40, 41], "ward": ["a", "a", "a", "b"], "notes": [[1], [1], [2], [2]]})
    table = Table(frame, quasi={"age": "numeric"}, others="keep")
    found = release(table, [0, 0, 1, 1], promise=Conditions(k=2)).audit
    assert found.kept == {"columns": {"ward": 0.25, "notes": 0.0}, "alone_with_quasi_and_kept": 0.5}
    assert kept_columns(frame[["age"]], ["age"]) is None
