"""What ARCHITECTURE says of the code as a whole: one class for a name, and a reason for every long module."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES = [path for package in ("optmodels", "formulations", "solvers") for path in (ROOT / package).rglob("*.py")]
LONG = 400  # lines
NAMED_ALIKE = {"Mass"}  # a model, and the construction of its paper; both have the paper's name


def test_a_class_name_stands_once() -> None:
    trees = [ast.parse(path.read_text()) for path in MODULES]
    assert len(trees) > 200
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert {name for name, times in names.items() if times > 1} == NAMED_ALIKE


def test_long_modules_have_their_reason() -> None:
    reasons = (ROOT / "ARCHITECTURE.md").read_text().split("## Long modules")[1].split("\n## ")[0]
    long = [path for path in MODULES if len(path.read_text().splitlines()) > LONG]
    assert [path.name for path in long if f"{path.parent.name}/{path.name}" not in reasons] == []
