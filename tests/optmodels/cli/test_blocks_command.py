"""`optmodels anonymize` by blocks: options, clusters, and folders of Parquet files."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.optmodels.cli.conftest import ROLES, Run

BLOCKS = ("--solver", "blocks", "--k", "4", "--option", "block_size=12")


@pytest.fixture
def folder(people: Path, tmp_path: Path) -> Path:
    frame = pd.read_csv(people)
    place = tmp_path / "parts"
    place.mkdir()
    for i in range(3):
        frame.iloc[i::3].to_parquet(place / f"{i}.parquet", index=False)
    return place


def test_blocks_with_options_of_their_inner_solver(run: Run, people: Path) -> None:
    inner = ("--option", "inner=local_search", "--option", 'inner_options={"iterations": 30}')
    result = run("anonymize", people, *ROLES, "--scaling", "none", *BLOCKS, *inner, "--out", "release.csv", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["solver"] == "blocks"
    assert record["blocks"] == 4
    assert record["one_block"]["how"].startswith("measured")
    assert record["audit"]["k"] >= 4
    told = run("anonymize", people, *ROLES, "--scaling", "none", *BLOCKS, *inner)
    assert "4 blocks by local_search lose" in told.output


def test_what_stands_in_for_a_score_is_told(run: Run, people: Path) -> None:
    words = ("--formulation", "aminifar", *BLOCKS)
    record = json.loads(run("anonymize", people, *ROLES, *words, "--json").stdout)
    assert record["status"] == "feasible"
    assert record["blocks_optimise"].startswith("the distance to the centres of its own block")
    told = run("anonymize", people, *ROLES, *words)
    assert "Blocks optimise the distance to the centres" in " ".join(told.output.split())


def test_from_folder_to_folder_and_to_file(run: Run, folder: Path) -> None:
    result = run(
        "anonymize", folder, *ROLES, *BLOCKS, "--out", "out", "--group-rows", 20, "--report", "r.html", "--json"
    )
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["audit"]["records"] == 40
    assert record["audit"]["k"] >= 4
    assert record["details"]["groups"] == 2
    assert len(pd.read_parquet("out")) == 40
    assert "40 records" in Path("r.html").read_text()
    audited = run("audit", "out", "--quasi", "age,sex,town", "--sensitive", "illness", "--json")
    assert json.loads(audited.stdout)["k"] == record["audit"]["k"]
    assert record["details"]["one_block"]["pairs"] >= 2
    told = run("anonymize", folder, *ROLES, *BLOCKS, "--out", "told", "--group-rows", 20)
    assert "pairs of neighbouring blocks" in " ".join(told.output.split())
    again = run("anonymize", folder, *ROLES, *BLOCKS, "--out", "out")
    assert again.exit_code == 1
    assert "exists already" in again.output
    assert run("anonymize", folder, *ROLES, *BLOCKS, "--out", "out", "--force").exit_code == 0
    by_memory = run("anonymize", folder, *ROLES, "--solver", "mdav", "--k", 4, "--out", "release.csv")
    assert by_memory.exit_code == 0, by_memory.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--option", "inner=local_serch"), "Did you mean 'local_search'"),
        (("--option", "inner_options={}", "--option", "blok_size=3"), "Did you mean 'block_size'"),
        (("--option", 'inner_options={"iteration": 3}'), "Did you mean 'iterations'"),
        (("--option", "backend=dask"), "needs the address of a scheduler"),
        (("--dask", "tcp://127.0.0.1:9", "--option", "backend=processes"), "leave out --option backend"),
        (("--group-rows", "20"), "--group-rows is for a folder"),
    ],
)
def test_wrong_words(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch, unchanged: None, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr("solvers.blocks.worker_pool.CONNECT_SECONDS", 0.5)
    result = run("anonymize", people, *ROLES, "--solver", "blocks", "--k", "4", *words, "--out", "release.csv")
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())


def test_a_scheduler_that_does_not_answer(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch, unchanged: None
) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is an optional extra")
    monkeypatch.setattr("solvers.blocks.worker_pool.CONNECT_SECONDS", 0.5)
    words = ("--solver", "blocks", "--k", "4", "--dask", "tcp://127.0.0.1:9", "--out", "release.csv")
    result = run("anonymize", people, *ROLES, *words)
    assert result.exit_code == 1
    assert "No Dask scheduler answers" in " ".join(result.output.split())


def test_wrong_solvers(run: Run, folder: Path, unchanged: None) -> None:
    cluster = run("anonymize", folder, *ROLES, "--solver", "mdav", "--k", 4, "--dask", "tcp://127.0.0.1:9")
    assert "--option inner=mdav" in " ".join(cluster.output.split())
    by_folder = run("anonymize", folder, *ROLES, "--solver", "mdav", "--k", 4, "--out", "out")
    assert "--option inner=mdav" in " ".join(by_folder.output.split())
