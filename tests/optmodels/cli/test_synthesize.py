"""`optmodels synthesize`, and MASS on what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from optmodels.datasets.synthetic import HealthRecords
from tests.optmodels.cli.conftest import Run

QUICK = (
    "--param",
    'classifiers=["nb"]',
    "--param",
    "predict=high_risk",
    "--param",
    "positive=yes",
    "--allow-unique",
    "visit_date",
)


@pytest.fixture
def health(run: Run, tmp_path: Path) -> Path:
    result = run(
        *("synthesize", "health", "--rows", 300, "--values", 7, "--seed", 2, "--out", "health.parquet"),
        *("--save-roles", "health.toml"),
    )
    assert result.exit_code == 0, result.output
    return tmp_path / "health.parquet"


def test_records_are_those_of_the_library(health: Path) -> None:
    assert pd.read_parquet(health).equals(HealthRecords(7, 2).frame(300))


def test_the_run_as_json(run: Run, tmp_path: Path) -> None:
    told = json.loads(run("synthesize", "sepsis", "--rows", 40, "--out", "s.parquet", "--json").stdout)
    assert told["records"] == 40
    assert len(pd.read_parquet(tmp_path / "s.parquet")) == 40


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("helth", "--out", "h.parquet"), "Did you mean 'health'?"),
        (("health", "--out", "h.csv"), ".parquet"),
        (("health", "--out", "h.parquet", "--values", 20), "l_v"),
        (("sepsis", "--out", "h.parquet", "--values", 7), "health only"),
        (("health", "--out", "nowhere/h.parquet"), "nowhere"),
    ],
)
def test_wrong_words(run: Run, tmp_path: Path, words: tuple[object, ...], message: str) -> None:
    result = run("synthesize", *words)
    assert result.exit_code == 1
    assert message in result.output.replace("\n", " ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("asked", [("--distinct-l", 2), ("--t", 0.2), ("--distinct-l", 2, "--t", 0.05)])
def test_mass_keeps_what_is_asked_for(run: Run, health: Path, asked: tuple[object, ...]) -> None:
    words = ("anonymize", health, "--roles", "health.toml", "--formulation", "mass", "--k", 3, *asked, *QUICK)
    result = run(*words, "--out", "release.csv", "--json")
    assert result.exit_code == 0, result.output
    audit = json.loads(result.stdout)["audit"]
    for levels in audit["sensitive"].values():
        assert levels["distinct_l"] >= (2 if "--distinct-l" in asked else 1)
        assert "--t" not in asked or levels["t_emd"] <= float(str(asked[-1])) + 1e-9


def test_mass_anonymises_them(run: Run, health: Path) -> None:
    result = run(
        *("anonymize", health, "--roles", "health.toml", "--formulation", "mass", "--k", 6, *QUICK),
        *("--out", "release.csv", "--report", "release.html"),
    )
    assert result.exit_code == 0, result.output
    for told in ("privacy_loss", "loss", "recall", "score"):
        assert told in result.output
    assert "privacy_loss" in Path("release.html").read_text()
    sizes = pd.read_csv("release.csv").groupby(["age", "gender", "zip", "occupation", "race"]).size()
    assert sizes.min() >= 6


def test_without_k_the_best_is_found_and_a_front_can_be_released_from(run: Run, health: Path) -> None:
    words = (health, "--roles", "health.toml", "--formulation", "mass", *QUICK)
    best = json.loads(run("anonymize", *words, "--json").stdout)
    found = run("pareto", *words, "--out", "front")
    assert found.exit_code == 0, found.output
    assert "Least score: k=" in found.output
    assert {"privacy_loss", "loss", "recall_loss"} <= set(pd.read_csv("front/front.csv").columns)
    optimum = json.loads(Path("front/front.json").read_text())["details"]["optimum"]
    assert optimum["score"] == pytest.approx(best["values"]["score"])
    released = run("release", "front", "--point", optimum["point"], "--out", "release.csv", "--json")
    assert released.exit_code == 0, released.output
    assert json.loads(released.stdout)["audit"]["k"] >= optimum["k"]


def test_misspelt_parameters(run: Run, health: Path) -> None:
    result = run("anonymize", health, "--roles", "health.toml", "--formulation", "mass", "--k", 5, "--param", "raech=2")
    assert result.exit_code == 1
    assert "reach" in result.output
