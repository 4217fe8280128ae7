"""`optmodels pareto`: a front in a folder, and the record of the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from optmodels import Stop, registry
from optmodels.front_folder import NAMES
from optmodels.problem import Problem
from optmodels.solver import FrontSolver, Run, Solver
from tests.optmodels.cli.conftest import ROLES
from tests.optmodels.cli.conftest import Run as Command
from tests.optmodels.cli.test_anonymize import document
from tests.optmodels.cli.test_bad_input import refused

KEYS = ["points", "hypervolume", "evaluations", "seconds", "seed", "solver"]


@dataclass(frozen=True)
class Draws(FrontSolver):
    """Partitions drawn at random, so many of them: a front solver that takes any problem."""

    name: ClassVar[str] = "draws"
    summary: ClassVar[str] = "random partitions"

    evaluations: int = 50

    def refuses(self, problem: Problem) -> str | None:
        return None

    def search(self, problem: Problem, run: Run) -> None:
        raise AssertionError("only fronts are asked of it")

    def explore(self, problem: Problem, run: Run) -> None:
        draw = np.random.default_rng(run.seed)
        for _ in range(self.evaluations):
            labels = draw.permutation(problem.n) // int(draw.integers(4, problem.n))
            labels = np.minimum(labels, max(0, problem.n // 4 - 1))
            run.keep(labels, stop=Stop.ITERATIONS)
        run.details["evaluations"] = self.evaluations


EXACT = ("--solver", "epsilon", "--k", 3)


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The random solver, known by its name and as what `auto` would be."""
    known = registry.solver

    def solver(name: str) -> type[Solver]:
        return Draws if name in ("draws", "auto") else known(name)

    monkeypatch.setattr(registry, "solver", solver)
    monkeypatch.setattr(registry, "solver_names", lambda: ("draws", "epsilon", "mdav"))


def test_the_record_and_the_folder(run: Command, few: Path) -> None:
    result = run("pareto", few, *ROLES, *EXACT, "--seed", 7, "--out", "new/front", "--json")
    assert result.exit_code == 0, result.output
    record = document(result)
    assert list(record)[:6] == KEYS
    assert (record["solver"], record["seed"], record["formulation"]) == ("epsilon", 7, "mo-obam")
    assert record["objectives"] == {"loss": "min", "entropy": "max"}
    assert record["reference"] == {"loss": 1.0, "entropy": 0.0}
    assert record["evaluations"] is None
    assert 0 < record["hypervolume"] < 1.6
    points = pd.DataFrame(record["points"])
    assert len(points) > 2
    assert set(points["status"]) == {"optimal"}
    assert {path.name for path in Path("new/front").iterdir()} == set(NAMES)
    table = pd.read_csv("new/front/front.csv")
    assert table["point"].tolist() == list(range(len(points)))
    assert table["loss"].tolist() == pytest.approx(points["loss"].tolist())
    assert "plotly" in Path("new/front/front.html").read_text()


def test_the_summary_shows_the_points_and_what_to_do_next(run: Command, few: Path) -> None:
    result = run("pareto", few, *ROLES, *EXACT, "--out", "front")
    assert result.exit_code == 0, result.output
    for fragment in ("mo-obam", "k >= 3", "points by epsilon", "hypervolume", "(knee)", "optmodels release front"):
        assert fragment in result.stdout


@pytest.mark.usefixtures("draws")
@pytest.mark.parametrize(
    ("model", "objectives", "names"),
    [
        ("microaggregation", "loss,linkage@0.1", ["loss", "linkage@0.1"]),
        ("microaggregation", "closeness,homogeneity,loss", ["loss", "closeness", "homogeneity"]),
        ("liang-samavi", "linkage,classes", ["linkage", "classes"]),
        ("mo-obam", "entropy,loss", ["loss", "entropy"]),
        ("mo-obam", "loss,entropy,linkage", ["loss", "entropy", "linkage"]),
        ("microaggregation", None, ["loss", "entropy"]),
    ],
)
def test_objectives_by_name(run: Command, people: Path, model: str, objectives: str | None, names: list[str]) -> None:
    asked = ("--objectives", objectives) if objectives else ()
    result = run("pareto", people, *ROLES, "--formulation", model, "--k", 4, *asked, "--out", "front", "--json")
    assert result.exit_code == 0, result.output
    record = document(result)
    assert list(record["objectives"]) == names
    assert list(record["points"][0])[: len(names)] == names
    assert record["evaluations"] == 50


@pytest.mark.usefixtures("draws")
def test_evaluations_are_an_option_of_the_algorithm(run: Command, people: Path) -> None:
    words = ("pareto", people, *ROLES, "--k", 4, "--out", "front", "--force", "--json")
    assert document(run(*words, "--evaluations", 9))["evaluations"] == 9
    refused(run(*words, "--evaluations", 9, "--option", "evaluations=8"), "given twice")
    refused(run(*words, "--evaluations", 9, "--solver", "epsilon"), "does not count evaluations", "draws")
    refused(run(*words, "--solver", "mdav"), "'mdav' answers with one solution", "draws, epsilon")


@pytest.mark.usefixtures("draws")
def test_one_seed_one_front_and_a_second_run_replaces_the_first(run: Command, people: Path) -> None:
    words = ("pareto", people, *ROLES, "--k", 4, "--out", "front", "--force", "--json")
    first = document(run(*words, "--seed", 3))
    labels = pd.read_parquet("front/labels.parquet")
    other = document(run(*words, "--seed", 4))
    again = document(run(*words, "--seed", 3))
    assert first["points"] == again["points"] != other["points"]
    assert pd.read_parquet("front/labels.parquet").equals(labels)
    assert {path.name for path in Path("front").iterdir()} == set(NAMES)


@pytest.mark.usefixtures("few", "unchanged")
@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        pytest.param(("--objectives", "loss,entropi"), ("'entropi'", "'entropy'?"), id="objective"),
        pytest.param(("--objectives", "loss"), ("'loss' alone", "two or more"), id="one objective"),
        pytest.param(("--objectives", "loss,linkage"), ("'epsilon' cannot solve",), id="refused"),
        pytest.param(("--formulation", "mo-obm"), ("'mo-obam'?",), id="formulation"),
        pytest.param(("--solver", "epsilom"), ("'epsilon'?",), id="algorithm"),
        pytest.param(("--out", "few.csv"), ("Cannot make the folder",), id="folder is a file"),
        pytest.param(("--numeric", "agge"), ("'agge'", "'age'"), id="column"),
        pytest.param(("--time-limit", 0), ("--time-limit must be",), id="no time"),
        pytest.param(("--objektives", "loss"), ("Did you mean '--objectives'?",), id="option"),
    ],
)
def test_pareto_refuses_and_leaves_nothing(
    run: Command, tmp_path: Path, words: tuple[object, ...], fragments: tuple[str, ...]
) -> None:
    refused(run("pareto", "few.csv", *ROLES, *EXACT, "--out", "deep/front", *words), *fragments)
    assert [path.name for path in tmp_path.iterdir()] == ["few.csv"], "not even an empty folder"


def test_entropy_needs_something_sensitive(run: Command, few: Path) -> None:
    words = ("--numeric", "age", "--others", "drop", "--formulation", "microaggregation", *EXACT, "--out", "front")
    refused(run("pareto", few, *words), "'entropy' is about sensitive attributes")
    assert not Path("front").exists()


def test_infeasible_and_interrupted_have_their_exit_codes(
    run: Command, few: Path, monkeypatch: pytest.MonkeyPatch, unchanged: None
) -> None:
    words: tuple[Any, ...] = ("pareto", few, *ROLES, *EXACT, "--out", "front", "--force", "--json")
    infeasible = run(*words, "--param", "least_entropy=[9]")
    assert infeasible.exit_code == 2
    assert "9 bits" in infeasible.stderr
    assert document(infeasible)["points"] == []

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("solvers.epsilon.Epsilon.explore", interrupted)
    stopped = run(*words)
    assert stopped.exit_code == 3
    assert "stopped (interrupted)" in stopped.stderr
    assert not Path("front").exists()


def test_a_folder_from_before_survives_a_failure(run: Command, few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("pareto", few, *ROLES, *EXACT, "--out", "front").exit_code == 0
    before = {path.name: path.read_bytes() for path in Path("front").iterdir()}

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("plotly.graph_objects.Figure.write_html", fail)
    refused(run("pareto", few, *ROLES, *EXACT, "--k", 4, "--out", "front", "--force"), "No space left")
    assert {path.name: path.read_bytes() for path in Path("front").iterdir()} == before


def test_list_says_which_solvers_find_fronts(run: Command) -> None:
    entries = {entry["name"]: entry for entry in document(run("list", "solvers", "--json"))}  # type: ignore[index,call-overload]
    assert entries["epsilon"]["answers"] == "one solution or a Pareto front"
    assert entries["mdav"]["answers"] == "one solution"
