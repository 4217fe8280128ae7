"""Hierarchies said in a line: made of any values, nested, written to a role file as they were said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from optmodels.errors import InputError
from optmodels.table.hierarchy_spec import HierarchySpec


def levels(values: list[Any], **spec: Any) -> list[list[Any]]:
    made = HierarchySpec.of(spec, "it").build(values)
    return [made.generalise(values, level).tolist() for level in range(made.n_levels)]


def test_prefixes_keep_leading_zeros() -> None:
    found = levels(["01067", "01099", "80331"], kind="prefix", keep=[5, 3, 2])
    assert found == [
        ["01067", "01099", "80331"],
        ["010**", "010**", "803**"],
        ["01***", "01***", "80***"],
        ["*"] * 3,
    ]


def test_codes_of_different_lengths() -> None:
    assert levels(["E11.9", "E11", "J45"], kind="prefix", keep=[3])[1] == ["E11*", "E11", "J45"]


def test_bands_with_open_ends() -> None:
    found = levels([3, 17, 18, 34, 61, 97], kind="bands", widths=[10, 20], bottom=18, top=90)
    assert found[1] == ["<18", "<18", "[18, 20)", "[30, 40)", "[60, 70)", ">=90"]
    assert found[2] == ["<18", "<18", "[18, 20)", "[20, 40)", "[60, 80)", ">=90"]


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y"])
def test_dates_however_they_are_written(form: str) -> None:
    days = pd.to_datetime(["2021-03-25", "2021-04-13", "1999-12-31"])
    found = levels([f"{day:{form}}" for day in days], kind="date", levels=["month", "quarter", "year", "decade"])
    assert found[1:5] == [
        ["2021-03", "2021-04", "1999-12"],
        ["2021-Q1", "2021-Q2", "1999-Q4"],
        ["2021", "2021", "1999"],
        ["2020s", "2020s", "1990s"],
    ]


def test_times_by_day() -> None:
    assert levels(["2021-03-25 10:31", "2021-03-25 11:00"], kind="date", levels=["day"])[1] == ["2021-03-25"] * 2


def test_a_tree_with_a_branch_that_ends_early() -> None:
    tree = {"north": {"coast": ["Kiel"], "inland": ["Soest"]}, "south": ["Ulm"]}
    assert levels(["Ulm", "Kiel"], kind="tree", tree=tree)[1:3] == [["south", "coast"], ["south", "north"]]


@pytest.mark.parametrize(
    ("spec", "values", "message"),
    [
        ({"kind": "prefx", "keep": [2]}, ["a"], "Did you mean 'prefix'"),
        ({"kind": "prefix"}, ["a"], "lacks 'keep'"),
        ({"kind": "prefix", "keep": [2, 3]}, ["a"], "ever fewer"),
        ({"kind": "prefix", "keep": 3}, ["a"], "ever fewer"),
        ({"kind": "bands", "widths": [5, 12]}, [1], "multiple"),
        ({"kind": "bands", "width": [5]}, [1], "Did you mean 'widths'"),
        ({"kind": "bands", "widths": [5]}, [1, "x"], "'x' is no number"),
        ({"kind": "date", "levels": ["moth"]}, ["2021-01-01"], "Did you mean 'month'"),
        ({"kind": "date", "levels": ["year"]}, ["2021-01-01", "2021-02-30"], "'2021-02-30' is no date"),
        ({"kind": "date", "levels": ["year"]}, ["03/04/2021"], "say which"),
        ({"kind": "date", "levels": ["week", "month"]}, ["2021-03-31", "2021-04-01", "2021-06-01"], "not monotone"),
        ({"kind": "tree", "tree": {"a": ["x"], "b": ["x"]}}, ["x"], "'x' is in the tree twice"),
        ({"kind": "tree", "tree": {"a": ["x"]}}, ["x", "y"], "does not have 'y'"),
        ({"kind": "tree", "tree": {"a": "x"}}, ["x"], "ends in lists"),
    ],
)
def test_what_does_not_fit_is_named(spec: dict[str, Any], values: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HierarchySpec.of(spec, "it").build(values)


def test_roles_keep_what_was_said(tmp_path: Path) -> None:
    people = pd.DataFrame({"plz": ["01067", "01099", "80331"], "age": [31, 45, 62]})
    spec = {"kind": "prefix", "keep": [3, 2]}
    roles = om.Roles(quasi={"plz": "categorical", "age": "numeric"}, hierarchies={"plz": spec})
    table = om.Table.with_roles(people, roles)
    assert table.hierarchies["plz"].generalise(["01099"], 1).tolist() == ["010**"]
    table.roles.save(tmp_path / "roles.toml")
    assert 'plz = {kind = "prefix", keep = [3, 2]}' in (tmp_path / "roles.toml").read_text()
    assert om.Roles.load(tmp_path / "roles.toml").hierarchies["plz"] == HierarchySpec.of(spec, "plz")
    again = om.Table.with_roles(people.assign(plz="99999"), om.Roles.load(tmp_path / "roles.toml"))
    assert again.hierarchies["plz"].generalise(["99999"], 1).tolist() == ["999**"]


def test_a_file_keeps_its_zeros(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("plz,icd\n01067,011\n01099,012\n")
    table = om.Table.from_file(
        tmp_path / "people.csv",
        quasi={"plz": "categorical"},
        sensitive="icd",
        hierarchies={"plz": {"kind": "prefix", "keep": [3]}, "icd": {"kind": "prefix", "keep": [2]}},
    )
    assert table.frame["icd"].tolist() == ["011", "012"]


NUMBERS = st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=1, max_size=20, unique=True)


@settings(max_examples=60, deadline=None)
@given(NUMBERS, st.sampled_from([[1, 2], [0.5, 1.5, 4.5], [5, 10, 20], [7]]), st.booleans())
def test_bands_nest_and_hold_their_numbers(numbers: list[float], widths: list[float], ends: bool) -> None:
    more = {"bottom": -10, "top": 100} if ends else {}
    made = HierarchySpec.of({"kind": "bands", "widths": widths, **more}, "it").build(numbers)
    assert set(made.values) == set(numbers)  # and that it nests is checked when it is made
    assert (np.diff([len(np.unique(made.nodes[:, level])) for level in range(made.n_levels)]) <= 0).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=6), min_size=1, max_size=12, unique=True), st.sampled_from([[3, 2, 1], [4], [1]]))
def test_prefixes_of_awkward_text_nest(texts: list[str], keep: list[int]) -> None:
    made = HierarchySpec.of({"kind": "prefix", "keep": keep}, "it").build(texts)
    assert set(made.values) == set(texts)


def test_times_of_day_have_hours_and_times_of_days_nest_in_these() -> None:
    assert levels(["10:48", "10:05", "23:05"], kind="date", levels=["hour", "daypart"])[1:3] == [
        ["10:00-10:59", "10:00-10:59", "23:00-23:59"],
        ["06:00-11:59", "06:00-11:59", "18:00-23:59"],
    ]
    found = levels(["2024-03-01 10:48", "2024-03-02 10:48"], kind="date", levels=["hour", "day", "month"])
    assert found[1] == ["2024-03-01 10:00-10:59", "2024-03-02 10:00-10:59"]
    assert found[2] == ["2024-03-01", "2024-03-02"]
    with pytest.raises(InputError, match="times of day have no month"):
        levels(["10:48", "23:05"], kind="date", levels=["month"])
