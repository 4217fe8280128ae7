"""Jobs in processes of their own: fronts that grow, wishes that are proven, and ends of all kinds."""

from __future__ import annotations

import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from formulations import Microaggregation, MoObam
from optmodels import front_folder
from optmodels.cli import app
from optmodels.errors import InputError, OptmodelsError
from optmodels.explorer import aside, commands, data_files, work_front, work_wish
from optmodels.explorer.fronts import SavedFront
from optmodels.explorer.jobs import Jobs
from optmodels.explorer.telling import Teller
from optmodels.matrix import mixed_table
from optmodels.table.roles import Roles
from solvers.epsilon import Epsilon
from tests.optmodels.explorer.conftest import HOSTILE, Client, people

ROLES = {"age": "numeric", HOSTILE: "categorical", "illness": "sensitive", "name": "identifier"}


def asked(found: Path, **more: Any) -> dict[str, Any]:
    return {
        "roles": ROLES,
        "missing": "error",
        "scaling": "standard",
        "formulation": "mo-obam",
        "parameters": {"k": 3, "distinct_l": 2},
        "objectives": ["loss", "entropy"],
        "solver": "epsilon",
        "time_limit": 60,
        "seed": 0,
        "folder": str(found),
        **more,
    }


def told(client: Client, job: str) -> list[dict[str, Any]]:
    """Everything that a job tells, to its end."""
    text = client.ask(f"api/jobs/{job}/events")[2].decode()
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


def test_a_front_from_a_file_is_like_any_other_and_its_command_finds_it_again(
    client: Client, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = saved.parent / "people.csv"
    file = client.json("api/open", {"place": str(data)})["opened"][0]["id"]
    seen = client.json(f"api/files/{file}")
    assert {column["name"]: column["role"] for column in seen["columns"]}["name"] == "identifier"
    started = client.json(f"api/files/{file}/run", asked(tmp_path / "found"))
    events = told(client, started["job"])
    assert any("axes" in event.get("progress", {}) for event in events)
    result = events[-1]["result"]
    assert result["complete"] is True
    shown = client.json(f"api/fronts/{result['front']}")
    assert shown["count"] == result["points"]
    assert shown["promise"] == "k >= 3, distinct l >= 2"
    assert told(client, started["job"])[-1]["result"]["points"] == result["points"]  # whoever comes later sees it, too

    command = commands.found_by(SavedFront("found", tmp_path / "found"))
    assert command is not None
    with pytest.raises(SystemExit) as ended:
        app(shlex.split(command)[1:], prog_name="optmodels")
    capsys.readouterr()
    assert not ended.value.code
    again = front_folder.reopened(tmp_path / "found-again", None)
    assert [dict(point.values) for point in again] == [
        dict(point.values) for point in front_folder.reopened(tmp_path / "found", None)
    ]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"roles": {**ROLES, "age": "nonsense"}}, "cannot be 'nonsense'"),
        ({"roles": {"age": "numeric"}}, "illness"),
        ({"objectives": ["loss"]}, "two objectives"),
        ({"time_limit": -1}, "time limit"),
        ({"time_limit": True}, "time limit"),
        ({"seed": 1.5}, "seed"),
        ({"folder": " "}, "Name the folder"),
        ({"missing": "whatever"}, "missing"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    client: Client, saved: Path, tmp_path: Path, wrong: dict[str, Any], why: str
) -> None:
    file = client.json("api/open", {"place": str(saved.parent / "people.csv")})["opened"][0]["id"]
    status, _, body = client.ask(f"api/files/{file}/run", asked(tmp_path / "found", **wrong))
    assert status == 400
    assert why in json.loads(body)["error"]
    assert client.json("api/workspace")["jobs"] == []


@pytest.mark.parametrize("wrong", [{"solver": "mdav"}, {"parameters": {"k": 100}}, {"formulation": "nonsense"}])
def test_what_a_solver_or_a_model_refuses_leaves_nothing(saved: Path, tmp_path: Path, wrong: dict[str, Any]) -> None:
    Roles.load(saved / front_folder.ROLES).save(tmp_path / "roles.toml")
    request = {**asked(tmp_path / "found", **wrong), "data": str(saved.parent / "people.csv")}
    with pytest.raises(OptmodelsError):
        work_front.run(request, Teller(tmp_path))
    assert not (tmp_path / "found").exists()


def test_a_job_that_is_killed_harms_nothing_and_says_so(client: Client, saved: Path, tmp_path: Path) -> None:
    file = client.json("api/open", {"place": str(saved.parent / "people.csv")})["opened"][0]["id"]
    run = asked(tmp_path / "found", solver="nsga2", time_limit=600)
    before = set(psutil.Process(os.getpid()).children())
    job = client.json(f"api/files/{file}/run", run)["job"]
    (child,) = set(psutil.Process(os.getpid()).children()) - before
    child.send_signal(signal.SIGKILL)
    assert "did not come to its end" in told(client, job)[-1]["result"]["error"]
    assert client.json("api/workspace")["jobs"][0]["running"] is False
    assert not (tmp_path / "found").exists()


def test_jobs_end_with_the_explorer(tmp_path: Path, saved: Path) -> None:
    jobs = Jobs()
    roles = Roles.load(saved / front_folder.ROLES)
    data = str(saved.parent / "people.csv")
    request = {**asked(tmp_path / "found", solver="nsga2", time_limit=600), "data": data}
    before = set(psutil.Process(os.getpid()).children())
    jobs.start("front", "title", request, {"roles.toml": roles.save})
    (child,) = set(psutil.Process(os.getpid()).children()) - before
    jobs.close()
    assert not child.is_running()


def test_a_wish_is_the_least_loss_within_its_limits_and_proven(saved: Path, tmp_path: Path) -> None:
    front = front_folder.reopened(saved, None)
    for number, entropy in enumerate((0.5, 1.0, 1.5)):
        able = [point.values["loss"] for point in front if point.values["entropy"] >= entropy]
        out = tmp_path / f"wish-{number}"
        request = {"folder": str(saved), "limits": {"entropy": entropy}, "seconds": 60, "seed": 0, "out": str(out)}
        found = work_wish.run(request, Teller(tmp_path))
        assert found["kept"] is True
        assert "proven" in found["said"]
        assert found["values"]["loss"] == pytest.approx(min(able))
        assert found["gap"] == pytest.approx(0.0, abs=1e-6)
        assert front_folder.reopened(out, None).judged(found["point"]).values["entropy"] >= entropy - 1e-9


def test_a_wish_that_nothing_keeps_is_told(saved: Path, tmp_path: Path) -> None:
    request = {"folder": str(saved), "limits": {"entropy": 5.0}, "seconds": 5, "seed": 0, "out": str(tmp_path / "wish")}
    found = work_wish.run(request, Teller(tmp_path))
    assert found["kept"] is False
    assert "proven that nothing keeps this wish" in found["said"]


def test_limits_that_are_conditions_of_every_class_and_those_that_are_not() -> None:
    two = Microaggregation(k=3).build(mixed_table())  # two sensitive attributes: their entropies' sum is no condition
    assert work_wish.conditions_for(two, {"entropy": 1.0}) == ({}, ["entropy"])
    limits = {"closeness": 0.3, "homogeneity": 0.0, "linkage@0.1": 0.0}
    assert work_wish.conditions_for(two, limits) == ({"t": 0.3, "t_distance": "emd", "distinct_l": 2, "k": 10}, [])
    assert work_wish.conditions_for(two, {"linkage": 5.0, "classes": 3.0})[1] == ["linkage", "classes"]
    for k in (2, 12):
        model = work_wish.stricter(MoObam(k=k, t=0.2), {"t": 0.3, "t_distance": "emd", "k": 10})
        assert model is not None
        assert model.to_dict()["k"] == max(k, 10)
        assert model.to_dict()["t"] == 0.2
    assert work_wish.conditions_for(two, {"skewness@3": 0.0}) == ({"beta": 2.0}, [])
    looser = work_wish.stricter(MoObam(k=2, beta=1.0), {"beta": 2.0})
    assert looser is not None
    assert looser.to_dict()["beta"] == 1.0
    assert work_wish.stricter(MoObam(k=2, t=0.2, t_distance="variational"), {"t": 0.3, "t_distance": "emd"}) is None


@pytest.mark.parametrize(
    ("objective", "limit"), [("closeness", 0.34), ("homogeneity", 0.0), ("linkage@0.2", 0.0), ("skewness@2.5", 0.0)]
)
def test_what_keeps_the_conditions_keeps_the_limit(objective: str, limit: float) -> None:
    problem = Microaggregation(k=3).build(mixed_table()).with_objectives("loss", objective)
    conditions, left = work_wish.conditions_for(problem, {objective: limit})
    assert left == []
    model = work_wish.stricter(Microaggregation(k=3), conditions)
    assert model is not None
    inner, draw = model.build(mixed_table()), np.random.default_rng(2)
    met = 0
    for _ in range(400):
        labels = draw.integers(0, 3, problem.n)
        within = problem.evaluate(labels).values[objective] <= limit
        met += within
        assert inner.evaluate(labels).feasible == (within and problem.evaluate(labels).feasible)
    assert met or objective == "closeness"


def test_roles_from_the_page() -> None:
    with pytest.raises(InputError, match="Only one column"):
        data_files.roles_of({"a": "numeric", "b": "target", "c": "target"}, "error", "none")
    found = data_files.roles_of({"a": "numeric", "b": "keep", "c": "drop"}, "category", "range")
    assert found.others == {"b": "keep", "c": "drop"}


def test_a_growing_front_is_told_as_the_judge_has_it(tmp_path: Path) -> None:
    problem = MoObam(k=3).build(mixed_table(12))
    front = Epsilon().pareto(problem, on_progress=work_front.watched(problem, Teller(tmp_path)))
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    points = [point for line in lines for point in line.get("points", [])]
    values = {tuple(point.values.values()) for point in front}
    assert {tuple(point) for point in points} & values
    assert all(line["hypervolume"] <= front.hypervolume() + 1e-9 for line in lines if "hypervolume" in line)


def test_a_point_is_looked_into_by_another_process_which_may_die(client: Client) -> None:
    me = psutil.Process(os.getpid())
    before = set(me.children())
    first = client.json("api/fronts/1/points/1")
    helpers = set(me.children()) - before
    assert helpers  # the server itself reads no data
    for helper in helpers:
        helper.kill()
        helper.wait(10)
    found = client.json("api/fronts/1/points/1")
    assert found["values"] == first["values"]  # it was started anew
    client.explorer.workspace.close()
    assert not [helper for helper in me.children() if "optmodels.explorer.looking" in helper.cmdline()]


def test_a_process_that_dies_while_it_looks_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside.sys, "executable", "/bin/true")  # it ends at once, whatever it is asked
    status, _, body = client.ask("api/fronts/1/points/1")
    assert status == 400
    assert "Ask again" in json.loads(body)["error"]
    monkeypatch.undo()
    assert client.json("api/fronts/1/points/1")["point"] == 1


def test_a_large_file_is_looked_at_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    data = tmp_path / "people.csv"
    people(30).to_csv(data, index=False)
    workspace = client.explorer.workspace
    number = client.json("api/open", {"place": str(data)})["opened"][0]["id"]
    here = client.json(f"api/files/{number}")
    monkeypatch.setattr("optmodels.explorer.data_files.LARGE", 10)
    monkeypatch.setattr("optmodels.explorer.data_files.inspect_file", None)  # the server reads nothing of it
    client.json("api/open", {"place": str(data)})
    assert workspace.files[number].large
    assert client.json(f"api/files/{number}") == here
