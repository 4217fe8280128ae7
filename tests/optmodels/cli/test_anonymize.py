"""`optmodels anonymize`: a release that keeps its promise, and the record of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from optmodels import registry
from tests.optmodels.cli.conftest import QUICK, ROLES, Run

KEYS = ["status", "stop", "formulation", "solver", "values", "bound", "gap", "seconds", "seed", "audit"]
RESEARCH = ("--formulation", "microaggregation", "--solver", "mdav", "--scaling", "standard")


def document(result: Any) -> dict[str, Any]:
    """All of stdout as strict JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found: dict[str, Any] = json.loads(result.stdout, parse_constant=refuse)
    return found


def test_json_has_the_settled_keys_and_nothing_else_is_on_stdout(run: Run, people: Path) -> None:
    result = run("anonymize", people, *ROLES, *QUICK, "--seed", 7, "--json")
    assert result.exit_code == 0, result.output
    record = document(result)
    assert list(record) == KEYS
    assert (record["formulation"], record["solver"]) == ("microaggregation", "mdav")
    assert record["status"] == "feasible"
    assert record["seed"] == 7
    assert 0 < record["values"]["loss"] < 1
    assert record["gap"] is record["bound"] is None
    assert {"records", "classes", "k", "linkage", "homogeneity", "sensitive"} <= set(record["audit"])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_written_keeps_the_promise(run: Run, people: Path, ending: str) -> None:
    release = f"release.{ending}"
    written = run("anonymize", people, *ROLES, *QUICK, "--distinct-l", 2, "--out", release, "--json")
    assert written.exit_code == 0, written.output
    audited = document(run("audit", release, "--quasi", "age,sex,town", "--sensitive", "illness", "--json"))
    promised = document(written)["audit"]
    assert audited["k"] == promised["k"] >= 4
    assert audited["sensitive"]["illness"] == promised["sensitive"]["illness"]
    assert audited["sensitive"]["illness"]["distinct_l"] >= 2


def test_identifiers_go_and_others_are_kept_on_request(run: Run, people: Path) -> None:
    words = ("--numeric", "age", "--identifier", "name", "--others", "keep", *QUICK, "--out", "release.csv", "--force")
    assert run("anonymize", people, *words).exit_code == 0
    assert list(pd.read_csv("release.csv")) == ["age", "sex", "town", "illness"]


def test_the_summary_shows_before_and_after_and_the_files(run: Run, people: Path) -> None:
    result = run("anonymize", people, *ROLES, *QUICK, "--out", "release.csv", "--report", "report.html")
    assert result.exit_code == 0
    for fragment in ("before", "after", "linked at 0.05", "homogeneous", "loss", "Written: release.csv", "report.html"):
        assert fragment in result.stdout
    assert Path("report.html").read_text().startswith("<!doctype html>")


def test_without_out_nothing_is_written(run: Run, people: Path, unchanged: None) -> None:
    assert run("anonymize", people, *ROLES, *QUICK).exit_code == 0


def test_a_saved_role_file_is_reused_and_overridden(run: Run, people: Path) -> None:
    first = run("anonymize", people, *ROLES, *QUICK, "--scaling", "standard", "--save-roles", "roles.toml", "--json")
    again = run("anonymize", people, "--roles", "roles.toml", *QUICK, "--json")
    other = run("anonymize", people, "--roles", "roles.toml", *QUICK, "--scaling", "none", "--json")
    assert document(first)["values"] == document(again)["values"] != document(other)["values"]


def test_role_options_override_those_of_a_dataset(run: Run) -> None:
    own = document(run("anonymize", "german", "--solver", "mdav", "--k", 5, "--json"))
    assert list(own["audit"]["sensitive"]) == ["checking_status", "savings_status"]
    words = ("--numeric", "age,duration", "--sensitive", "class", "--solver", "mdav", "--k", 5)
    asked = document(run("anonymize", "german", *words, "--json"))
    assert asked["audit"]["quasi"] == ["age", "duration"]
    assert list(asked["audit"]["sensitive"]) == ["class"], "a new role for the column that was the target"


def test_a_constant_column_adds_nothing(run: Run, tmp_path: Path) -> None:
    rows = [f"{age},7" for age in range(20, 40)]
    (tmp_path / "constant.csv").write_text("\n".join(["age,shoe", *rows]))
    words = ("--scaling", "standard", *QUICK, "--json")
    both = run("anonymize", "constant.csv", "--numeric", "age,shoe", *words)
    alone = run("anonymize", "constant.csv", "--numeric", "age", "--others", "drop", *words)
    assert document(both)["values"] == pytest.approx(document(alone)["values"])


def test_orders_bins_and_hierarchies(run: Run, tmp_path: Path) -> None:
    rows = [f"{('low', 'mid', 'high')[i % 3]},{('a', 'b', 'c', 'd')[i % 4]},{i}" for i in range(24)]
    (tmp_path / "pay.csv").write_text("\n".join(["grade,site,salary", *rows]))
    (tmp_path / "sites.csv").write_text("a;north;*\nb;north;*\nc;south;*\nd;south;*\n")
    words = ("--ordinal", "grade", "--order", "grade=low,mid,high", "--categorical", "site", "--sensitive", "salary")
    trees = ("--bins", "salary=3", "--hierarchy", "site=sites.csv")
    result = run("anonymize", "pay.csv", *words, *trees, *QUICK, "--t", 0.9, "--json")
    assert result.exit_code == 0, result.output
    assert document(result)["audit"]["sensitive"]["salary"]["t_ground"] == "ordered"


def test_infeasible_is_exit_code_2(run: Run, people: Path, unchanged: None) -> None:
    result = run("anonymize", people, *ROLES, *QUICK, "--distinct-l", 4, "--out", "release.csv", "--json")
    assert result.exit_code == 2
    assert "only 3 distinct values" in result.stderr
    record = document(result)
    assert list(record) == KEYS
    assert (record["status"], record["values"], record["audit"]) == ("infeasible", {}, None)


def test_interrupted_without_a_solution_is_exit_code_3(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch, unchanged: None
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("solvers.mdav.Mdav.search", interrupted)
        within = run("anonymize", people, *ROLES, *QUICK, "--out", "release.csv")
    monkeypatch.setattr("optmodels.cli.source.table_of", interrupted)
    before = run("anonymize", people, *ROLES, *QUICK, "--out", "release.csv", "--force")
    assert within.exit_code == before.exit_code == 3
    assert "stopped (interrupted) without a solution" in within.stderr
    assert "nothing was written" in before.stderr


@pytest.mark.parametrize(
    ("dataset", "k", "loss"),
    [
        ("census", 3, 0.05692),
        ("census", 5, 0.09088),
        ("census", 10, 0.14156),
        ("tarragona", 3, 0.16933),
        ("tarragona", 5, 0.22462),
        ("tarragona", 10, 0.33193),
    ],
)
@pytest.mark.usefixtures("mirror")
def test_mdav_reports_the_published_losses(run: Run, dataset: str, k: int, loss: float) -> None:
    record = document(run("anonymize", dataset, *RESEARCH, "--k", k, "--json"))
    assert round(record["values"]["loss"], 5) == loss


def test_a_recoding_that_is_impossible_is_met_before_the_solve(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solved(*_: object, **__: object) -> None:
        raise AssertionError("it was solved")

    monkeypatch.setattr(registry.solver("mdav"), "search", solved)
    result = run("anonymize", people, *ROLES, *QUICK, "--recode", "hierarchy", "--out", "release.csv")
    assert result.exit_code == 1
    assert "has no hierarchy" in result.stderr
