"""What solvers tell beyond their result: what `auto` picked, and what a faithful swarm's best particle breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.optmodels.cli.conftest import ROLES, Run
from tests.optmodels.cli.test_anonymize import document

FAITHFUL = ("--option", "faithful=true", "--option", "particles=8", "--option", "iterations=3")
SCORE = ("--formulation", "mo-obam", "--param", "objective=lambda", "--param", "lam=0.3")


def test_anonymize_says_what_auto_picked(run: Run, people: Path) -> None:
    words = ("anonymize", people, *ROLES, "--k", 4, "--time-limit", 5)
    assert "auto picked columns: 40 records are few enough" in run(*words).stdout
    record = document(run(*words, "--json"))
    assert record["solver"] == record["chosen"] == "columns"
    assert "40 records are few enough" in record["because"]


def test_pareto_says_what_auto_picked_and_takes_evaluations(run: Run, people: Path, few: Path) -> None:
    words = (*ROLES, "--k", 4, "--evaluations", 150, "--out", "front", "--force")
    assert "auto picked nsga2: 40 records are too many" in run("pareto", people, *words).stdout
    record = document(run("pareto", people, *words, "--json"))
    assert record["solver"] == record["chosen"] == "nsga2"
    assert "40 records are too many" in record["because"]
    assert record["evaluations"] <= 150 + 3 * 100
    exact = document(run("pareto", few, *words, "--json"))
    assert (exact["solver"], exact["evaluations"]) == ("epsilon", None)


def test_a_solver_that_was_named_was_not_picked(run: Run, few: Path) -> None:
    result = run("pareto", few, *ROLES, "--k", 3, "--solver", "epsilon", "--out", "front", "--json")
    assert not {"chosen", "because", "faithful"} & set(document(result))


def test_the_swarm_takes_evaluations(run: Run, people: Path) -> None:
    words = ("pareto", people, *ROLES, "--k", 4, "--solver", "pso", "--evaluations", 200, "--out", "front", "--json")
    record = document(run(*words))
    assert record["solver"] == "pso"
    assert 100 <= record["evaluations"] <= 220


@pytest.mark.parametrize("json", [True, False])
def test_a_faithful_swarm_without_a_release_tells_its_best_particle(run: Run, people: Path, json: bool) -> None:
    words = ("anonymize", people, *ROLES, *SCORE, "--k", 5, "--param", "n_clusters=8", "--solver", "pso", *FAITHFUL)
    result = run(*words, "--out", "release.csv", *(["--json"] if json else []))
    assert result.exit_code == 3
    for fragment in ("faithful swarm's best particle has score", "loss", "entropy", "breaks k in", "records)"):
        assert fragment in result.stderr
    assert not Path("release.csv").exists()
    if json:
        told = document(result)["faithful"]
        assert told["records_in_classes_below_k"] > 0
        assert f"breaks k in {told['classes_below_k']} of {told['classes']} classes" in result.stderr
        assert "labels" not in told


def test_a_faithful_front_without_points_tells_its_best_particles(run: Run, people: Path) -> None:
    words = ("pareto", people, *ROLES, "--k", 5, "--param", "n_clusters=8", "--solver", "pso", *FAITHFUL)
    result = run(*words, "--option", "lambdas=[0.01, 1]", "--out", "front", "--json")
    assert result.exit_code == 3
    assert "lambda 0.01 has loss" in result.stderr
    assert "breaks k in" in result.stderr
    assert [told["lambda"] for told in document(result)["faithful"]] == [0.01, 1]


def test_a_faithful_swarm_with_a_release_is_labelled(run: Run, people: Path) -> None:
    words = ("pareto", people, *ROLES, "--k", 2, "--param", "n_clusters=2", "--solver", "pso", *FAITHFUL)
    result = run(*words, "--out", "front")
    assert result.exit_code == 0, result.output
    assert "The faithful swarms' best particles: lambda 0.0001 has loss" in result.stdout
    assert run("release", "front", "--out", "release.csv").exit_code == 0


def test_pymoos_swarm_has_no_front(run: Run, people: Path) -> None:
    words = ("pareto", people, *ROLES, "--k", 4, "--solver", "pso", "--option", "swarm=pymoo", "--out", "front")
    result = run(*words)
    assert result.exit_code == 1
    assert "use --option swarm=paper. Solvers that can: " in result.stderr
    assert "'nsga2'" in result.stderr
    assert not Path("front").exists()
