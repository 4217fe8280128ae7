"""What ARCHITECTURE draws and tabulates is what the packages and the registry say: the tree, owners and needers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from optmodels import matrix, registry, structures
from optmodels.structures import ClassCount, Structure
from solvers.evolution import Evolution

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
OURS = ("formulations.", "solvers.")
# Parameters on which it depends what is known of a problem, by the values that they may have.
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "generalisation": {scheme: {"scheme": scheme} for scheme in ("local", "cells", "full-domain")},
    "mo-obam": {
        **{objective: {"objective": objective} for objective in ("bi", "lambda", "normalised")},
        "n_clusters": {"n_clusters": 4},
    },
}


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows() -> dict[str, tuple[str, str]]:
    """Of each structure who has it and who needs it, as the table says."""
    cells = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \| ([^|]*) \|$", section("Structures"), re.M)
    return {kind: (owners, needers) for kind, owners, needers in cells}


def ours(names: tuple[str, ...], kind_of: Any) -> list[str]:
    """Without what other packages have brought onto this machine."""
    return [name for name in names if kind_of(name).__module__.startswith(OURS)]


FORMULATIONS = ours(registry.formulation_names(), registry.formulation)
SOLVERS = ours(registry.solver_names(), registry.solver)
KINDS = [kind for kind in vars(structures).values() if isinstance(kind, type) and issubclass(kind, Structure)]
KINDS.remove(Structure)


def owned() -> dict[str, set[tuple[str, str]]]:
    """Which models have a structure in which of their ways; "" where there is but one."""
    table, found = matrix.mixed_table(), {kind.__name__: set[tuple[str, str]]() for kind in KINDS}
    for name in FORMULATIONS:
        for way, parameters in WAYS.get(name, {"": {}}).items():
            problem = matrix.posed(name, "k", "solve", table, parameters=parameters)
            for kind in KINDS:
                if problem.structure(kind) is not None:
                    found[kind.__name__].add((name, way))
    return found


def said_owners(cell: str) -> set[tuple[str, str]]:
    """`a`, `b` (`one way`, `another`), `c` with `this`; whole sentences speak of all, or of others than these."""
    if re.match(r"every problem|all of ours", cell):
        return {(name, way) for name in FORMULATIONS for way in WAYS.get(name, {"": {}})}
    found = set()
    for name, ways, given in re.findall(r"`([\w-]+)`(?: \(([^)]*)\)| with `(\w+)`)?", cell.split("; every")[0]):
        found |= {(name, way) for way in (re.findall(r"`([\w-]+)`", ways) or [given])}
    return found


def said_solvers(words: str) -> set[str]:
    """`a`, `b-*`, and "`nsga2` and its like", which are the evolutions of a name of their own."""
    found = set()
    for name in re.findall(r"`([\w*-]+)`", words):
        found |= {other for other in SOLVERS if re.fullmatch(name.replace("*", ".*"), other)}
    if "and its like" in words:
        found |= {name for name in SOLVERS if issubclass(registry.solver(name), Evolution)}
    return found


def test_every_structure_has_its_row() -> None:
    assert set(rows()) == {kind.__name__ for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_who_has_a_structure(kind: type[Structure]) -> None:
    prescribed = set() if kind is ClassCount else {("mo-obam", "n_clusters")}  # changes nothing else
    assert said_owners(rows()[kind.__name__][0]) - prescribed == owned()[kind.__name__] - prescribed


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_who_needs_and_who_rejects_a_structure(kind: type[Structure]) -> None:
    cell = rows()[kind.__name__][1]
    needers, _, rejecters = cell.partition("(")
    if "in place of its other needs" not in cell:
        assert said_solvers(needers) == {name for name in SOLVERS if kind in registry.solver(name).needs}
    assert said_solvers(rejecters) == {name for name in SOLVERS if kind in registry.solver(name).rejects}


def test_the_others_need_nothing() -> None:
    said = re.search(r"\n(`[^\n]*) and (`\w+`) need none", section("Structures"))
    assert said is not None
    assert said_solvers(said[0]) == {name for name in SOLVERS if not registry.solver(name).needs}


def test_the_tree_has_every_module_of_the_core() -> None:
    drawn = section("The tree")
    folder = ROOT / "optmodels"
    there = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    named = set(re.findall(r"[\w]+", drawn))
    assert {name for name in there if not name.startswith("_")} - named == set()
    for line in re.findall(r"^ {6}(\S.*?) {2,}", drawn, re.M):
        for name in line.split(","):
            own = name.strip().rstrip("/")
            assert (folder / own).is_dir() or (folder / f"{own}.py").is_file(), f"there is no {name}"


def test_the_glossary_is_short() -> None:
    words = re.findall(r"^\| (?!word|---)([^|]+) \|", section("Glossary"), re.M)
    assert 20 <= len(words) <= 30
