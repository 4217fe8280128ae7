"""`optmodels list matrix`, and fronts of every formulation from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from optmodels import matrix, registry

Run = Callable[..., Any]


def test_cells_as_json(run: Run) -> None:
    result = run("list", "matrix", "--json", "--formulation", "aminifar,liang-samavi", "--solver", "columns,mdav")
    document = json.loads(result.stdout)
    assert list(document) == ["cells"]
    assert len(document["cells"]) == 2 * 2 * len(matrix.CONDITIONS) * 2
    for cell in document["cells"]:
        assert list(cell) == ["formulation", "task", "condition", "solver", "works", "claims", "reason"]
        assert cell["works"] is (cell["reason"] is None)
        assert cell["works"] is (cell["claims"] in ("proven", "feasible"))
    where = ("formulation", "task", "condition", "solver")
    by_name = {tuple(cell[key] for key in where): cell for cell in document["cells"]}
    assert by_name["liang-samavi", "solve", "delta", "columns"]["claims"] == "proven"
    assert by_name["liang-samavi", "solve", "delta", "mdav"]["claims"] == "feasible"
    assert "not with a front" in by_name["liang-samavi", "pareto", "k", "mdav"]["reason"]
    assert "prescribed" in by_name["aminifar", "solve", "k", "mdav"]["reason"]


def test_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    shown = run("list", "matrix", "--condition", "k,t-equal", "--task", "solve", "--solver", "columns,liang-split,mdav")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert max(len(line) for line in lines if "─" in line) <= 120
    split = next(line for line in lines if line.split()[:1] == ["liang-split"])
    assert "feasible: k" in split
    assert "A Pareto front" not in shown.stdout
    assert "liang-split (" in shown.stdout, "the reasons are told"
    assert "ask for k only" in shown.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("matrix", "--solver", "colums"), "'columns'?"),
        (("matrix", "--condition", "t-order"), "'t-ordered'?"),
        (("matrix", "--task", "solv"), "'solve'?"),
        (("solvers", "--task", "solve"), "--task is about 'list matrix'"),
    ],
)
def test_what_is_misspelt(run: Run, words: tuple[str, ...], said: str) -> None:
    result = run("list", *words)
    assert result.exit_code == 1
    assert said in " ".join(result.output.split())


def test_what_solvers_take_is_listed(run: Run) -> None:
    takes = {entry["name"]: entry["takes"] for entry in json.loads(run("list", "solvers", "--json").stdout)}
    assert takes["nsga2"] == takes["blocks"] == "any problem"
    assert takes["mdav"] == "any problem, without a prescribed number of classes or records assigned to centres"
    assert takes["mass"] == "candidates of its own"
    assert "takes: any problem" in run("list", "solvers").stdout


# The model's own target and entropy where none are named; 'mass' is quick without the classifiers that it asks.
FRONTS: dict[str, tuple[str, ...]] = {
    "aminifar": (),
    "generalisation": ("--objectives", "loss,linkage"),
    "liang-samavi": (),
    "majeed-hwang": ("--objectives", "linkage,entropy"),
    "mass": ("--objectives", "closeness,loss", "--param", "classifiers=[]"),
    "microaggregation": ("--objectives", "homogeneity,loss"),
    "mo-obam": ("--objectives", "loss,linkage"),
}


@pytest.mark.parametrize("formulation", registry.formulation_names())
def test_every_formulation_has_a_front(run: Run, formulation: str) -> None:
    quick = ("--evaluations", 50, "--time-limit", 1.5, "--json")
    result = run("pareto", "german", "--formulation", formulation, "--k", 5, *FRONTS[formulation], *quick, "--out", "f")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["points"]
    assert len(found["objectives"]) == 2
    released = run("release", "f", "--point", "knee", "--out", "release.csv", "--json")
    assert released.exit_code == 0, released.output
    assert json.loads(released.stdout)["audit"]["k"] >= 5
