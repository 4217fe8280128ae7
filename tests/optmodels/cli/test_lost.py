"""Every command that releases or chooses says what is lost of each quasi-identifier."""

from __future__ import annotations

import json

from tests.optmodels.cli.conftest import QUICK, ROLES


def test_anonymize_tells_people_and_scripts(run, people):
    alike = ("--scaling", "range", "--weight", "age=0.1")
    told = run("anonymize", people, *ROLES, *QUICK, *alike)
    assert told.exit_code == 0
    assert "Lost of each quasi-identifier" in told.output
    assert "All but lost" not in told.output
    record = json.loads(run("anonymize", people, *ROLES, *QUICK, *alike, "--json").output)
    assert set(record["audit"]["attribute_loss"]) == {"age", "sex", "town"}
    assert record["audit"]["all_but_lost"] == []


def test_weights_are_told_where_they_differ_and_are_numbers_or_the_word(run, people):
    told = run("anonymize", people, *ROLES, *QUICK, "--weight", "age=2")
    assert "Weights of quasi-identifiers: age 2, sex 1, town 1." in told.output
    assert "Weights" not in run("anonymize", people, *ROLES, *QUICK).output
    both = run("anonymize", people, *ROLES, *QUICK, "--weight", "importance", "--weight", "age=2")
    assert "leave out the numbers, or the word" in both.output


def test_that_nobody_looks_at_sensitive_values_is_said_where_it_is_chosen(run, people):
    chosen = ("anonymize", people, *ROLES, "--formulation", "aminifar", "--k", "4")
    assert "baseline without diversity" in run(*chosen).output
    for more in (("--param", "alpha=2"), ("--param", "floor=0.1"), ("--distinct-l", "2")):
        told = run(*chosen, "--force", *more)
        assert told.exit_code == 0, told.output
        assert "baseline without diversity" not in told.output
    assert "baseline without diversity" not in run("anonymize", people, *ROLES, *QUICK, "--force").output


def test_what_is_all_but_lost_is_said_with_a_remedy(run, people):
    told = run("anonymize", people, *ROLES, "--solver", "mdav", "--k", "40")
    assert "All but lost: age, sex, town." in told.output
    assert "--weight age=10" in told.output


def test_a_front_tells_it_of_its_knee_and_a_release_of_its_point(run, few):
    found = run("pareto", few, *ROLES, "--k", "2", "--out", "front", "--json")
    knee = json.loads(found.output)["knee_attribute_loss"]
    released = json.loads(run("release", "front", "--json").output)
    assert released["audit"]["attribute_loss"] == knee
    assert "Lost of each quasi-identifier" in run("release", "front").output
