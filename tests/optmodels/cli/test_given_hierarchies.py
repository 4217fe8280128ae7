"""A hierarchy that is given is used, or an error says why not before anything is solved."""

from __future__ import annotations

import json

import pandas as pd

WORDS = ("--numeric", "age", "--sensitive", "illness", "--identifier", "name", "--solver", "mdav", "--k", "4")


def roles(tmp_path, text):
    (tmp_path / "roles.toml").write_text(text)
    return "roles.toml"


def test_a_hierarchy_is_used_without_a_word_about_recoding(run, people, tmp_path):
    told = run("anonymize", people, *WORDS, "--others", "drop", "--hierarchy", "age=bands:10,20", "--out", "r.csv")
    assert told.exit_code == 0
    ages = set(pd.read_csv(tmp_path / "r.csv", dtype=str)["age"])
    assert any("-" in age or "[" in age or "*" in age for age in ages)
    assert json.loads((tmp_path / "r.promise.json").read_text())


def test_what_was_typed_and_cannot_be_used_is_refused(run, people, unchanged):
    words = ("anonymize", people, *WORDS, "--others", "drop", "--hierarchy", "age=bands:10,20", "--out", "r.csv")
    told = run(*words, "--recode", "centroid")
    assert told.exit_code == 1
    assert "no use of the hierarchy of 'age'" in told.output


def test_a_category_without_a_hierarchy_stands_in_the_way(run, people, unchanged):
    words = ("anonymize", people, *WORDS, "--categorical", "sex,town", "--hierarchy", "age=bands:10,20")
    told = run(*words, "--out", "r.csv")
    assert told.exit_code == 1
    assert "'sex' is categorical and has no hierarchy" in told.output
    assert "--recode centroid" in told.output


def test_an_option_overrides_the_hierarchies_of_a_role_file(run, people, tmp_path):
    file = roles(
        tmp_path,
        'identifiers = ["name"]\nsensitive = ["illness"]\nothers = "drop"\n[quasi]\nage = "numeric"\n'
        '[hierarchies]\nage = {kind = "bands", widths = [10, 20]}\n',
    )
    words = ("anonymize", people, "--roles", file, "--solver", "mdav", "--k", "4")
    assert run(*words, "--recode", "centroid", "--out", "centroids.csv").exit_code == 0
    assert run(*words, "--out", "nodes.csv").exit_code == 0
    assert pd.read_csv(tmp_path / "centroids.csv")["age"].dtype.kind in "if"
    assert pd.read_csv(tmp_path / "nodes.csv")["age"].dtype.kind not in "if"
