"""What reproductions share: published figures as data, rounds that Ctrl-C cuts short, and clear errors."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optmodels.errors import InputError
from optmodels.reproduce import STUDIES, mo_obam, reproduce
from optmodels.reproduce.mo_obam_points import MEASURES, beside_ours
from optmodels.reproduce.report import ClaimVerdict, beside, published
from optmodels.reproduce.setting import Setting
from tests.optmodels.cli.conftest import Run, run  # noqa: F401


def test_published_files_name_their_source() -> None:
    names = [file.name for file in files("optmodels.reproduce").joinpath("published").iterdir()]
    assert len(names) >= 18
    for name in names:
        first = files("optmodels.reproduce").joinpath("published", name).read_text().splitlines()[0]
        assert first.startswith("# "), f"{name} does not say where its figures come from"
        assert len(published(name.removesuffix(".csv"))), name


@pytest.mark.parametrize(
    ("file", "where", "column", "figure"),
    [
        ("aminifar_table_2", {"classifier": "svm", "version": "with diversity"}, "mcc", 0.449),
        ("aminifar_table_3", {"level": "variational D", "version": "without diversity"}, "published", 1.06),
        ("mo_obam_tables_5_6", {"dataset": "adult", "model": "zheng", "k": 15, "l": 14}, "loss", 0.1201),
        ("mo_obam_baselines", {"dataset": "adult"}, "linkage_0.075", 4906),
        ("mo_obam_tables_8_11", {"dataset": "sepsis", "model": "baseline", "classifier": "mlp"}, "published", 0.6207),
        ("mo_obam_table_b2", {"n_clusters": 26, "lam": 0.1, "k": 15}, "linkage_0.075", 74),
        ("mo_obam_table_b3", {"n_clusters": 90, "lam": 0.1, "k": 5}, "linkage_0.1", 45),
        ("majeed_hwang_table_9", {"k": 35}, "majeed-hwang", 158.82),
        ("mo_obam_table_b5", {"n_clusters": 28, "lam": 0.0001, "k": 15}, "homogeneity", 9),
        ("mo_obam_table_7", {"model": "zheng", "k": 15}, "linkage_0.05", 21607),
        ("mo_obam_tables_c10_c11", {"table": "C11", "feature": "age"}, "published", 0.0995),
        ("mo_obam_table_b6", {"n_clusters": 80, "lam": 0.0001, "k": 5}, "homogeneity", 3),
        ("mass_table_3", {"scale": "large", "classifier": "knn"}, "train_accuracy", 0.735),
        ("mass_table_5", {"scale": "very large", "k": 9}, "score", 0.547),
        ("mass_table_6", {"scale": "medium", "k": 2, "classifier": "nb", "metric": "recall"}, "published", 0.822),
        ("majeed_hwang_table_5", {"attribute": "native_country"}, "published", 71.81),
        ("majeed_hwang_tables_6_7", {"version": "t-closeness"}, "published", 84.09),
        ("majeed_hwang_table_8", {"k": 30}, "majeed-hwang", 0.67),
        ("liang_samavi", {"dataset": "ipums_1k_8attr"}, "published", 482.33),
        ("microaggregation", {"dataset": "tarragona", "k": 10, "method": "mdav"}, "published", 33.193),
    ],
)
def test_published_figures_are_those_printed(file: str, where: dict[str, object], column: str, figure: float) -> None:
    frame = published(file)
    for name, value in where.items():
        frame = frame[frame[name] == value]
    assert frame[column].tolist() == [figure]


def test_our_figure_minus_theirs() -> None:
    theirs = pd.DataFrame({"k": [1, 2], "published": [1.0, 2.0]})
    joined = beside(theirs, pd.DataFrame({"k": [2], "ours": [2.5]}), ["k"])
    assert joined["difference"].tolist()[1] == 0.5
    assert np.isnan(joined["difference"].tolist()[0])


def _point(k: int, loss: float, linked: int) -> dict[str, float]:
    return {"k": k, "classes": 9, **dict.fromkeys(MEASURES, linked), "loss": loss}


def test_a_published_point_gets_the_best_of_ours_that_dominates_it_or_the_nearest() -> None:
    label = {"protection": "lower", "model": "mo-obam", "l": np.nan}
    theirs = pd.DataFrame([{**label, **_point(5, 0.1, 10)}, {**label, **_point(10, 0.01, 0)}])
    ours = pd.DataFrame([_point(5, 0.05, 11), _point(10, 0.08, 10), _point(10, 0.09, 0), _point(5, 0.001, 0)])
    ours.loc[3, "k"] = 4  # not private enough for either
    found = beside_ours(theirs, ours)
    assert found["our_loss"].tolist() == [0.08, 0.09]
    assert found["dominated"].tolist() == [True, False]
    np.testing.assert_allclose(found["loss_difference"], [-0.02, 0.08])


def test_the_studies_are_listed_and_misspelt_ones_named(run: Run) -> None:  # noqa: F811
    listed = run("reproduce")
    assert listed.exit_code == 0
    for name in STUDIES:
        assert name in listed.output
    wrong = run("reproduce", "aminifer")
    assert wrong.exit_code == 1
    assert "Did you mean 'aminifar'" in " ".join(wrong.stderr.split())
    option = run("reproduce", "aminifar", "--quik")
    assert option.exit_code == 1
    assert "--quick" in option.stderr
    once = run("reproduce", "microaggregation", "--rounds", "3")
    assert "repeats nothing" in once.stderr
    other = run("reproduce", "aminifar", "--data", "own.csv")
    assert "leave out --data" in other.stderr
    both = run("reproduce", "aminifar", "--quick", "--full")
    assert "Choose one of" in both.stderr


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("aminifar", "heart_cleveland.csv"),
        ("microaggregation", "census.csv"),
        ("liang-samavi", "person20.csv"),
        ("majeed-hwang", "adult.data"),
    ],
)
def test_absent_data_is_named_with_the_remedy(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str,
    file: str,
) -> None:
    _without_data(monkeypatch, tmp_path)
    result = run("reproduce", name, "--miniature", "--jobs", "1", "--out", "found")
    assert result.exit_code == 1
    assert "OPTMODELS_DATA" in result.stderr
    assert file in result.stderr
    assert not (tmp_path / "found").exists()


def test_without_adult_german_credit_suffices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _without_data(monkeypatch, tmp_path)
    asked: list[tuple[str, ...]] = []

    def points(setting: Setting, datasets: tuple[str, ...]) -> object:
        asked.append(datasets)
        raise KeyboardInterrupt

    monkeypatch.setattr(mo_obam.mo_obam_points, "tables", points)
    with pytest.raises(KeyboardInterrupt):
        reproduce("mo-obam", Setting("quick", jobs=1))
    assert asked == [("german",)]
    assert "adult.data" in mo_obam._why_missing("adult")


def _without_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No data but what comes with the package, and no network."""
    monkeypatch.delenv("OPTMODELS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def unreachable(*_: object, **__: object) -> object:
        raise OSError("no network")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)


def _interrupted_at_two(number: int) -> int:
    if number == 2:
        raise KeyboardInterrupt
    return number


def _interrupted_at_once(number: int) -> int:
    raise KeyboardInterrupt


def test_ctrl_c_leaves_the_rounds_that_are_done_and_ends_the_study() -> None:
    setting = Setting("miniature", jobs=1)
    assert setting.repeat(_interrupted_at_two, 9, "round") == [0, 1]
    assert setting.interruption.where == "round 2 of 9"
    assert setting.repeat(abs, 9, "other round") == []
    assert setting.attempt(lambda: 1, lambda: "here") is None
    with pytest.raises(KeyboardInterrupt):
        Setting("miniature", jobs=1).repeat(_interrupted_at_once, 9, "round")


@pytest.mark.parametrize("name", STUDIES)
def test_an_interrupted_study_reports_what_is_finished(
    name: str, stand_ins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the first piece of work: one report, with that piece's tables, which says so."""
    monkeypatch.setenv("OPTMODELS_DATA", str(stand_ins))

    def press(done: int, total: int, what: str) -> None:
        raise KeyboardInterrupt

    setting = Setting("miniature", jobs=1, on_step=press)
    report = reproduce(name, setting)
    assert report.comparisons
    assert "Interrupted at" in report.remarks[0]
    assert "run the same command again" in report.remarks[0]
    assert report.writers("{}")


def test_what_was_finished_before_a_study_was_stopped_keeps_its_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {name: ClaimVerdict(name, True, "as told") for name in ("points", "grid", "alike")}
    empty = pd.DataFrame(columns=["dataset", *mo_obam.mo_obam_grid.KEYS])

    def stopped(setting: Setting, datasets: tuple[str, ...]) -> object:
        setting.interruption.where = "appendix B: front 1 of 2"
        return empty, {}

    monkeypatch.setattr(mo_obam.mo_obam_points, "tables", lambda *_: ([], [held["points"]]))
    monkeypatch.setattr(mo_obam.mo_obam_grid, "grid", stopped)
    monkeypatch.setattr(mo_obam.mo_obam_grid, "tables", lambda _: ([], [held["grid"]]))
    monkeypatch.setattr(mo_obam.mo_obam_alike, "tables", lambda *_: ([], [held["alike"]]))
    monkeypatch.setattr(mo_obam.mo_obam_learning, "tables", lambda *_: ([], [], []))
    report = reproduce("mo-obam", Setting("miniature"))
    assert report.verdicts == (held["points"],)
    assert not report.complete


def test_a_setting_checks_its_rounds() -> None:
    with pytest.raises(InputError, match="rounds"):
        Setting(rounds=0)
