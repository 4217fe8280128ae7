"""Mutation testing: small mistakes are made in the code, one at a time, and the tests have to notice each.

    python -m benchmarks.mutants --only metrics --sample 60 --seed 1
    python -m benchmarks.mutants --only metrics,conditions,verifier,release --sample 0        # all of them; hours

A mistake is a comparison, an operator, a constant or a word (`min`, `any`, `and`) turned into its neighbour. It is
noticed where a test of the package that goes through its statement fails or does not end in time; a mistake where no
test goes survives. Kernels of these packages are plain Python here, so that mistakes within them count like any other.
Libraries are imported once; every mutant is a fork that imports our packages anew, with the mistake in it. Some mutants
are no mistakes (a tolerance a little wider, an order that does not matter): they stay among the survivors.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.touched_lines import Only, Touched, Watched

_ROOT = Path(__file__).parent.parent
_TESTS: dict[str, tuple[str, ...]] = {
    "metrics": (
        "test_privacy",
        "test_risk",
        "test_loss",
        "test_attribute_loss",
        "test_published_examples",
        "test_attacks",
        "test_audit",
    ),
    "conditions": (
        *("test_conditions", "test_conditions_by_hand", "test_attacks", "test_dealing", "test_people"),
        "test_sensitive_order",
    ),
    "verifier": (
        *("test_verified_definitions", "test_verified_by_hand", "test_hostile_releases", "test_verifier"),
        *("test_too_large", "test_certificate", "test_certificate_by_hand", "test_class_lists"),
    ),
    "release": (
        "test_release",
        "test_promise",
        "test_verifier",
        "test_read_back",
        "test_suppression",
        "test_back_door",
    ),
}
_PLAIN = ("metrics", "conditions")  # have kernels, which are plain Python while they are tested
_LIBRARIES = ("hypothesis", "numba", "ot", "pyarrow.parquet", "pymoo.optimize", "pyomo.environ", "sklearn.ensemble")
_PYTEST = (
    *("-o", "addopts=", "--import-mode=importlib", "-x", "-q"),
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:unraisableexception"),  # it collects garbage five times
)
_MEMORY = 6 << 30  # bytes that a mistake may ask for
_LEFT_ALONE = ("utility",)  # what classifiers learn is no promise
_COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_WORDS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """One mistake in one file."""

    path: Path
    number: int  # which of the file's mistakes
    line: int
    said: str
    statement: tuple[int, ...]  # its lines; none where it is run by importing the module

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")


class _Mutator(ast.NodeTransformer):
    """Counts the mistakes that can be made, and makes the one that is wanted."""

    def __init__(self, wanted: int | None) -> None:
        self.wanted, self.found = wanted, list[tuple[int, str, tuple[int, ...]]]()
        self.statement, self.functions = tuple[int, ...](), 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            self.statement = tuple(range(node.lineno, last + 1))
        return super().visit(node)

    def _is_wanted(self, node: ast.AST, said: str) -> bool:
        self.found.append((getattr(node, "lineno", 0), said, self.statement if self.functions else ()))
        return self.wanted == len(self.found) - 1

    def _skip(self, node: Any) -> Any:
        return node

    visit_Raise = visit_Import = visit_ImportFrom = visit_JoinedStr = visit_Assert = _skip  # noqa: N815

    def visit_keyword(self, node: ast.keyword) -> Any:
        return node if node.arg == "strict" else self.generic_visit(node)  # of `zip`: an assertion, too

    def visit_If(self, node: ast.If) -> Any:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return node
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.functions += 1
        node.body = [self.visit(one) for one in node.body]
        self.functions -= 1
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        for at, operator in enumerate(node.ops):
            other = _COMPARED[type(operator)]
            if self._is_wanted(node, f"{type(operator).__name__} -> {other.__name__}"):
                node.ops[at] = other()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        other = _OPERATED.get(type(node.op))
        if other is not None and self._is_wanted(node, f"{type(node.op).__name__} -> {other.__name__}"):
            node.op = other()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        if self._is_wanted(node, f"{type(node.op).__name__} -> {other.__name__}"):
            node.op = other()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return node.operand if self._is_wanted(node, f"{type(node.op).__name__} left out") else node

    def visit_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bool):
            return ast.Constant(not node.value) if self._is_wanted(node, f"{node.value} -> {not node.value}") else node
        if isinstance(node.value, int | float):
            return ast.Constant(node.value + 1) if self._is_wanted(node, f"{node.value} -> {node.value + 1}") else node
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        other = _WORDS.get(node.id)
        if other is not None and self._is_wanted(node, f"{node.id} -> {other}"):
            node.id = other
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        other = _WORDS.get(node.attr)
        if other is not None and self._is_wanted(node, f".{node.attr} -> .{other}"):
            node.attr = other
        return node


def mutants(package: str) -> Iterator[Mutant]:
    """Every mistake that can be made in a package of the core."""
    for path in sorted((_ROOT / "optmodels" / package).rglob("*.py")):
        if any(part in _LEFT_ALONE for part in path.parts):
            continue
        counter = _Mutator(None)
        counter.visit(copy.deepcopy(_parsed(path)))
        for number, (line, said, statement) in enumerate(counter.found):
            yield Mutant(path, number, line, said, statement)


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


class _WithMistake(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module with its mistake."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self.mutant.module:
            return None
        within = [str(self.mutant.path.parent)] if self.mutant.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, self.mutant.path, loader=self, submodule_search_locations=within
        )

    def exec_module(self, module: ModuleType) -> None:
        tree = _Mutator(self.mutant.number).visit(_parsed(self.mutant.path))
        exec(compile(ast.fix_missing_locations(tree), str(self.mutant.path), "exec"), module.__dict__)


class _Mistaken:
    """Comes before pytest's own importer, which takes modules called `..._test` for tests and reads them itself."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def pytest_configure(self) -> None:
        sys.meta_path.insert(0, _WithMistake(self.mutant))


class _Patient:
    """Examples may take their time, whatever else runs; the first one that fails is enough, and is made no simpler."""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        from hypothesis import HealthCheck, Phase, settings

        for test in {getattr(one.obj, "__func__", one.obj) for one in items}:
            if (own := getattr(test, "_hypothesis_internal_use_settings", None)) is not None:
                test._hypothesis_internal_use_settings = settings(
                    own,
                    phases=(Phase.explicit, Phase.generate),
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                )


def ends_well(
    words: Sequence[str], plugins: Sequence[object], seconds: float, *, plain: bool, said: str = os.devnull
) -> bool:
    """Whether pytest finds nothing wrong, in a fork of this process that has so many seconds of a processor."""
    child = os.fork()
    if child == 0:
        silent = os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        signal.alarm(30 * int(seconds) + 30)  # for what waits and does nothing
        _forget()
        import numba
        import pytest

        numba.config.DISABLE_JIT = plain
        code = 1
        try:
            code = int(pytest.main([*_PYTEST, *words], plugins=[_Patient(), *plugins]))
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def survives(mutant: Mutant, touched: Touched, *, plain: bool) -> bool:
    """Whether no test that goes through its statement notices it."""
    tests = touched.tests(mutant.path, mutant.statement)
    files = sorted({test.partition("::")[0] for test in tests})
    allowed = 3 * sum(touched.seconds[test] for test in tests) + 10
    return not tests or ends_well(files, [_Mistaken(mutant), Only(tests)], allowed, plain=plain)


def _forget() -> None:
    """Our packages are imported anew, libraries are not."""
    for name in [
        one for one in sys.modules if one.partition(".")[0] in ("optmodels", "formulations", "solvers", "tests")
    ]:
        del sys.modules[name]


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--only", default=",".join(_TESTS))
    given.add_argument("--sample", type=int, default=40, help="mutants of each package; 0: all")
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--seconds", type=float, default=0.0, help="begin no mutant after so long; 0: no limit")
    asked = given.parse_args()
    os.chdir(_ROOT)
    sys.path.insert(0, str(_ROOT))
    for name in _LIBRARIES:  # that forks need not import
        importlib.import_module(name)
    gc.freeze()

    began = time.monotonic()
    for package in asked.only.split(","):
        tests = [
            f"tests/optmodels/{name}.py" for name in _TESTS[package] if Path(f"tests/optmodels/{name}.py").exists()
        ]
        every = list(mutants(package))
        chosen = every if not asked.sample else random.Random(asked.seed).sample(every, min(asked.sample, len(every)))
        plain = package in _PLAIN
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            seen, said = Path(folder) / "touched.json", Path(folder) / "said.txt"
            if not ends_well(tests, [Watched(_ROOT / "optmodels" / package, seen)], 600, plain=plain, said=str(said)):
                print(f"{package}: its tests fail without any mistake, or take ten minutes\n{said.read_text()[-2000:]}")
                return 1
            touched = Touched.read(seen)
        killed, tried = 0, 0
        for mutant in chosen:
            if asked.seconds and time.monotonic() - began > asked.seconds:
                break
            tried += 1
            if survives(mutant, touched, plain=plain):
                why = "" if touched.tests(mutant.path, mutant.statement) else ", where no test goes"
                print(f"  survived: {mutant.path.relative_to(_ROOT)}:{mutant.line} {mutant.said}{why}", flush=True)
            else:
                killed += 1
        print(f"{package}: {killed} of {tried} killed ({killed / max(tried, 1):.0%}), {len(every)} in all", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
