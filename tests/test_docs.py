"""What the pages for users say exists: files that they link to, commands and options, and what solvers take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from optmodels import registry
from optmodels.cli import app
from optmodels.conditions import CONDITIONS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "benchmarks" / "README.md"])
SCREEN = 60  # lines


def commands(text: str) -> list[list[str]]:
    """The words of every command line of ours, in blocks and in running text."""
    joined = re.sub(r" *\\\n *", " ", text)
    found = re.findall(r"^ {4}(?:\w+=\S+ )?(optmodels .*)$", joined, re.M) + re.findall(
        r"`(optmodels [^`\n]*)`", joined
    )
    return [shlex.split(line, comments=True)[1:] for line in found]


def options_of(words: list[str]) -> tuple[str, set[str]]:
    """Which command some words call, and the options that it has."""
    command: Any = typer.main.get_command(app)
    path = []
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
        path.append(word)
    return " ".join(path), {
        name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
    assert [target for target in targets if "://" not in target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_their_options_exist(page: Path) -> None:
    for words in commands(page.read_text()):
        name, known = options_of(words)
        if words and not words[0].startswith("-") and words[0].islower():
            assert name, f"{page.name} has a command that there is not: {words}"
        assert [word for word in words if word.startswith("--") and word.split("=")[0] not in known | {"--help"}] == []


def test_options_are_looked_at() -> None:
    assert commands("    optmodels study run a.toml \\\n        --out b  # c") == [
        ["study", "run", "a.toml", "--out", "b"]
    ]
    name, known = options_of(["study", "run", "a.toml"])
    assert name == "study run"
    assert "--out" in known
    assert "--nosuch" not in known


def test_the_table_of_solvers_is_what_they_declare() -> None:
    rows = [
        line.split(" | ") for line in (ROOT / "docs" / "solvers.md").read_text().splitlines() if line.startswith("| `")
    ]
    takes = {name: row[3] for row in rows if len(row) == 5 for name in re.findall(r"`([\w-]+)`", row[0])}
    assert set(takes) == set(registry.solver_names())
    for name, text in takes.items():
        kind = registry.solver(name)
        wanted, _, unwanted = text.partition("not with ")
        assert [need.title for need in kind.needs if need.title not in wanted] == []
        assert [reject.title for reject in kind.rejects if reject.title not in unwanted] == []


def test_every_condition_is_defined() -> None:
    text = (ROOT / "docs" / "conditions.md").read_text()
    for name in ("k", *CONDITIONS):
        assert f"`{name}" in text
        assert f"--{name.replace('_', '-')} " in text


def test_what_and_why_take_a_screen_and_how_takes_another() -> None:
    what, how = (ROOT / "README.md").read_text().split("\n## How\n")
    assert len(what.splitlines()) <= SCREEN
    assert len(how.split("\n## ")[0].splitlines()) <= SCREEN
