"""Weights by what quasi-identifiers tell about the target: in Python, in a role file and on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from formulations import Microaggregation
from optmodels import Table
from optmodels.cli.role_options import TypedRoles
from optmodels.errors import InputError
from optmodels.folders.anonymize import anonymize_folder
from optmodels.table.roles import Roles

QUASI = {"age": "numeric", "shoe": "numeric", "town": "categorical"}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    draw = np.random.default_rng(3)
    age = draw.integers(20, 80, 400)
    noise = draw.random(400) < 0.05
    return pd.DataFrame(
        {
            "age": age,
            "shoe": draw.integers(36, 47, 400),
            "town": draw.choice(list("abcd"), 400),
            "ill": np.where((age > 50) ^ noise, "yes", "no"),
        }
    )


def test_what_tells_about_the_target_counts_more_and_all_count_one_on_average(people: pd.DataFrame) -> None:
    table = Table(people, quasi=QUASI, target="ill", weights="importance")  # type: ignore[arg-type]
    assert table.weights["age"] > 2 > 0.3 > max(table.weights["shoe"], table.weights["town"])
    assert min(table.weights.values()) >= 0.1
    assert sum(table.weights.values()) == pytest.approx(3, abs=0.001)
    again = Table(people, quasi=QUASI, target="ill", weights="importance")  # type: ignore[arg-type]
    assert again.weights == table.weights
    # distances are those of the numbers, and the roles can be used again without the target
    by_name = Table(people, quasi=QUASI, target="ill", weights=table.weights)  # type: ignore[arg-type]
    np.testing.assert_array_equal(by_name.scaled, table.scaled)
    assert Roles.from_toml(table.roles.to_toml()).weights == table.weights


def test_a_numeric_target_is_a_quantity(people: pd.DataFrame) -> None:
    frame = people.assign(pay=people["shoe"] * 10.5 + np.arange(400) / 100).drop(columns="ill")
    found = Table(frame, quasi=QUASI, target="pay", weights="importance").weights  # type: ignore[arg-type]
    assert max(found, key=lambda name: found[name]) == "shoe"


def test_nothing_to_tell_counts_one_each() -> None:
    frame = pd.DataFrame({"age": [1] * 30, "town": ["a"] * 30, "ill": ["yes", "no"] * 15})
    table = Table(frame, quasi={"age": "numeric", "town": "categorical"}, target="ill", weights="importance")
    assert table.weights == {"age": 1.0, "town": 1.0}


def test_the_word_in_a_role_file_and_on_the_command_line(people: pd.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    text = 'target = "ill"\nweights = "importance"\n[quasi]\nage = "numeric"\nshoe = "numeric"\ntown = "categorical"\n'
    (tmp_path / "roles.toml").write_text(text)
    by_file = Table.from_file(file, roles=tmp_path / "roles.toml")
    assert by_file.weights["age"] > 2
    typed = TypedRoles({"numeric": ["age,shoe"], "categorical": ["town"], "target": "ill", "weight": ["importance"]})
    assert Table.from_file(file, **typed.read()).weights == by_file.weights
    assert TypedRoles({"weight": ["age=2"]}).read() == {"weights": {"age": 2}}
    roles = Roles.load(tmp_path / "roles.toml")
    assert roles.reassigned(sensitive="town").weights == "importance"
    assert roles.reassigned(weights={"age": 2.0}).weights == {"age": 2.0}
    assert 'weights = "importance"' in roles.to_toml()


def test_what_cannot_be_found_out_is_said(people: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none is named"):
        Table(people, quasi=QUASI, others="drop", weights="importance")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a target that varies"):
        Table(people.assign(ill="yes"), quasi=QUASI, target="ill", weights="importance")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Did you mean 'importance'"):
        Table(people, quasi=QUASI, target="ill", weights="importanc")  # type: ignore[arg-type]
    roles = Roles(quasi=QUASI, target="ill", weights="importance")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="read in parts"):
        anonymize_folder("x", tmp_path / "y", roles=roles, formulation=Microaggregation(k=2))
