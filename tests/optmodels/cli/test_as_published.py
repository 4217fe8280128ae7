"""`anonymize --as-published` hands out what a published swarm finds, and says loudly where it breaks k."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.optmodels.cli.conftest import QUICK, ROLES, Run

SWARM = ("--formulation", "mo-obam", "--param", "objective=lambda", "--param", "lam=0.01", "--solver", "pso")
AUTHORS = ("--option", "swarm=authors", "--option", "iterations=2", "--option", "particles=4", "--as-published")


def _command(people: Path, k: int, classes: int, *more: str) -> tuple[object, ...]:
    return ("anonymize", people, *ROLES, *SWARM, "--k", k, "--param", f"n_clusters={classes}", *AUTHORS, *more)


def test_what_breaks_k_is_written_with_a_label_and_without_a_promise(run: Run, people: Path, tmp_path: Path) -> None:
    told = run(*_command(people, 9, 4, "--out", "unsafe.csv"))
    assert told.exit_code == 4
    assert "NOT SAFE TO PUBLISH" in told.output
    assert "around the centroids that it hands out" in told.output
    frame = pd.read_csv(tmp_path / "unsafe.csv")
    assert frame.columns[0] == "breaks_k"
    assert "name" not in frame.columns
    assert 0 < frame["breaks_k"].sum() < len(frame) == 40
    assert {file.name for file in tmp_path.iterdir()} == {"people.csv", "unsafe.csv"}
    record = json.loads(run(*_command(people, 9, 4, "--json")).stdout)
    assert record["people_below_k"] == frame["breaks_k"].sum()
    assert "breaks k" in record["broken"]
    assert record["loss_around_centroids"] >= record["values"]["loss"]


def test_what_keeps_k_has_no_label_and_is_done(run: Run, people: Path, tmp_path: Path) -> None:
    told = run(*_command(people, 2, 1, "--out", "kept.parquet"))
    assert told.exit_code == 0, told.output
    assert "no release" in told.output
    assert "breaks_k" not in pd.read_parquet(tmp_path / "kept.parquet").columns


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--report", "page.html"), "leave out --report"),
        (("--time-limit", "5"), "leave out --time-limit"),
        (("--out", "released.csv", "--force"), "the promise of a release beside it"),
    ],
)
def test_it_goes_with_nothing_that_promises_or_proves(run: Run, people: Path, more: tuple[str, ...], said: str) -> None:
    assert run("anonymize", people, *ROLES, *QUICK, "--out", "released.csv").exit_code == 0
    told = run(*_command(people, 9, 4, *more))
    assert told.exit_code == 1
    assert said in told.output


def test_only_a_published_swarm_is_asked(run: Run, people: Path) -> None:
    told = run("anonymize", people, *ROLES, *QUICK, "--as-published")
    assert told.exit_code == 1
    assert "--option swarm=authors" in told.output
