"""Files that were made to deceive the verifier, or to make it fail: texts alike as numbers, an index, unused values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.release import release
from optmodels.table import Table
from optmodels.verifier import beside, load_promise, sealed, verify


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A release with three classes whose texts are all the same number."""
    frame = pd.DataFrame({"code": ["01", "1", "1.0"] * 3, "s": ["u", "v", "w"] * 3})
    table = Table(frame, quasi={"code": "categorical"}, sensitive="s")
    return release(table, [0, 1, 2] * 3, promise=Conditions(k=3)).to_csv(tmp_path / "release.csv")


def test_texts_are_compared_and_not_the_numbers_that_they_stand_for(written: Path) -> None:
    promise = load_promise(beside(written))
    assert promise["classes"] == 3
    assert not verify(written, promise).broken
    written.write_text(written.read_text().replace("\n01,", "\n001,", 1))
    assert "k: promised at least 3 records, found 1" in verify(written, promise).broken


@pytest.mark.parametrize("what", ["an index", "a named index", "values that no row has"])
def test_what_a_parquet_file_holds_beside_its_columns(what: str, written: Path) -> None:
    promise, frame = load_promise(beside(written)), pd.read_csv(written, dtype=str)
    path = written.with_suffix(".parquet")
    frame.to_parquet(path, index=False)
    assert not verify(path, promise).broken
    names = [f"person {at}" for at in range(len(frame))]
    if what == "values that no row has":
        frame["s"] = pd.Categorical(frame["s"], categories=["u", "v", "w", "secret"])
    else:
        frame.index = pd.Index(names, name="who" if what == "a named index" else None)
    frame.to_parquet(path)
    assert verify(path, promise).broken


def test_a_promise_with_a_number_beyond_all_numbers(written: Path) -> None:
    path = beside(written)
    path.write_text(path.read_text().replace('"rows": 9', '"rows": 1e999'))
    with pytest.raises(InputError, match="is no promise"):
        load_promise(path)


@pytest.mark.parametrize("value", ["nan", None, {}, [1], -1, 10**400, True])
def test_a_promise_of_nonsense_with_a_seal_that_fits(value: Any, written: Path) -> None:
    """Anyone can make the seal: what is said is refused or found not to be so, whatever it is."""
    promise = json.loads(beside(written).read_text())
    for name in ("rows", "classes", "conditions", "file", "suppressed", "quasi", "columns"):
        assert not _passes(written, sealed({**promise, name: value})), name
    _passes(written, sealed({**promise, "data": value}))  # of which nothing is asked without the original


def _passes(written: Path, promise: dict[str, Any]) -> bool:
    try:
        return not verify(written, promise).broken
    except InputError:
        return False
