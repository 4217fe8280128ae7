from __future__ import annotations

from pathlib import Path

import pytest

from optmodels.errors import InputError
from optmodels.study import DatasetSpec, FormulationSpec, Limits, SolverSpec, Study, differences, open_study, run

distributed = pytest.importorskip("distributed")

STUDY = Study(
    "cluster",
    [DatasetSpec("german", rows=40)],
    [FormulationSpec("microaggregation", {"k": [3, 4]})],
    [SolverSpec("mdav"), SolverSpec("local_search", {"iterations": 30, "workers": 1}), SolverSpec("segfault")],
    limits=Limits(kill=60),
    warm_up=False,
)


def test_a_cluster_gives_what_one_machine_gives(third_party: Path, tmp_path: Path) -> None:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        assert run(STUDY, tmp_path / "dask.db", dask=cluster.scheduler_address).made == 6
        assert run(STUDY, tmp_path / "dask.db", dask=cluster.scheduler_address).made == 0
    assert run(STUDY, tmp_path / "local.db", workers=1).made == 6
    one, other = open_study(tmp_path / "dask.db"), open_study(tmp_path / "local.db")
    assert one.status()["outcomes"] == {"done": 4, "crashed": 2}
    assert differences(one, other).empty


def test_no_cluster_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optmodels.study.on_dask._CONNECT_SECONDS", 0.5)
    study = Study("s", STUDY.datasets, STUDY.formulations, [SolverSpec("mdav")])
    with pytest.raises(InputError, match="There is no Dask cluster"):
        run(study, tmp_path / "runs.db", dask="tcp://127.0.0.1:1")
    with pytest.raises(InputError, match="not both"):
        run(study, tmp_path / "runs.db", dask="tcp://127.0.0.1:1", workers=2)
