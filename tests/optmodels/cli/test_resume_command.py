"""`--resume`: a command that was stopped, killed even, goes on when it is given again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.optmodels.cli.conftest import QUICK, ROLES, Run
from tests.optmodels.cli.test_anonymize import document
from tests.optmodels.cli.test_bad_input import refused

FRONT = ("--formulation", "mo-obam", "--k", 4, "--solver", "nsga2")


def test_the_same_command_goes_on(run: Run, people: Path) -> None:
    words = ("anonymize", people, *ROLES, "--k", 4, "--resume", "one.search", "--seed", 1, "--json")
    first = document(run(*words, *("--solver", "mdav")))
    assert "resumed" not in first
    again = document(run(*words, *("--solver", "local_search", "--option", "iterations=200")))
    assert again["resumed"]["runs"] == 1  # type: ignore[index,call-overload]
    (before,), (after,) = (list(one["values"].values()) for one in (first, again))  # type: ignore[attr-defined,call-overload]
    assert after <= before
    # a bound is kept as well, and is still there for who proves nothing
    proven = document(run(*words, *("--solver", "mdav", "--bound", 5)))
    assert proven["bound"] > 0  # type: ignore[operator]
    assert document(run(*words, *("--solver", "mdav")))["bound"] == proven["bound"]
    shown = run(*words[:-1], "--solver", "mdav", "--out", "release.csv")
    assert shown.exit_code == 0, shown.output
    assert "It went on from a search of" in shown.stdout
    assert "The search is kept in one.search: the same command goes on from there." in shown.stdout
    assert len(pd.read_csv("release.csv")) == 40


def test_a_front_goes_on_from_a_file_and_from_a_folder(run: Run, people: Path) -> None:
    words = ("pareto", people, *ROLES, *FRONT, "--evaluations", 300, "--json")
    first = document(run(*words, "--resume", "front.search", "--out", "one"))
    again = document(run(*words, "--resume", "front.search", "--out", "two"))
    third = document(run(*words, "--resume", "two", "--out", "two", "--force"))
    assert first["hypervolume"] <= again["hypervolume"] <= third["hypervolume"]  # type: ignore[operator]
    assert [one.get("resumed", {}).get("runs", 0) for one in (first, again, third)] == [0, 1, 2]  # type: ignore[attr-defined]


def test_what_is_of_something_else_is_refused_with_the_word(run: Run, people: Path) -> None:
    kept, words = Path("one.search"), ("anonymize", people, *ROLES, "--resume", "one.search")
    assert run(*words, *QUICK).exit_code == 0
    before = kept.read_bytes()
    refused(run(*words, "--solver", "mdav", "--k", 5), "k (4, and now 5)", "name another file")
    refused(run(*words, *QUICK, "--scaling", "range"), "the role 'scaling'")
    refused(run("pareto", people, *ROLES, *FRONT, "--resume", kept, "--out", "front"), "a search for one answer")
    people.write_text(people.read_text().replace("27", "28", 1))
    refused(run(*words, *QUICK), "the data")
    refused(run(*words[:-1], people, *QUICK), "is read by this very command")
    assert kept.read_bytes() == before
    made = run("pareto", people, *ROLES, *FRONT, "--evaluations", 100, "--out", "front")
    assert made.exit_code == 0, made.output
    again = ("pareto", people, *ROLES, "--evaluations", 100, "--resume", "front", "--out", "other")
    refused(run(*again, *FRONT, "--k", 5), "it has k=4 and the problem 5")
    refused(run(*again, *FRONT, "--scaling", "range"), "other roles")
    people.write_text(people.read_text().replace("28", "29", 1))
    refused(run(*again, *FRONT), "is of other data")


def started(folder: Path, *words: object) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "optmodels", *map(str, words)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def appeared(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the file is there, while the command still runs."""
    for _ in range(3000):
        if path.exists():
            return
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.1)
    raise AssertionError(f"{path} never appeared")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_or_killed_and_then_on(run: Run, people: Path, number: signal.Signals) -> None:
    kept = Path("front.search")
    words = ("pareto", people, *ROLES, *FRONT, "--resume", kept, "--json")
    process = started(Path(), *words, "--time-limit", 600, "--out", "one")
    try:
        appeared(kept, process)
        os.kill(process.pid, number)
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert Path("one/front.csv").exists() == (number is signal.SIGINT), output
    found = document(run(*words, "--evaluations", 1, "--out", "two"))
    assert found["resumed"]["runs"] == 1  # type: ignore[index,call-overload]
    assert len(found["points"]) > 1  # type: ignore[arg-type]
    if number is signal.SIGINT:
        stopped = pd.read_csv("one/front.csv")
        assert found["points"][0]["loss"] <= stopped["loss"].min() * (1 + 1e-9)  # type: ignore[index]
