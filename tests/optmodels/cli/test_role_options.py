"""Roles on the command line: every field of `Roles` has its option, and what is asked for is what is saved."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from optmodels.cli.role_options import OPTIONS, TypedRoles
from optmodels.datasets import DATASETS
from optmodels.errors import InputError
from optmodels.table.roles import Roles, role_names
from tests.optmodels.cli.conftest import QUICK, Run

EVERYTHING = (
    *("--numeric", "age", "--categorical", "town", "--ordinal", "sex", "--order", "sex=m,f"),
    *("--sensitive", "illness", "--target", "illness", "--identifier", "name", "--others", "drop"),
    *("--missing", "drop", "--scaling", "range", "--weight", "age=2", "--gamma", "0.5"),
    *("--hierarchy", "town=towns.csv"),
)


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.csv"
    path.write_text("Ulm;south;*\nBonn;west;*\n")
    return path


def test_every_role_has_an_option() -> None:
    assert {option.role for option in OPTIONS.values()} == set(role_names())


def test_what_is_asked_for_is_saved_and_read_again(run: Run, people: Path, towns: Path) -> None:
    result = run("anonymize", people, *EVERYTHING, *QUICK, "--save-roles", "roles.toml", "--out", "release.csv")
    assert result.exit_code == 0, result.output
    roles = Roles.load("roles.toml")
    assert roles == Roles(
        quasi={"age": "numeric", "town": "categorical", "sex": "ordinal"},
        sensitive=("illness",),
        target="illness",
        identifiers=("name",),
        others="drop",
        missing="drop",
        scaling="range",
        weights={"age": 2.0},
        gamma=0.5,
        orders={"sex": ("m", "f")},
        hierarchies=roles.hierarchies,
    )
    assert roles.hierarchies["town"].n_levels == 3
    again = run("anonymize", people, "--roles", "roles.toml", *QUICK, "--out", "again.csv")
    assert again.exit_code == 0, again.output
    assert Path("again.csv").read_text() == Path("release.csv").read_text()
    assert list(pd.read_csv("release.csv")) == ["age", "sex", "town", "illness"]


def test_a_front_remembers_all_roles(run: Run, people: Path, towns: Path) -> None:
    words = ("--k", 4, "--objectives", "entropy,utility@nb", "--out", "front")
    few = ("--algorithm", "nsga2", "--evaluations", 20, "--option", "population=8")  # a classifier is trained for each
    assert (result := run("pareto", people, *EVERYTHING, *words, *few)).exit_code == 0, result.output
    assert Roles.load("front/roles.toml").weights == {"age": 2.0}
    released = run("release", "front", "--point", "0", "--recode", "centroid", "--out", "release.csv", "--json")
    assert released.exit_code == 0, released.output
    assert json.loads(released.stdout)["audit"]["k"] >= 4
    learned = run(
        *("utility", people, "release.csv", "--target", "illness", "--classifiers", "nb"),
        *("--splits", 2, "--jobs", 1, "--json"),
    )
    assert learned.exit_code == 0, learned.output
    assert json.loads(learned.stdout)["target"] == "illness"


def test_options_go_before_a_role_file_and_a_dataset_s_own_roles(run: Run, tmp_path: Path) -> None:
    words = ("--sensitive", "class", "--scaling", "range", "--weight", "age=3", *QUICK)
    assert (result := run("anonymize", "german", *words, "--save-roles", "roles.toml")).exit_code == 0, result.output
    own, saved = DATASETS["german"].roles, Roles.load("roles.toml")
    assert saved == own.revised(sensitive="class", scaling="range", weights={"age": 3.0}, orders=saved.orders)
    assert saved.target == own.target == "class"
    assert (result := run("anonymize", "german", "--roles", "roles.toml", *QUICK, "--gamma", 2)).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--weight", "age"), "--weight takes key=value"),
        (("--weight", "age=heavy"), "weight of 'age' must be a finite number"),
        (("--weight", "agee=2"), "--weight names 'agee', but it is for quasi-identifiers only"),
        (("--others", "error"), "no --others 'error'"),
        (("--scaling", "standart"), "Did you mean 'standard'"),
        (("--target", "age"), "'age' has two roles, quasi-identifier and target"),
    ],
)
def test_mistakes(run: Run, people: Path, words: tuple[str, ...], message: str) -> None:
    roles = ("--numeric", "age", "--others", "drop") if "--others" not in words else ("--numeric", "age")
    result = run("anonymize", people, *roles, *words, *QUICK)
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())


def test_a_column_is_of_one_kind() -> None:
    with pytest.raises(InputError, match="'age' has two roles, numeric and ordinal; give it one"):
        TypedRoles({"numeric": ["age"], "ordinal": ["stage,age"]}).read()


@pytest.mark.parametrize("command", ["anonymize", "pareto"])
def test_help_lists_every_option(run: Run, command: str) -> None:
    shown = run(command, "--help").output
    assert all(f"--{name.replace('_', '-')}" in shown for name in OPTIONS)


def test_utility_takes_only_what_it_needs(run: Run) -> None:
    shown = run("utility", "--help").output
    assert "--target" in shown
    assert "--hierarchy" in shown
    assert "--identifier" not in shown


def test_an_audit_takes_quasi_identifiers_as_all_commands_do_or_of_any_kind(run, people):
    any_kind = run("audit", people, "--quasi", "age,sex", "--sensitive", "illness", "--json")
    by_kind = run("audit", people, "--numeric", "age", "--categorical", "sex", "--sensitive", "illness", "--json")
    assert any_kind.exit_code == by_kind.exit_code == 0, any_kind.output + by_kind.output
    assert any_kind.stdout == by_kind.stdout
    twice = run("audit", people, "--quasi", "age", "--numeric", "age")
    assert twice.exit_code == 1
    assert "two roles" in twice.output


def test_an_option_is_named_as_it_is_typed(run, people):
    told = run("anonymize", people, "--numeric", "age", "--k", 2, "--date-format", "nothing")
    assert told.exit_code != 0
    assert "--date-format" in told.output
