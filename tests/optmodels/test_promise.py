"""What is written beside a release, word by word, and what a release says that it cost."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.metrics.loss import gcp
from optmodels.release import Release, release
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.verifier import fingerprint, load_promise, read_cells, verify

PEOPLE = pd.DataFrame(
    {
        "name": list("abcdefg"),
        "age": [20, 22, 40, 44, 60, 62, 90],
        "pay": [1.5, 3.0, 1.5, 3.0, 3.0, 1.5, 777.25],
        "illness": ["flu", "cold", "flu", "cold", "flu", "cold", "secret"],
        "note": [f"n{i}" for i in range(7)],
    }
)
TREE = Hierarchy(["flu", "cold", "secret"], [["common", "common", "rare"], ["ill", "ill", "ill"]])
LABELS = [0, 0, 1, 1, 2, 2, -1]


def table(frame: pd.DataFrame = PEOPLE, **more: Any) -> Table:
    roles: dict[str, Any] = {
        "quasi": {"age": "numeric"},
        "sensitive": ["pay", "illness"],
        "identifiers": ["name"],
        "others": "keep",
        "ordered": ["pay"],
        "hierarchies": {"illness": TREE},
    }
    return Table(frame, **(roles | more))


def made(**more: Any) -> Release:
    promise = Conditions(k=2, distinct_l=2, t=0.9, suppress=0.2)
    return release(table(), LABELS, promise=promise, **more)


@pytest.mark.parametrize("way", ["drop", "star"])
def test_the_promise_word_by_word(way: str, tmp_path: Path) -> None:
    path = made(suppressed=way).to_csv(tmp_path / "release.csv", separator=";", decimal=",")
    said = load_promise(tmp_path / "release.promise.json")
    seal, words = said.pop("seal"), said.pop("said")
    assert len(seal) == 64
    assert words == "k >= 2, distinct l >= 2, t <= 0.9 (emd), suppressed <= 0.2"
    asked = {"distinct_l": 2, "t": 0.9}
    tree = {"flu": ["common", "ill"], "cold": ["common", "ill"]}
    assert said == {
        "format": "optmodels promise 1",
        "version": version("optmodels"),
        "file": {"format": "csv", "separator": ";", "decimal": ",", "escaped": False},
        "columns": ["age", "pay", "illness", "note"],
        "rows": 6 if way == "drop" else 7,
        "classes": 3,
        "fingerprint": fingerprint(read_cells(path, ";")),
        "quasi": {"age": "numeric"},
        "sensitive": ["pay", "illness"],
        "person": None,
        "as_is": ["pay", "illness", "note"],
        "dropped": ["name"],
        "missing": "error",
        "recoding": "centroid",
        "suppressed": {"how": way, "records": 1, "most": 0.2},
        "data": {"records": 7, "sha256": None},
        "conditions": {
            "k": 2,
            "person": None,
            "sensitive": {
                "pay": {**asked, "numbers": True, "t_distance": "ordered", "order": "numbers"},
                "illness": {**asked, "numbers": False, "t_distance": "hierarchical", "hierarchy": tree},
            },
        },
    }
    text = (tmp_path / "release.promise.json").read_text()
    assert not any(word in text for word in ("777", "secret", "rare", "\\u0000"))
    assert text.startswith('{\n  "')  # one thing a line, for who reads it


def test_numbers_of_which_none_is_missing_need_no_list(tmp_path: Path) -> None:
    whole = release(table(PEOPLE[:6], sensitive=["pay"], hierarchies={}), LABELS[:6], promise=Conditions(k=2, t=0.9))
    whole.to_parquet(tmp_path / "release.parquet")
    said = load_promise(tmp_path / "release.promise.json")
    assert said["file"] == {"format": "parquet"}
    assert said["conditions"]["sensitive"]["pay"]["order"] == "numbers"
    assert said["suppressed"] == {"how": "drop", "records": 0, "most": 0.0}


def test_numbers_in_an_order_of_their_own_are_listed(tmp_path: Path) -> None:
    paid = PEOPLE[:6].assign(pay=[2, 9, 5, 2, 9, 5])
    own = table(paid, sensitive=["pay"], ordered=[], hierarchies={}, orders={"pay": [2, 9, 5]})
    release(own, [0] * 6, promise=Conditions(k=2, t=0.9)).to_csv(tmp_path / "release.csv")
    said = load_promise(tmp_path / "release.promise.json")
    assert said["conditions"]["sensitive"]["pay"]["order"] == ["2", "9", "5"]


def test_a_tree_that_no_distance_climbs_is_not_told(tmp_path: Path) -> None:
    release(table(), [0] * 7, promise=Conditions(k=2, distinct_l=2, beta=9.0)).to_csv(tmp_path / "release.csv")
    asked = load_promise(tmp_path / "release.promise.json")["conditions"]["sensitive"]
    assert asked["illness"] == {"distinct_l": 2, "beta": 9.0, "beta_kind": "basic", "numbers": False}


def test_a_place_is_kept_for_a_value_of_those_left_out_and_nothing_said_of_it(tmp_path: Path) -> None:
    stages = table(sensitive=["illness"], ordered=[], hierarchies={}, orders={"illness": ["cold", "secret", "flu"]})
    release(stages, LABELS, promise=Conditions(k=2, t=0.9, suppress=0.2)).to_csv(tmp_path / "release.csv")
    said = load_promise(tmp_path / "release.promise.json")
    assert said["conditions"]["sensitive"]["illness"]["order"] == ["cold", None, "flu"]


def test_what_is_not_as_it_was_is_not_promised_to_be(tmp_path: Path) -> None:
    gaps = PEOPLE[:6].assign(illness=["flu", None, "flu", "cold", "flu", "cold"])
    people = table(gaps, missing="impute", bins={"pay": [0, 2, 4]}, hierarchies={})
    filled = release(people, LABELS[:6], promise=Conditions(k=2))
    filled.to_csv(tmp_path / "release.csv")
    assert load_promise(tmp_path / "release.promise.json")["as_is"] == ["note"]
    escaped = release(table(PEOPLE[:6], hierarchies={}), LABELS[:6], promise=Conditions(k=2))
    escaped.to_csv(tmp_path / "other.csv", escape_formulas=True)
    said = load_promise(tmp_path / "other.promise.json")
    assert said["as_is"] == []
    assert said["file"]["escaped"] is True


def test_formulas_are_left_as_they_are_unless_that_is_asked_for(tmp_path: Path) -> None:
    sums = table(PEOPLE.assign(note="=1+1"), hierarchies={})
    risky = release(sums, [0] * 7, promise=Conditions(k=2))
    assert set(pd.read_csv(risky.to_csv(tmp_path / "release.csv"))["note"]) == {"=1+1"}
    assert set(pd.read_parquet(risky.to_parquet(tmp_path / "release.parquet"))["note"]) == {"=1+1"}
    assert "'=1+1" in risky.to_csv(tmp_path / "escaped.csv", escape_formulas=True).read_text()


def test_bytes_of_the_data_are_known_by_their_hash_where_there_are_any(tmp_path: Path) -> None:
    files = made().files(tmp_path / "release.csv", sha256="ab" * 32)
    assert [path.name for path, _ in files] == ["release.csv", "release.promise.json"]
    for path, write in files:
        write(path)
    assert json.loads(files[1][0].read_text())["data"] == {"records": 7, "sha256": "ab" * 32}
    assert not verify(files[0][0], load_promise(files[1][0])).broken


@pytest.mark.parametrize("way", ["drop", "star"])
def test_rows_that_stand_for_those_left_out_are_last_and_say_nothing(way: str) -> None:
    frame = made(suppressed=way).frame
    assert len(frame) == (6 if way == "drop" else 7)
    silent = frame.iloc[6:].astype(object)
    assert silent.isin(["*"]).to_numpy().sum() + silent.isna().to_numpy().sum() == silent.size
    assert frame["age"].tolist()[:6] == [21, 21, 42, 42, 61, 61]
    assert "name" not in frame


def test_records_left_out_are_wholly_lost() -> None:
    """Losses are those of the records in classes, as a share of what the whole table can lose, and 1/7."""
    found = made()
    ages = PEOPLE["age"].to_numpy(float)
    mean = ages.mean()
    squares = 2 * (1**2 + 2**2 + 1**2)
    everyone = ((ages - mean) ** 2).sum()
    assert found.loss["information_loss"] == pytest.approx(squares / everyone + 1 / 7)
    assert list(found.loss) == ["information_loss", "gcp"]
    assert found.loss["gcp"] == pytest.approx(16 / 70 / 7 + 1 / 7)  # two records each in ranges of 2, 4 and 2 of 70
    released = everyone + 7 * (mean - round(mean)) ** 2  # of one class the rounded mean would be released
    assert found.audit.attribute_loss["age"] == pytest.approx(squares / released + 1 / 7)
    said = made(loss={"gcp": 3.0, "distance": 2.0}).loss
    assert said["distance"] == 2.0
    assert said["gcp"] == found.loss["gcp"]
    intervals = made(method="interval")
    assert set(intervals.loss) == {"gcp"}
    assert intervals.audit.attribute_loss["age"] == pytest.approx(16 / 70 / 7 + 1 / 7)
    part = release(table(PEOPLE[:6], hierarchies={}), LABELS[:6], promise=Conditions(k=2), method="interval")
    assert part.loss["gcp"] == gcp(table(PEOPLE[:6], hierarchies={}), part.recoded.labels if part.recoded else [])
    assert part.audit.suppressed == 0


def test_what_is_noted_of_repeated_people_and_names() -> None:
    people = PEOPLE.assign(name=["a", "a", "b", "c", "d", "e", "f"], who=[1, 1, 2, 3, 4, 5, 6])
    noted = release(table(people), [0] * 7, promise=Conditions(k=2), provenance={"seed": 1}).provenance
    assert noted["seed"] == 1
    assert noted["repeated_identifiers"]
    assert "person" not in noted
    counted = release(table(people, identifiers=[], person="who"), [0] * 7, promise=Conditions(k=6))
    assert counted.provenance["person"] == "who"
    assert "repeated_identifiers" not in made().provenance
    assert counted.audit.k == 6


def test_rows_of_equal_values_are_released_with_their_people(tmp_path: Path) -> None:
    """People are counted class by class in the released order: a mistake in it would count others."""
    people = PEOPLE[:6].assign(who=[3, 1, 2, 5, 4, 6], age=[60, 62, 20, 22, 40, 44], age_=0)
    of_people = release(
        table(people, person="who", identifiers=[], hierarchies={}), LABELS[:6], promise=Conditions(k=2)
    )
    assert of_people.terms is not None
    assert of_people.terms.people is not None
    owner = dict(zip(people["note"], table(people, person="who", identifiers=[], hierarchies={}).people, strict=True))
    assert of_people.terms.people.tolist() == [owner[note] for note in of_people.frame["note"]]
    assert "who" not in of_people.frame
    of_people.to_csv(tmp_path / "release.csv")


def test_pictures_are_of_columns_that_are_there() -> None:
    found = made()
    assert found.plot().data
    assert [one["text"] for one in found.plot("pay", "illness").layout.annotations] == ["pay", "illness"]
    assert found.plot_loss().to_dict()["data"][0]["orientation"] == "h"
    with pytest.raises(InputError, match=r"There is no column 'ages'\. Did you mean 'age'"):
        found.plot("ages")
    stranger = Release(found.frame, found.audit, "centroid")
    with pytest.raises(InputError, match="does not know what it was made from"):
        stranger.plot()
    assert "<html" in stranger.to_html()
    assert made(suppressed="star").to_html() == found.to_html()  # of rows that say nothing it says nothing


def test_a_release_in_a_notebook() -> None:
    assert repr(made()) == "Release(method='centroid', provenance={})"  # and nothing of what it was made from
    shown = made()._repr_html_()
    assert "Release of 6 records, k = 2" in shown
    assert shown.count("<td") == 3 + 5 * 3  # three facts, and five rows of which the first cell is a heading
    assert "age 1" in shown  # and so many per cent


def test_records_that_are_left_out_in_no_known_way() -> None:
    with pytest.raises(InputError, match="no way to release records left out 'hide'"):
        made(suppressed="hide")
    with pytest.raises(InputError, match="All records are left out"):
        release(table(), [-1] * 7, promise=Conditions(k=2, suppress=0.5))
