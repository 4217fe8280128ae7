"""Nothing that is published tells more than the release: order, index, types, digits, metadata, reports, logs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from optmodels import Table
from optmodels.cli import app
from optmodels.conditions import Conditions
from optmodels.recoding import mean_decimals
from optmodels.release import Release, release


def _released(values: np.ndarray, labels: list[int], k: int) -> pd.Series:
    table = Table(pd.DataFrame({"pay": values}), quasi={"pay": "numeric"})
    return release(table, labels, promise=Conditions(k=k)).frame["pay"]


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 8), st.sampled_from([1e-9, 0.01, 1.0, 1e5, 1e12]))
def test_whoever_knows_all_others_of_a_class_does_not_reconstruct_the_last(seed: int, k: int, scale: float) -> None:
    """What the others and the mean leave open is as wide as k steps of the last digit that is released."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=2 * k) * scale
    found = sorted(set(_released(values, [0] * k + [1] * k, k)))
    reach = float(values.max() - values.min())
    places = mean_decimals(None, reach)
    assert places is not None
    step = 10.0**-places
    assert reach / 10_000 <= step <= reach / 1_000 * (1 + 1e-9)
    for members in (values[:k], values[k:]):
        mean = min(found, key=lambda one: abs(one - members.mean()))
        assert abs(mean - members.mean()) <= step / 2 * (1 + 1e-6)  # no more is lost than the last digit
        others, last = members[:-1].sum(), members[-1]
        # Had the last one had any of these values instead, the same mean would have been released.
        possible = [(mean + off * step) * k - others for off in (-0.49, 0.49)]
        assert possible[0] - step <= last <= possible[1] + step
        assert possible[1] - possible[0] >= 0.97 * k * step
        assert {float(np.round((others + one) / k, places)) for one in possible} == {float(np.round(mean, places))}


def test_digits_that_are_not_there_are_not_made_up_nor_taken_from_equal_numbers() -> None:
    assert _released(np.array([20.0, 21.0, 60.0, 61.0]), [0, 0, 1, 1], 2).tolist() == [20.0, 20.0, 60.0, 60.0]
    same = [0.123456789, 0.123456789, 9.0, 1.0]
    assert _released(np.array(same), [0, 0, 1, 1], 2).tolist()[:2] == same[:2]


@pytest.fixture
def made() -> Release:
    people = pd.DataFrame(
        {
            "name": ["Zebediah", "Quirinus", "Xanthippe", "Ottokar"],
            "age": np.array([31, 47, 33, 45], np.int16),
            "town": pd.Categorical(["b", "z", "b", "z"], categories=["unseen town", "z", "b"]),
            "illness": ["flu", "flu", "cold", "cold"],
        },
        index=[1907, 1908, 1911, 1912],
    )
    people.attrs["source"] = "drawer of the ward sister"
    table = Table(
        people, quasi={"age": "numeric", "town": "categorical"}, sensitive="illness", identifiers="name", others="keep"
    )
    return release(table, [0, 1, 0, 1], promise=Conditions(k=2))


HIDDEN = ("Zebediah", "Quirinus", "unseen town", "ward sister", "1907", "1912", "31", "33")


def test_files_hold_the_released_values_and_nothing_else(made: Release, tmp_path) -> None:
    made.to_csv(tmp_path / "release.csv")
    made.to_parquet(tmp_path / "release.parquet")
    made.save_audit(tmp_path / "audit.json")
    for file in tmp_path.iterdir():
        text = file.read_bytes().decode("utf-8", "replace")
        told = [hidden for hidden in HIDDEN if hidden in text]
        assert [one for one in told if not one.isdigit()] == [], file.name
        if file.suffix == ".csv":
            assert told == []
    written = pq.read_metadata(tmp_path / "release.parquet")
    assert json.loads(written.metadata[b"pandas"])["index_columns"] == []
    assert json.loads(written.metadata[b"pandas"]).get("attributes", {}) == {}  # older versions write none
    assert set(written.metadata) == {b"pandas", b"ARROW:schema"}


def test_the_report_has_nobodys_own_values(made: Release) -> None:
    page = made.to_html()
    assert [hidden for hidden in HIDDEN[:4] if hidden in page] == []


def test_two_files_of_one_release_are_equal_byte_by_byte(made: Release, tmp_path) -> None:
    for write, ending in ((made.to_csv, ".csv"), (made.to_parquet, ".parquet")):
        one, two = write(tmp_path / f"one{ending}"), write(tmp_path / f"two{ending}")
        assert one.read_bytes() == two.read_bytes()
        promises = [(tmp_path / f"{name}.promise.json") for name in ("one", "two")]
        assert promises[0].read_bytes() == promises[1].read_bytes()
        for promise in promises:
            promise.unlink()


def test_what_is_printed_has_nobodys_own_values(tmp_path) -> None:
    people = pd.DataFrame(
        {"name": [f"Zebediah{i}" for i in range(6)], "pay": [1234.5, 2345.25, 1236.75, 2347.5, 1238.25, 2350.75]}
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ["anonymize", str(tmp_path / "people.csv"), "--numeric", "pay", "--identifier", "name", "--k", "3"]
    done = CliRunner().invoke(app, [*words, "--solver", "mdav", "--out", str(tmp_path / "release.csv"), "--json"])
    assert done.exit_code == 0, done.output
    for text in (done.output, (tmp_path / "release.csv").read_text(), (tmp_path / "release.promise.json").read_text()):
        assert "Zebediah" not in text
        assert not [pay for pay in people["pay"] if str(pay) in text]
