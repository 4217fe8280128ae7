"""What is there already is replaced only by force."""

from __future__ import annotations

import pytest

from tests.optmodels.cli.conftest import QUICK, ROLES


def test_a_release_is_not_replaced_without_force(run, people, tmp_path):
    words = ("anonymize", people, *ROLES, *QUICK, "--out", "release.csv")
    (tmp_path / "release.csv").write_text("mine")
    told = run(*words)
    assert told.exit_code == 1
    assert "exists already" in told.output
    assert "--force" in told.output
    assert (tmp_path / "release.csv").read_text() == "mine"
    assert run(*words, "--force").exit_code == 0
    assert (tmp_path / "release.csv").read_text() != "mine"


@pytest.mark.parametrize("what", ["front.json", "labels.parquet"])
def test_a_front_is_not_replaced_without_force(run, few, tmp_path, what):
    words = ("pareto", few, *ROLES, "--k", "2", "--out", "front")
    (tmp_path / "front").mkdir()
    (tmp_path / "front" / what).write_text("mine")
    told = run(*words)
    assert told.exit_code == 1
    assert "--force" in told.output
    assert (tmp_path / "front" / what).read_text() == "mine"
    assert run(*words, "--force").exit_code == 0
    (tmp_path / "point.csv").write_text("mine")
    assert "--force" in run("release", "front", "--out", "point.csv").output
    assert run("release", "front", "--out", "point.csv", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("inspect", "{people}", "--out", "roles.toml"), "roles.toml"),
        (("hierarchy", "bands:5,10", "--data", "{people}", "--column", "age", "--out", "age.csv"), "age.csv"),
        (("synthesize", "health", "--rows", "20", "--out", "some.parquet"), "some.parquet"),
        (("synthesize", "health", "--rows", "20", "--out", "new.parquet", "--save-roles", "some.toml"), "some.toml"),
        (("anonymize", "{people}", *ROLES, *QUICK, "--out", "new.csv", "--save-roles", "some.toml"), "some.toml"),
        (("utility", "{people}", "{people}", "--target", "sex", "--out", "found"), "found/scores.csv"),
        (("reproduce", "liang-samavi", "--miniature", "--jobs", "1", "--out", "found"), "found/mine.txt"),
    ],
)  # fmt: skip
def test_no_command_replaces_a_file_without_force(run, people, tmp_path, words, file):
    asked = [word.replace("{people}", str(people)) for word in words]
    mine = tmp_path / file
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    told = run(*asked)
    assert told.exit_code == 1
    assert "--force" in told.output
    assert mine.read_text() == "mine"
    assert sorted(tmp_path.rglob("*")) == before
    if words[0] not in ("utility", "reproduce"):  # which take seconds
        assert run(*asked, "--force").exit_code == 0
        assert mine.read_text() != "mine" if mine.suffix != ".parquet" else mine.read_bytes()[:4] == b"PAR1"
