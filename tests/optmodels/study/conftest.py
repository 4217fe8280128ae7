"""A distribution of another party with solvers that behave badly, found by its entry points as any other would be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SOLVERS = '''
import ctypes, os, time
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from optmodels.solution import Solution, Status, Stop
from optmodels.solver import Solver

class Base(Solver):
    summary: ClassVar[str] = "for tests"
    def refuses(self, problem): return None

@dataclass(frozen=True)
class Together(Base):
    """Everyone in one class, after a while."""
    name: ClassVar[str] = "together"
    wait: float = 0.0
    def search(self, problem, run):
        time.sleep(self.wait)
        run.offer(np.zeros(problem.n, np.int64))

@dataclass(frozen=True)
class Segfault(Base):
    name: ClassVar[str] = "segfault"
    def search(self, problem, run):
        ctypes.string_at(0)

@dataclass(frozen=True)
class Hang(Base):
    name: ClassVar[str] = "hang"
    def search(self, problem, run):
        while True:
            time.sleep(1)

@dataclass(frozen=True)
class Hog(Base):
    name: ClassVar[str] = "hog"
    def search(self, problem, run):
        held = []
        while True:
            held.append(np.ones(2_000_000))
            time.sleep(0.01)

@dataclass(frozen=True)
class Raises(Base):
    name: ClassVar[str] = "raises"
    def search(self, problem, run):
        raise ZeroDivisionError("of all things")

@dataclass(frozen=True)
class Leaves(Base):
    name: ClassVar[str] = "leaves"
    def search(self, problem, run):
        print("noise on stdout", flush=True)
        os._exit(7)

@dataclass(frozen=True)
class Lies(Base):
    """Everyone for themselves, as if that were allowed."""
    name: ClassVar[str] = "lies"
    def search(self, problem, run): pass
    def solve(self, problem, *, time_limit=None, seed=0, on_progress=None, start=None):
        alone = np.arange(problem.n)
        return Solution(problem, self.name, Status.OPTIMAL, Stop.CONVERGED, alone, {"loss": 0.0}, bound=0.0)

@dataclass(frozen=True)
class Shares(Base):
    """Four processes with one large array between them."""
    name: ClassVar[str] = "shares"
    def search(self, problem, run):
        held = np.ones(50_000_000)
        children = [child for _ in range(3) if (child := os.fork()) or self.idle(held)]
        time.sleep(2.5)
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
        run.offer(np.zeros(problem.n, np.int64))
    def idle(self, held):
        time.sleep(60)
        os._exit(0)

@dataclass(frozen=True)
class Murders(Base):
    """Kills whoever started the worker that it runs in."""
    name: ClassVar[str] = "murders"
    def search(self, problem, run):
        import psutil
        psutil.Process().parent().parent().kill()
        time.sleep(30)

@dataclass(frozen=True)
class Choosy(Base):
    name: ClassVar[str] = "choosy"
    def refuses(self, problem): return "it does not feel like it."
    def search(self, problem, run): pass
'''
NAMES = ("together", "segfault", "hang", "hog", "raises", "leaves", "lies", "shares", "murders", "choosy")


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with that distribution, on the path of this process and of those that it starts."""
    folder = tmp_path / "third party"
    info = folder / "misbehaving-2.5.dist-info"
    info.mkdir(parents=True)
    (folder / "misbehaving.py").write_text(SOLVERS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: misbehaving\nVersion: 2.5\n")
    entries = "\n".join(f"{name} = misbehaving:{name.capitalize()}" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[optmodels.solvers]\n{entries}\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """A study file with such a text."""

    def write(text: str) -> Path:
        path = tmp_path / "spec.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
