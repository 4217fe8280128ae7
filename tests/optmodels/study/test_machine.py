"""What is written down of the code that made a run."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from optmodels.cli import app
from optmodels.study import DatasetSpec, FormulationSpec, SolverSpec, Study, machine, open_study, run


def test_versions_are_of_extras_and_plug_ins_too_and_of_no_tools(third_party: Path) -> None:
    pytest.importorskip("distributed")
    found = machine.versions()
    assert found["misbehaving"] == "2.5"
    assert {"optmodels", "numpy", "highspy", "dask", "distributed"} <= set(found)
    assert not {"ruff", "mypy", "pytest"} & set(found)


def test_a_changed_source_is_another_state_of_the_code(third_party: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "misbehaving", raising=False)  # of another folder
    before = machine.sources()
    assert before == machine.sources()
    plug_in = third_party / "misbehaving.py"
    plug_in.write_text(plug_in.read_text() + "\n# changed\n")
    after = machine.sources()
    assert after["misbehaving"] != before["misbehaving"]
    assert after["optmodels"] == before["optmodels"]


def test_the_code_of_solvers_and_formulations_is_part_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    files = machine._files
    monkeypatch.setattr(machine, "_files", lambda module: seen.append(module) or files(module))
    machine.sources()
    assert {"formulations", "optmodels", "solvers"} <= set(seen)


def test_status_tells_what_runs_of_several_versions_differ_in(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    models = [FormulationSpec("microaggregation", {"k": [3, 4]})]
    run(Study("s", [DatasetSpec("german", rows=40)], models, [SolverSpec("mdav")], warm_up=False), path, workers=1)
    assert open_study(path).status()["differing"] == {}
    assert "by different code" not in CliRunner().invoke(app, ["study", "status", str(path)]).output
    with sqlite3.connect(path) as file:
        file.execute(
            """INSERT INTO environment SELECT 'other', json_set(description, '$.sources.optmodels', 'older') FROM
            environment"""
        )
        file.execute("UPDATE run SET environment = 'other' WHERE place = 1")
    ours = machine.sources()["optmodels"]
    assert {name: set(values) for name, values in open_study(path).status()["differing"].items()} == {
        "sources: optmodels": {ours, "older"}
    }
    told = " ".join(CliRunner().invoke(app, ["study", "status", str(path)]).output.split())
    assert "by different code: sources: optmodels" in told
