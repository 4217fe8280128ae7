"""Reproductions: published figures as data, every study in miniature, and reports that say how they were made."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optmodels.errors import InputError
from optmodels.reproduce import STUDIES, reproduce
from optmodels.reproduce.report import Report, beside, published
from optmodels.reproduce.setting import Setting
from tests.cli.conftest import Run, run  # noqa: F401

MINIATURE = Setting("miniature", jobs=1)
BUNDLED = {"mo-obam", "mass"}  # run on data that comes with the package


def check(report: Report) -> None:
    """A report names its protocol, has tables, and everything in it can be written."""
    assert report.protocol
    assert report.comparisons
    for one in report.comparisons:
        assert len(one.frame), one.key
        assert one.frame.columns.is_unique
    json.dumps(report.to_dict(), default=str)
    assert "report.json" in report.writers("{}")


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_runs_in_miniature(name: str) -> None:
    if "OPTMODELS_DATA" not in os.environ and name not in BUNDLED:
        pytest.skip("OPTMODELS_DATA names no folder with the reference data")
    check(reproduce(name, MINIATURE))


def test_published_files_name_their_source() -> None:
    folder = Path(str(__import__("optmodels.reproduce", fromlist=["x"]).__file__)).parent / "published"
    names = sorted(folder.glob("*.csv"))
    assert names
    for file in names:
        first = file.read_text().splitlines()[0]
        assert first.startswith("# "), f"{file.name} does not say where its figures come from"
        assert len(published(file.stem)), file.name


def test_our_figure_minus_theirs() -> None:
    theirs = pd.DataFrame({"k": [1, 2], "published": [1.0, 2.0]})
    joined = beside(theirs, pd.DataFrame({"k": [2], "ours": [2.5]}), ["k"])
    assert joined["difference"].tolist()[1] == 0.5
    assert np.isnan(joined["difference"].tolist()[0])


def test_the_table_of_a_user(run: Run, tmp_path: Path) -> None:  # noqa: F811
    numbers = np.random.default_rng(0).normal(size=(40, 3))
    frame = pd.DataFrame(numbers, columns=list("abc")).assign(name="someone")
    frame.loc[3, "a"] = np.nan
    frame.to_csv(tmp_path / "own.csv", index=False)
    result = run("reproduce", "microaggregation", "--miniature", "--data", "own.csv", "--jobs", "1", "--out", "found")
    assert result.exit_code == 0, result.output
    losses = pd.read_csv(tmp_path / "found" / "losses.csv")
    assert len(losses) == 3
    assert (losses.groupby("k")["ours"].min() <= losses[losses["solver"] == "mdav"].set_index("k")["ours"]).all()
    assert "plotly" in (tmp_path / "found" / "losses.html").read_text()


def test_the_studies_are_listed_and_misspelt_ones_named(run: Run) -> None:  # noqa: F811
    listed = run("reproduce")
    assert listed.exit_code == 0
    for name in STUDIES:
        assert name in listed.output
    wrong = run("reproduce", "aminifer")
    assert wrong.exit_code == 1
    assert "Did you mean 'aminifar'" in " ".join(wrong.stderr.split())
    once = run("reproduce", "microaggregation", "--rounds", "3")
    assert "repeats nothing" in once.stderr
    other = run("reproduce", "aminifar", "--data", "own.csv")
    assert "leave out --data" in other.stderr
    both = run("reproduce", "aminifar", "--quick", "--full")
    assert "Choose one of" in both.stderr


def test_absent_data_is_named_with_the_remedy(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # noqa: F811
    monkeypatch.delenv("OPTMODELS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = run("reproduce", "aminifar", "--miniature", "--out", "found")
    assert result.exit_code == 1
    assert "OPTMODELS_DATA" in result.stderr
    assert not (tmp_path / "found").exists()


def _interrupted_at_two(number: int) -> int:
    if number == 2:
        raise KeyboardInterrupt
    return number


def test_ctrl_c_leaves_the_rounds_that_are_done() -> None:
    assert MINIATURE.repeat(_interrupted_at_two, 9, "round", fewer_will_do=True) == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        MINIATURE.repeat(_interrupted_at_two, 9, "round")


def test_a_setting_checks_its_rounds() -> None:
    with pytest.raises(InputError, match="rounds"):
        Setting(rounds=0)
