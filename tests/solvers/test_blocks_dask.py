"""Blocks on a real Dask cluster of two worker processes, one of which is killed half-way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from formulations import Microaggregation
from optmodels.errors import InputError
from optmodels.solver import Progress
from optmodels.testing import check_solution, small_table
from solvers.blocks import Blocks
from solvers.blocks.folder import anonymize_folder
from tests.solvers.test_blocks_folder import QUICK, ROLES, people, released, write

distributed = pytest.importorskip("distributed", reason="dask.distributed is an optional extra")

OPTIONS: dict[str, Any] = {"block_size": 12, "inner_options": {"iterations": 200}, "compare": False}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="2GB"
    ) as cluster:
        yield cluster


def test_a_killed_worker_changes_nothing(cluster: Any) -> None:
    problem = Microaggregation(k=3, distinct_l=2).build(small_table(400, seed=7))
    undisturbed = Blocks(workers=1, **OPTIONS).solve(problem, seed=3)
    with distributed.Client(cluster) as client:
        calm = Blocks(backend="dask", address=client, **OPTIONS).solve(problem, seed=3)
        killed: list[int] = []

        def kill_one(state: Progress) -> None:
            if not killed and state.done >= 5:
                victim = sorted(client.run(os.getpid).values())[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        disturbed = Blocks(backend="dask", address=client, **OPTIONS).solve(problem, seed=3, on_progress=kill_one)
    assert len(killed) == 1
    assert killed[0] != os.getpid()
    for solution in (calm, disturbed):
        check_solution(solution)
        assert solution.details["blocks_by_median_cuts"] == 0
        assert (solution.labels == undisturbed.labels).all()


def test_a_killed_worker_changes_no_folder(cluster: Any, tmp_path: Path) -> None:
    from dask import dataframe

    source = write(tmp_path / "in", people())
    settings: dict[str, Any] = {"roles": ROLES, "formulation": Microaggregation(k=5), "group_rows": 60}
    anonymize_folder(source, tmp_path / "calm", solver=Blocks(**QUICK), **settings)
    killed: list[int] = []
    with distributed.Client(cluster) as client:

        def kill_one(state: Progress) -> None:
            if not killed and state.note == "solving groups" and state.done >= 2:
                killed.append(sorted(client.run(os.getpid).values())[0])
                os.kill(killed[0], signal.SIGKILL)

        solver = Blocks(backend="dask", address=client, **QUICK)
        frame = dataframe.read_parquet(source)
        anonymize_folder(frame, tmp_path / "killed", solver=solver, on_progress=kill_one, **settings)
    assert len(killed) == 1
    pd.testing.assert_frame_equal(released(tmp_path / "calm"), released(tmp_path / "killed"))


def test_an_address_will_do(cluster: Any) -> None:
    problem = Microaggregation(k=3).build(small_table(100))
    solution = Blocks(backend="dask", address=cluster.scheduler_address, **OPTIONS).solve(problem)
    assert (solution.labels == Blocks(**OPTIONS).solve(problem).labels).all()


def test_a_dead_address_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.blocks.crew.CONNECT_SECONDS", 0.5)
    with pytest.raises(InputError, match="No Dask scheduler answers at 'tcp:"):
        Blocks(backend="dask", address="tcp://127.0.0.1:9").solve(Microaggregation(k=3).build(small_table(20)))
