from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from optmodels.errors import InputError
from optmodels.files import check_writable, write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    target = tmp_path / "release.csv"
    target.write_text("old")
    assert write_whole(target, lambda file: file.write_text("new")) == target
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["release.csv"]


def test_a_failure_midway_leaves_the_old_file(tmp_path):
    target = tmp_path / "release.csv"
    target.write_text("old")

    def fail(file: Path) -> None:
        file.write_text("ha")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_whole(target, fail)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["release.csv"]


def test_a_full_disk_is_the_users_to_settle(tmp_path):
    def full(_file: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left on device"):
        write_whole(tmp_path / "release.csv", full)
    assert os.listdir(tmp_path) == []


def test_the_draft_keeps_the_ending_so_that_writers_know_the_format(tmp_path):
    seen = []
    write_whole(tmp_path / "release.csv.gz", lambda file: seen.append(file.suffix))
    assert seen == [".gz"]


def test_permissions_are_those_of_a_new_file_or_of_the_old_one(tmp_path):
    plain, private = tmp_path / "plain", tmp_path / "private"
    (tmp_path / "reference").touch()
    private.touch(mode=0o600)
    for target in (plain, private):
        write_whole(target, lambda file: file.write_text("x"))
    assert plain.stat().st_mode == (tmp_path / "reference").stat().st_mode
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", lambda file: file.write_text("new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("write", [lambda path: write_whole(path, Path.touch), check_writable])
def test_places_where_no_file_can_be_written(tmp_path, write):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="No such file or directory"):
        write(tmp_path / "no such folder" / "release.csv")
    with pytest.raises(InputError, match="Not a directory"):
        write(tmp_path / "file" / "release.csv")
    with pytest.raises(InputError, match="it is a folder"):
        write(tmp_path)
    with pytest.raises(InputError, match="not a plain file"):
        write("/dev/null")
    assert os.listdir(tmp_path) == ["file"]


def test_a_writable_place_is_left_untouched(tmp_path):
    assert check_writable(tmp_path / "release.csv") == tmp_path / "release.csv"
    assert os.listdir(tmp_path) == []
