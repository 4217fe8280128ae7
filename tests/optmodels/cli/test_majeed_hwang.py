"""Majeed and Hwang's model on the command line, with and without hierarchies of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.optmodels.cli.conftest import ROLES, Run

MODEL = ("--formulation", "majeed-hwang", "--k", 4, "--param", "trees=5")


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.csv"
    path.write_text("Ulm;south;*\nBonn;west;*\n")
    return path


@pytest.mark.parametrize("solver", ["usefulness", "generalise", "auto"])
def test_anonymize(run: Run, people: Path, towns: Path, solver: str) -> None:
    words = (*ROLES, *MODEL, "--hierarchy", f"town={towns}", "--solver", solver, "--out", "release.csv", "--json")
    result = run("anonymize", people, *words)
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert set(record["values"]) == {"distortion", "disclosure"}
    assert record["audit"]["loss"]["distortion"] == record["values"]["distortion"]
    assert set(pd.read_csv("release.csv")["town"]) <= {"Ulm", "Bonn", "south", "west", "*"}
    audited = json.loads(run("audit", "release.csv", "--quasi", "age,sex,town", "--json").stdout)
    assert audited["k"] == record["audit"]["k"] >= 4


def test_front_and_release(run: Run, people: Path) -> None:
    assert run("pareto", people, *ROLES, *MODEL, "--param", "levels=least", "--out", "front").exit_code == 0
    released = run("release", "front", "--point", "0", "--out", "release.csv", "--json")
    assert released.exit_code == 0, released.output
    assert json.loads(released.stdout)["audit"]["k"] >= 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--param", "treshold=0.5"), "Did you mean 'threshold'"),
        (("--param", "levels=lest"), "'flexible' or 'least'"),
        (("--param", "threshold=none"), "give most_disclosure"),
        (("--solver", "generalise", "--option", "flors=3"), "Did you mean 'floors'"),
        (("--distinct-l", "0"), "--distinct-l 0: distinct_l must be a whole number of at least 1"),
        (("--hierarchy", "town=nowhere.csv"), "Cannot read the hierarchy"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(
    run: Run, people: Path, unchanged: None, words: tuple[str, ...], message: str
) -> None:
    result = run("anonymize", people, *ROLES, *MODEL, *words, "--out", "release.csv")
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())


def test_too_low_a_disclosure_is_infeasible(run: Run, people: Path, unchanged: None) -> None:
    result = run("anonymize", people, *ROLES, *MODEL, "--param", "most_disclosure=0.1", "--out", "release.csv")
    assert result.exit_code == 2
    assert "cannot hold" in result.output
