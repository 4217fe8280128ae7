"""--report: the same page from every command that ends in a release, a front or an audit."""

from __future__ import annotations

import hashlib
import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from formulations import MoObam
from optmodels.cli import show
from optmodels.front import ParetoFront
from optmodels.solution import Solution, Status, Stop
from optmodels.table import Table
from tests.optmodels.cli.conftest import QUICK, ROLES, Run


def text_of(page: Path) -> str:
    """What a reader reads, tags and entities aside."""
    return html.unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))


def test_anonymize_tells_its_data_and_its_command(run: Run, people: Path) -> None:
    result = run("anonymize", people, *ROLES, *QUICK, "--report", "a report.html", "--json")
    assert result.exit_code == 0, result.output
    audit = json.loads(result.stdout)["audit"]
    text = text_of(Path("a report.html"))
    assert hashlib.sha256(people.read_bytes()).hexdigest() in text
    assert f"optmodels anonymize {people} --numeric age" in text
    assert "'a report.html'" in text  # as it would have to be typed again
    assert f"Release of {audit['records']} records" in text
    assert f"at least 4{audit['k']}" in text
    assert "nameidentifier: dropped" in text
    assert "Found by a heuristic" in text


def test_a_column_that_was_dropped_is_told(run: Run, people: Path) -> None:
    words = ("anonymize", people, "--numeric", "age", "--sensitive", "illness", "--others", "drop", *QUICK)
    assert run(*words, "--report", "r.html").exit_code == 0
    text = text_of(Path("r.html"))
    for column in ("name", "sex", "town"):
        assert f"{column}dropped" in text


def test_a_front_and_a_point_of_it_have_the_page_with_the_front(run: Run, people: Path) -> None:
    words = ("pareto", people, *ROLES, "--k", 4, "--solver", "nsga2", "--evaluations", 200, "--out", "front")
    result = run(*words, "--report", "front-report.html")
    assert result.exit_code == 0, result.output
    folder = json.loads(Path("front/front.json").read_text())
    text = text_of(Path("front-report.html"))
    assert f"{folder['points']:,} releases, none better than another" in text
    assert "loss (lower is better), entropy (higher is better)" in text
    assert "knee" in text
    assert run("release", "front", "--point", 0, "--report", "point.html").exit_code == 0
    chosen = text_of(Path("point.html"))
    assert "This page describes point 0." in chosen
    assert "0 (chosen)" in chosen
    assert hashlib.sha256(people.read_bytes()).hexdigest() in chosen
    assert "optmodels release front --point 0" in chosen


def test_an_audit_has_it_too(run: Run, people: Path) -> None:
    assert run("audit", people, "--quasi", "age,sex", "--sensitive", "illness", "--report", "a.html").exit_code == 0
    text = text_of(Path("a.html"))
    assert "Audit of 40 records" in text
    assert "optmodels audit" in text
    assert "promise" not in text.split("What this does not protect against")[0]


@pytest.mark.parametrize("points", [20, 45])
def test_the_terminal_says_when_it_shows_a_part(points: int, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(
        pd.DataFrame({"age": [20, 21, 60, 61], "ill": list("abab")}), quasi={"age": "numeric"}, sensitive="ill"
    )
    problem = MoObam(k=2).build(table).with_objectives("loss", "entropy")
    values = [{"loss": i / points, "entropy": i / points} for i in range(points)]
    labels = np.zeros(4, np.int64)
    found = [Solution(problem, "by hand", Status.FEASIBLE, Stop.TIME, labels, value) for value in values]
    show.front(ParetoFront(problem, tuple(found), {"solver": "by hand", "stop": "time", "seconds": 1.0}))
    said = " ".join(capsys.readouterr().out.split())
    assert "entropy (higher is better)" in said
    assert ("These are 20 of 45 points, evenly spaced; front.csv has all of them." in said) == (points == 45)
