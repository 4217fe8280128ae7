"""`anonymize --certificate` and `certificate verify`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.optmodels.cli.conftest import Run


@pytest.fixture
def proof(run: Run, tmp_path: Path) -> tuple[Path, Path]:
    data, path = tmp_path / "data.csv", tmp_path / "proof.json"
    data.write_text("age,illness\n" + "".join(f"{20 + i * i % 37},{'uvw'[i % 3]}\n" for i in range(10)))
    words = ("--numeric", "age", "--sensitive", "illness", "--k", 3, "--solver", "columns")
    made = run("anonymize", data, *words, "--certificate", path, "--out", tmp_path / "release.csv")
    assert made.exit_code == 0, made.output
    return data, path


def test_what_was_proven_is_proven_again(run: Run, proof: tuple[Path, Path]) -> None:
    data, path = proof
    kept = run("certificate", "verify", path, data)
    assert kept.exit_code == 0
    assert "the bound is proven" in " ".join(kept.output.split())
    told = json.loads(run("certificate", "verify", path, "--json").output)
    assert told["kept"] is True
    assert told["kind"] == "classes"


def test_what_was_changed_is_found(run: Run, proof: tuple[Path, Path]) -> None:
    data, path = proof
    said = json.loads(path.read_text())
    said["duals"][0] *= 1.5
    path.write_text(json.dumps(said))
    edited = run("certificate", "verify", path)
    assert edited.exit_code == 4
    assert "changed after it was written" in " ".join(edited.output.split())
    assert run("certificate", "verify", data.parent / "none.json").exit_code == 1
    assert run("certificate", "verify", data).exit_code == 1


def test_another_file_is_not_what_it_is_about(run: Run, proof: tuple[Path, Path]) -> None:
    data, path = proof
    data.write_text(data.read_text().replace("u", "v", 1))
    other = run("certificate", "verify", path, data)
    assert other.exit_code == 4
    assert "SHA-256" in other.output


def test_what_has_no_certificate_is_refused_before_anything_is_solved(run: Run, tmp_path: Path) -> None:
    data, path = tmp_path / "data.csv", tmp_path / "proof.json"
    data.write_text("age,illness\n" + "".join(f"{20 + i},{'uv'[i % 2]}\n" for i in range(10)))
    words = ("--numeric", "age", "--sensitive", "illness", "--k", 3, "--formulation", "mass")
    refused = run("anonymize", data, *words, "--certificate", path, "--out", tmp_path / "release.csv")
    assert refused.exit_code == 1
    assert "no sum of prices" in " ".join(refused.output.split())
    assert not path.exists()
    assert not (tmp_path / "release.csv").exists()
