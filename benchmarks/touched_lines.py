"""Which tests go through which lines: what `benchmarks.mutants` runs for a mistake in one of them, quickest first."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coverage
import pytest


@dataclass(frozen=True)
class Touched:
    """By file and line the tests that go there, and how many seconds each test takes."""

    lines: Mapping[str, Mapping[int, Collection[str]]]
    seconds: Mapping[str, float]

    @classmethod
    def read(cls, path: Path) -> Touched:
        told = json.loads(path.read_text(encoding="utf-8"))
        lines = {file: {int(line): tests for line, tests in found.items()} for file, found in told["lines"].items()}
        return cls(lines, told["seconds"])

    def tests(self, file: Path, lines: Collection[int]) -> list[str]:
        """Tests that go through any of these lines, or through any line of the file if none is given."""
        found = self.lines.get(str(file), {})
        named = {test for line in (lines or found) for test in found.get(line, ())}
        return sorted(named, key=lambda test: (self.seconds.get(test, 0.0), test))


class Watched:
    """A plugin of pytest that writes down where each test goes."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.path, self.seconds = path, dict[str, float]()
        self.watch = coverage.Coverage(
            data_file=None, branch=False, source=[str(folder)], config_file=False, messages=False
        )

    def pytest_configure(self) -> None:
        self.watch.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.watch.switch_context(item.nodeid)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start
            self.watch.switch_context("")

    def pytest_unconfigure(self) -> None:
        self.watch.stop()
        data = self.watch.get_data()
        lines: dict[str, Any] = {
            file: {line: [test for test in tests if test] for line, tests in data.contexts_by_lineno(file).items()}
            for file in data.measured_files()
        }
        self.path.write_text(json.dumps({"lines": lines, "seconds": self.seconds}), encoding="utf-8")


class Only:
    """A plugin of pytest that leaves no other tests than these, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.place = {name: at for at, name in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.place), key=lambda one: self.place[one.nodeid])
