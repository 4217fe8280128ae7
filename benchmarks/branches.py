"""Branch coverage of the three packages: `make coverage`.

    python -m benchmarks.branches --jobs 2                     # the whole suite, then kernels, then the table; an hour
    python -m benchmarks.branches --tests tests/formulations   # of some tests
    python -m benchmarks.branches --report                     # the table of what was measured last

Compiled code tells nobody which way it goes. So tests are run twice: as they are, and, file by file and for so many
seconds each, with kernels as plain Python (NUMBA_DISABLE_JIT). The table has branches of Python and of kernels apart:
of kernels it is what the second run reached before its time was over, though tests of compiled kernels take more.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

_ROOT = Path(__file__).parent.parent
_PACKAGES = ("optmodels", "formulations", "solvers")
_COMPILED = {"kernel", "part"}
_COVERAGE = (sys.executable, "-m", "coverage")


def run(tests: list[str], jobs: int) -> None:
    """The tests as they are, side by side."""
    side_by_side = ["-n", str(jobs), "--dist", "loadgroup"] if jobs > 1 else []
    subprocess.run([*_COVERAGE, "run", "-m", "pytest", *side_by_side, *tests], cwd=_ROOT, check=False)


def run_plainly(tests: list[str], seconds: float) -> None:
    """Each file of tests with kernels as plain Python, ended after so many seconds of a processor."""
    for name in tests:
        place = _ROOT / name
        for file in sorted(place.rglob("test_*.py")) if place.is_dir() else [place]:
            command = [*_COVERAGE, "run", "-m", "pytest", "-q", "-p", "no:xdist", str(file)]
            process = psutil.Popen(
                command, cwd=_ROOT, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, stdout=subprocess.DEVNULL
            )
            while process.poll() is None:
                time.sleep(0.2)
                with suppress(psutil.NoSuchProcess):
                    if process.cpu_times().user > seconds:
                        process.terminate()  # which coverage takes as the time to write down what it has
                        process.wait()


def table() -> Iterator[tuple[str, str, int, int]]:
    """By package and kind of code, how many branches were taken, and how many there are."""
    found = Counter[tuple[str, str, str]]()
    for name, told in _measured()["files"].items():
        kernels = _kernel_lines(_ROOT / name)
        for became in ("executed", "missing"):
            for line, _ in told[f"{became}_branches"]:
                found[Path(name).parts[0], "kernels" if abs(line) in kernels else "Python", became] += 1
    for package in _PACKAGES:
        for kind in ("Python", "kernels"):
            taken = found[package, kind, "executed"]
            yield package, kind, taken, taken + found[package, kind, "missing"]


def _measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "coverage.json"
        subprocess.run([*_COVERAGE, "combine", "--append", "--quiet"], cwd=_ROOT, check=False)
        subprocess.run([*_COVERAGE, "json", "--quiet", "-o", str(file)], cwd=_ROOT, check=True)
        measured: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return measured


def _kernel_lines(file: Path) -> set[int]:
    """The lines of functions that are compiled."""
    lines = set[int]()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            named = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
            if any(isinstance(one, ast.Name) and one.id in _COMPILED for one in named):
                lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--jobs", type=int, default=2)
    given.add_argument("--tests", nargs="*", default=["tests", *_PACKAGES])
    given.add_argument("--plain", nargs="*", default=["tests/optmodels", "tests/solvers", "tests/formulations"])
    given.add_argument("--plain-seconds", type=float, default=20.0, help="of each file with kernels as plain Python")
    given.add_argument("--report", action="store_true", help="run nothing")
    asked = given.parse_args()
    if not asked.report:
        subprocess.run([*_COVERAGE, "erase"], cwd=_ROOT, check=True)
        run(asked.tests, asked.jobs)
        run_plainly(asked.plain, asked.plain_seconds)
    every = list(table())
    print(f"{'package':14} {'code':8} {'taken':>7} {'branches':>9}")
    for package, kind, taken, branches in every:
        print(f"{package:14} {kind:8} {taken:7,} {branches:9,} {taken / max(branches, 1):7.1%}")
    for kind in ("Python", "kernels", ""):
        taken = sum(one for _, what, one, _ in every if kind in ("", what))
        branches = sum(one for _, what, _, one in every if kind in ("", what))
        print(f"{'all three':14} {kind or 'both':8} {taken:7,} {branches:9,} {taken / max(branches, 1):7.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
