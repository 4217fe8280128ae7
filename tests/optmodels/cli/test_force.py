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
