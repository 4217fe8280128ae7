"""CONTRIBUTING.md, executed: its model and its solver as a package installed from outside the repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from optmodels import registry
from optmodels.problem import Formulation
from optmodels.solver import FrontSolver, Solver
from optmodels.testing import brute_force, check_formulation, check_front, check_solution, check_solver, small_table

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
MODEL, SOLVER, TESTS = (code for language, code in BLOCKS if language == "python")
PROJECT, STUDY = (code for language, code in BLOCKS if language == "toml")
COMMANDS = next(code for language, code in BLOCKS if language == "sh").splitlines()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what an installation of the package leaves: its modules, and its entry points beside them."""
    folder = tmp_path_factory.mktemp("somewhere else")
    project = tomllib.loads(PROJECT)["project"]
    modules = {"medoids.py": MODEL, "slices.py": SOLVER, "test_medoids.py": TESTS}
    for name, code in modules.items():
        (folder / name).write_text(code)
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {where}" for name, where in entries.items())])
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups) + "\n")
    return folder


@pytest.fixture
def installed(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package on the path of this process and of those that it starts."""
    monkeypatch.syspath_prepend(package)
    found = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", found)
    return package


@pytest.fixture
def model(installed: Path) -> Formulation:
    made: Formulation = import_module("medoids").Medoids(k=2)
    return made


@pytest.fixture
def solver(installed: Path) -> Solver:
    made: Solver = import_module("slices").Slices()
    return made


def patients(n: int) -> Any:
    return small_table(n, seed=1)


@pytest.mark.parametrize("code", [MODEL, SOLVER], ids=["model", "solver"])
def test_it_is_short(code: str) -> None:
    assert sum(1 for line in code.splitlines() if line.strip()) <= 30


def test_the_model_keeps_the_contract(model: Formulation) -> None:
    check_formulation(model)


def test_the_solver_keeps_the_contract(solver: Solver) -> None:
    check_solver(solver)


def test_many_solvers_take_the_model(model: Formulation) -> None:
    takers = set(registry.solvers_for(model.build(patients(40))))
    assert len(takers) >= 15
    assert {"auto", "blocks", "columns", "local_search", "mdav", "milp", "mondrian", "nsga2", "pso", "slices"} <= takers
    reason = registry.solver("univariate")().refuses(model.build(patients(40)))
    assert reason is not None
    assert "squared distances" in reason


def test_milp_proves_its_optimum_by_the_pyomo_view(model: Formulation) -> None:
    problem = model.build(patients(8))
    best = brute_force(problem)
    assert best is not None
    solution = registry.solver("milp")().solve(problem)
    check_solution(solution)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(best[1].values["distance"])


@pytest.mark.parametrize("name", ["columns", "auto"])
def test_more_records_are_proven_by_listing_classes(model: Formulation, name: str) -> None:
    solution = registry.solver(name)().solve(model.build(patients(12)))
    check_solution(solution)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(registry.solver("milp")().solve(solution.problem).value)


def test_a_front_of_its_own_objectives_and_of_others(model: Formulation) -> None:
    problem = model.build(patients(40))
    few = registry.configured(registry.solver("nsga2"), {"evaluations": 300, "population": 20})
    assert isinstance(few, FrontSolver)
    for posed in (problem, problem.with_objectives("distance", "entropy")):
        front = few.pareto(posed, seed=1)
        check_front(front)
        assert len(front) > 2


def test_search_by_the_judge_is_worth_its_time(model: Formulation) -> None:
    """Far below what any construction makes of the same records."""
    problem = model.build(patients(300))
    built = registry.solver("mdav")().solve(problem).value
    searched = registry.configured(registry.solver("local_search"), {"iterations": 5_000}).solve(problem).value
    assert built is not None
    assert searched is not None
    assert searched < 0.9 * built


def test_its_blocks_can_be_solved_in_other_processes(model: Formulation) -> None:
    problem = model.build(patients(60))
    options = {"block_size": 20, "inner": "mondrian", "workers": 1}
    answers = [
        registry.configured(registry.solver("blocks"), {**options, "backend": backend}).solve(problem)
        for backend in ("in-process", "processes")
    ]
    for answer in answers:
        check_solution(answer)
    assert answers[0].value == answers[1].value


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", *command.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_the_commands(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    matrix, anonymize, pareto, study = COMMANDS
    cells = json.loads(run(matrix, tmp_path).stdout)["cells"]
    assert sum(cell["works"] for cell in cells) >= 15
    run(anonymize, tmp_path)
    assert len((tmp_path / "release.csv").read_text().splitlines()) == 1_001
    run(pareto, tmp_path)
    assert (tmp_path / "front" / "front.csv").is_file()
    run(study, tmp_path)
    table = run("optmodels study table runs.db", tmp_path).stdout
    assert "slices" in table
    assert "mondrian" in table
    assert "slices" in run("optmodels list solvers", tmp_path).stdout
