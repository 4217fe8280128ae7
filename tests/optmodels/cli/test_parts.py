"""The small parts of the command line: values, JSON, files that appear together, the progress line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from formulations import MajeedHwang, Mass
from optmodels.cli.output import to_json, write_together
from optmodels.cli.show import progress_line
from optmodels.cli.values import literal, names, pairs, typed
from optmodels.errors import InputError
from optmodels.solver import Progress


@dataclass(frozen=True)
class Settings:
    count: int = 1
    share: float | None = None
    fast: bool = False
    title: str = ""
    sense: Literal["min", "max"] = "min"
    weights: tuple[float, ...] = ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("count=5", 5),
        ("share=2", 2),
        ("share=0.5", 0.5),
        ("share=none", None),
        ("fast=true", True),
        ("fast=False", False),
        ("title=5", "5"),
        ("title=a=b", "a=b"),
        ("sense=max", "max"),
        ("weights=[1, 0.5]", (1, 0.5)),
    ],
)
def test_a_setting_takes_the_declared_type(text: str, value: object) -> None:
    (found,) = typed("--param", Settings, pairs("--param", [text])).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["count=1.5", "count=true", "share=much", "fast=1", "sense=up", "weights=3"])
def test_a_setting_of_another_type_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"--param .* takes "):
        typed("--param", Settings, pairs("--param", [text]))


def test_settings_of_the_models_are_told_in_the_words_of_a_command_line() -> None:
    assert typed("--param", MajeedHwang, {"weights": '{"age": 2}'}) == {"weights": {"age": 2}}
    for text in ("5", "age", "[1]", '{"age": "two"}'):
        with pytest.raises(InputError, match=r"takes names and values such as \{.*\} or none"):
            typed("--param", MajeedHwang, {"weights": text})
    with pytest.raises(InputError, match=r"'classifiers' takes a list such as \[\"a\", \"b\"\]\."):
        typed("--param", Mass, {"classifiers": "nb"})


def test_names_may_hold_commas_in_quotes() -> None:
    assert names("--quasi", ['a,"b, c"', "d"]) == ("a", "b, c", "d")


def test_a_literal_that_is_none_stays_text() -> None:
    assert literal("[1, 2") == "[1, 2"


def test_json_is_strict_whatever_is_in_it() -> None:
    text = to_json({"a": np.float64("nan"), "b": (np.int32(3), np.bool_(True)), "c": Path("x")})
    assert json.loads(text) == {"a": None, "b": [3, True], "c": "x"}


def test_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    def fail(_: Path) -> None:
        raise RuntimeError

    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("old")
    with pytest.raises(RuntimeError):
        write_together([(first, lambda file: file.write_text("new")), (second, fail)])
    assert [path.name for path in tmp_path.iterdir()] == ["first"]
    assert first.read_text() == "old"
    write_together([(first, lambda file: file.write_text("new")), (second, lambda file: file.write_text("too"))])
    assert (first.read_text(), second.read_text()) == ("new", "too")


def test_the_progress_line_says_what_is_known() -> None:
    state = Progress("columns", 3.2, value=0.125, bound=0.12, gap=0.04, note="pricing [2]", done=1, total=4)
    line = progress_line(state)
    for fragment in ("columns", "3 s", "value 0.125", "bound 0.12", "gap 4.00%", "25%", "pricing"):
        assert fragment in line
    assert progress_line(Progress("mdav", 0.0, None, None, None)).endswith("0 s")
