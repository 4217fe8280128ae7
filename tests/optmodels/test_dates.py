"""Dates are numbers to the models and dates again in the release, in the format in which they came."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.inspection import inspect_file
from optmodels.release import release
from optmodels.table import dates

SEEN = pd.DataFrame({"seen": ["01.02.2024", "03.02.2024", "29.02.2024", "02.03.2024"], "ill": ["a", "b", "a", "b"]})


def test_released_by_centroid_and_by_interval_as_dates() -> None:
    table = om.Table(SEEN, quasi={"seen": "date"}, sensitive="ill")
    promise = om.Conditions(k=2)
    middle = release(table, [0, 0, 1, 1], promise=promise).frame["seen"]
    assert middle.tolist() == ["01.03.2024", "01.03.2024", "02.02.2024", "02.02.2024"]
    spans = release(table, [0, 0, 1, 1], promise=promise, method="interval").frame["seen"]
    assert set(spans) == {"[01.02.2024-03.02.2024]", "[29.02.2024-02.03.2024]"}


def test_released_by_hierarchy() -> None:
    spec = {"kind": "date", "levels": ["month", "year"]}
    table = om.Table(SEEN, quasi={"seen": "date"}, sensitive="ill", hierarchies={"seen": spec})
    made = release(table, [0, 0, 1, 1], promise=om.Conditions(k=2), method="hierarchy").frame["seen"]
    assert sorted(set(made)) == ["2024", "2024-02"]
    again = om.Table.with_roles(SEEN, om.Roles.from_toml(table.roles.to_toml()))
    assert again.hierarchies["seen"] == table.hierarchies["seen"]


def test_runs_of_neighbours_are_called_by_dates() -> None:
    table = om.Table(SEEN, quasi={"seen": "date"}, sensitive="ill").with_hierarchies()
    assert table.hierarchies["seen"].generalise(table.frame["seen"], 1).tolist()[0] == "[01.02.2024, 03.02.2024]"


@pytest.mark.parametrize("text", ["20240131", "2024-01-31", "2024-01-31 10:30", "01/31/2024"])
def test_from_a_file_in_its_own_format(tmp_path: Path, text: str) -> None:
    (tmp_path / "people.csv").write_text(f"seen,age\n{text},31\n{text},45\n")
    table = om.Table.from_file(tmp_path / "people.csv", quasi={"seen": "date", "age": "numeric"})
    made = release(table, [0, 0], promise=om.Conditions(k=2)).frame
    assert made["seen"].tolist() == [text, text]
    table.roles.save(tmp_path / "roles.toml")
    assert om.Roles.load(tmp_path / "roles.toml") == table.roles


def test_days_of_pandas() -> None:
    frame = pd.DataFrame({"seen": pd.to_datetime(["2024-01-01", "2024-01-03"])})
    made = release(om.Table(frame, quasi={"seen": "date"}), [0, 0], promise=om.Conditions(k=2)).frame
    assert made["seen"].tolist() == ["2024-01-02"] * 2


def test_a_gap_is_left_out() -> None:
    frame = SEEN.assign(seen=["01.02.2024", None, "29.02.2024", "02.03.2024"])
    table = om.Table(frame, quasi={"seen": "date"}, sensitive="ill", missing="drop")
    assert table.frame["seen"].dtype.kind == "i"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2024-01-31", "2024-02-30"], "Column 'seen': '2024-02-30' is no date"),
        (["03/04/2024", "05/06/2024"], "Column 'seen': Dates such as"),
        ([20240131, 20240201], "holds numbers"),
    ],
)
def test_what_is_no_date_is_named(values: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        om.Table(pd.DataFrame({"seen": values}), quasi={"seen": "date"})


DAYS = st.integers(0, 80_000).map(lambda days: date(1900, 1, 1) + timedelta(days))


@settings(max_examples=60, deadline=None)
@given(st.lists(DAYS, min_size=1, max_size=8), st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"]))
def test_there_and_back(days: list[date], form: str) -> None:
    texts = pd.Series([f"{day:{form}}" for day in days])
    numbers, _ = dates.as_numbers(texts, "seen", form)
    assert dates.written(numbers, form) == texts.tolist()
    assert (numbers.diff().dropna() == pd.Series(days).diff().dropna().map(lambda gap: gap.days)).all()


def test_dates_written_in_several_ways_are_read_and_released_in_the_first(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("seen;pay\n31.01.2024;1,5\n2024-02-15;2,5\n15.03.2024;2,5\n2024-04-01;4,0\n01.04.2024;4,0\n")
    seen = inspect_file(file)
    assert next(one.kind for one in seen.findings if one.column == "seen") == "mixed dates"
    assert seen.proposed.dates == {"seen": "%d.%m.%Y|%Y-%m-%d"}
    assert om.Roles.from_toml(seen.to_toml()) == seen.proposed
    table = om.Table.from_file(file, roles=seen.proposed.reassigned(quasi={"seen": "date", "pay": "numeric"}))
    assert table.values[3, 0] == table.values[4, 0]
    labels = [0, 0, 0, 1, 1]
    by_interval = release(table, labels, promise=Conditions(k=2), method="interval").frame
    assert sorted(set(by_interval["seen"])) == ["01.04.2024", "[31.01.2024-15.03.2024]"]
    assert sorted(set(by_interval["pay"])) == ["4", "[1,5-2,5]"]
    by_centroid = release(table, labels, promise=Conditions(k=2), method="centroid").frame
    assert sorted(set(by_centroid["seen"])) == ["01.04.2024", "20.02.2024"]
