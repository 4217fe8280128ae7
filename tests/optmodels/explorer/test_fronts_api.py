"""Fronts and points as the page gets them, against the library's own answers."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from optmodels import front_folder
from optmodels.audit import audit
from optmodels.errors import InputError
from optmodels.explorer.workspace import Workspace
from tests.optmodels.explorer.conftest import FORMULA, HOSTILE, Client


def test_a_front_is_drawn_from_its_folder(client: Client, saved: Path) -> None:
    front = front_folder.reopened(saved, None)
    shown = client.json("api/fronts/1")
    assert shown["count"] == len(front)
    assert shown["values"]["loss"] == [point.values["loss"] for point in front]
    assert shown["knee"] == front.knee_index
    assert shown["extremes"]["loss"] == 0
    assert shown["promise"] == "k >= 3"
    assert shown["run"]["complete"] is True
    assert shown["status"] == ["optimal"] * len(front)
    assert [axis["better"] for axis in shown["axes"][:2]] == ["low", "high"]
    labels = [point.require() for point in front]
    assert shown["values"]["number of classes"] == [int(one.max()) + 1 for one in labels]


def test_any_quantity_can_be_measured_for_every_point(client: Client, saved: Path) -> None:
    front = front_folder.reopened(saved, None)
    names = [metric["name"] for metric in client.json("api/fronts/1")["metrics"]]
    assert "linkage" in names
    assert "closeness" in names
    found = client.json("api/fronts/1/metrics/closeness")["values"]
    problem = front.problem.with_objectives("closeness")
    assert found == [problem.evaluate(point.require()).values["closeness"] for point in front]
    status, _, body = client.ask("api/fronts/1/metrics/nonsense")
    assert status == 400
    assert b"closeness" in body


def test_a_point_is_shown_as_its_release_is(client: Client, saved: Path) -> None:
    front = front_folder.reopened(saved, None)
    number = front.knee_index
    release = front.judged(number).release()
    shown = client.json(f"api/fronts/1/points/{number}")
    assert shown["after"] == release.audit.to_dict()
    assert shown["kept"] is True
    assert shown["values"] == front[number].values
    assert sum(row["records"] for row in shown["sizes"]) == release.audit.records
    assert shown["loss"].keys() == {"age", HOSTILE}
    assert shown["before"]["k"] == 1
    whole = {row["value"][:10]: row["whole"] for row in shown["sensitive"]["illness"]}
    assert sum(whole.values()) == pytest.approx(1.0)
    other = client.json(f"api/fronts/1/points/{number}", {"method": "interval"})
    assert other["method"] == "interval"


def test_what_is_downloaded_is_the_audited_release(client: Client, saved: Path) -> None:
    front = front_folder.reopened(saved, None)
    release = front.judged(1).release()
    status, headers, body = client.ask("api/fronts/1/points/1/release.csv", {})
    assert status == 200
    assert headers["Content-Disposition"].startswith("attachment")
    frame = pd.read_csv(io.BytesIO(body), dtype=str)
    assert frame.columns.tolist() == release.frame.columns.tolist()
    assert FORMULA in set(frame[HOSTILE])
    assert audit(frame, quasi=["age", HOSTILE], sensitive="illness").k == release.audit.k >= 3
    parquet = pd.read_parquet(io.BytesIO(client.ask("api/fronts/1/points/1/release.parquet", {})[2]))
    assert len(parquet) == len(release.frame)
    assert json.loads(client.ask("api/fronts/1/points/1/audit.json", {})[2]) == release.audit.to_dict()
    page = client.ask("api/fronts/1/points/1/audit.html", {})[2].decode()
    assert "<script>document" not in page


def test_a_point_that_is_not_there_is_told(client: Client) -> None:
    for point in ("99", "-1", "knee", "1.5"):
        status, _, body = client.ask(f"api/fronts/1/points/{point}")
        assert status == 400
        assert b"has the points 0 to" in body
    assert client.ask("api/fronts/7")[0] == 400


def test_what_can_be_opened(tmp_path: Path, saved: Path) -> None:
    workspace = Workspace()
    try:
        assert workspace.open(str(saved.parent))[0]["kind"] == "front"
        assert workspace.open(str(saved))[0]["id"] == "1"
        assert workspace.open("german")[0]["kind"] == "file"
        for place, why in (
            (str(tmp_path), "no front"),
            ("germn", "Did you mean 'german'"),
            (str(saved / "x"), "neither"),
        ):
            with pytest.raises(InputError, match=why):
                workspace.open(place)
        (tmp_path / "notes.doc").write_text("x")
        with pytest.raises(InputError, match="no kind"):
            workspace.open(str(tmp_path / "notes.doc"))
    finally:
        workspace.close()


def test_a_front_without_its_source_is_drawn_and_not_released(tmp_path: Path, saved: Path, client: Client) -> None:
    front_folder.reopened(saved, None).save(tmp_path / "bare")
    number = client.json("api/open", {"place": str(tmp_path / "bare")})["opened"][0]["id"]
    shown = client.json(f"api/fronts/{number}")
    assert shown["releasable"] is False
    assert shown["metrics"] == []
    status, _, body = client.ask(f"api/fronts/{number}/points/0")
    assert status == 400
    assert b"optmodels pareto" in body
