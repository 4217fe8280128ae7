"""`optmodels release`: a point of a saved front, released from the very data that the front was found for."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from formulations.mass.recall import Recall
from optmodels import registry
from optmodels.partition import Labels
from tests.optmodels.cli.conftest import ROLES, Run
from tests.optmodels.cli.test_anonymize import KEYS, document
from tests.optmodels.cli.test_bad_input import refused
from tests.optmodels.cli.test_pareto import EXACT, Draws


@pytest.fixture
def front(run: Run, few: Path) -> Path:
    """An exact front of ten people."""
    assert run("pareto", few, *ROLES, *EXACT, "--out", "front").exit_code == 0
    return few.parent / "front"


def test_the_release_is_that_of_its_point(run: Run, front: Path) -> None:
    points = pd.read_csv(front / "front.csv")
    for number in (0, len(points) - 1):
        result = run("release", front, "--point", number, "--out", "release.csv", "--force", "--json")
        assert result.exit_code == 0, result.output
        record = document(result)
        assert list(record) == [*KEYS, "point", "points"]
        assert (record["point"], record["points"]) == (number, len(points))
        assert record["values"]["loss"] == pytest.approx(points["loss"][number])
        assert record["values"]["entropy"] == pytest.approx(points["entropy"][number])
        audited = document(run("audit", "release.csv", "--quasi", "age,sex,town", "--sensitive", "illness", "--json"))
        assert audited["k"] == record["audit"]["k"] >= 3
        assert audited["classes"] == record["audit"]["classes"]


def test_the_knee_is_the_default_and_files_are_as_anonymize_writes_them(run: Run, front: Path) -> None:
    result = run("release", front, "--out", "r.parquet", "--report", "r.html", "--recode", "interval")
    assert result.exit_code == 0, result.output
    for fragment in ("before", "after", "entropy", "Written: r.parquet", "Written: r.html"):
        assert fragment in result.stdout
    assert pd.read_parquet("r.parquet")["age"].astype(str).str.startswith("[").any()
    assert Path("r.html").read_text().startswith("<!doctype html>")
    knee = document(run("release", front, "--point", "knee", "--json"))["point"]
    assert document(run("release", front, "--json"))["point"] == knee


def test_moved_data_is_named_and_changed_data_is_refused(
    run: Run,
    front: Path,
    few: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = document(run("release", front, "--json"))
    (few.parent / "elsewhere").mkdir()
    monkeypatch.chdir(few.parent / "elsewhere")
    assert document(run("release", front, "--json"))["values"] == before["values"], "the path is absolute"
    moved = few.rename(few.parent / "elsewhere" / "moved.csv")
    refused(run("release", front, "--out", "r.csv"), "no longer at", "--data")
    assert document(run("release", front, "--data", moved, "--json"))["values"] == before["values"]
    refused(run("release", front, "--data", "none.csv", "--out", "r.csv"), "--data 'none.csv' is no file")
    moved.write_text(moved.read_text().replace("p3,", "p4,"))
    refused(run("release", front, "--data", moved, "--out", "r.csv"), "not what it was", "SHA-256")
    assert not Path("r.csv").exists()


@pytest.mark.parametrize("point", ["99", "-1", "best", "1.5"])
def test_a_point_that_does_not_exist(run: Run, front: Path, point: str) -> None:
    refused(run("release", front, f"--point={point}", "--out", "r.csv"), "'knee' or a number from 0 to", point)
    assert not Path("r.csv").exists()


def test_wrong_folders_and_outputs(run: Run, front: Path) -> None:
    refused(run("release", "nowhere"), "no saved front in 'nowhere'")
    refused(run("release", front, "--out", "r.xlsx"), ".csv or .parquet")
    refused(run("release", front, "--out", front / "front.csv"), "is read by this very command")
    refused(run("release", front, "--recode", "intervals"), "'interval'?")
    (front / "source.json").write_text("[]")
    refused(run("release", front), "source.json", "optmodels pareto")
    (front / "front.json").write_text("no json")
    refused(run("release", front), "front.json", "damaged")


@pytest.mark.parametrize(
    "edit",
    [
        {"parameters": {"k": "five"}},
        {"parameters": {"k": [3]}},
        {"parameters": {"k": None}},
        {"parameters": {"kk": 3}},
        {"formulation": 7},
        {"formulation": ["mo-obam"]},
        {"formulation": {}},
        {"objectives": {"loss": 3}},
        {"objectives": {"1": []}},
        {"records": "ten"},
        {"details": {"seconds": "long"}},
    ],
)
def test_a_front_json_edited_by_hand_is_the_users_not_ours(run: Run, front: Path, edit: dict[str, object]) -> None:
    file = front / "front.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | edit))
    result = run("release", front, "--out", "r.csv")
    assert "mistake in optmodels" not in result.output
    assert result.exit_code == (0 if "details" in edit else 1)


def test_labels_that_break_the_promise_are_never_released(run: Run, front: Path) -> None:
    labels = pd.read_parquet(front / "labels.parquet")
    labels[:] = 0
    labels.iloc[0] = 1
    labels.to_parquet(front / "labels.parquet")
    result = run("release", front, "--out", "r.csv")
    assert result.exit_code == 1
    assert "breaks what this problem asks for (k >= 3)" in result.stderr
    assert not Path("r.csv").exists()


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Random partitions as an algorithm."""
    known = registry.solver
    monkeypatch.setattr(registry, "solver", lambda name: Draws if name == "draws" else known(name))
    return "--solver", "draws"


def test_a_dataset_is_found_again_by_its_name(run: Run, draws: tuple[str, str]) -> None:
    words = ("--sensitive", "job", "--formulation", "microaggregation", "--k", 4, "--objectives", "loss,linkage@0.1")
    made = run("pareto", "german", *words, *draws, "--evaluations", 9, "--out", "front", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(Path("front/source.json").read_text())["path"] is None
    first = document(made)["points"][0]
    released = document(run("release", "front", "--point", 0, "--json"))
    assert released["values"] == {name: pytest.approx(first[name]) for name in ("loss", "linkage@0.1")}
    assert list(released["audit"]["sensitive"]) == ["job"], "the roles are those of the run, not the dataset's own"


def test_a_model_with_parameters_and_a_seed_is_built_again(run: Run, people: Path, draws: tuple[str, str]) -> None:
    model = ("--formulation", "aminifar", "--k", 20, "--param", "alpha=3", "--param", 'sensitive_value=["flu"]')
    words = ("--objectives", "loss,homogeneity,closeness", *draws, "--evaluations", 300, "--seed", 5)
    made = run("pareto", people, *ROLES, *model, *words, "--out", "front", "--json")
    assert made.exit_code == 0, made.output
    points = document(made)["points"]
    for number, point in enumerate(points):
        values = document(run("release", "front", "--point", number, "--json"))["values"]
        assert values == {name: pytest.approx(point[name]) for name in ("loss", "homogeneity", "closeness")}


def test_classifiers_are_trained_for_the_released_point_only(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ("--formulation", "mass", "--param", 'classifiers=["nb"]')
    made = run("pareto", people, *ROLES, *model, "--out", "front", "--json")
    assert made.exit_code == 0, made.output
    points = document(made)["points"]
    assert len(points) > 1
    optimum = document(made)["optimum"]
    assert optimum["privacy_loss"] == points[optimum["point"]]["privacy_loss"]
    assert document(run("anonymize", people, *ROLES, *model, "--json"))["k"] == optimum["k"]
    known, asked = Recall.of, []

    def noted(recall: Recall, labels: Labels) -> float:
        asked.append(labels)
        return known(recall, labels)

    monkeypatch.setattr(Recall, "of", noted)
    released = document(run("release", "front", "--point", 1, "--json"))
    assert released["values"]["privacy_loss"] == pytest.approx(points[1]["privacy_loss"])
    assert len(asked) == 1
