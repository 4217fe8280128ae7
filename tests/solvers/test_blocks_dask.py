"""Blocks on a real Dask cluster of two worker processes, one of which is killed half-way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pandas as pd
import pytest

from formulations import Microaggregation
from optmodels import Table
from optmodels.errors import InputError, NoSolutionError
from optmodels.folders.anonymize import anonymize_folder
from optmodels.solution import Stop
from optmodels.solver import Progress
from optmodels.testing import check_solution, small_table
from solvers.blocks import Blocks
from tests.optmodels.folders.test_folders import QUICK, ROLES, people, released, write

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


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_reaches_workers_of_a_cluster(cluster: Any, tmp_path: Path, times: int) -> None:
    """Once: what is solved is kept, the rest is cut at medians. Twice: nothing is left. Workers have work for hours."""
    source = write(tmp_path / "in", people())
    presses: list[float] = []

    def press(state: Progress) -> None:
        if state.note == "solving groups" and len(presses) < times:
            presses.append(state.seconds)
            os.kill(os.getpid(), signal.SIGINT)

    with distributed.Client(cluster) as client:
        endless = Blocks(backend="dask", address=client, inner_options={"iterations": 10**9})
        settings: dict[str, Any] = {"roles": ROLES, "formulation": Microaggregation(k=5), "group_rows": 200}
        if times == 1:
            found = anonymize_folder(source, tmp_path / "out", solver=endless, on_progress=press, **settings)
            assert found.provenance["stop"] == "interrupted"
            assert found.audit.k >= 5
            assert len(released(tmp_path / "out")) == 600
        else:
            with pytest.raises(KeyboardInterrupt):
                anonymize_folder(source, tmp_path / "out", solver=endless, on_progress=press, **settings)
        left = ["in", "out", "out.promise.json"] if times == 1 else ["in"]
        assert sorted(path.name for path in tmp_path.iterdir()) == left, "nothing unfinished is left beside them"
        quick = Blocks(backend="dask", address=client, **QUICK)
        after = anonymize_folder(source, tmp_path / "after", solver=quick, **settings)
        assert after.provenance["stop"] == "converged", "the cluster is as good as before"


def test_ctrl_c_leaves_no_worker_of_a_cluster_busy(cluster: Any) -> None:
    """With the table in memory too: both workers have work for hours, and are free for the next solve at once."""
    problem = Microaggregation(k=3).build(small_table(120))
    presses: list[float] = []

    with distributed.Client(cluster) as client:

        def press(state: Progress) -> None:
            if not presses and sum(map(len, client.processing().values())) >= 2:
                presses.append(state.seconds)
                os.kill(os.getpid(), signal.SIGINT)

        quick = Blocks(backend="dask", address=client, **OPTIONS)
        quick.solve(problem)  # now both have compiled what they need, and look up soon
        endless = Blocks(backend="dask", address=client, block_size=30, inner_options={"iterations": 10**9})
        stopped = endless.solve(problem, on_progress=press)
        assert stopped.stop is Stop.INTERRUPTED
        check_solution(stopped)
        after = quick.solve(problem, time_limit=10)
    assert after.details["blocks_by_median_cuts"] == 0, "the inner solver had its turn in every block"


@dataclass(frozen=True)
class Hungry(Microaggregation):
    """Needs far more memory than a worker may have, until a file says that it was fed."""

    fed: str = ""

    def build(self, table: Table, seed: int = 0) -> Any:
        if not (self.fed and Path(self.fed).exists()):
            if self.fed:
                Path(self.fed).touch()
            held = np.ones(100_000_000)  # 800 MB, which the nanny has time to see
            sleep(20)
            assert held.any()
        return super().build(table, seed)


def test_workers_out_of_memory(tmp_path: Path) -> None:
    """Killed by its nanny once, a worker starts again and the result is what it was; each time, the remedy is named."""
    import dask

    source = write(tmp_path / "in", people(200), files=1)
    settings: dict[str, Any] = {"roles": ROLES, "group_rows": 100}
    anonymize_folder(source, tmp_path / "calm", formulation=Microaggregation(k=5), solver=Blocks(**QUICK), **settings)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="800MB"
        ) as small,
        distributed.Client(small) as client,
    ):
        solver = Blocks(backend="dask", address=client, **QUICK)
        once = Hungry(k=5, fed=str(tmp_path / "fed"))
        anonymize_folder(source, tmp_path / "killed", formulation=once, solver=solver, **settings)
        with pytest.raises(NoSolutionError, match=r"most likely they ran out of memory\. Lower group_rows"):
            anonymize_folder(source, tmp_path / "out", formulation=Hungry(k=5), solver=solver, **settings)
    pd.testing.assert_frame_equal(released(tmp_path / "calm"), released(tmp_path / "killed"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["calm", "calm.promise.json", "fed", "in", "killed", "killed.promise.json"]
    )


def test_an_address_will_do(cluster: Any) -> None:
    problem = Microaggregation(k=3).build(small_table(100))
    solution = Blocks(backend="dask", address=cluster.scheduler_address, **OPTIONS).solve(problem)
    assert (solution.labels == Blocks(**OPTIONS).solve(problem).labels).all()


def test_a_dead_address_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.blocks.worker_pool.CONNECT_SECONDS", 0.5)
    with pytest.raises(InputError, match="No Dask scheduler answers at 'tcp:"):
        Blocks(backend="dask", address="tcp://127.0.0.1:9").solve(Microaggregation(k=3).build(small_table(20)))


def test_a_scheduler_that_is_gone_is_an_error_and_no_wait(tmp_path: Path) -> None:
    meeting = str(tmp_path / "scheduler.json")
    start = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ["--scheduler-file", meeting, "--host", "127.0.0.1", "--no-dashboard"]
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen([*module, *words, "--port", "0"], **start)
    module = [sys.executable, "-m", "distributed.cli.dask_worker"]
    worker = subprocess.Popen([*module, *words, "--nthreads", "1", "--no-nanny"], **start)
    try:
        client = distributed.Client(scheduler_file=meeting, timeout=60)
        client.wait_for_workers(1, timeout=60)
        endless = {**OPTIONS, "inner_options": {"iterations": 10**9}}
        problem = Microaggregation(k=3).build(small_table(100, seed=7))
        with pytest.raises(NoSolutionError, match="scheduler no longer answers"):
            Blocks(backend="dask", address=client, **endless).solve(problem, on_progress=lambda _: scheduler.kill())
        with suppress(TimeoutError):
            client.close(timeout=0.1)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
