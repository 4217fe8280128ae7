"""`optmodels hierarchy` on the command line: drawn, checked, written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optmodels.table.hierarchy import Hierarchy
from tests.optmodels.cli.conftest import Run


def test_a_few_words_become_a_file_that_anonymize_takes(run: Run, people: Path) -> None:
    made = run("hierarchy", "bands:5,10", "--data", people, "--column", "age", "--out", "age.csv")
    assert made.exit_code == 0, made.output
    assert "[20, 30)" in made.output
    assert Hierarchy.from_csv("age.csv").generalise([27], 2).tolist() == ["[20, 30)"]
    drawn = run("hierarchy", "age.csv", "--data", people, "--column", "age", "--json")
    assert len(json.loads(drawn.stdout)["age"]["levels"]) == 4


def test_a_role_file(run: Run, people: Path) -> None:
    Path("roles.toml").write_text(
        'identifiers = ["name"]\n[quasi]\nage = "numeric"\ntown = "categorical"\n[others]\nsex = "drop"\n'
        'illness = "keep"\n[hierarchies]\nage = {kind = "bands", widths = [10]}\n'
        'town = {kind = "tree", tree = {south = ["Ulm"], west = ["Bonn"]}}\n'
    )
    drawn = run("hierarchy", "roles.toml", "--data", people)
    assert drawn.exit_code == 0, drawn.output
    assert "west" in drawn.output
    assert "[20, 30)" in drawn.output
    made = run(
        *("anonymize", people, "--roles", "roles.toml", "--k", 4, "--solver", "mdav", "--recode", "hierarchy"),
        *("--out", "release.csv"),
    )
    assert made.exit_code == 0, made.output


def test_values_are_those_that_the_role_file_leaves_of_them(run: Run, tmp_path: Path) -> None:
    Path("dirty.csv").write_text("age;sex;weight\n31;Male ;70,5\n?;male;81,0\n999;FEMALE;70,5\n", encoding="utf-8")
    Path("roles.toml").write_text(
        'decimal = ","\n[quasi]\nage = "numeric"\nsex = "categorical"\nweight = "numeric"\n'
        '[clean]\ntrim = true\ncase = {sex = "lower"}\nunknown = {age = ["?", "999"]}\n'
        '[hierarchies]\nage = {kind = "bands", widths = [10]}\nweight = {kind = "bands", widths = [5]}\n'
        'sex = {kind = "tree", tree = {any = ["male", "female"]}}\n'
    )
    drawn = run("hierarchy", "roles.toml", "--data", "dirty.csv", "--json")
    assert drawn.exit_code == 0, drawn.output
    levels = {name: tree["levels"][0] for name, tree in json.loads(drawn.stdout).items()}
    assert levels == {"age": ["31"], "weight": ["70.5", "81.0"], "sex": ["male", "female"]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("prefix:3,2",), "--data and --column"),
        (("bands:10", "--data", "people.csv", "--column", "town"), "'Bonn' is no number"),
        (("{kind = 'tree', tree = {a = ['Ulm']}}", "--data", "people.csv", "--column", "town"), "'Bonn'"),
        (("{kind = ", "--column", "town"), "not valid TOML"),
        (("gone.csv",), "gone.csv"),
        (("town.csv", "--data", "people.csv", "--column", "town"), "does not cover 'Bonn'"),
    ],
)
def test_what_is_wrong_is_named(run: Run, people: Path, words: tuple[str, ...], message: str) -> None:
    Path("town.csv").write_text("Ulm;south\n")
    refused = run("hierarchy", *words)
    assert refused.exit_code != 0
    assert message in " ".join(refused.output.split())
