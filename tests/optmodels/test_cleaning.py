"""Cleaning: nothing unless asked for, every change counted, and told with a release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from optmodels.errors import InputError
from optmodels.release import release
from optmodels.table.cleaning import Cleaning

PEOPLE = pd.DataFrame(
    {
        "age": [31, -99, 45, 102, 31, 44],
        "sex": ["Male", "male ", "f", "F", " f", "?"],
        "ill": ["flu", "cold", "flu", "cold", "flu", "cold"],
        "note": [" as it is ", "B", "c", "D", "e", "?"],
    }
)
QUASI = {"age": "numeric", "sex": "categorical"}


def table(**clean: object) -> om.Table:
    return om.Table(PEOPLE, quasi=QUASI, sensitive="ill", others="keep", missing="drop", clean=clean)


def test_nothing_is_changed_unless_asked_for() -> None:
    plain = table()
    pd.testing.assert_frame_equal(plain.frame, PEOPLE)
    assert plain.cleaning_report == {}


def test_every_step_is_counted_and_other_columns_come_out_as_they_went_in() -> None:
    found = table(unknown={"age": [-99], "sex": "?"}, trim=True, case="lower", clip={"age": [0, 90]})
    assert found.frame["age"].tolist() == [31, 45, 90, 31]
    assert found.frame["sex"].tolist() == ["male", "f", "f", "f"]
    assert found.frame["note"].tolist() == [" as it is ", "c", "D", "e"]
    assert found.cleaning_report == {
        "unknown": {"age": 1, "sex": 1},
        "trim": {"sex": 2},
        "case": {"sex": 2},
        "clip": {"age": 1},
    }
    assert found.missing_report["records_dropped"] == 2


def test_replacements_are_of_values_as_written() -> None:
    found = table(replace={"sex": {"Male": "m", "male ": "m", " f": "f"}})
    assert found.frame["sex"].tolist() == ["m", "m", "f", "F", "f", "?"]
    assert found.cleaning_report == {"replace": {"sex": 3}}


def test_text_in_a_column_of_numbers_is_read_as_missing(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,sex\n31,f\nunknown,m\n45,f\n")
    found = om.Table.from_file(
        tmp_path / "people.csv", quasi=QUASI, missing="drop", clean={"unknown": {"age": "unknown"}}
    )
    assert found.values.tolist() == [[31.0], [45.0]]


def test_a_release_tells_what_was_cleaned() -> None:
    found = table(unknown={"age": [-99]}, clip={"age": [0, 90]})
    made = release(found, [0] * found.n, promise=om.Conditions(k=2))
    assert made.audit.to_dict()["missing"]["cleaned"] == {"unknown": {"age": 1}, "clip": {"age": 1}}


def test_a_role_file_has_the_steps(tmp_path: Path) -> None:
    roles = om.Roles(
        quasi=QUASI,
        clean=Cleaning({"age": ["-99"]}, {"sex": {"male ": "m"}}, trim=True, case="upper", clip={"age": (0, 90.5)}),
    )
    roles.save(tmp_path / "roles.toml")
    assert om.Roles.load(tmp_path / "roles.toml") == roles
    assert roles.reassigned(clean={"clip": {"age": [1, 2]}}).clean.to_dict()["clip"] == {"age": (1, 2)}


@pytest.mark.parametrize(
    ("clean", "message"),
    [
        ({"trimm": True}, "no step of cleaning called 'trimm'. Did you mean 'trim'"),
        ({"unknown": ["?"]}, "by column"),
        ({"clip": {"age": [90, 0]}}, "least and its largest"),
        ({"clip": {"sex": [0, 90]}}, "not numeric"),
        ({"unknown": {"ages": ["?"]}}, "Did you mean 'age'"),
        ({"case": "small"}, "no clean.case 'small'"),
        ({"replace": {"sex": {"m": ""}}}, "goes to clean.unknown"),
        ({"trim": "yes"}, "true or false"),
    ],
)
def test_steps_that_make_no_sense(clean: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        table(**clean)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=6) | st.none(), min_size=3, max_size=8), st.booleans())
def test_awkward_text_is_cleaned_once(values: list[str | None], trim: bool) -> None:
    frame = pd.DataFrame({"word": pd.Series(values, dtype=object), "age": range(len(values))})
    steps = Cleaning(trim=trim, case="lower")
    roles = om.Roles(quasi={"word": "categorical", "age": "numeric"}, missing="category", clean=steps)
    once = om.Table.with_roles(frame, roles)
    again = om.Table.with_roles(once.frame, roles)
    assert once.frame["word"].tolist() == again.frame["word"].tolist()
    assert once.frame["age"].tolist() == list(range(len(values)))


def test_letters_and_spaces_of_some_columns_only(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2], "sex": ["Male ", "FEMALE"], "code": ["E11 ", "I10"]})
    kinds = {"age": "numeric", "sex": "categorical", "code": "categorical"}
    found = om.Table(frame, quasi=kinds, clean={"trim": ["sex"], "case": {"sex": "lower"}})  # type: ignore[arg-type]
    assert found.frame["sex"].tolist() == ["male", "female"]
    assert found.frame["code"].tolist() == ["E11 ", "I10"]
    found.roles.save(tmp_path / "roles.toml")
    assert om.Roles.load(tmp_path / "roles.toml").clean == found.roles.clean
    for wrong in ({"trim": ["town"]}, {"case": {"town": "lower"}}, {"case": {"sex": "small"}}, {"trim": [1]}):
        with pytest.raises(InputError):
            om.Table(frame, quasi=kinds, clean=wrong)  # type: ignore[arg-type]


def test_whole_numbers_beside_words_for_unknown_stay_whole() -> None:
    frame = pd.DataFrame({"age": ["31", "?", "45"], "height": ["1.0", "2.0", "?"]})
    found = om.Table(
        frame,
        quasi={"age": "numeric", "height": "numeric"},
        clean={"unknown": {"age": "?", "height": "?"}},
        missing="drop",
    )
    assert found.frame["age"].tolist() == [31]
    assert found.frame["age"].dtype == np.int64
    assert found.frame["height"].dtype == np.float64
