from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from optmodels.errors import InputError
from optmodels.study import DatasetSpec, FormulationSpec, Limits, SolverSpec, Study, differences, open_study, run
from optmodels.study.trials import trials_of

distributed = pytest.importorskip("distributed")

STUDY = Study(
    "cluster",
    [DatasetSpec("german", rows=40)],
    [FormulationSpec("microaggregation", {"k": [3, 4]})],
    [SolverSpec("mdav"), SolverSpec("local_search", {"iterations": 30, "workers": 1}), SolverSpec("segfault")],
    limits=Limits(kill=60),
    warm_up=False,
)


@contextmanager
def one_worker(*, threads: int = 2, processes: bool = False) -> Iterator[str]:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=threads, processes=processes, protocol="tcp", dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_gives_what_one_machine_gives(third_party: Path, tmp_path: Path) -> None:
    with one_worker() as address:
        assert run(STUDY, tmp_path / "dask.db", dask=address).made == 6
        assert run(STUDY, tmp_path / "dask.db", dask=address).made == 0
    assert run(STUDY, tmp_path / "local.db", workers=1).made == 6
    one, other = open_study(tmp_path / "dask.db"), open_study(tmp_path / "local.db")
    assert one.status()["outcomes"] == {"done": 4, "crashed": 2}
    assert differences(one, other).empty


@pytest.mark.usefixtures("third_party")
def test_two_studies_share_a_cluster_and_leave_each_other_alone() -> None:
    from optmodels.study.on_dask import dask_workers

    study = Study(
        "s", STUDY.datasets, STUDY.formulations[:1], [SolverSpec("together", {"wait": [0.0, 4.0]})], warm_up=False
    )
    quick, slow, *_ = trials_of(study)
    back: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def outcome() -> tuple[str, str]:
        who, record = back.get(timeout=60)
        return who, record["outcome"] if isinstance(record, dict) else repr(record)

    with one_worker() as address, dask_workers(address, 1) as one:
        one.begin(slow, lambda _, record: back.put(("one, slow", record)))
        one.begin(quick, lambda _, record: back.put(("one, quick", record)))
        assert outcome() == ("one, quick", "done")  # so the other run is under way as well
        with dask_workers(address, 1) as other:
            other.begin(quick, lambda _, record: back.put(("other, quick", record)))
            assert {outcome(), outcome()} == {("other, quick", "done"), ("one, slow", "done")}
        one.begin(quick, lambda _, record: back.put(("one, again", record)))
        assert outcome() == ("one, again", "done")


@pytest.mark.usefixtures("third_party")
def test_places_of_a_study_that_was_killed_are_cleared_away() -> None:
    from optmodels.study.on_dask import Places, dask_workers

    with one_worker() as address, distributed.Client(address, set_as_default=False) as client:
        client.register_plugin(Places("optmodels-study-of-someone-who-is-gone", 1))
        with dask_workers(address, 1):
            (names,) = client.run(lambda dask_worker: list(dask_worker.plugins)).values()
            assert len([name for name in names if name.startswith("optmodels-study-")]) == 1
            assert "optmodels-study-of-someone-who-is-gone" not in names
        (names,) = client.run(lambda dask_worker: list(dask_worker.plugins)).values()
        assert not [name for name in names if name.startswith("optmodels-study-")]


@pytest.mark.usefixtures("third_party")
def test_a_run_that_takes_its_dask_worker_along_is_a_row_and_the_study_goes_on(tmp_path: Path) -> None:
    import dask

    model = [FormulationSpec("microaggregation", {"k": 3})]
    study = Study("s", STUDY.datasets, model, [SolverSpec("murders"), SolverSpec("mdav")], warm_up=False)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        one_worker(threads=1, processes=True) as address,
    ):
        assert run(study, tmp_path / "runs.db", dask=address).made == 2
    runs = open_study(tmp_path / "runs.db").runs().set_index("solver")
    assert runs["outcome"].to_dict() == {"murders": "crashed", "mdav": "done"}
    assert runs.loc["murders", "reason"].startswith("its Dask worker was lost (once, at last tcp://")
    assert open_study(tmp_path / "runs.db").status()["differing"] == {}  # nobody could say what it was made with


def test_no_cluster_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optmodels.study.on_dask._CONNECT_SECONDS", 0.5)
    study = Study("s", STUDY.datasets, STUDY.formulations, [SolverSpec("mdav")])
    with pytest.raises(InputError, match="There is no Dask cluster"):
        run(study, tmp_path / "runs.db", dask="tcp://127.0.0.1:1")
    with pytest.raises(InputError, match="not both"):
        run(study, tmp_path / "runs.db", dask="tcp://127.0.0.1:1", workers=2)
