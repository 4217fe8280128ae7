"""`list solvers NAME` and `list formulations NAME` explain every parameter."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from optmodels import registry
from optmodels.cli.explaining import explained
from optmodels.cli.promise import CONDITION_OPTIONS


@pytest.mark.parametrize("name", ["aminifar", "mo-obam", "microaggregation"])
def test_every_parameter_of_a_formulation_is_there(run, name):
    found = json.loads(run("list", "formulations", name, "--json").output)
    own = [field.name for field in fields(registry.formulation(name)) if field.name not in CONDITION_OPTIONS]
    assert [one["name"] for one in found["parameters"]] == own
    assert all(one["takes"] for one in found["parameters"])
    told = run("list", "formulations", name).output
    assert all(one["typed"] in told for one in found["parameters"])
    assert f"--formulation {name}" in told


@pytest.mark.parametrize(
    ("what", "name"),
    [("solvers", name) for name in registry.solver_names()]
    + [("formulations", name) for name in registry.formulation_names()],
)
def test_every_parameter_is_explained(what, name):
    silent = [one["name"] for one in explained(what, name)["parameters"] if len(one["about"].split()) < 5]
    assert not silent


def test_a_solver_is_explained_with_an_example_that_is_understood(run):
    found = json.loads(run("list", "solvers", "pso", "--json").output)
    assert found["example"].count("--option") == 1
    assert "--option" in run("list", "solvers", "pso").output


def test_what_is_not_there_is_told_with_the_nearest(run):
    told = run("list", "solvers", "mdaw")
    assert told.exit_code == 1
    assert "Did you mean 'mdav'" in told.output
    assert "leave out 'german'" in run("list", "datasets", "german").output
