"""What `inspect` sees: every kind of finding where there is one, and none where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from optmodels.errors import InputError
from optmodels.inspection import Inspection, inspect_file, inspect_frame
from optmodels.jsonable import plain


def kinds(seen: Inspection, column: str | None) -> set[str]:
    return {finding.kind for finding in seen.findings if finding.column == column}


def of(*values: object, name: str = "thing") -> Inspection:
    return inspect_frame(pd.DataFrame({name: values}, dtype=object))


@pytest.mark.parametrize(
    ("name", "values", "kind", "examples"),
    [
        ("sex", ["Male", "Male", "male", "Male ", "Female"], "inconsistent spelling", ("'Male'", "'male'", "'Male '")),
        ("town", ["a", "?", "b", "Unknown", "a"], "words for unknown", ("?", "Unknown")),
        ("age", ["31", "-99", "45", "31", "999"], "numbers for unknown", ("-99", "999")),
        ("age", ["31", "-3", "45", "31", "400"], "impossible numbers", ("-3", "400")),
        ("town", ["a", "  ", "b", "a"], "blank values", ("'  '",)),
        ("town", ["a", None, "b", "a"], "missing values", ()),
        ("dose", ["1,5", "2,5", "3"], "decimal commas", ("1,5", "2,5")),
        ("pay", ["1,500", "12,500"], "decimal commas", ("1,500", "12,500")),
        ("31", ["45", "62", "45"], "name like a value", ("45", "62")),
        ("flu", ["cold", "flu", "cold"], "name like a value", ("cold", "flu")),
        ("plz", ["01067", "01067", "80331"], "leading zeros", ("01067",)),
        ("seen", ["2021-03-01", "2021-03-01", "1999-12-31"], "dates", ("2021-03-01", "1999-12-31")),
        ("plz", ["01067", "01067", "-99", "80331"], "numbers for unknown", ("-99",)),
        ("at", ["10:48", "10:48", "23:05"], "dates", ("10:48", "23:05")),
        ("born", ["31.12.1999", "31.12.1999 "], "inconsistent spelling", ("'31.12.1999'", "'31.12.1999 '")),
        ("born", ["31.12.1999", "1.3.1966", "2.3.1966", "30.02.1980"], "impossible dates", ("30.02.1980",)),
        ("born", ["31.12.1999", "1.3.1966", "2.3.1966", "30.02.1980"], "dates", ("31.12.1999", "1.3.1966", "2.3.1966")),
        ("seen", ["03/04/2021", "03/04/2021", "05/06/2021"], "ambiguous dates", ("03/04/2021", "05/06/2021")),
        ("site", ["A", "A", "A"], "constant", ("A",)),
        ("dose", [str(i) for i in range(40)] + ["x 3"], "text among numbers", ("x 3",)),
        ("note", ["so", "and", "on"], "nearly unique", ("so", "and", "on")),
    ],
)
def test_a_finding_names_the_column_and_the_values(
    name: str, values: list[str], kind: str, examples: tuple[str, ...]
) -> None:
    found = [finding for finding in of(*values, name=name).findings if finding.kind == kind]
    assert [(finding.column, finding.examples) for finding in found] == [(name, examples)]
    assert found[0].remedy


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("sex", ["Male", "Female"] * 3),
        ("age", ["9", "31", "99", "80", "99", "31", "9", "80"]),  # 99 is a likely age among these
        ("balance", ["-1", "-5", "9", "9", "-1", "-5"]),  # -1 is nothing special among negative numbers
        ("answer", ["No", "Data", "No", "Data"]),
        ("line", ["0351-445-22", "089-22-13", "030-1-2", "030-1-2"] * 2),
    ],
)
def test_what_is_not_odd_is_not_told(name: str, values: list[str]) -> None:
    assert kinds(of(*values, name=name), name) == set()


def test_repeated_identifiers_and_duplicate_rows() -> None:
    visits = pd.DataFrame({"patient_id": ["p1", "p1", "p2", "p3"], "age": [30, 30, 41, 52]})
    seen = inspect_frame(visits)
    assert "repeated identifier" in kinds(seen, "patient_id")
    assert kinds(seen, None) == {"duplicate rows"}
    once = inspect_frame(visits.drop(index=1))
    assert "repeated identifier" not in kinds(once, "patient_id")
    assert kinds(once, None) == set()


def test_roles_are_proposed_with_reasons() -> None:
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "row": range(50),
            "email": [f"{i}@x.org" for i in range(50)],
            "age": rng.integers(20, 60, 50),
            "postcode": [f"0{1000 + i % 5}" for i in range(50)],
            "smoker": rng.choice(["yes", "no"], 50),
            "illness": rng.choice(["flu", "cold"], 50),
            "site": "A",
            "note": [f"said {i} and {i * i}" for i in range(48)] + ["-", "-"],
        }
    )
    seen = inspect_frame(people)
    assert seen.proposed == om.Roles(
        quasi={"age": "numeric", "postcode": "categorical"},
        sensitive=("smoker", "illness"),
        identifiers=("row", "email"),
        others={"site": "drop", "note": "drop"},
        scaling="alike",
    )
    assert all(proposal.reason for proposal in seen.proposals.values())
    assert om.Table.with_roles(people, seen.proposed).n == 50


def test_the_role_file_is_valid_and_says_what_was_proposed(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("full name;age;sex;illness\nAnn;31;f;flu\nBo;999;m;?\nCy;45;F;cold\nDi;31;m;\n")
    seen = inspect_file(file)
    seen.save_roles(tmp_path / "roles.toml")
    assert om.Roles.load(tmp_path / "roles.toml") == seen.proposed
    text = (tmp_path / "roles.toml").read_text()
    assert '# age = ["999"]' in text  # what would change values is for the reader to say
    assert '# F = "f"' in text
    assert 'missing = "error"' in text
    assert json.dumps(plain(seen.to_dict()), allow_nan=False)


def test_nothing_fits_as_a_quasi_identifier() -> None:
    seen = inspect_frame(pd.DataFrame({"name": ["Ann", "Bo", "Cy"]}))
    with pytest.raises(InputError, match="looks like a quasi-identifier"):
        _ = seen.proposed


def test_nothing_to_inspect() -> None:
    with pytest.raises(InputError, match="nothing to inspect"):
        inspect_frame(pd.DataFrame({"age": []}))


AWKWARD = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.sampled_from(["-99", "007", "1,5", "2021-02-30", "2021-02-28", "?", " ", "nan", "\n", "#", '"', "1e400"]),
    st.integers(-1000, 1000).map(str),
)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.text(min_size=1, max_size=8), st.lists(AWKWARD, min_size=4, max_size=4), min_size=1, max_size=4)
)
def test_any_text_is_looked_at_and_proposed_in_a_file_that_can_be_read(columns: dict[str, list[str | None]]) -> None:
    frame = pd.DataFrame(columns, dtype=object)
    before = frame.copy()
    seen = inspect_frame(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert set(seen.proposals) == set(columns)
    assert all(0.0 <= column.separation <= 1.0 for column in seen.columns.values())
    if seen.named("quasi"):
        assert om.Roles.from_toml(seen.to_toml()) == seen.proposed


def test_hierarchies_and_decimal_commas_are_proposed() -> None:
    frame = pd.DataFrame(
        {
            "age": ["31", "45", "62", "31"],
            "postcode": ["01067", "04103", "80331", "80331"],
            "born": ["03.05.1961", "31.12.1978", "01.02.1990", "01.02.1990"],
            "height": ["1,71", "1,85", "1,60", "1,60"],
        }
    )
    text = inspect_frame(frame).to_toml()
    assert om.Roles.from_toml(text).decimal == ","
    asked = "\n".join(line.removeprefix("# ") for line in text.splitlines() if "kind =" in line or "[quasi]" in line)
    roles = om.Roles.from_toml(f"{text}\n{asked.replace('[quasi]', '[hierarchies]')}")
    table = om.Table.with_roles(frame.assign(height=[1.71, 1.85, 1.6, 1.6]), roles)
    assert {name: tree.n_levels for name, tree in table.hierarchies.items()} == {"age": 5, "postcode": 4, "born": 5}


def test_commas_that_may_set_off_thousands_are_not_proposed_as_decimals() -> None:
    assert "\ndecimal = " not in of("1,500", "12,500", name="pay").to_toml()
    assert 'decimal = ","' in of("1,500", "12,5", name="dose").to_toml()


def test_records_entered_twice_make_no_person_of_what_numbers_them() -> None:
    visits = pd.DataFrame(
        {
            "case no": [f"C{i}" for i in range(8)],
            "Patient": ["P1", "P1", "P2", "P2", "P3", "P4", "P5", "P6"],
            "age": [31, 31, 45, 45, 52, 60, 61, 70],
        }
    )
    twice = pd.concat([visits, visits.iloc[:1]], ignore_index=True)
    seen = inspect_frame(twice)
    assert seen.proposed.person == "Patient"
    assert seen.named("identifier") == ("case no",)
    assert "duplicate rows" in kinds(seen, None)
    assert "repeated identifier" not in kinds(seen, "case no")


def test_times_of_day_are_measured_and_hours_proposed() -> None:
    seen = inspect_frame(pd.DataFrame({"age": [31, 45, 31], "at": ["10:48", "11:05", "23:05"]}))
    assert seen.proposals["at"].kind == "date"
    assert '# at = {kind = "date", levels = ["hour", "daypart"]}' in seen.to_toml()
