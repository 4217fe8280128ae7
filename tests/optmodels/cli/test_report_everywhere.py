"""`--report` is the same in every command that finds something out: utility, studies, reproductions, folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from formulations import Microaggregation
from optmodels.audit import audit_table
from optmodels.cli import app
from optmodels.folders.anonymize import anonymize_folder
from optmodels.plot.classes import riskiest_classes, sensitive_range, sizes_of
from optmodels.table import Table
from optmodels.table.roles import Roles
from optmodels.verifier import sealed
from optmodels.verifier.certificate import FORMAT

HOSTILE = "<script>alert(1)</script>"


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        app(list(words), prog_name="optmodels")
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    return said.out


def checked(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    assert "How it was made" in text
    assert "optmodels " in text.partition("The command:")[2]
    assert HOSTILE not in text
    assert "http" not in text.replace("http-equiv", "")
    return text


def people(n: int, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": draw.integers(18, 90, n),
            "town": draw.choice(["Bonn", HOSTILE, "Kiel"], n),
            "illness": draw.choice(["flu", "cold", "asthma"], n, p=[0.5, 0.3, 0.2]),
        }
    )


def test_utility(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original, release = tmp_path / "original.csv", tmp_path / "release.csv"
    frame = people(90).drop(columns="name")
    frame.to_csv(original, index=False)
    frame.assign(age=frame["age"] // 20 * 20).to_csv(release, index=False)
    page = tmp_path / "utility.html"
    words = ("--target", "illness", "--classifiers", "nb", "--splits", "2", "--metrics", "accuracy")
    ran(capsys, "utility", str(original), str(release), *words, "--report", str(page))
    text = checked(page)
    assert "What can still be learned" in text
    assert "SHA-256" in text


def test_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, spec, runs = tmp_path / "people.csv", tmp_path / "spec.toml", tmp_path / "runs.db"
    people(24).to_csv(data, index=False)
    roles = 'quasi = { age = "numeric", town = "categorical" }, sensitive = "illness", identifiers = "name"'
    spec.write_text(
        f'name = "{HOSTILE}"\nseeds = 1\n[[dataset]]\nfile = "{data}"\nroles = {{ {roles} }}\n'
        '[[formulation]]\nname = "microaggregation"\nparameters.k = [2, 3]\n'
        '[[solver]]\nname = "mdav"\n[[solver]]\nname = "mondrian"\n'
    )
    page = tmp_path / "study.html"
    ran(capsys, "study", "run", str(spec), "--out", str(runs), "--workers", "1", "--report", str(page))
    text = checked(page)
    assert "4 of 4" in text
    assert "Who ranks where" in text
    assert "mondrian" in text
    page.unlink()
    document = json.loads(ran(capsys, "study", "status", str(runs), "--json", "--report", str(page)))
    assert document["planned"] == 4
    checked(page)
    with pytest.raises(SystemExit) as ended:
        app(["study", "compare", str(runs), "--report", str(runs)], prog_name="optmodels")
    assert ended.value.code
    assert "is read by this very command" in " ".join(capsys.readouterr().err.split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "parts"
    place.mkdir()
    for part in range(3):
        people(60, part).to_parquet(place / f"{part}.parquet")
    return place


@pytest.mark.parametrize("method", ["centroid", "interval"])
def test_a_folder_is_counted_as_a_table_would_be(folder: Path, tmp_path: Path, method: str) -> None:
    roles = Roles(
        quasi={"age": "numeric", "town": "categorical"}, sensitive="illness", identifiers="name", scaling="standard"
    )
    found = anonymize_folder(
        folder,
        tmp_path / "out",
        roles=roles,
        formulation=Microaggregation(k=3),
        method=method,  # type: ignore[arg-type]
        group_rows=70,
        time_limit=2,
        report=True,
    )
    whole = pd.concat([people(60, part) for part in range(3)], ignore_index=True)
    table = Table.with_roles(whole, roles)
    assert found.before is not None
    before = audit_table(table)
    assert found.before.k == before.k
    assert found.before.classes == before.classes
    assert found.before.homogeneity == before.homogeneity
    assert found.before.sensitive["illness"].t_emd == pytest.approx(before.sensitive["illness"].t_emd)
    told = found.described
    assert told is not None
    town = told.changes["town"].set_index("value")
    assert town["before"].to_dict() == whole["town"].value_counts().to_dict()
    assert told.changes["age"]["before"].sum() == len(whole)
    assert told.changes["age"]["after"].sum() == pytest.approx(len(whole))
    released = pd.read_parquet(tmp_path / "out")
    quasi = ["age", "town"]
    assert sorted(told.sizes) == sorted(sizes_of(released, quasi))
    expected = sensitive_range(released, quasi, "illness").set_index("value")
    shown = told.ranges["illness"].set_index("value").loc[expected.index]
    pd.testing.assert_frame_equal(shown, expected)
    worst = riskiest_classes(released, quasi, ["illness"], most=5)
    assert told.riskiest[["size", "guessed"]].values.tolist() == worst[["size", "guessed"]].values.tolist()
    assert told.dropped == ("name",)


def test_the_page_of_a_folder(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    words = ("--numeric", "age", "--categorical", "town", "--sensitive", "illness", "--identifier", "name", "--k", "3")
    out = ("--out", str(tmp_path / "out"), "--report", str(page), "--time-limit", "2")
    ran(capsys, "anonymize", str(folder), *words, *out)
    text = checked(page)
    for title in ("Values before and after", "Sensitive values in groups", "Groups", "SHA-256 of the data", "before"):
        assert title in text


def test_an_inspection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, page = tmp_path / "people.csv", tmp_path / "inspection.html"
    people(40).rename(columns={"age": "<b>age</b>"}).to_csv(data, index=False)
    document = json.loads(ran(capsys, "inspect", str(data), "--report", str(page), "--json"))
    text = checked(page)
    assert "Inspection of 40 records" in text
    assert "&lt;b&gt;age&lt;/b&gt;" in text
    for column in document["columns"].values():
        assert column["reason"].replace("'", "&#x27;") in text
    assert "not for publication" in text
    assert "<bdi>p7</bdi>" not in text.partition("Frequent values")[2]  # a value of one record is not told there


def test_a_hierarchy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, page = tmp_path / "people.csv", tmp_path / "hierarchy.html"
    people(40).to_csv(data, index=False)
    ran(capsys, "hierarchy", "bands:10,20", "--data", str(data), "--column", "age", "--report", str(page))
    text = checked(page)
    assert "Hierarchy of age" in text
    assert "40 records" in text


def test_a_verification_also_of_a_broken_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, release, page = tmp_path / "people.csv", tmp_path / "release.csv", tmp_path / "verification.html"
    people(40).to_csv(data, index=False)
    roles = ("--numeric", "age", "--categorical", "town", "--sensitive", "illness", "--identifier", "name")
    ran(capsys, "anonymize", str(data), *roles, "--k", "4", "--solver", "mdav", "--out", str(release))
    ran(capsys, "verify", str(release), "--report", str(page))
    assert "The release keeps every promise" in page.read_text(encoding="utf-8")
    told = pd.read_csv(release)
    told.loc[0, "age"] = 17
    told.to_csv(release, index=False)
    with pytest.raises(SystemExit) as ended:
        app(["verify", str(release), "--report", str(page)], prog_name="optmodels")
    assert ended.value.code == 4
    text = page.read_text(encoding="utf-8")
    assert "The release breaks its promise" in text
    assert HOSTILE not in text


def test_a_certificate_also_of_what_it_does_not_prove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, proof, page = tmp_path / "people.csv", tmp_path / "proof.json", tmp_path / "proof.html"
    people(20).to_csv(data, index=False)
    roles = ("--numeric", "age", "--categorical", "town", "--sensitive", "illness", "--identifier", "name")
    out = ("--out", str(tmp_path / "release.csv"), "--certificate", str(proof))
    ran(capsys, "anonymize", str(data), *roles, "--k", "4", "--solver", "columns", *out)
    ran(capsys, "certificate", "verify", str(proof), "--report", str(page))
    assert "Every claim that was checked holds" in page.read_text(encoding="utf-8")
    said = json.loads(proof.read_text(encoding="utf-8"))
    proof.write_text(json.dumps(sealed({**said, "value": said["value"] / 2}, FORMAT)), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        app(["certificate", "verify", str(proof), "--report", str(page)], prog_name="optmodels")
    assert ended.value.code == 4
    assert "It does not prove what it says" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "solvers"), "mondrian"),
        (("list", "formulations", "mo-obam"), "n_clusters"),
        (("list", "matrix", "--formulation", "mass", "--condition", "k"), "What goes with what"),
    ],
)
def test_a_list(words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "list.html"
    ran(capsys, *words, "--report", str(page))
    assert said in checked(page)


def test_an_invented_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, out = tmp_path / "invented.html", tmp_path / "health.parquet"
    ran(capsys, "synthesize", "health", "--rows", "300", "--seed", "3", "--out", str(out), "--report", str(page))
    text = checked(page)
    assert "300 invented records" in text
    assert "diagnosis" in text
    assert "SHA-256" in text


def test_every_command_that_finds_something_out_has_it() -> None:
    from typer.main import get_command

    without = {"explore", "warm-up"}  # one serves pages, the other compiles: neither has anything to tell
    found = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        for own, one in getattr(command, "commands", {"": command}).items():
            found[f"{name} {own}".strip()] = any("--report" in option.opts for option in one.params)
    assert {name for name, has in found.items() if not has} == without
