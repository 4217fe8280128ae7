"""A column that is sensitive and to be predicted at once, from the table to the release and what is learned from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from formulations import MajeedHwang, Microaggregation, MoObam
from optmodels import ParetoFront, Table
from optmodels.errors import InputError
from optmodels.metrics.utility import Protocol, utility
from optmodels.table.roles import Roles
from solvers import pareto, solve


def people(n: int = 120) -> pd.DataFrame:
    draw = np.random.default_rng(5)
    age = draw.integers(18, 80, n)
    return pd.DataFrame(
        {
            "age": age,
            "town": draw.choice(["Ulm", "Bonn", "Köln"], n),
            "salary": np.where(age + draw.normal(0, 10, n) > 48, ">50K", "<=50K"),
        }
    )


@pytest.fixture
def table() -> Table:
    quasi = {"age": "numeric", "town": "categorical"}
    return Table(people(), quasi=quasi, sensitive="salary", target="salary")  # type: ignore[arg-type]


def test_it_is_released_once_and_protected(table: Table) -> None:
    release = solve(Microaggregation(k=5, distinct_l=2).build(table), solver="mdav").release()
    assert list(release.frame) == ["age", "town", "salary"]
    assert sorted(release.frame["salary"]) == sorted(table.frame["salary"])
    assert release.audit.sensitive["salary"].distinct_l == 2


def test_others_learn_to_predict_it(table: Table) -> None:
    found = utility(table, table.frame["age"].to_numpy() // 10, Protocol(["nb"], ["accuracy"], splits=4, jobs=1))
    assert found.target.name == "salary"
    assert found.summary["mean"].min() > 0.6


def test_the_four_objectives_of_majeed_and_hwang(table: Table) -> None:
    problem = MajeedHwang(k=5, trees=5).build(table)
    judged = problem.with_objectives("distortion", "disclosure", "utility@nb", "entropy")
    values = judged.evaluate(np.arange(table.n) % 12).values
    assert set(values) == {"distortion", "disclosure", "utility@nb", "entropy"}
    assert 0 < values["utility@nb"] <= 1


def test_a_saved_front_is_read_again(table: Table, tmp_path: Path) -> None:
    problem = MoObam(k=10).build(table).with_objectives("entropy", "utility@nb")
    front = pareto(problem, solver="nsga2", options={"evaluations": 20, "population": 8})
    front.save(tmp_path / "front")
    table.roles.save(tmp_path / "roles.toml")
    again = Table.with_roles(people(), Roles.load(tmp_path / "roles.toml"))
    judged = MoObam(k=10).build(again).with_objectives("entropy", "utility@nb")
    loaded = ParetoFront.load(tmp_path / "front", judged)
    assert [point.values for point in loaded] == [point.values for point in front]


@pytest.mark.parametrize("missing", ["drop", "impute", "category"])
def test_missing_values_are_treated_once(missing: str) -> None:
    frame = people()
    frame.loc[3, "salary"] = None
    quasi = {"age": "numeric", "town": "categorical"}
    table = Table(frame, quasi=quasi, sensitive="salary", target="salary", missing=missing)  # type: ignore[arg-type]
    assert table.missing_report["columns"]["salary"]["missing"] == 1
    assert table.n == len(frame) - (missing == "drop")
    assert not table.frame["salary"].isna().any()


def test_a_binned_target_is_predicted_as_bins() -> None:
    frame = people().assign(salary=np.arange(120))
    roles = Roles(quasi={"age": "numeric"}, sensitive=("salary",), target="salary", bins={"salary": 2}, others="drop")
    found = utility(
        Table.with_roles(frame, roles), np.arange(120) // 10, Protocol(["nb"], ["accuracy"], splits=2, jobs=1)
    )
    assert found.target.levels == ("[0, 59.5)", "[59.5, 119]")


def test_no_other_two_roles_go_together() -> None:
    with pytest.raises(InputError, match="'age' has two roles, quasi-identifier and target; give it one"):
        Table(people(), quasi={"age": "numeric"}, sensitive="salary", target="age", others="drop")
