from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import Any

import pandas as pd
import psutil
import pytest

from optmodels.errors import InputError
from optmodels.study import (
    DatasetSpec,
    FormulationSpec,
    Limits,
    SolverSpec,
    Study,
    attempt,
    differences,
    open_study,
    run,
)
from optmodels.study.store import BusyError, opened
from optmodels.study.supervise import Place, WorkerError
from optmodels.study.trials import trials_of

DATA = [DatasetSpec("german", rows=40)]
MODEL = [FormulationSpec("microaggregation", {"k": 3})]


def outcomes(path: Path) -> dict[str, tuple[str, str]]:
    runs = open_study(path).runs()
    return {row["solver"]: (row["outcome"], row["reason"]) for row in runs.to_dict("records")}


def test_whatever_a_run_does_is_a_row_with_its_reason(third_party: Path, tmp_path: Path) -> None:
    solvers = [SolverSpec(name) for name in ("together", "segfault", "raises", "leaves", "lies", "choosy")]
    solvers += [SolverSpec("hang", limits={"kill": 0.5}), SolverSpec("hog", limits={"memory": "700 MB"})]
    solvers += [SolverSpec("shares", limits={"memory": "1200 MB"})]  # 400 MB of them in four processes, but the same
    path = tmp_path / "läufe.db"
    done = run(Study("bad", DATA, MODEL, solvers, limits=Limits(kill=30), warm_up=False), path, workers=1)
    assert (done.made, done.total, done.interrupted) == (9, 9, False)
    found = outcomes(path)
    assert found["together"] == ("done", "")
    assert found["segfault"] == ("crashed", "killed by SIGSEGV during solve")
    assert found["raises"] == ("error", "ZeroDivisionError: of all things")
    assert found["leaves"] == ("crashed", "ended with exit code 7 during solve")
    assert found["lies"] == ("error", "The solver returned a partition that breaks k 40 times.")
    assert found["shares"] == ("done", "")
    assert found["choosy"] == ("refused", "it does not feel like it.")
    assert found["hang"] == ("overtime", "killed after 0.5 s of solve")
    assert found["hog"][0] == "memory"
    assert "700 MB" in found["hog"][1]
    runs = open_study(path).runs().set_index("solver")
    assert runs.loc["hog", "peak_memory"] > 700e6
    assert runs.loc["hang", "seconds"] >= 0.5
    assert 400e6 < runs.loc["shares", "peak_memory"] < 1200e6
    assert pd.isna(runs.loc["lies", "value"])  # what it claims is not taken for a result
    assert "ctypes" in runs.loc["segfault", "trace"]  # where it was, from Python's fault handler
    assert "of all things" in runs.loc["raises", "trace"]
    together = runs.loc["together"]
    assert (together["status"], together["stop"], together["value"], together["classes"]) == (
        "feasible",
        "converged",
        1,
        1,
    )
    versions = open_study(path).environments()[together["environment"]]["versions"]
    assert versions["misbehaving"] == "2.5"
    assert len(open_study(path).failures()) == 7

    # What failed can be made again, and only that.
    again = run(Study("bad", DATA, MODEL, solvers[:3], limits=Limits(kill=30), warm_up=False), path, retry=["crashed"])
    assert (again.made, again.total) == (1, 3)
    status = open_study(path).status()
    assert (status["planned"], status["waiting"], status["of_earlier_versions"]) == (3, 0, 6)


@pytest.mark.usefixtures("third_party")
def test_a_run_that_is_stopped_has_no_result() -> None:
    (trial,) = trials_of(Study("s", DATA, MODEL, [SolverSpec("hang")], warm_up=False))
    place = Place()
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(place.run, trial)
        while not under_way.done() and not any(child.children() for child in psutil.Process().children()):
            sleep(0.05)
        place.stop()
        with pytest.raises(WorkerError, match="was closed while a run was under way"):
            under_way.result(timeout=20)
    place.close()


def test_warm_up_and_setup_have_limits_of_their_own(third_party: Path, tmp_path: Path) -> None:
    study = Study("slow", DATA, MODEL, [SolverSpec("hang")], limits=Limits(setup=4))
    run(study, tmp_path / "runs.db")
    assert outcomes(tmp_path / "runs.db")["hang"] == ("overtime", "killed after 4 s of warm-up")


def test_a_study_grows_without_repeating_runs_and_gives_the_same_again(tmp_path: Path) -> None:
    solvers = [SolverSpec("mdav"), SolverSpec("local_search", {"iterations": 50, "workers": 1})]
    first = Study("small", DATA, MODEL, solvers, seeds=1, warm_up=False)
    models = [FormulationSpec("microaggregation", {"k": [3, 4]})]
    grown = Study("grown", DATA, models, solvers, seeds=2, warm_up=False)
    assert run(first, tmp_path / "a.db", workers=1).made == 2
    before = open_study(tmp_path / "a.db").runs().set_index("key")["finished"]
    assert run(grown, tmp_path / "a.db", workers=2).made == 6
    after = open_study(tmp_path / "a.db").runs().set_index("key")["finished"]
    assert after[before.index].equals(before)
    assert run(grown, tmp_path / "a.db").made == 0
    assert run(grown, tmp_path / "b.db", workers=1).made == 8
    one, other = open_study(tmp_path / "a.db"), open_study(tmp_path / "b.db")
    assert differences(one, other).empty
    assert one.name == "grown"
    curves = one.curves()
    assert set(curves["run"]) == set(after.index)
    last = curves.groupby("run")["value"].last()
    values = one.runs().set_index("key")["value"]
    assert (last == values[last.index]).all()
    assert not list(tmp_path.glob("*-wal"))  # at rest a study is one file

    with sqlite3.connect(tmp_path / "b.db") as tampered:
        tampered.execute("UPDATE run SET value = value + 1e-9 WHERE place = 3")
        tampered.execute("""UPDATE run SET details = '{"seconds": 9}' WHERE place = 4""")
        tampered.execute("""UPDATE run SET details = '{"rounds": 9}' WHERE place = 5""")
        tampered.execute("UPDATE curve SET seconds = 2 * seconds")
        tampered.execute("UPDATE curve SET value = 0 WHERE run = (SELECT key FROM run WHERE place = 6)")
        tampered.execute("DELETE FROM curve WHERE run = (SELECT key FROM run WHERE place = 7)")
        tampered.execute("DELETE FROM run WHERE place = 0")
    found = differences(one, open_study(tmp_path / "b.db"))
    assert sorted(found["what"]) == ["curve", "curve", "details", "run", "value"]


def test_fronts_have_points_and_curves_of_hypervolume(tmp_path: Path) -> None:
    model = [FormulationSpec("mo-obam", {"k": 3}), FormulationSpec("microaggregation", {"k": 3}, ["loss", "linkage"])]
    solvers = [
        SolverSpec("nsga2", {"evaluations": 60, "population": 20}),
        SolverSpec("pymoo:unsga3", {"evaluations": 60}),
    ]
    run(
        Study("fronts", DATA, model, solvers, limits=Limits(kill=60), answer="front", warm_up=False),
        tmp_path / "runs.db",
        workers=1,
    )
    results = open_study(tmp_path / "runs.db")
    runs, points, curves = results.runs(), results.points(), results.curves()
    assert list(runs["outcome"]) == ["done"] * 4, runs["reason"].tolist()
    assert list(runs["target"]) == ["hypervolume"] * 4
    assert {"loss", "entropy", "linkage"} <= set(points.columns)
    counted = points.groupby("run").size()
    assert (counted > 0).all()
    assert set(counted.index) == set(runs["key"])
    last = curves.groupby("run")["value"].last()
    assert runs["value"].tolist() == pytest.approx(last[runs["key"]].tolist())
    assert (runs["evaluations"] >= 60).all()
    assert curves["evaluations"].notna().all()


def test_two_processes_do_not_run_one_study(tmp_path: Path) -> None:
    study = Study("one", DATA, MODEL, [SolverSpec("mdav")])
    with opened(tmp_path / "runs.db") as store, store.owned():
        with pytest.raises(BusyError, match="is being run by process"):
            run(study, tmp_path / "runs.db")
        assert str(open_study(tmp_path / "runs.db").status()["running"]).startswith("process")
    assert run(study, tmp_path / "runs.db").made == 1
    made = open_study(tmp_path / "runs.db").runs().iloc[0]
    assert (made[["build_seconds", "warm_up_seconds", "seconds", "base_memory"]] > 0).all()


def test_a_study_whose_owner_is_gone_is_taken_over(tmp_path: Path) -> None:
    study = Study("one", DATA, MODEL, [SolverSpec("mdav")], warm_up=False)
    with opened(tmp_path / "runs.db"):
        pass
    with sqlite3.connect(tmp_path / "runs.db") as file:
        file.execute("INSERT INTO owner VALUES (1, 'elsewhere', 12, 0.0, 0.0)")
    assert open_study(tmp_path / "runs.db").status()["running"] is None
    assert run(study, tmp_path / "runs.db").made == 1


@pytest.mark.parametrize("content", [b"not a database at all, just text" * 40, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_study_is_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(content)
    study = Study("one", DATA, MODEL, [SolverSpec("mdav")])
    for use in (lambda: run(study, path), lambda: open_study(path).status()):
        with pytest.raises(InputError, match=r"runs\.db"):
            use()
    assert path.read_bytes() == content


def test_a_study_of_an_earlier_format_is_refused_in_words_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    study = Study("one", DATA, MODEL, [SolverSpec("mdav")])
    with opened(path):
        pass
    with sqlite3.connect(path) as old:
        old.execute("PRAGMA user_version = 1")
    old.close()
    before = path.read_bytes()
    for use in (lambda: run(study, path), lambda: open_study(path).runs()):
        with pytest.raises(InputError, match=r"another version of optmodels \(format 1, .* into a new file"):
            use()
    assert path.read_bytes() == before


def test_only_the_solve_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    (trial,) = trials_of(Study("s", DATA, MODEL, [SolverSpec("mdav")]))
    now = [0.0]

    def taking(seconds: float, does: Callable[..., Any]) -> Callable[..., Any]:
        def slow(*given: Any) -> Any:
            now[0] += seconds
            return does(*given)

        return slow

    monkeypatch.setattr(attempt, "perf_counter", lambda: now[0])
    monkeypatch.setattr(attempt, "now", lambda: now[0])
    for name, seconds in (("table_of", 1000.0), ("problem_of", 100.0), ("_answer", 1.0)):
        monkeypatch.setattr(attempt, name, taking(seconds, getattr(attempt, name)))
    phases: list[str] = []
    record = attempt.attempt(trial, phases.append)
    assert phases == ["setup", "warm-up", "solve"]
    assert (record["build_seconds"], record["warm_up_seconds"], record["seconds"]) == (1100.0, 101.0, 1.0)


def test_an_sqlite_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    with sqlite3.connect(path) as mine:
        mine.execute("CREATE TABLE run (a INTEGER)")
    mine.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="not one of a study"):
        run(Study("one", DATA, MODEL, [SolverSpec("mdav")]), path)
    assert path.read_bytes() == before


def test_a_wrong_folder_and_wrong_workers_are_told(tmp_path: Path) -> None:
    study = Study("one", DATA, MODEL, [SolverSpec("mdav")])
    with pytest.raises(InputError, match="folder that exists"):
        run(study, tmp_path / "nosuch" / "runs.db")
    with pytest.raises(InputError, match="workers"):
        run(study, tmp_path / "runs.db", workers=0)
    with pytest.raises(InputError, match="retry names outcomes"):
        run(study, tmp_path / "runs.db", retry=["done"])
    assert not list(tmp_path.iterdir())


def test_a_study_without_a_finished_run_has_empty_frames(tmp_path: Path) -> None:
    with opened(tmp_path / "runs.db"):
        pass
    results = open_study(tmp_path / "runs.db")
    for frame in (results.runs(), results.curves(), results.points(), results.failures()):
        assert isinstance(frame, pd.DataFrame)
        assert frame.empty
