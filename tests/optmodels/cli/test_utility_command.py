"""`optmodels utility`: files in, a comparison out; what is wrong is said and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optmodels.recoding import recode
from optmodels.table import Table
from optmodels.values import in_value_order
from tests.optmodels.cli.conftest import Run

QUICK = ("--classifiers", "lr,dt", "--metrics", "f1,auc", "--splits", "3", "--jobs", "1")


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    town, income = rng.choice(["Ulm", "Bonn"], n), rng.normal(3000, 500, n).round(2)
    return pd.DataFrame({"age": age, "town": town, "income": income, "ill": np.where(age > 50, "yes", "no")})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A table of 90 people and its release in intervals and sets."""
    frame = people(90, seed=0)
    table = Table(frame, quasi={"age": "numeric", "town": "categorical"}, target="ill", others="keep")
    frame.to_csv(tmp_path / "people.csv", index=False)
    in_value_order(recode(table, frame["age"] // 10, "interval")).to_csv(tmp_path / "release.csv", index=False)
    return tmp_path / "people.csv", tmp_path / "release.csv"


def test_a_release_of_intervals_is_compared(run: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    result = run("utility", *files, "--target", "ill", *QUICK, "--out", "found")
    assert result.exit_code == 0, result.output
    assert "asked about released rows" in result.output
    assert "on original rows" in result.output
    assert "on released rows" in result.output
    assert "more than 100%" in result.output
    assert "resampled p" not in result.output
    document = json.loads((tmp_path / "found" / "utility.json").read_text())
    assert {row["metric"] for row in document["summary"]} == {"f1", "auc"}
    assert pd.read_csv(tmp_path / "found" / "scores.csv")["trial"].nunique() == 3
    assert "plotly" in (tmp_path / "found" / "utility.html").read_text()


def test_json_only(run: Run, files: tuple[Path, Path]) -> None:
    first, second = (
        json.loads(run("utility", *files, "--target", "ill", *QUICK, "--json", "--seed", "4").stdout) for _ in range(2)
    )
    assert first == second
    assert first["trials"] == 3


def test_held_out_rows_and_several_releases(run: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    original, release = files
    other = tmp_path / "other.csv"
    other.write_text(release.read_text())
    held_out = tmp_path / "held_out.csv"
    people(30, seed=1).to_csv(held_out, index=False)
    words = (original, release, other, "--target", "ill", *QUICK, "--held-out", held_out)
    document = json.loads(run("utility", *words, "--json").stdout)
    assert {row["version"] for row in document["summary"]} == {"original", "release", "other"}
    assert "original rows" in document["protocol"]
    assert document["notes"] == []
    pd.read_csv(original)[:30].to_csv(held_out, index=False)
    refused = run("utility", *words)
    assert refused.exit_code == 1
    assert "All 30 held-out rows occur in the original" in " ".join(refused.stderr.split())


def test_linked_rows_come_with_a_test_that_allows_for_overlap(run: Run, files: tuple[Path, Path]) -> None:
    result = run("utility", files[0], files[0], "--target", "ill", *QUICK, "--linked")
    assert result.exit_code == 0, result.output
    assert "resampled p" in result.output
    assert result.output.count("on original rows") == 2
    assert "more than 100%" not in result.output


def test_a_hierarchy_tells_what_released_nodes_cover(run: Run, tmp_path: Path) -> None:
    """As ARX writes them: the leaf first, then its nodes, between semicolons; one row of the release is suppressed."""
    frame = people(90, seed=0).assign(ill=lambda known: np.where(known["town"] == "Ulm", "yes", "no"))
    frame["town"] = frame["town"].where(frame.index % 2 == 0, frame["town"].map({"Ulm": "Berg", "Bonn": "Kiel"}))
    frame.to_csv(tmp_path / "people.csv", index=False)
    regions = {"Ulm": "south", "Berg": "south", "Bonn": "north", "Kiel": "north"}
    (tmp_path / "towns.csv").write_text("".join(f"{town};{region};*\n" for town, region in regions.items()))
    released = frame.assign(town=frame["town"].map(regions), age="*").astype({"income": object})
    released.loc[3, ["town", "income"]] = "*"
    released.sort_values("ill").to_csv(tmp_path / "release.csv", index=False, sep=";")
    words = ("utility", tmp_path / "people.csv", tmp_path / "release.csv", "--target", "ill", *QUICK)
    refused = run(*words)
    assert refused.exit_code == 1
    assert "give that hierarchy for 'town'" in " ".join(refused.stderr.split())
    result = run(*words, "--hierarchy", f"town={tmp_path / 'towns.csv'}", "--json")
    assert result.exit_code == 0, result.output
    rows = pd.DataFrame(json.loads(result.stdout)["summary"]).set_index(["version", "classifier", "metric"])
    assert rows.loc[("release", "lr", "auc"), "mean"] > 0.95


def test_unlinked_rows_of_the_original_come_with_a_note(run: Run, files: tuple[Path, Path]) -> None:
    result = run("utility", *files, "--target", "ill", *QUICK, "--tested-on", "original")
    assert "also learned from" in " ".join(result.output.split())


@pytest.mark.usefixtures("files", "unchanged")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Which column is to be predicted?"),
        (("--target", "illness"), "no column 'illness'"),
        (("--target", "ill", "--classifiers", "forest"), "no classifier 'forest'"),
        (("--target", "ill", "--metrics", "f2"), "no metric 'f2'"),
        (("--target", "ill", "--linked"), "not those of the original in the same order"),
        (("--target", "ill", "--features", "age,ill"), "cannot be a feature"),
        (("--target", "ill", "--tested-on", "releases"), "Did you mean 'release'"),
        (("--target", "ill", "--splits", "0"), "splits must be"),
    ],
)
def test_what_is_wrong_is_said(run: Run, files: tuple[Path, Path], words: tuple[str, ...], said: str) -> None:
    result = run("utility", *files, *words, "--jobs", "1", "--out", "found")
    assert result.exit_code == 1
    assert said in " ".join(result.stderr.split())
