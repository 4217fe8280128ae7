"""--sep, --decimal and --encoding wherever a file is read; what is not anonymised is written as it was read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROLES = ("--numeric", "größe", "--categorical", "plz", "--sensitive", "diagnose", "--others", "keep")
GERMAN = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1")


@pytest.fixture
def german(tmp_path: Path) -> Path:
    rows = [
        f"{150 + i % 40 + 0.5:.1f}".replace(".", ",")
        + f";0{1000 + i % 3};{1 + i % 4:04};{'ja' if i % 2 else 'nein'};{i % 7},50"
        for i in range(48)
    ]
    path = tmp_path / "patienten.csv"
    path.write_text("\n".join(["größe;plz;diagnose;rückfall;wert", *rows]) + "\n", encoding="latin-1")
    return path


def column(path: Path, name: str) -> list[str]:
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    place = header.split(";").index(name)
    return sorted(row.split(";")[place] for row in rows)


def test_anonymize_pareto_release_audit_and_inspect(run, german, tmp_path):
    quick = ("--k", "4", "--solver", "mdav", "--time-limit", "5")
    made = run("anonymize", german, *ROLES, *GERMAN, *quick, "--out", "release.csv", "--save-roles", "roles.toml")
    assert made.exit_code == 0, made.output
    original = german.read_text(encoding="latin-1")
    assert column(tmp_path / "release.csv", "diagnose") == sorted(
        row.split(";")[2] for row in original.splitlines()[1:]
    )
    assert column(tmp_path / "release.csv", "wert") == sorted(row.split(";")[4] for row in original.splitlines()[1:])
    assert all("," in number for number in column(tmp_path / "release.csv", "größe"))
    checked = run("verify", "release.csv", "--original", german)
    assert checked.exit_code == 0, checked.output
    assert run("verify", "release.csv", "--original", german, "--encoding", "utf-16").exit_code == 1
    again = run("anonymize", german, "--roles", "roles.toml", *quick, "--out", "again.csv")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()
    audited = run("audit", "release.csv", "--quasi", "größe,plz", "--sensitive", "diagnose", "--sep", ";", "--json")
    assert json.loads(audited.output)["k"] >= 4
    front = run(
        "pareto", german, *ROLES, *GERMAN, "--k", "4", "--solver", "nsga2", "--evaluations", "200", "--out", "f"
    )
    assert front.exit_code == 0, front.output
    released = run("release", "f", "--out", "point.csv")
    assert released.exit_code == 0, released.output
    assert column(tmp_path / "point.csv", "wert") == column(tmp_path / "release.csv", "wert")
    seen = run("inspect", german, *GERMAN, "--json")
    assert set(json.loads(seen.output)["columns"]) == {"größe", "plz", "diagnose", "rückfall", "wert"}


def test_a_decimal_comma_that_nobody_mentioned_is_explained(run, german, unchanged):
    told = run("anonymize", german, *ROLES, "--k", "4", "--out", "release.csv")
    assert told.exit_code == 1
    assert "--decimal ," in told.output


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--sep", "::"), "a single character"),
        (("--decimal", "x"), "a point or a comma"),
        (("--encoding", "utf-9"), "There is no encoding 'utf-9'"),
        (("--sep", ",", "--decimal", ","), "cannot both"),
    ],
)
def test_wrong_formats_are_told_off(run, german, unchanged, wrong, said):
    told = run("anonymize", german, *ROLES, *wrong, "--k", "4")
    assert told.exit_code == 1
    assert said in " ".join(told.output.split())


def test_numbers_that_may_be_codes_are_mentioned(run, tmp_path):
    rows = [f"{20 + i % 9},{400 + i % 5},{(i % 5) / 2}" for i in range(40)]
    (tmp_path / "codes.csv").write_text("\n".join(["age,icd,dose", *rows]) + "\n")
    base = ("anonymize", "codes.csv", "--numeric", "age", "--sensitive", "icd,dose", "--k", "4", "--solver", "mdav")
    told = run(*base).output
    assert "--ordered icd" in told
    assert "--nominal dose" in told
    assert "icd: t emd, as names" in told
    assert "dose: t emd, in order" in told
    said = run(*base, "--ordered", "icd", "--nominal", "dose", "--json")
    record = json.loads(said.output)
    assert "order_guessed" not in record
    assert json.loads(run(*base, "--json").output)["order_guessed"] == {"icd": False, "dose": True}
    assert record["audit"]["sensitive"]["icd"]["t_ground"] == "ordered"
    assert record["audit"]["sensitive"]["dose"]["t_ground"] == "equal"
