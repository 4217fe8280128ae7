"""`--person` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.optmodels.cli.conftest import Run

QUICK = ("--numeric", "age", "--sensitive", "illness", "--k", 3, "--solver", "mdav")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Fifteen people with one to three visits each."""
    rows = [
        f"p{i},{20 + (i * 7) % 40},{('flu', 'cold', 'gout')[(i + visit) % 3]}"
        for i in range(15)
        for visit in range(1 + i % 3)
    ]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["patient,age,illness", *rows]) + "\n")
    return path


def test_k_counts_people_in_the_release_and_its_audit(run: Run, visits: Path) -> None:
    made = run("anonymize", visits, *QUICK, "--person", "patient", "--out", "release.csv", "--json")
    assert made.exit_code == 0, made.output
    told = json.loads(made.stdout)["audit"]
    assert (told["records"], told["people"]["people"]) == (30, 15)
    assert told["k"] >= 3
    assert "patient" not in pd.read_csv("release.csv").columns


def test_an_identifier_that_repeats_is_a_warning_that_names_it(run: Run, visits: Path) -> None:
    made = run("anonymize", visits, *QUICK, "--identifier", "patient")
    assert made.exit_code == 0, made.output
    assert "--person patient" in " ".join(made.output.split())
    told = run("anonymize", visits, *QUICK, "--identifier", "patient", "--json")
    assert json.loads(told.stdout)["repeated_identifiers"] == {"patient": 10}
    counted = run("anonymize", visits, *QUICK, "--person", "patient")
    assert "k counts people (patient): 30 records of 15" in " ".join(counted.output.split())


def test_an_audit_counts_people(run: Run, visits: Path) -> None:
    told = json.loads(run("audit", visits, "--quasi", "age", "--person", "patient", "--json").stdout)
    assert told["people"]["most_records"] == 3
    assert told["k"] == 1


def test_a_front_counts_people(run: Run, visits: Path) -> None:
    found = run(
        *("pareto", visits, "--numeric", "age", "--sensitive", "illness", "--person", "patient", "--k", 3),
        *("--formulation", "mo-obam", "--solver", "nsga2", "--option", "evaluations=60", "--time-limit", 10),
        *("--out", "front"),
    )
    assert found.exit_code == 0, found.output
    made = run("release", "front", "--out", "release.csv", "--json")
    assert json.loads(made.stdout)["audit"]["k"] >= 3


def test_a_folder_counts_people(run: Run, visits: Path) -> None:
    Path("visits").mkdir()
    frame = pd.read_csv(visits)
    frame.iloc[:10].to_parquet("visits/a.parquet")
    frame.iloc[10:].to_parquet("visits/b.parquet")
    words = (*QUICK[:-1], "blocks", "--option", "workers=1", "--person", "patient", "--out", "released")
    made = run("anonymize", "visits", *words, "--json")
    assert made.exit_code == 0, made.output
    told = json.loads(made.stdout)["audit"]
    assert told["records"] == 30
    assert told["k"] >= 3
    released = pd.read_parquet("released")
    assert "patient" not in released.columns
    assert len(released) == 30
