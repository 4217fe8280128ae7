"""A study that was stopped goes on: finished pieces are kept, sealed, and told where they cannot be used."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from formulations import Mass
from optmodels import dataset
from optmodels.cli import reproduce as command
from optmodels.errors import InputError
from optmodels.metrics.utility import Protocol, utility
from optmodels.reproduce import liang_samavi, mass
from optmodels.reproduce.kept_pieces import FOLDER, FinishedPiece, KeptPieces
from optmodels.reproduce.kept_trials import learned
from optmodels.reproduce.plain_pieces import from_plain, to_plain
from optmodels.reproduce.setting import PieceError, Setting
from solvers import solve
from tests.optmodels.cli.conftest import Run, run  # noqa: F401

MADE_OF = {"study": "mass", "scale": "full", "seed": "0", "code of optmodels": "1a2b"}


def _kept(folder: Path, **other: str) -> KeptPieces:
    return KeptPieces(folder / FOLDER, {**MADE_OF, **other})


def _noted(number: int, *, notes: Path, stop: int | None = None, fail: int | None = None) -> int:
    """The square, noted down each time it is worked out, so that it is seen how often that was."""
    if number == stop:
        raise KeyboardInterrupt
    if number == fail:
        raise ValueError("not today")
    (notes / f"{number}").write_text((notes / f"{number}").read_text() + "x" if (notes / f"{number}").exists() else "x")
    return number * number


def test_whatever_studies_find_comes_back_as_it_was() -> None:
    frame = pd.DataFrame({"k": [2, 3], "loss": [0.1, float("nan")], "name": ["a", None], "held": [True, False]})
    frame.index = pd.Index([7, 5])
    value = {("german", 4, 0.1): (np.arange(6, dtype=np.int32).reshape(2, 3), [frame, None, np.float64(1 / 3), "k"])}
    back = from_plain(json.loads(json.dumps(to_plain(value))))
    (labels, (again, *rest)) = back["german", 4, 0.1]
    np.testing.assert_array_equal(labels, np.arange(6).reshape(2, 3))
    assert labels.dtype == np.int32
    pd.testing.assert_frame_equal(again, frame)
    assert rest == [None, 1 / 3, "k"]
    with pytest.raises(TypeError, match="Path"):
        to_plain([Path("somewhere")])


def test_a_second_run_does_only_what_is_missing(tmp_path: Path) -> None:
    first = Setting("miniature", jobs=1, kept=pickle.loads(pickle.dumps(_kept(tmp_path))))  # as workers get it
    work = partial(_noted, notes=tmp_path)
    assert first.repeat(partial(work, fail=2), 4, "square") == [0, 1], "in order, until the one that failed"
    assert first.interruption.where == "square 2 of 4"
    assert first.interruption.failure == "ValueError: not today"
    second = Setting("miniature", jobs=1, kept=_kept(tmp_path))
    assert second.repeat(work, 4, "square") == [0, 1, 4, 9]
    assert not second.interruption.where
    assert [(tmp_path / f"{number}").read_text() for number in range(4)] == ["x"] * 4
    assert (second.spent["square"].pieces, second.spent["square"].earlier) == (4, 3)


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    first = Setting("miniature", jobs=1, kept=_kept(tmp_path))
    assert first.repeat(partial(_noted, notes=tmp_path, stop=2), 9, "square") == [0, 1]
    second = Setting("miniature", jobs=1, kept=_kept(tmp_path))
    assert second.repeat(partial(_noted, notes=tmp_path, stop=0), 2, "square") == [0, 1], "none is made again"


def test_a_piece_of_something_else_is_not_used_and_that_is_told(tmp_path: Path) -> None:
    _kept(tmp_path).put("square", 0, FinishedPiece(7, 1.0, 1.0))
    work = partial(_noted, notes=tmp_path)
    for other, why in (({"seed": "1"}, "seed"), ({"code of optmodels": "3c4d"}, "code of optmodels")):
        kept = _kept(tmp_path, **other)
        assert kept.get("square", 0) is None
        assert why in kept.told()[0]
    assert not _kept(tmp_path, seed="1").begun(), "another study"
    changed = _kept(tmp_path, **{"code of optmodels": "3c4d"})
    assert changed.begun(), "the same study, by other code"
    assert Setting("full", jobs=1, kept=changed).repeat(work, 1, "square") == [0]
    assert _kept(tmp_path, **{"code of optmodels": "3c4d"}).get("square", 0) is not None


@pytest.mark.parametrize("damage", [lambda text: text[:-9], lambda text: text.replace('"result": 7', '"result": 8')])
def test_a_damaged_piece_is_made_again_and_that_is_told(tmp_path: Path, damage: object) -> None:
    kept = _kept(tmp_path)
    kept.put("square", 0, FinishedPiece(7, 1.0, 1.0))
    (file,) = kept.folder.iterdir()
    assert callable(damage)
    file.write_text(damage(file.read_text()))
    assert kept.get("square", 0) is None
    assert "not whole, or changed since" in kept.told()[0]
    kept.put("square", 1, FinishedPiece(7, 1.0, 1.0))
    assert kept.begun(), "one is damaged, another is not"
    (kept.folder / ".unfinished-1a2b.json").write_text("{")
    kept.clear()
    assert not kept.folder.exists()


def test_a_failure_before_anything_is_found_is_an_error_that_says_where(tmp_path: Path) -> None:
    with pytest.raises(PieceError, match="square 0 of 3: ValueError: not today"):
        Setting("miniature", jobs=1, kept=_kept(tmp_path)).repeat(partial(_noted, notes=tmp_path, fail=0), 3, "square")
    with pytest.raises(ValueError, match="not today"):
        Setting("miniature", jobs=1).repeat(partial(_noted, notes=tmp_path, fail=0), 3, "square")

    def refused(number: int) -> int:
        raise InputError("no such file")

    with pytest.raises(InputError, match="no such file"):
        Setting("miniature", jobs=1, kept=_kept(tmp_path)).repeat(refused, 3, "square")


def test_the_command_goes_on_where_it_was_stopped(
    run: Run,  # noqa: F811
    tmp_path: Path,
    stand_ins: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second of three solves fails: a report of what is there, exit code 1, and the same command does the rest."""
    monkeypatch.setenv("OPTMODELS_DATA", str(stand_ins))
    asked = []

    def fails_once(number: int, *, work: list[tuple[dict[str, object], str]], **_: object) -> dict[str, object]:
        asked.append(number)
        if number == 1 and asked.count(1) == 1:
            raise MemoryError("out of memory")
        instance, solver = work[number]
        return {**instance, "solver": solver, "ours": 19.5, "bound": 19.0, "status": "feasible", "seconds": 0.1}

    monkeypatch.setattr(liang_samavi, "_solved", fails_once)
    line = ("reproduce", "liang-samavi", "--miniature", "--jobs", "1", "--out", "found", "--report", "page.html")
    first = run(*line)
    assert first.exit_code == 1
    said = " ".join(first.output.split())
    assert "Failed at solve 1 of 3 (MemoryError: out of memory)" in said
    assert "the same command again" in said
    assert json.loads((tmp_path / "found" / "report.json").read_text())["complete"] is False
    assert (tmp_path / "found" / FOLDER).is_dir()
    assert "not empty" in run(*line, "--seed", "1").stderr, "the pieces are of another study"
    second = run(*line)
    assert second.exit_code == 0, second.output
    assert asked == [0, 1, 2, 1]
    assert "solve, 3 of 3 (2 by earlier runs)" in " ".join(second.output.split())
    assert "solve, 3 of 3 (2 by earlier runs)" in (tmp_path / "page.html").read_text()
    assert not (tmp_path / "found" / FOLDER).exists(), "nothing is left to go on with"


def test_data_that_change_make_other_pieces(tmp_path: Path, stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPTMODELS_DATA", str(stand_ins))
    before = command._kept(tmp_path, "liang-samavi", "miniature", 0, None, None).made_of
    for file in stand_ins.glob("person20*"):
        (tmp_path / file.name).write_text(file.read_text() + "\n")
    monkeypatch.setenv("OPTMODELS_DATA", str(tmp_path))
    after = command._kept(tmp_path, "liang-samavi", "miniature", 0, None, None).made_of
    assert {name for name in before if before[name] != after[name]} == {"contents of person20"}
    assert before["contents of census_20k"] == "not here"


def test_the_best_k_of_all_pieces_is_that_of_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --full every k from 2 to 4 l_v is a piece; together they answer what MASS's own search does."""
    monkeypatch.setattr(mass, "Mass", partial(Mass, classifiers=("nb",)))
    row = {"scale": "small", "records": 1000, "our_records": 300, "l_v": 5}
    setting = Setting("full", jobs=1)
    ks = range(2, 21)
    scores = [mass._one_more(number, ks=ks, row=row, setting=setting) for number in range(len(ks))]
    best = solve(mass._bench_of(row, setting).problem, solver="mass")
    assert best.details["k"] == ks[int(np.argmin(scores))]
    assert best.values["score"] == pytest.approx(min(scores))


def test_trials_are_pieces_and_as_many_count_as_are_done(tmp_path: Path) -> None:
    """Stopped after two splits of four there is a result of two; another run has the other two, as if at once."""

    def press(done: int, total: int, what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    table = dataset("german")
    releases = {"by age": table.frame["age"].to_numpy() // 10}
    protocol = Protocol(["nb"], ["f1"], splits=4, jobs=1)
    first = Setting("full", jobs=1, on_step=press, kept=_kept(tmp_path))
    assert learned(first, table, releases, protocol, "split").protocol.splits == 2
    second = Setting("full", jobs=1, kept=_kept(tmp_path))
    found, whole = learned(second, table, releases, protocol, "split"), utility(table, releases, protocol)
    assert second.spent["split"].earlier == 2
    pd.testing.assert_frame_equal(found.summary, whole.summary)
    unscreened = learned(Setting("full", jobs=1), table, releases, replace(protocol, screen=False), "split")
    assert unscreened.scores["train_accuracy"].isna().all()
    pd.testing.assert_frame_equal(unscreened.summary, whole.summary)
