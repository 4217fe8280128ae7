"""Same input, seed and versions: the same release, byte by byte, whatever the process, its threads and the order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optmodels.table import Table
from optmodels.table.role_types import Missing
from optmodels.table.roles import Roles

SEARCHES = {
    "local_search": ["--solver", "local_search", "--option", "iterations=30"],
    "columns": ["--solver", "columns"],
}


def _people(n: int = 48) -> pd.DataFrame:
    draw = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 30, n),  # many ties
            "pay": draw.normal(size=n).round(1),
            "town": draw.choice(["Ulm", "Bonn", "Köln", "line\nbreak", ""], n),
            "illness": draw.choice(["flu", "cold"], n),
        }
    )


def _release(data: Path, out: Path, search: list[str], cores: int, hash_seed: int) -> tuple[bytes, dict[str, object]]:
    words = ["--numeric", "age,pay", "--categorical", "town", "--sensitive", "illness", "--missing", "category"]
    command = [sys.executable, "-m", "optmodels", "anonymize", str(data), *words, "--k", "4", *search, "--seed", "3"]
    environment = {**os.environ, "OPTMODELS_CORES": str(cores), "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run([*command, "--out", str(out)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    promise = json.loads(out.with_name(f"{out.stem}.promise.json").read_text())
    del promise["data"]["sha256"], promise["seal"], promise["columns"]  # of the file as it came
    return out.read_bytes(), promise


@pytest.mark.parametrize("search", ["local_search", "columns"])
def test_processes_threads_and_orders_change_no_byte(tmp_path: Path, search: str) -> None:
    frame = _people()
    frame.to_csv(tmp_path / "data.csv", index=False)
    shuffled = frame.sample(frac=1, random_state=1)
    shuffled.to_csv(tmp_path / "rows.csv", index=False)
    one = _release(tmp_path / "data.csv", tmp_path / "one.csv", SEARCHES[search], 1, 1)
    two = _release(tmp_path / "rows.csv", tmp_path / "two.csv", SEARCHES[search], 2, 2)
    assert one == two


def test_categories_in_the_order_in_which_a_file_has_them(tmp_path: Path) -> None:
    frame, roles = _people(), Roles(quasi={"town": "categorical"}, sensitive="illness", others="keep")
    orders = (frame, frame.iloc[::-1], frame.sample(frac=1, random_state=5))
    for at, one in enumerate(orders):
        one.replace("", "Rom").to_csv(tmp_path / f"{at}.csv", index=False)
    first, *others = (Table.from_file(tmp_path / f"{at}.csv", roles=roles).sorted() for at in range(len(orders)))
    for other in others:
        assert (first.frame.astype(str) == other.frame.astype(str)).all(axis=None)


def test_gaps_as_a_value_of_their_own_do_not_bring_back_the_order_of_rows() -> None:
    frame = pd.DataFrame({"age": [1.0, 1.0, 1.0, 2.0], "illness": ["flu", None, "cold", "flu"]})
    made = [
        Table(one, quasi={"age": "numeric"}, sensitive="illness", missing="category").sorted()
        for one in (frame, frame.iloc[[2, 1, 3, 0]])
    ]
    assert made[0].frame["illness"].tolist() == made[1].frame["illness"].tolist() == ["cold", "flu", "missing", "flu"]
    assert list(made[0].frame["illness"].cat.categories) == list(made[1].frame["illness"].cat.categories)


@pytest.mark.parametrize("missing", ["impute", "category"])
def test_gaps_in_a_file_are_filled_whatever_the_order_of_its_rows(tmp_path: Path, missing: Missing) -> None:
    """The most frequent value of several, and a value of its own."""
    roles = Roles(quasi={"town": "categorical"}, sensitive="s", missing=missing)
    made = []
    for rows in (["b,u", "a,v", ",u", "c,v"], ["c,v", ",u", "a,v", "b,u"]):
        (tmp_path / "data.csv").write_text("\n".join(["town,s", *rows]) + "\n")
        table = Table.from_file(tmp_path / "data.csv", roles=roles).sorted()
        made.append((table.frame["town"].tolist(), table.codes.tolist(), table.sensitive_codes.tolist()))
    assert made[0] == made[1]


def test_people_do_not_bring_back_the_order_of_columns() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3], "s": list("aba"), "who": [2, 1, 0]})
    sorted_ones = [
        Table(one, quasi={"x": "numeric"}, sensitive="s", person="who").sorted().frame["x"].tolist()
        for one in (frame, frame[["who", "s", "x"]])
    ]
    assert sorted_ones[0] == sorted_ones[1]
