"""The commands as a user would use them, on one small study."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from optmodels.cli import app
from optmodels.study import open_study

SPEC = """
name = "Größen [alle]"
seeds = 2
warm_up = false
limits.kill = 60
[[dataset]]
file = "leute.csv"
label = "Köln & Ulm"
rows = [30, 60]
roles.quasi = { alter = "numeric", ort = "categorical" }
[[formulation]]
name = "microaggregation"
parameters.k = [3, 4]
[[solver]]
name = "mdav"
[[solver]]
name = "mondrian"
[[solver]]
name = "univariate"
"""


def invoked(*words: object) -> Any:
    result = CliRunner().invoke(app, [str(word) for word in ("study", *words)])
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a spec, its data and the runs that came of it."""
    place = tmp_path_factory.mktemp("studie ü")
    people = [f"{20 + i * 7 % 50},{('Köln', 'Ulm')[i % 2]}" for i in range(60)]
    (place / "leute.csv").write_text("\n".join(["alter,ort", *people]), encoding="utf-8")
    (place / "spec.toml").write_text(SPEC, encoding="utf-8")
    result = invoked("run", place / "spec.toml", "--out", place / "runs.db", "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "24 runs made, 24 in" in result.output.replace("\n", "")
    assert "refused: 8 x univariate" in result.output.replace("\n", " ")
    return place


def test_status_tells_what_is_there(folder: Path) -> None:
    told = invoked("status", folder / "runs.db").output
    assert "Größen [alle]: 24 runs, 16 done, 8 refused, 0 waiting." in told
    found = json.loads(invoked("status", folder / "runs.db", "--json").output)
    assert found["outcomes"] == {"done": 16, "refused": 8}
    assert "one numeric" in found["failures"][0]["reason"]


def test_running_again_makes_nothing(folder: Path) -> None:
    result = invoked("run", folder / "spec.toml", "--out", folder / "runs.db")
    assert "0 runs made (24 were there already)" in result.output.replace("\n", "")


def test_table_and_comparison(folder: Path) -> None:
    told = invoked("table", folder / "runs.db").output
    assert "Köln & Ulm[30]" in told
    assert "The median is of runs that were solved; not all of them were by univariate 0%." in " ".join(told.split())
    rows = json.loads(invoked("table", folder / "runs.db", "--measure", "classes", "--json").output)
    assert len(rows) == 4
    assert rows[0]["univariate"] is None
    found = json.loads(invoked("compare", folder / "runs.db", "--json").output)
    assert found["problems"] == 4
    assert found["ranks"]["univariate"] == 3.0
    assert len(found["pairs"]) == 3
    told = " ".join(invoked("compare", folder / "runs.db").output.split())
    assert "Friedman over 4 problems" in told
    assert "counts as failing on the problem: univariate on 4 of 4 problems." in told
    assert len(json.loads(invoked("compare", folder / "runs.db", "--each", "--json").output)) == 12


def test_plots_are_pages_with_their_data(folder: Path, tmp_path: Path) -> None:
    result = invoked("plot", folder / "runs.db", "--out", tmp_path / "plots")
    assert result.exit_code == 0, result.output
    names = {path.stem for path in (tmp_path / "plots").glob("*.html")}
    assert names == {"performance-value", "performance-time-to-target", "data-profile", "anytime", "scaling", "ranks"}
    profile = pd.read_csv(tmp_path / "plots" / "performance-value.csv")
    assert profile.groupby("solver")["share"].max().to_dict() == {"mdav": 1.0, "mondrian": 1.0, "univariate": 0.0}
    page = (tmp_path / "plots" / "performance-value.html").read_text(encoding="utf-8")
    assert "plotly.min.js" in page
    assert (tmp_path / "plots" / "plotly.min.js").is_file()
    assert invoked("plot", folder / "runs.db", "--backend", "matplotlib", "--out", tmp_path / "print").exit_code == 0
    assert {path.stem for path in (tmp_path / "print").glob("*.pdf")} == names
    assert not list((tmp_path / "print").glob("*.html"))


def test_scaling_goes_by_families_and_says_what_it_lacks(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(folder / "runs.db", copy)
    with sqlite3.connect(copy) as file:
        file.execute("UPDATE run SET dataset = 'file ' || records")  # as if they were files of one family
    assert invoked("plot", copy, "--kind", "scaling", "--out", tmp_path / "plots").exit_code == 0
    assert set(pd.read_csv(tmp_path / "plots" / "scaling.csv")["solver"]) == {"mdav", "mondrian"}
    with sqlite3.connect(copy) as file:
        file.execute("UPDATE run SET family = dataset")
    result = invoked("plot", copy, "--kind", "scaling", "--out", tmp_path / "none")
    assert result.exit_code == 1
    assert "files of several sizes the same family" in " ".join(result.output.split())
    result = invoked("plot", copy, "--kind", "scaling,ranks", "--out", tmp_path / "some")
    assert "files of several sizes the same family" in " ".join(result.output.split())


@pytest.mark.parametrize(("form", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_exports(form: str, read: Callable[[Path], pd.DataFrame], folder: Path, tmp_path: Path) -> None:
    for what, rows in (("runs", 24), ("summary", 4), ("curves", 16), ("points", 0)):
        out = tmp_path / f"{what}.{form}"
        assert invoked("export", folder / "runs.db", "--format", form, "--what", what, "--out", out).exit_code == 0
        if rows or form == "parquet":
            assert len(read(out)) == rows


def test_latex_is_ready_for_a_paper(folder: Path, tmp_path: Path) -> None:
    assert invoked("export", folder / "runs.db", "--format", "latex", "--out", tmp_path / "t.tex").exit_code == 0
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert "Köln \\& Ulm[30] & microaggregation(k=3) & " in text
    assert text.count("\\textbf{") >= 4
    assert text.count(" -- ") == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("status", "nosuch.db"), "There is no study in 'nosuch.db'"),
        (("run", "nosuch.toml", "--out", "x.db"), "Cannot read the study file"),
        (("table", "{}", "--measure", "sconds"), "Did you mean 'seconds'"),
        (("table", "{}", "--statistic", "medain"), "Did you mean 'median'"),
        (("compare", "{}", "--measure", "velue"), "Did you mean 'value'"),
        (("plot", "{}", "--kind", "anytme", "--out", "p"), "Did you mean 'anytime'"),
        (("plot", "{}", "--kind", "boxes", "--out", "p"), "has no data for boxes"),
        (("export", "{}", "--format", "excel", "--out", "x"), "csv, latex, parquet"),
        (("export", "{}", "--format", "latex", "--what", "runs", "--out", "x"), "LaTeX is for the summary"),
        (("export", "{}", "--out", "nosuch/x.csv"), "folder that exists"),
        (("rnu", "x"), "No such command"),
    ],
)
def test_what_is_wrong_is_told(
    words: tuple[str, ...], told: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoked(*(str(folder / "runs.db") if word == "{}" else word for word in words))
    assert result.exit_code == 1, result.output
    assert told in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


def test_counting_runs_writes_nothing(folder: Path, tmp_path: Path) -> None:
    result = invoked("run", folder / "spec.toml", "--out", tmp_path / "none.db", "--dry-run")
    assert "24 runs" in result.output
    assert not (tmp_path / "none.db").exists()


def test_a_study_in_a_folder_that_may_not_be_written_to_can_be_read(folder: Path) -> None:
    assert len(open_study(folder / "runs.db").runs()) == 24
    (folder / "runs.db").chmod(0o444)
    try:
        assert invoked("status", folder / "runs.db").exit_code == 0
    finally:
        (folder / "runs.db").chmod(0o644)
