"""The other commands, and how the script behaves as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.optmodels.cli.conftest import QUICK, ROLES, Run

LEVELS = {"distinct_l", "entropy_l", "recursive_c", "t_variational", "t_emd"}


def test_audit_of_german_credit_as_published(run: Run) -> None:
    found = json.loads(run("audit", "german", "--json").stdout)
    assert (found["records"], found["classes"], found["k"]) == (1000, 310, 1)
    assert found["linkage"] == {"0.05": 959, "0.075": 828, "0.1": 698}
    assert found["homogeneity"]["total"] == 279
    assert set(found["homogeneity"]) == {"total", "checking_status", "savings_status"}
    assert set(found["sensitive"]["checking_status"]) >= LEVELS


def test_audit_options(run: Run, people: Path) -> None:
    words = ("--quasi", "sex", "--sensitive", "illness,town", "--tau", "0.04,0.5", "--report", "audit.html")
    found = json.loads(run("audit", people, *words, "--json").stdout)
    assert found["linkage"] == {"0.04": 40, "0.5": 0}
    assert list(found["sensitive"]) == ["illness", "town"]
    assert "illness" in Path("audit.html").read_text()
    shown = run("audit", people, "--quasi", "sex")
    assert shown.exit_code == 0
    assert "classes" in shown.stdout
    assert "homogeneous" not in shown.stdout, "there is nothing sensitive"


@pytest.mark.parametrize(
    ("what", "name", "settings"),
    [
        ("formulations", "microaggregation", "parameters"),
        ("solvers", "mdav", "options"),
        ("datasets", "german", "quasi"),
    ],
)
def test_list(run: Run, what: str, name: str, settings: str) -> None:
    entries = {entry["name"]: entry for entry in json.loads(run("list", what, "--json").stdout)}
    assert entries[name]["state"] == "ready"
    assert entries[name]["summary"]
    assert settings in entries[name]
    assert f"{name}  ready" in run("list", what).stdout


def test_a_solver_that_lacks_a_module_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.mdav.Mdav.requires", ("no_such_module",))
    entries = {entry["name"]: entry for entry in json.loads(run("list", "solvers", "--json").stdout)}
    assert entries["mdav"]["state"] == "not ready: the module 'no_such_module' is not installed"


def test_demo_leaves_the_release_and_its_audit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optmodels.cli.demo.SECONDS", 2.0)
    monkeypatch.setattr("optmodels.cli.demo.FRONT_SECONDS", 2.0)
    result = run("demo", "--out", "shown/demo")
    assert result.exit_code == 0, result.output
    for fragment in ("German credit", "before", "after", "homogeneous", "loss", "gap"):
        assert fragment in result.stdout
    folder = Path("shown/demo")
    left = {"release.csv", "audit.json", "audit.html", "front"}
    assert left <= {path.name for path in folder.iterdir()}
    assert json.loads((folder / "audit.json").read_text())["k"] >= 5
    assert result.stdout.rstrip().endswith("optmodels explore shown/demo/front")
    released = run("release", "shown/demo/front", "--point", "knee", "--out", "other.csv")
    assert released.exit_code == 0, released.output


def test_sensitive_values_are_compared_as_written(run: Run) -> None:
    Path("codes.csv").write_text("age,code\n1,1\n1,01\n2,a\n2,b\n")
    levels = json.loads(run("audit", "codes.csv", "--quasi", "age", "--sensitive", "code", "--json").stdout)
    assert levels["sensitive"]["code"]["distinct_l"] == 2


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout.startswith("optmodels ")
    for words in ((), ("--help",), ("anonymize", "--help"), ("audit", "-h")):
        result = run(*words)
        assert result.exit_code == 0
        assert "Usage:" in result.stdout


def test_a_mistake_of_ours_asks_for_a_report(run: Run, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the ground gave way")

    monkeypatch.setattr("solvers.mdav.Mdav.search", broken)
    result = run("anonymize", people, *ROLES, *QUICK)
    assert result.exit_code == 1
    assert "RuntimeError: the ground gave way" in result.stderr
    assert "report" in result.stderr
    monkeypatch.setenv("OPTMODELS_DEBUG", "1")
    with pytest.raises(AssertionError, match="Traceback"):
        run("anonymize", people, *ROLES, *QUICK)


def process(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "optmodels", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


def test_the_process_has_the_exit_code_and_the_error_on_stderr(people: Path) -> None:
    wrong = process("anonymize", people, "--numerik", "age")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert (
        wrong.stderr
        == "Error: There is no option '--numerik'. Did you mean '--numeric'? See 'optmodels anonymize --help'.\n"
    )
    infeasible = process("anonymize", people, *ROLES, *QUICK, "--distinct-l", 4)
    assert (infeasible.returncode, infeasible.stdout) == (2, "")
    assert "Traceback" not in infeasible.stderr


def test_a_closed_pipe_is_quiet() -> None:
    script = f"{sys.executable} -m optmodels list datasets | true"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize("cells", [("01", "1"), ("12345678901234567890123", "12345678901234567890124"), ("1.0", "1")])
def test_an_audit_takes_quasi_identifiers_as_they_are_written(run: Run, cells: tuple[str, str]) -> None:
    Path("zip.csv").write_text("zip,illness\n" + "".join(f"{cell},flu\n" for cell in cells * 2))
    found = json.loads(run("audit", "zip.csv", "--quasi", "zip", "--sensitive", "illness", "--json").stdout)
    assert (found["classes"], found["k"]) == (2, 2)


def test_an_audit_is_told_the_order_of_a_released_attribute(run: Run) -> None:
    rows = [f"{20 + i % 10},{('10-', '100-', '20-')[i * 7 % 3]}" for i in range(60)]
    Path("people.csv").write_text("\n".join(["age,cost", *rows]) + "\n")
    order = ("--order", "cost=10-,20-,100-")
    words = ("--numeric", "age", "--sensitive", "cost", "--t", "0.3", *order, *QUICK, "--out", "r.csv", "--json")
    promised = json.loads(run("anonymize", "people.csv", *words).stdout)["audit"]["sensitive"]["cost"]
    found = run("audit", "r.csv", "--quasi", "age", "--sensitive", "cost", *order, "--json")
    again = json.loads(found.stdout)["sensitive"]["cost"]
    assert again["t_ground"] == "ordered"
    assert again["t_emd"] == pytest.approx(promised["t_emd"])
    wrong = run("audit", "r.csv", "--quasi", "age", "--sensitive", "cost", "--order", "cost=10-,20-", "--json")
    assert wrong.exit_code == 1
    assert "100-" in wrong.stderr


@pytest.mark.parametrize(
    "words", [("--ordered", "ilness"), ("--order", "ilness=flu,cold"), ("--hierarchy", "ilness=h")]
)
def test_an_audit_refuses_settings_of_what_is_not_sensitive(run: Run, people: Path, words: tuple[str, str]) -> None:
    Path("h").write_text("flu;*\ncold;*\n")
    result = run("audit", people, "--quasi", "sex", "--sensitive", "illness", *words)
    assert result.exit_code == 1
    assert "Did you mean 'illness'" in result.stderr


def test_an_order_of_numbers_can_be_typed(run: Run) -> None:
    Path("grades.csv").write_text("grade,illness\n" + "".join(f"{1 + i % 5},{'ab'[i % 2]}\n" for i in range(40)))
    words = ("--ordinal", "grade", "--order", "grade=5,4,3,2,1", "--sensitive", "illness", *QUICK, "--out", "r.csv")
    assert run("anonymize", "grades.csv", *words, "--save-roles", "r.toml").exit_code == 0
    again = run("anonymize", "grades.csv", "--roles", "r.toml", *QUICK, "--json")
    assert again.exit_code == 0
