"""How many cores there are, who gets how many of them, and that answers do not depend on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import optmodels as om
from formulations import LiangSamavi, Mass, Microaggregation, MoObam
from optmodels.errors import InputError
from optmodels.parallel import CORES, container_cores, cores, in_parallel, limited_to, share_of, threads
from solvers import pareto, solve


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORES, "7")
    assert cores() == 7
    assert (share_of(2), share_of(100)) == (3, 1)
    monkeypatch.setenv(CORES, "")
    assert cores() >= 1
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv(CORES, wrong)
        with pytest.raises(InputError, match=f"{CORES} must be a whole number of at least 1, not '{wrong}'"):
            cores()


def test_processes_kept_from_earlier_work_have_the_settings_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("there", "elsewhere"):
        monkeypatch.setenv("OPTMODELS_DATA", folder)
        assert set(in_parallel(lambda _: os.environ["OPTMODELS_DATA"], 2, jobs=2)) == {folder}
    monkeypatch.delenv("OPTMODELS_DATA")
    assert set(in_parallel(lambda _: os.environ.get("OPTMODELS_DATA"), 2, jobs=2)) == {None}


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORES, "6")
    with threads(2) as pool:
        assert list(pool.map(lambda _: cores(), range(4))) == [3] * 4
    with threads() as pool:
        assert list(pool.map(lambda _: cores(), range(4))) == [1] * 4
    with limited_to(2):
        assert cores() == 2
        with limited_to(1):
            assert cores() == 1
        assert cores() == 2
    assert cores() == 6
    assert list(in_parallel(_cores_there, 3, jobs=1)) == [1] * 3
    assert list(in_parallel(_cores_there, 3, jobs=2)) == [1] * 3


def _cores_there(_: int) -> int:
    return cores()


@pytest.mark.parametrize(
    ("files", "own", "expected"),
    [
        ({"cpu.max": "max 100000"}, "0::/", None),
        ({"cpu.max": "250000 100000"}, "0::/", 3),
        ({"cpu.max": "max 100000", "a/b/cpu.max": "100000 100000", "a/cpu.max": "400000 100000"}, "0::/a/b", 1),
        ({"a/cpu.max": "200000 100000"}, "0::/a/b", 2),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "1:cpu,cpuacct:/", None),
        ({"cpu/x/cpu.cfs_quota_us": "150000", "cpu/x/cpu.cfs_period_us": "100000"}, "4:cpu:/x\n0::/", 2),
        ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, "4:cpu:/elsewhere", 1),
        ({"cpu.max": "nonsense"}, "0::/", None),
        ({}, "", None),
    ],
)
def test_containers(tmp_path: Path, files: dict[str, str], own: str, expected: int | None) -> None:
    root = tmp_path / "cgroup"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    (tmp_path / "own").write_text(own)
    assert container_cores(root, tmp_path / "own") == expected
    assert container_cores(root, tmp_path / "absent") is None


def people(n: int) -> om.Table:
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 90, n),
            "pay": draw.normal(40, 10, n).round(1),
            "town": draw.choice(list("abcdef"), n),
            "illness": draw.choice(["flu", "cold", "gout"], n),
        }
    )
    quasi = {"age": "numeric", "pay": "numeric", "town": "categorical"}
    return om.Table(frame, quasi=quasi, sensitive="illness", scaling="standard")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "n", "solver", "options"),
    [
        (Microaggregation(k=3), 400, "local_search", {"iterations": 3000}),
        (Microaggregation(k=3), 400, "local_search", {"iterations": 3000, "workers": 4}),
        (Microaggregation(k=3), 9000, "mondrian", {}),
        (Microaggregation(k=3), 30, "columns", {}),
        (Microaggregation(k=3), 600, "blocks", {"block_size": 100, "inner": "mdav"}),
        (LiangSamavi(k=3), 400, "liang-greedy", {}),
        (MoObam(k=5), 300, "nsga2", {"evaluations": 800}),
        (Mass(k=5), 300, "mass", {}),
    ],
)
def test_an_answer_does_not_depend_on_the_cores(
    monkeypatch: pytest.MonkeyPatch, model: Any, n: int, solver: str, options: dict[str, Any]
) -> None:
    table, found = people(n), []
    for number in ("1", "2", "5"):
        monkeypatch.setenv(CORES, number)
        problem = model.build(table, 1)
        if solver == "nsga2":
            found.append([point.values for point in pareto(problem, solver=solver, options=options, seed=4)])
        else:
            found.append(solve(problem, solver=solver, options=options, seed=4).labels)
    assert found[0] is not None
    assert all(np.array_equal(found[0], other) for other in found[1:])
