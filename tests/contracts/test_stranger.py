"""CONTRIBUTING's walk-through, taken at its word: a package from outside the repository with a model and a solver."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the walk-through, installed as a distribution of their own."""
    folder = tmp_path_factory.mktemp("stranger")
    for name, code in re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)```", TEXT, re.DOTALL):
        (folder / name).write_text(code, encoding="utf-8")
    (points,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    groups = tomllib.loads(points)["project"]["entry-points"]
    known = folder / "stranger-1.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n", encoding="utf-8")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in of.items()) for group, of in groups.items()
    ]
    (known / "entry_points.txt").write_text("".join(lines), encoding="utf-8")
    people = pd.DataFrame({"age": [20, 61, 22, 60, 21, 70, 33, 35, 34, 48, 47, 80], "ill": list("abab") * 3})
    people.to_csv(folder / "people.csv", index=False)
    return folder


def run(package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(package), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": paths}
    found = subprocess.run(
        [sys.executable, *arguments], cwd=package, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found


def test_the_model_and_the_solver_keep_their_contracts(package: Path) -> None:
    (checks,) = re.findall(r"```python\n(from optmodels.testing.*?)```", TEXT, re.DOTALL)
    run(package, "-c", "from my_models import Spans\nfrom my_solvers import InLine\n" + checks)


def test_many_solvers_take_the_model(package: Path) -> None:
    script = """
import json
from my_models import Spans
from optmodels import registry
from optmodels.testing import brute_force, small_table
from solvers import pareto, solve
problem = Spans(k=2).build(small_table(8, seed=3, categorical=0))
best = brute_force(problem)[1].values["loss"]
proven = {name: solve(problem, solver=name, time_limit=20).to_dict() for name in ("milp", "columns")}
front = pareto(problem.with_objectives("loss", "entropy"), options={"evaluations": 200})
print(json.dumps({"takers": list(registry.solvers_for(problem)), "points": len(front), "best": best,
                  "proven": {name: [one["status"], one["values"]["loss"]] for name, one in proven.items()}}))
"""
    said = json.loads(run(package, "-c", script).stdout)
    assert len(said["takers"]) >= 15, said["takers"]
    assert {"milp", "columns", "local_search", "nsga2", "blocks", "in-line"} <= set(said["takers"])
    assert said["points"] >= 1
    for name, (status, value) in said["proven"].items():
        assert status == "optimal", name
        assert value == pytest.approx(said["best"]), name


def test_the_command_line_and_a_study_know_them(package: Path) -> None:
    roles = ("--numeric", "age", "--sensitive", "ill", "--k", "3")
    run(package, "-m", "optmodels", "anonymize", "people.csv", *roles, "--formulation", "spans", "--solver", "in-line",
        "--out", "release.csv")  # fmt: skip
    assert pd.read_csv(package / "release.csv").groupby("age").size().min() >= 3
    assert "in-line" in run(package, "-m", "optmodels", "list", "solvers").stdout
    (package / "spec.toml").write_text(
        """
name = "stranger"
seeds = 1
limits = { time = 5, kill = 100 }
[[dataset]]
file = "people.csv"
roles = { quasi = { age = "numeric" }, sensitive = ["ill"] }
[[formulation]]
name = "spans"
parameters.k = [2, 3]
[[solver]]
name = "in-line"
[[solver]]
name = "local_search"
options = { iterations = 50 }
""",
        encoding="utf-8",
    )
    run(package, "-m", "optmodels", "study", "run", "spec.toml", "--out", "runs.db")
    table = run(package, "-m", "optmodels", "study", "status", "runs.db").stdout
    assert "4" in table
