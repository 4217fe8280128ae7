"""Compiled code is kept from one process to the next, and never taken for other sources than it was made of."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from optmodels.kernel_cache import stamp
from optmodels.kernels import kernel, part

CALLER = """
from typing import NamedTuple
from optmodels.kernels import kernel
from callee import SHIFT, shifted

class Pair(NamedTuple):
    low: int
    high: int

@kernel
def moved(pair):
    return shifted(pair.low) + SHIFT
"""
CALLEE = """
from optmodels.kernels import part

SHIFT = 1

@part
def shifted(x):
    return x + SHIFT
"""

Import = Callable[[], ModuleType]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two modules, whose kernel calls a part in the other one."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-wide"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "caller.py").write_text(CALLER)
    (folder / "callee.py").write_text(CALLEE)
    return folder


def _fresh(folder: Path) -> Any:
    """The modules as a new process would import them."""
    for name in ("callee", "caller"):
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        # from its source: Python looks at seconds to see whether a file has changed
        exec(compile((folder / f"{name}.py").read_text(), str(folder / f"{name}.py"), "exec"), module.__dict__)
    for name in ("callee", "caller"):
        del sys.modules[name]
    return module


def _answer(folder: Path) -> tuple[int, bool]:
    """What the kernel says, and whether its code was there already."""
    module = _fresh(folder)
    sys.modules["caller"] = module  # named tuples are found by their module
    try:
        answer = int(module.moved(module.Pair(10, 20)))
    finally:
        del sys.modules["caller"]
    return answer, bool(module.moved.stats.cache_hits)


def _edit(file: Path, old: str, new: str) -> None:
    source = file.read_text()
    assert old in source
    file.write_text(source.replace(old, new))


def test_a_later_process_finds_the_code(project: Path) -> None:
    assert _answer(project) == (12, False)
    assert _answer(project) == (12, True)


def test_a_change_of_a_part_in_another_module_is_noticed(project: Path) -> None:
    assert _answer(project) == (12, False)
    _edit(project / "callee.py", "return x + SHIFT", "return x - SHIFT")
    assert _answer(project) == (10, False)
    assert _answer(project) == (10, True)


def test_a_change_of_a_constant_is_noticed(project: Path) -> None:
    assert _answer(project) == (12, False)
    _edit(project / "callee.py", "SHIFT = 1", "SHIFT = 5")
    assert _answer(project) == (20, False)


def test_a_change_of_the_fields_of_a_named_tuple_elsewhere_is_noticed(project: Path) -> None:
    def define(fields: str) -> None:
        body = "\n".join(f"    {field}: int" for field in fields.split())
        (project / "callee.py").write_text(
            f"{CALLEE}\nfrom typing import NamedTuple\nclass Pair(NamedTuple):\n{body}\n"
        )

    define("low high")
    _edit(project / "caller.py", CALLER[CALLER.index("class Pair") : CALLER.index("@kernel")], "")
    _edit(project / "caller.py", "import SHIFT, shifted", "import SHIFT, Pair, shifted")
    _edit(project / "caller.py", "shifted(pair.low)", "pair.low")  # so that only the tuple comes from there
    assert _answer(project)[0] == 11
    define("high low")
    assert _answer(project)[0] == 21


def test_code_that_names_what_is_gone_is_compiled_again(project: Path) -> None:
    assert _answer(project) == (12, False)
    for file in project.glob("__pycache__/*.nbi"):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
    assert _answer(project) == (12, False)
    assert _answer(project) == (12, True)


def test_where_the_package_cannot_be_written_to_the_code_is_kept_for_the_user(project: Path) -> None:
    (project / "__pycache__").write_text("a file, so that nobody can write into a folder of that name")
    assert _answer(project) == (12, False)
    assert _answer(project) == (12, True)
    assert list((project.parent / "user-wide").rglob("*.nbc"))


def test_two_signatures_compiled_at_once_do_not_get_into_each_others_way(project: Path) -> None:
    (project / "caller.py").write_text(
        "from optmodels.kernels import kernel\n\n@kernel\ndef half(x):\n    return x / 2\n"
    )
    (project / "callee.py").write_text("")
    one, other = _fresh(project), _fresh(project)
    files = one.half._cache, other.half._cache
    for cache in files:
        cache._stamp()
        seen = cache._cache_file._load_index()
        cache._cache_file._load_index = seen.copy  # each has looked before the other wrote
    assert one.half(3) == 1.5
    assert (other.half(np.array([4.0])) == 2.0).all()
    again = _fresh(project)
    assert again.half(3) == 1.5
    assert (again.half(np.array([4.0])) == 2.0).all()


@part
def _squared(x):  # type: ignore[no-untyped-def]
    return x * x


@kernel
def _fourth(x):  # type: ignore[no-untyped-def]
    return _squared(_squared(x))


def test_a_part_can_be_called_from_python() -> None:
    assert (_fourth(3), _squared(3), _squared(2.5)) == (81, 9, 6.25)


def test_the_stamp_reaches_whatever_is_called() -> None:
    assert stamp(_fourth.py_func) == stamp(_fourth.py_func)
    from solvers.local_search.ruin import ruin_and_recreate

    assert stamp(ruin_and_recreate.py_func) != stamp(_fourth.py_func)


def test_no_python_code_calls_a_part() -> None:
    """It would work, but the code would be compiled twice."""
    root = Path(__file__).parents[2]
    modules = [file for package in ("optmodels", "formulations", "solvers") for file in (root / package).rglob("*.py")]
    trees = {file: ast.parse(file.read_text()) for file in modules}
    for file, tree in trees.items():
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        parts = {node.name for node in functions if "part" in _decorators(node)}
        compiled = {node for node in functions if _decorators(node) & {"part", "kernel"}}
        plain = [node for node in tree.body if node not in compiled]
        named = {inner.id for node in plain for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        assert not parts & named, f"{file.name}: {parts & named} should be kernels"


def _decorators(function: ast.FunctionDef) -> set[str]:
    return {ast.unparse(one).split("(")[0] for one in function.decorator_list}
