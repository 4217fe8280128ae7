"""A small table of people on disk, and the command line run within the test's process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from optmodels.cli import app

Run = Callable[..., Any]

ROLES = ("--numeric", "age", "--categorical", "sex,town", "--sensitive", "illness", "--identifier", "name")
QUICK = ("--solver", "mdav", "--k", "4")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command line in a folder of its own; a traceback must never reach the user."""
    monkeypatch.chdir(tmp_path)

    def invoke(*words: object) -> Any:
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert "Traceback" not in result.output
        return result

    return invoke


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Forty people with a name, two illnesses at least in any five of them."""
    rows = [
        f"p{i},{20 + (i * 7) % 40},{'fm'[i % 2]},{('Ulm', 'Bonn')[i % 3 == 0]},{('flu', 'cold', 'gout')[i % 3]}"
        for i in range(40)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["name,age,sex,town,illness", *rows]) + "\n")
    return path


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Ten people: few enough for an exact front."""
    rows = [f"p{i},{20 + (i * 7) % 40},{'fm'[i % 2]},Ulm,{('flu', 'cold', 'gout')[i % 3]}" for i in range(10)]
    path = tmp_path / "few.csv"
    path.write_text("\n".join(["name,age,sex,town,illness", *rows]) + "\n")
    return path


@pytest.fixture
def unchanged(tmp_path: Path) -> Iterator[None]:
    """The folder holds the same files, with the same contents, after the test as before it."""
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    yield
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.fixture
def mirror() -> None:
    """The reference data, without which a test is skipped."""
    if "OPTMODELS_DATA" not in os.environ:
        pytest.skip("OPTMODELS_DATA names no folder with the reference data")
