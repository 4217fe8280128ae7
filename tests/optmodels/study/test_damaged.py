"""A damaged study file says so, and is not taken for one whose runs are there already."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from optmodels.errors import InputError
from optmodels.study import open_study, run
from optmodels.study.spec import DatasetSpec, FormulationSpec, SolverSpec, Study
from optmodels.study.store import opened
from optmodels.study.trials import trials_of

STUDY = Study(
    "small",
    [DatasetSpec("german", rows=40)],
    [FormulationSpec("microaggregation", {"k": [3, 4, 5]})],
    [SolverSpec("mdav")],
    seeds=4,
    warm_up=False,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A study whose runs are all made."""
    path = tmp_path / "runs.db"
    trials = trials_of(STUDY)
    with opened(path) as store:
        store.plan("small", trials)
        for trial in trials:
            store.write(trial.key, {"outcome": "done", "value": 0.5, "details": {"note": "x" * 2_000}})
    return path


def _a_page_of_rubbish(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xa5" * 4096
    path.write_bytes(content)


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: -2 * 4096])


def _edited(change: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(change)

    return edit


@pytest.mark.parametrize(
    "damage",
    [
        _a_page_of_rubbish,
        _cut_short,
        _edited("UPDATE run SET outcome = 'd0ne' WHERE place = 3"),
        _edited('UPDATE run SET details = \'{"note": "x\' WHERE place = 3'),
    ],
)
def test_a_damaged_file_is_not_one_whose_runs_are_there_already(damage: Callable[[Path], None], file: Path) -> None:
    assert run(STUDY, file).made == 0
    damage(file)
    with pytest.raises(InputError, match="damaged"):
        run(STUDY, file)
    with pytest.raises(InputError, match="damaged"):
        open_study(file).runs()
