"""Synthetic tables: the same whatever the portions, in the shape that was promised, with something to learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels import Table
from optmodels.datasets.synthetic import HealthRecords, health_like, sepsis_like
from optmodels.datasets.synthetic import health as module
from optmodels.datasets.synthetic.chances import diagnoses, occupations, races, symptoms, treatments, zips
from optmodels.datasets.synthetic.health import BLOCK, ROLES, pick
from optmodels.errors import InputError

SCHEMA = {
    *("age", "gender", "zip", "occupation", "race"),
    *("diagnosis", "treatment", "symptoms", "total_bill", "high_risk"),
    *("visit_date", "systolic", "diastolic", "heart_rate", "bmi", "temperature"),
}


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 2 * BLOCK), st.integers(1, 2 * BLOCK))
def test_the_first_records_are_the_same_however_many_are_drawn(some: int, more: int) -> None:
    few, many = sorted((some, more))
    records = HealthRecords(seed=5)
    pd.testing.assert_frame_equal(records.frame(few), records.frame(many).head(few))


def test_files_of_any_row_groups_hold_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records, rows = HealthRecords(seed=1), 3 * BLOCK + 17
    told: list[int] = []
    one = pq.ParquetFile(records.write(tmp_path / "one.parquet", rows))
    monkeypatch.setattr(module, "ROW_GROUP", BLOCK)
    four = pq.ParquetFile(records.write(tmp_path / "four.parquet", rows, on_rows=told.append))
    assert (one.num_row_groups, four.num_row_groups) == (1, 4)
    assert told == [BLOCK, 2 * BLOCK, 3 * BLOCK, rows]
    assert one.read().equals(four.read())
    assert one.read().to_pandas().equals(records.frame(rows))


def test_another_seed_gives_other_people() -> None:
    first, second = (HealthRecords(seed=seed).frame(100) for seed in (0, 1))
    assert not first.equals(second)
    assert HealthRecords(seed=0).frame(100).equals(first)


@pytest.mark.parametrize("l_v", [5, 7, 11, 16, 19])
def test_schema_and_cardinalities(l_v: int) -> None:
    table = health_like(20_000, l_v=l_v)
    assert set(table.frame.columns) == SCHEMA
    assert table.roles == ROLES
    sizes = dict(zip(table.sensitive, map(len, table.sensitive_levels), strict=True))
    assert sizes["diagnosis"] == l_v == max(sizes.values())
    assert sizes["high_risk"] == 2
    assert sizes["total_bill"] == 5
    assert not table.frame.isna().any().any()


def test_what_belongs_together_goes_together() -> None:
    frame = HealthRecords(l_v=11).frame(50_000)
    risk = frame["high_risk"] == "yes"
    assert 0.55 < risk.mean() < 0.65
    assert frame["age"].between(18, 95).all()
    assert frame["age"].corr(frame["systolic"]) > 0.3
    assert frame.loc[risk, "age"].mean() > frame.loc[~risk, "age"].mean() + 3
    assert (frame.loc[frame["occupation"] == "student", "age"] < 58).all()
    retired = frame["occupation"] == "retired"
    assert frame.loc[retired, "age"].mean() > 60
    old = frame["age"] > 70
    ill = frame["diagnosis"] == "heart disease"
    assert ill[old].mean() > 2 * ill[frame["age"] < 40].mean()
    assert frame.loc[frame["diagnosis"] == "infection", "temperature"].mean() > 37.5
    usual = frame.groupby("diagnosis", observed=True)["treatment"].agg(lambda t: t.value_counts(normalize=True).iloc[0])
    assert (usual > 0.4).all()
    assert frame.groupby("treatment", observed=True)["total_bill"].median().max() > 1000


def test_treatments_and_symptoms_are_those_of_the_illness() -> None:
    frame = HealthRecords(l_v=16).frame(50_000)
    most = frame.groupby("diagnosis", observed=True)[["treatment", "symptoms"]].agg(lambda found: found.mode()[0])
    assert tuple(most.loc["asthma"]) == ("inhaler", "shortness of breath")
    assert tuple(most.loc["back pain"]) == ("physiotherapy", "pain")
    assert tuple(most.loc["kidney disease"]) == ("dialysis", "swelling")
    assert tuple(most.loc["infection"]) == ("medication", "fever")


def test_values_are_drawn_by_their_chances() -> None:
    chances = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    rows = np.repeat([0, 1], 30_000)
    found = pick(np.cumsum(chances, axis=1), rows, np.random.default_rng(0).random(60_000))
    assert np.bincount(found[:30_000]) / 30_000 == pytest.approx(chances[0], abs=0.02)
    assert (found[30_000:] == 0).all()


@pytest.mark.parametrize("table", [diagnoses(19), treatments(19, 13), symptoms(5, 4), occupations(), races(), zips()])
def test_chances_add_up(table: np.ndarray) -> None:
    assert (np.diff(table, axis=1) >= 0).all()
    assert table[:, -1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"l_v": 20}, "l_v must be at most 19"),
        ({"l_v": 4}, "l_v must be a whole number of at least 5"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_parameters(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HealthRecords(**wrong)


def test_no_rows() -> None:
    with pytest.raises(InputError, match="rows"):
        HealthRecords().frame(0)


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HealthRecords().write(tmp_path / "health.parquet", 10, on_rows=stop)
    assert not list(tmp_path.iterdir())


def test_sepsis_keeps_its_roles() -> None:
    table = sepsis_like(50)
    assert Table.with_roles(table.frame, table.roles).sensitive == table.sensitive
    assert len(table.sensitive) == 30
