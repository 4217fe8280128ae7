"""Code that came with the package is taken where nothing was compiled here, for the sources that it was made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import numpy as np
import pytest
from numba.core import event

from optmodels import shipped_kernels

SOURCE = "from optmodels.kernels import kernel\n\n@kernel\ndef half(x):\n    return x / 2\n"
Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """A module at a place of its own, as on a machine of its own, whose kernels are collected."""
    made = 0

    def new(source: str = SOURCE) -> ModuleType:
        nonlocal made
        made += 1
        file = tmp_path / str(made) / "halves.py"
        file.parent.mkdir()
        file.write_text(source)
        spec = spec_from_file_location("halves", file)
        assert spec is not None
        assert spec.loader is not None
        sys.modules["halves"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    folder = tmp_path / "compiled"
    folder.mkdir()
    monkeypatch.setenv(shipped_kernels.INTO, str(folder))
    monkeypatch.setattr(shipped_kernels, "FOLDER", folder)
    shipped_kernels.runs_here.cache_clear()
    yield new
    sys.modules.pop("halves", None)
    shipped_kernels.runs_here.cache_clear()


def compiles(module: ModuleType, x: float = 3.0) -> bool:
    with event.install_recorder("numba:compile") as recorder:
        assert module.half(x) == x / 2
    return bool(recorder.buffer)


@pytest.fixture
def shipped(load: Load, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the code of one kernel."""
    assert compiles(load())
    monkeypatch.delenv(shipped_kernels.INTO)
    return shipped_kernels.FOLDER


def test_it_is_taken_and_nothing_is_compiled(load: Load, shipped: Path) -> None:
    assert shipped_kernels.count() == 1
    assert not compiles(load())
    assert compiles(load(), np.float32(3.0)), "another type"
    assert compiles(load(SOURCE.replace("x / 2", "x * 0.5"))), "another source"
    assert shipped_kernels.count() == 1, "nothing is collected outside the making of a wheel"


def test_damaged_code_is_as_good_as_none(load: Load, shipped: Path) -> None:
    (file,) = shipped.iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert compiles(load())
    file.write_bytes(b"")
    assert compiles(load())


def test_a_processor_that_lacks_something_compiles(load: Load, shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped_kernels, "_IS_X86", True)
    monkeypatch.setattr(shipped_kernels, "_X86_HAS", ("what no processor has",))
    shipped_kernels.runs_here.cache_clear()
    assert not shipped_kernels.runs_here()
    assert compiles(load())


@pytest.mark.parametrize("compiled", [True, False])
def test_a_wheel(compiled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hatchling", reason="wheels are made by hatchling, which is not installed")
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root)
    monkeypatch.syspath_prepend(str(root))
    import build_backend

    def collect(folder: Path, _: object) -> bool:
        (folder / "kernels").mkdir()
        (folder / "kernels" / "one.kernel").touch()
        return compiled

    monkeypatch.setattr(build_backend, "_compiled", collect)
    name = build_backend.build_wheel(str(tmp_path))
    with ZipFile(tmp_path / name) as wheel:
        names = set(wheel.namelist())
    assert ("optmodels/compiled/one.kernel" in names) == compiled
    assert ("py3-none-any" in name) != compiled
    assert {"optmodels/__init__.py", "solvers/__init__.py", "formulations/__init__.py"} <= names
